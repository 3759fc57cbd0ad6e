//! Starting a further attempt at a task, or one without a task.

use forge_model::ProfileId;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::follow::{self, Wishes};
use crate::output::Output;
use crate::table::text;
use crate::wire::{self, Attempt};
use crate::{ids, named, prompt};

/// How an attempt is started.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// Start from this branch instead of the project's own
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Let nobody be asked
    #[arg(long)]
    yes: bool,
    /// Go on by itself when a usage limit of the agent's provider is over
    #[arg(long)]
    resume_when_limited: bool,
    /// Branch off the conversation of this attempt
    #[arg(long, value_name = "ATTEMPT")]
    fork: Option<String>,
    /// Work in the project's own checkout instead of a worktree
    #[arg(long)]
    in_place: bool,
    /// Wait until it comes to rest; the exit code says how
    #[arg(long)]
    wait: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task
    #[arg(required_unless_present = "prompt")]
    task: Option<String>,
    /// Let this agent try; `AGENT:VARIANT` names one of its profiles
    #[arg(long, value_name = "AGENT", default_value = "CLAUDE_CODE")]
    agent: String,
    /// Start an attempt without a task, told this; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["task", "yes", "resume_when_limited", "fork", "in_place"])]
    prompt: Option<String>,
    /// Without a task: in this project
    #[arg(long, requires = "prompt")]
    project: Option<String>,
    #[command(flatten)]
    how: How,
}

pub(super) fn run(client: &mut Client, output: &Output, args: &Args) -> Result<Exit> {
    let mut body = body(client, &args.agent, &args.how)?;
    if let Some(given) = &args.prompt {
        body.insert("prompt".into(), json!(prompt::read(given)?));
        body.insert("project_id".into(), json!(named::project_id(client, args.project.as_deref())?));
        let begun = client.post_once("/api/execution-runs", &Value::Object(body))?;
        let id = text(&begun["execution_run"], "id").to_string();
        let attempt = client.get(&format!("/api/task-attempts/{id}"))?;
        return started(client, output, &attempt, &args.how);
    }
    let task = named::task(client, args.task.as_deref().unwrap_or_default())?;
    body.insert("task_id".into(), task["id"].clone());
    let attempt = client.post_once("/api/task-attempts", &Value::Object(body))?;
    started(client, output, &attempt, &args.how)
}

/// Returns what every start of an attempt says.
pub(crate) fn body(client: &Client, agent: &str, how: &How) -> Result<Map<String, Value>> {
    let profile: ProfileId =
        agent.parse().map_err(|error| Failure::invalid(format!("the agent: {error}")))?;
    let mut body = Map::new();
    body.insert("executor_profile_id".into(), json!(profile));
    if let Some(base) = &how.base {
        body.insert("base_branch".into(), json!(base));
    }
    if let Some(fork) = &how.fork {
        body.insert("fork_from".into(), json!(ids::attempt(client, fork)?.id));
    }
    for (key, given) in [("unattended", how.yes), ("resume_when_limited", how.resume_when_limited)] {
        if given {
            body.insert(key.into(), json!(true));
        }
    }
    if how.in_place {
        body.insert("use_worktree".into(), json!(false));
    }
    Ok(body)
}

/// Tells of an attempt that was started, and waits for its end where that is wanted.
pub(crate) fn started(client: &Client, output: &Output, value: &Value, how: &How) -> Result<Exit> {
    let attempt: Attempt = wire::read(value)?;
    if !how.wait {
        let id = attempt.short();
        match output.json {
            true => output.value(value)?,
            false => output.line(&attempt.id)?,
        }
        output
            .remark(format_args!("attempt {id} on branch {}; `forge logs -f {id}` shows it", attempt.branch));
        return Ok(Exit::Ok);
    }
    waited(client, output, &attempt.id)
}

/// Waits until an attempt comes to rest, and returns how it did as an exit code.
pub(crate) fn waited(client: &Client, output: &Output, id: &str) -> Result<Exit> {
    let followed = follow::follow(client, output, id, Wishes::default())?;
    match output.json {
        true => output.value(&followed.value)?,
        false => output.line(follow::ending(&followed.attempt))?,
    }
    Ok(followed.exit)
}
