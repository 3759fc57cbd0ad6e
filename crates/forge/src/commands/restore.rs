//! `forge restore`: an attempt's files as they were in a snapshot.

use serde_json::{Value, json};

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::{autostart, ids};

/// Make an attempt's files what they were in a snapshot
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge restore 6a0c2f1e 91d3e0aa src/main.rs")]
pub(crate) struct Args {
    /// The attempt
    id: String,
    /// The snapshot: the first digits of its id, as `forge snapshots` shows them
    snapshot: String,
    /// Files and directories, from the top of the worktree; everything without
    paths: Vec<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let list = client.get(&format!("/api/task-attempts/{}/snapshots", attempt.id))?;
    let snapshot = ids::beginning(&list, &args.snapshot, "snapshot of this attempt", "forge snapshots")?;
    for left in snapshot["left_out"].as_array().into_iter().flatten() {
        output.remark(format!("{} is not in this snapshot: {}", left["path"], text(&left["why"])));
    }
    let mut body = json!({ "snapshot_id": snapshot["id"] });
    if !args.paths.is_empty() {
        body["paths"] = json!(args.paths);
    }
    let answer = client.post(&format!("/api/task-attempts/{}/restore", attempt.id), Some(&body))?;
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Ok);
    }
    let count = |key: &str| answer[key].as_array().map_or(0, Vec::len);
    output.line(format!("{} files written, {} removed", count("written"), count("removed")))?;
    for left in answer["left_alone"].as_array().into_iter().flatten() {
        output.line(format!("left as it is: {}: {}", text(&left["path"]), text(&left["why"])))?;
    }
    let undo = text(&answer["undo_snapshot_id"]);
    let undo = undo.get(..8).unwrap_or(undo);
    output.line(format!("undo it with `forge restore {} {undo}`", attempt.short()))?;
    Ok(Exit::Ok)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
