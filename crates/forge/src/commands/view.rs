//! `forge view`: who an attempt is and the end of its conversation, or all of it, or what comes.

use forge_model::Entry;
use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::follow::{self, Wishes};
use crate::output::{Output, short};
use crate::render::{self, Renderer};
use crate::wire::{self, Attempt, Run};
use crate::{autostart, ids, log_stream};

/// How many entries are the end of a conversation.
const END: usize = 5;

/// Show an attempt and the end of its conversation
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge view 6a0c2f1e --full")]
pub(crate) struct Args {
    /// The attempt: its id, the first digits of it, or its name
    pub(crate) id: String,
    /// Show the whole conversation
    #[arg(long)]
    pub(crate) full: bool,
    /// Show the whole conversation, and go on until the attempt comes to rest
    #[arg(long, conflicts_with = "full")]
    pub(crate) live: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let value = client.get(&attempt.path())?;
    if output.json && !args.full && !args.live {
        let window = client.get(&format!("/api/task-attempts/{}/entries?limit={END}", attempt.id))?;
        let mut shown = value;
        shown["entries"] = window["entries"].clone();
        output.value(&shown)?;
        return Ok(Exit::Ok);
    }
    if !output.json {
        head(output, client.url(), &attempt, &value)?;
    }
    if args.live {
        let wishes = Wishes { logs: true, ..Wishes::default() };
        let followed = follow::follow(&client, output, &attempt.id, wishes)?;
        output.remark(follow::ending(&followed.attempt));
        return Ok(Exit::Ok);
    }
    if args.full {
        let runs = client.get(&format!("/api/execution-processes?task_attempt_id={}", attempt.id))?;
        for run in runs.as_array().into_iter().flatten() {
            let run: Run = wire::read(run)?;
            let mut renderer = Renderer::new(output, &run, attempt.worktree_path.as_deref(), false);
            renderer.heading(&run)?;
            let mut printed = Ok(());
            let take = |chunks: Vec<wire::LogChunk>| {
                printed = renderer.print(&chunks);
                printed.is_ok()
            };
            log_stream::read_once(&client, &run.id, take)?;
            printed?;
            renderer.finish()?;
        }
        return Ok(Exit::Ok);
    }
    let window = client.get(&format!("/api/task-attempts/{}/entries?limit={END}", attempt.id))?;
    if window["has_more"] == true {
        output.line(format_args!("… (`forge view {} --full` shows all of it)", attempt.short()))?;
    }
    for entry in window["entries"].as_array().into_iter().flatten() {
        let entry: Entry = wire::read(&entry["entry"])?;
        let text = render::entry(output, &entry);
        if !text.is_empty() {
            output.line(text)?;
        }
    }
    Ok(Exit::Ok)
}

fn head(output: &Output, base: &str, attempt: &Attempt, value: &Value) -> Result<()> {
    output.line(format_args!("Session ID: {}", attempt.id))?;
    output.line(format_args!("Title: {}", short(attempt.title(), 100)))?;
    output.line(format_args!("Agent: {}", attempt.executor))?;
    output.line(format_args!("Status: {}", attempt.state))?;
    if let Some(reason) = &attempt.reason {
        output.line(format_args!("Reason: {}", short(reason, 200)))?;
    }
    output.line(format_args!("Branch: {}", attempt.branch))?;
    output.line(format_args!("URL: {}", page(base, value)))?;
    output.line("")
}

/// The page of an attempt.
pub(crate) fn page(base: &str, attempt: &Value) -> String {
    let text = |key: &str| attempt[key].as_str().unwrap_or_default();
    match attempt["task_id"].as_str() {
        Some(task) => {
            format!("{base}/projects/{}/tasks/{task}/attempts/{}?view=diffs", text("project_id"), text("id"))
        }
        None => format!("{base}/projects/{}/tasks", text("project_id")),
    }
}
