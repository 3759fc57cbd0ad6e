//! A server that does one verb, so that a test can kill it: it opens a data directory, does the verb and says how it went.
//!
//! `forge-verb-for-tests VERB HOME ATTEMPT FORGE COUNTER`: HOME is the data directory, FORGE the forge binary, COUNTER the
//! file that is written when the directory is open.

use std::path::PathBuf;

use forge_engine::{AgentEnvironment, Engine, GitHubOptions, Land, Options, RebaseRequest, Seam};
use forge_model::AttemptId;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [verb, home, attempt, forge, counter] = args.as_slice() else {
        return Err("usage: forge-verb-for-tests VERB HOME ATTEMPT FORGE COUNTER".into());
    };
    let id: AttemptId = attempt.parse()?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let engine = Engine::open(options(home.into(), forge.into())).await?;
        // The opening is not what is counted.
        std::fs::write(counter, "0")?;
        match verb.as_str() {
            "land" => engine.land(id, Land::default()).await.map(drop)?,
            "undo" => engine.undo_landing(id).await.map(drop)?,
            "abort" => engine.abort_conflicts(id).await?,
            "continue" => engine.continue_rebase(id).await.map(drop)?,
            "rebase" => engine.rebase(id, RebaseRequest::default()).await.map(drop)?,
            other => return Err(format!("there is no verb {other} here").into()),
        }
        Ok(())
    })
}

fn options(home: PathBuf, forge: PathBuf) -> Options {
    Options {
        worktrees: None,
        older_place: None,
        forge,
        seam: Seam::default(),
        agents: AgentEnvironment::default(),
        public_url: None,
        github: GitHubOptions::default(),
        user_home: home.parent().map(|dir| dir.join("person")),
        agent_dirs: Default::default(),
        clean_strays: true,
        adopt: false,
        home,
    }
}
