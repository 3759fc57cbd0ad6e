//! `forge serve --stop`: ends the server of a data directory, and with `--all` its agents before it.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use forge_engine::{AgentEnvironment, Engine, GitHubOptions, Options, Seam};
use forge_process::Liveness;
use serde_json::json;

use crate::client::Client;
use crate::environment::{self, FORGE_WORKTREES};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::server_file::{self, ServerFile};
use crate::{autostart, ids};

/// How long a server may take to end: it lets requests finish for a few seconds.
const END: Duration = Duration::from_secs(20);
/// How many attempts are stopped at once.
const AT_ONCE: usize = 8;

/// Ends the server, if one runs, and its agents when `all` is set.
pub(crate) fn stop(home: &Path, output: &Output, all: bool) -> Result<Exit> {
    let server = server_file::find(home);
    let mut stopped = match (&server, autostart::running(home), all) {
        // The agents that a copy shows are those of its original.
        (Some(_), Some(client), true) if !is_copy(&client) => stop_attempts(&client)?,
        _ => 0,
    };
    if let Some(server) = &server {
        end(server)?;
    }
    if all {
        // What no list of attempts shows, and what was started while the others were being stopped.
        stopped += stop_without_server(home)?;
    }
    let left = living_runs(home);
    if output.json {
        let was = server.as_ref().map(|server| server.pid);
        output.value(&json!({"stopped": was, "agents_stopped": stopped, "agents_running": left}))?;
        return Ok(Exit::Ok);
    }
    output.line(sentence(home, server.as_ref(), stopped, left))?;
    Ok(Exit::Ok)
}

fn is_copy(client: &Client) -> bool {
    client.get("/api/info").is_ok_and(|info| info["is_copy"] == true)
}

fn sentence(home: &Path, server: Option<&ServerFile>, stopped: usize, left: usize) -> String {
    let mut sentence = match server {
        Some(server) => format!("stopped the server on {} (process {})", server.url, server.pid),
        None => format!("no server runs on {}", home.display()),
    };
    if stopped > 0 {
        sentence.push_str(&format!("; stopped {}", agents(stopped)));
    }
    match left {
        0 => {}
        1 => {
            sentence
                .push_str("; 1 agent runs on: stop it with `forge stop ID` or `forge serve --stop --all`");
        }
        _ => sentence.push_str(&format!(
            "; {} run on: stop one with `forge stop ID`, all with `forge serve --stop --all`",
            agents(left)
        )),
    }
    sentence
}

fn agents(count: usize) -> String {
    if count == 1 { "1 agent".to_string() } else { format!("{count} agents") }
}

/// Stops every attempt through the server, and looks again until none is left: a queue may start more.
fn stop_attempts(client: &Client) -> Result<usize> {
    let mut stopped = 0;
    loop {
        let mut live = ids::attempts(client)?;
        live.retain(|attempt| attempt.is_live() || attempt.state == "queued");
        // Those that wait go first: they would begin as soon as others end.
        live.sort_by_key(|attempt| attempt.state != "queued");
        if live.is_empty() {
            return Ok(stopped);
        }
        for some in live.chunks(AT_ONCE) {
            thread::scope(|scope| {
                let stops: Vec<_> = some
                    .iter()
                    .map(|attempt| {
                        scope.spawn(|| client.post(&format!("/api/task-attempts/{}/stop", attempt.id), None))
                    })
                    .collect();
                for stop in stops {
                    match stop.join() {
                        Ok(answer) => drop(answer.map_err(Failure::from)?),
                        Err(_) => return Err(Failure::away("stopping an attempt broke off")),
                    }
                    stopped += 1;
                }
                Ok(())
            })?;
        }
    }
}

/// Stops agents that run on without a server: this process owns the data for that moment.
fn stop_without_server(home: &Path) -> Result<usize> {
    if living_runs(home) == 0 {
        return Ok(0);
    }
    let failed = |error: &dyn std::fmt::Display| Failure::away(format!("could not stop the agents: {error}"));
    let forge = std::env::current_exe().map_err(|error| failed(&error))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| failed(&error))?;
    let worktrees = environment::path(FORGE_WORKTREES);
    let options = Options {
        home: home.to_path_buf(),
        worktrees,
        older_place: None,
        forge,
        seam: Seam::default(),
        agents: AgentEnvironment::default(),
        public_url: None,
        github: GitHubOptions::default(),
        user_home: None,
        agent_dirs: Default::default(),
        clean_strays: false,
        adopt: false,
    };
    let stopped = runtime.block_on(async { Engine::open(options).await?.stop_all().await });
    runtime.shutdown_timeout(Duration::from_secs(1));
    stopped.map_err(|error| failed(&error))
}

/// Asks a server to end and waits until its process is gone.
fn end(server: &ServerFile) -> Result<()> {
    if let Err(error) = server.terminate()
        && server.is_alive()
    {
        return Err(Failure::away(format!("could not stop the server (process {}): {error}", server.pid)));
    }
    let deadline = Instant::now() + END;
    while server.is_alive() {
        if Instant::now() > deadline {
            let (pid, seconds) = (server.pid, END.as_secs());
            return Err(Failure::away(format!(
                "the server (process {pid}) did not end within {seconds} seconds"
            )));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Counts runs whose process lives, by their directories: they are the truth when no server is there.
fn living_runs(home: &Path) -> usize {
    let Ok(runs) = std::fs::read_dir(home.join("runs")) else { return 0 };
    runs.flatten().filter(|run| matches!(forge_process::liveness(&run.path()), Ok(Liveness::Alive))).count()
}
