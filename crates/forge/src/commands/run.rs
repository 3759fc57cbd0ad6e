//! `forge run`: begins an attempt and follows it to its end.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agent_name::{self, Meant};
use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::follow::{self, Wishes};
use crate::output::Output;
use crate::repository::{self, Repository};
use crate::wire::{self, Attempt};
use crate::{autostart, ids, prompt};

/// Begin an attempt and follow it to its end
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The exit code is 0 when the attempt finished, 1 when it failed, 6 when it was stopped. Ctrl-C \
                  leaves the agent running.\n\n\
                  Example:\n  forge run --agent SCRIPTED \"say Hello from a worktree\""
)]
pub(crate) struct Args {
    /// Work on the repository that holds this directory
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Let this agent try, of Forge or of the project's files; `AGENT:VARIANT` names one of its profiles
    #[arg(long, value_name = "AGENT", default_value = USUAL)]
    agent: String,
    /// Start from this branch instead of the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Return as soon as the agent runs, or waits for room
    #[arg(long)]
    detach: bool,
    /// Let nobody be asked: allow what the agent asks for, unless a rule denies it; approve its plans; and have it
    /// decide itself where it asks in words
    #[arg(long)]
    yes: bool,
    /// Go on by itself when a usage limit of the agent's provider is over
    #[arg(long)]
    resume_when_limited: bool,
    /// Branch off the conversation of this attempt, from where its branch is
    #[arg(long, value_name = "ATTEMPT")]
    fork: Option<String>,
    /// Print the bytes of standard output as the agent wrote them
    #[arg(long)]
    raw: bool,
    /// What is wanted; `-` reads it from standard input. Before it may stand the agent: `forge run reviewer "Look"`
    #[arg(value_name = "PROMPT", required = true, num_args = 1..=2)]
    words: Vec<String>,
}

/// The agent that is meant when none is named.
const USUAL: &str = "CLAUDE_CODE";

/// An attempt to begin.
#[derive(Debug)]
pub(crate) struct Beginning<'a> {
    /// A directory in the repository.
    pub(crate) project: &'a Path,
    pub(crate) base: Option<&'a str>,
    pub(crate) agent: &'a str,
    /// The agent of Forge that is to play it, where it is not the one it is for.
    pub(crate) player: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) prompt: &'a str,
    /// The title of the task; without it, the first line of the prompt.
    pub(crate) title: Option<String>,
    pub(crate) yes: bool,
    pub(crate) resume_when_limited: bool,
    pub(crate) fork: Option<&'a str>,
}

/// An attempt that began.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) client: Client,
    pub(crate) meant: Meant,
    /// The attempt as the server shows it.
    pub(crate) value: Value,
    pub(crate) attempt: Attempt,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let (agent, words) = match &args.words[..] {
        [agent, words] if args.agent == USUAL => (agent.as_str(), words),
        [agent, _] => {
            return Err(Failure::invalid(format!(
                "the agent is named twice, by --agent and by {agent:?}; put a prompt of several words in quotes"
            )));
        }
        [words] => (args.agent.as_str(), words),
        // The command line takes one or two.
        _ => return Err(Failure::invalid("give a prompt, or an agent and a prompt")),
    };
    let prompt = prompt::read(words)?;
    let begun = begin(
        globals,
        output,
        &Beginning {
            project: &args.project,
            base: args.base.as_deref(),
            agent,
            player: None,
            model: None,
            prompt: &prompt,
            title: None,
            yes: args.yes,
            resume_when_limited: args.resume_when_limited,
            fork: args.fork.as_deref(),
        },
    )?;
    let Begun { client, value, attempt, meant } = begun;
    if args.detach || (meant.background == Some(true) && args.words.len() == 2) {
        match output.json {
            true => output.value(&value)?,
            false => output.line(&attempt.id)?,
        }
        output.remark(beginning(&attempt));
        return Ok(Exit::Ok);
    }
    output.remark(beginning(&attempt));
    let wishes = Wishes { logs: !output.json, raw: args.raw, answer_here: true, until_ask: false };
    let followed = follow::follow(&client, output, &attempt.id, wishes)?;
    if output.json {
        output.value(&followed.value)?;
    }
    output.remark(follow::ending(&followed.attempt));
    Ok(followed.exit)
}

