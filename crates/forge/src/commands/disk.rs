//! `forge disk`: how much of the disk is taken, by project and attempt.

use serde_json::Value;

use crate::autostart;
use crate::cli::Globals;
use crate::commands::gc::in_words;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::wire::short_id;

/// Say how much of the disk projects and attempts take, and how much is free
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge disk")]
pub(crate) struct Args {}

pub(crate) fn run(globals: &Globals, output: &Output, _: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let disk = client.get("/api/disk")?;
    if output.json {
        output.value(&disk)?;
        return Ok(Exit::Ok);
    }
    let bytes = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
    let size = |value: &Value, name: &str| in_words(bytes(value, name));
    for project in disk["projects"].as_array().into_iter().flatten() {
        let all = in_words(bytes(project, "worktrees_bytes") + bytes(project, "runs_bytes"));
        output.line(format_args!("{all:>9}  {}", project["name"].as_str().unwrap_or_default()))?;
        for attempt in project["attempts"].as_array().into_iter().flatten() {
            let id = short_id(attempt["attempt_id"].as_str().unwrap_or_default());
            let (worktree, runs) = (size(attempt, "worktree_bytes"), size(attempt, "runs_bytes"));
            output.line(format_args!("           {id}  worktree {worktree:>9}  logs {runs:>9}"))?;
        }
    }
    for (name, what) in [
        ("removed_runs_bytes", "logs of what was removed"),
        ("trash_bytes", "trash"),
        ("images_bytes", "images"),
        ("database_bytes", "database"),
    ] {
        output.line(format_args!("{:>9}  {what}", size(&disk, name)))?;
    }
    let (free, floor) = (size(&disk, "worktrees_free_bytes"), size(&disk, "floor_bytes"));
    output.line(format_args!("{free:>9}  free for worktrees; below {floor} nothing is started"))?;
    if disk["complete"] == false {
        output.remark("there was not time to count everything: each figure is at least what it says");
    }
    Ok(Exit::Ok)
}
