//! `forge run`: begins an attempt and follows it to its end.

use std::path::{Path, PathBuf};

use forge_model::ProfileId;
use serde_json::{Value, json};

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
    /// Let this agent try; `AGENT:VARIANT` names one of its profiles
    #[arg(long, value_name = "AGENT", default_value = "CLAUDE_CODE")]
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
    /// What is wanted; `-` reads it from standard input
    prompt: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let profile: ProfileId =
        args.agent.parse().map_err(|error| Failure::invalid(format!("--agent: {error}")))?;
    let repository = repository::find(&args.project)?;
    let base = match &args.base {
        Some(base) => Some(base.clone()),
        None => repository.checked_out()?,
    };
    let prompt = prompt::read(&args.prompt)?;
    let mut client = autostart::connect(globals, output)?;
    let project = project(&client, &repository, base.is_some())?;
    let (title, description) = prompt::title_and_description(&prompt);
    let mut body = json!({
        "task": {"project_id": project, "title": title, "description": description},
        "executor_profile_id": profile,
    });
    if let Some(base) = base {
        body["base_branch"] = json!(base);
    }
    if args.yes {
        body["unattended"] = json!(true);
    }
    if let Some(typed) = &args.fork {
        body["fork_from"] = json!(ids::attempt(&client, typed)?.id);
        if args.base.is_none() {
            // It goes on from the other's branch, whatever is checked out here.
            body.as_object_mut().map(|body| body.remove("base_branch"));
        }
    }
    if args.resume_when_limited {
        body["resume_when_limited"] = json!(true);
    }
    let mut started = client.post_once("/api/tasks/create-and-start", &body)?;
    let value = started["attempt"].take();
    let attempt: Attempt = wire::read(&value)?;
    if args.detach {
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