/// Begins an attempt, and returns when its agent runs or waits for room.
pub(crate) fn begin(globals: &Globals, output: &Output, wanted: &Beginning<'_>) -> Result<Begun> {
    agent_name::check(wanted.agent)?;
    let repository = repository::find(wanted.project)?;
    let base = match wanted.base {
        Some(base) => Some(base.to_string()),
        None => repository.checked_out()?,
    };
    let mut client = autostart::connect(globals, output)?;
    let project = project(&client, &repository, base.is_some())?;
    let mut meant = agent_name::find(&client, output, &project, wanted.agent)?;
    if let Some(player) = wanted.player {
        meant = meant.played_by(player)?;
    }
    if let Some(model) = wanted.model {
        meant = meant.with_model(&client, model)?;
    }
    let (title, description) = match &wanted.title {
        Some(title) => (title.clone(), Some(wanted.prompt.to_string())),
        None => prompt::title_and_description(wanted.prompt),
    };
    let mut body = json!({
        "task": {"project_id": project, "title": title, "description": description},
        "executor_profile_id": meant.profile,
    });
    if let Some(base) = base {
        body["base_branch"] = json!(base);
    }
    if wanted.yes {
        body["unattended"] = json!(true);
    }
    if let Some(typed) = wanted.fork {
        body["fork_from"] = json!(ids::attempt(&client, typed)?.id);
        if wanted.base.is_none() {
            // It goes on from the other's branch, whatever is checked out here.
            body.as_object_mut().map(|body| body.remove("base_branch"));
        }
    }
    if wanted.resume_when_limited {
        body["resume_when_limited"] = json!(true);
    }
    let mut started = client.post_once("/api/tasks/create-and-start", &body)?;
    let value = started["attempt"].take();
    let attempt: Attempt = wire::read(&value)?;
    Ok(Begun { client, meant, value, attempt })
}

fn beginning(attempt: &Attempt) -> String {
    if let Some(place) = attempt.queue_place {
        let (id, branch) = (attempt.short(), &attempt.branch);
        return format!(
            "attempt {id} on branch {branch} is queued, place {place}: it starts when there is room"
        );
    }
    match &attempt.worktree_path {
        Some(worktree) => format!("attempt {} on branch {} in {worktree}", attempt.short(), attempt.branch),
        None => format!("attempt {} on branch {}", attempt.short(), attempt.branch),
    }
}

/// Returns the id of the project for a repository, and registers it first when it is new. A linked worktree of a
/// known project belongs to that project once its own branch is named as the one to start from.
pub(crate) fn project(client: &Client, repository: &Repository, has_base: bool) -> Result<Value> {
    let top = &repository.top;
    if let Some(id) = known_project(client, top)? {
        return Ok(id);
    }
    if let (Some(main), true) = (&repository.main, has_base)
        && let Some(id) = known_project(client, main)?
    {
        return Ok(id);
    }
    let name = top.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy());
    let body = json!({"name": name, "git_repo_path": top, "use_existing_repo": true});
    match client.post("/api/projects", Some(&body)) {
        Ok(mut made) => Ok(made["id"].take()),
        // Another command may have registered it in the meantime.
        Err(trouble) => known_project(client, top)?.ok_or_else(|| Failure::from(trouble)),
    }
}

pub(crate) fn known_project(client: &Client, repository: &Path) -> Result<Option<Value>> {
    let projects = client.get("/api/projects")?;
    let found = projects.as_array().into_iter().flatten().find(|project| {
        let path = project["git_repo_path"].as_str().map(Path::new);
        path.is_some_and(|path| {
            path == repository || path.canonicalize().is_ok_and(|path| path == repository)
        })
    });
    Ok(found.map(|project| project["id"].clone()))
}
