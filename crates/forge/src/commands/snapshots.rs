//! `forge snapshots`: the snapshots of an attempt's files.

use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, short};
use crate::{autostart, ids};

/// List the snapshots of an attempt's files, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge snapshots 6a0c2f1e")]
pub(crate) struct Args {
    /// The attempt
    id: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let list = client.get(&format!("/api/task-attempts/{}/snapshots", attempt.id))?;
    if output.json {
        output.value(&list)?;
        return Ok(Exit::Ok);
    }
    let list = list.as_array().cloned().unwrap_or_default();
    if list.is_empty() {
        output.remark("there is no snapshot yet; one is taken when a turn ends");
    }
    for one in &list {
        output.line(line(one))?;
        for left in one["left_out"].as_array().into_iter().flatten() {
            output.line(format!("          not in it: {}: {}", text(&left["path"]), text(&left["why"])))?;
        }
    }
    Ok(Exit::Ok)
}

fn line(one: &Value) -> String {
    let changes = match &one["changes"] {
        Value::Null => String::new(),
        changes => format!("+{} ~{} -{}", changes["added"], changes["changed"], changes["deleted"]),
    };
    let id = text(&one["id"]);
    let id = id.get(..8).unwrap_or(id);
    format!("{id}  {}  {changes:<14}  {}", text(&one["created_at"]), short(text(&one["why"]), 40))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
