//! Going back to before a process of an attempt, and telling its agent something else.

use serde_json::{Value, json};

use super::start::waited;
use crate::client::Client;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::table::{items, number, text};
use crate::{ids, prompt};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The attempt
    id: String,
    /// What to tell its agent instead; `-` reads it from standard input
    text: String,
    /// Take back this process and what came after it, instead of the agent's last; its whole id
    #[arg(long, value_name = "RUN")]
    process: Option<String>,
    /// Leave the files as they are
    #[arg(long)]
    keep_files: bool,
    /// Put the files back even where there are changes nobody committed; a snapshot of them is kept
    #[arg(long)]
    force: bool,
    /// Wait until it comes to rest; the exit code says how
    #[arg(long)]
    wait: bool,
}

pub(super) fn run(client: &mut Client, output: &Output, args: &Args) -> Result<Exit> {
    let attempt = ids::attempt(client, &args.id)?;
    let process = match &args.process {
        Some(process) => process.clone(),
        None => {
            let runs = client.get(&format!("/api/execution-processes?task_attempt_id={}", attempt.id))?;
            let last = items(&runs).iter().rfind(|run| text(run, "run_reason") == "codingagent");
            let last = last.map(|run| text(run, "id").to_string());
            last.ok_or_else(|| Failure::conflict(format!("{} has no process to take back", attempt.short())))?
        }
    };
    let body = json!({
        "process_id": process,
        "prompt": prompt::read(&args.text)?,
        "perform_git_reset": !args.keep_files,
        "force_when_dirty": args.force,
    });
    let path = format!("/api/task-attempts/{}/replace-process", attempt.id);
    let replaced: Value = client.post_once(&path, &body)?;
    if args.wait {
        return waited(client, output, &attempt.id);
    }
    let count = number(&replaced, "deleted_count");
    told(output, &replaced, &format!("{count} taken back; see it with `forge logs -f {}`", attempt.short()))
}
