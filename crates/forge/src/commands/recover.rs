//! `forge recover`: what was deleted, and bringing it back.

use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, short};
use crate::{autostart, ids};

/// List what was deleted, or bring it back: rows and files
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge recover\n  forge recover 6a0c2f1e")]
pub(crate) struct Args {
    /// What to bring back: the first digits of its id
    id: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let list = client.get("/api/removed")?;
    let Some(typed) = &args.id else {
        if output.json {
            output.value(&list)?;
            return Ok(Exit::Ok);
        }
        let list = list.as_array().cloned().unwrap_or_default();
        if list.is_empty() {
            output.remark("nothing was deleted");
        }
        for one in &list {
            output.line(line(one))?;
        }
        return Ok(Exit::Ok);
    };
    let one = ids::beginning(&list, typed, "thing that was deleted", "forge recover")?;
    let answer = client.post(&format!("/api/removed/{}/recover", text(&one["id"])), None)?;
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Ok);
    }
    output.line(format!(
        "{} {:?} is back, with {} tasks and {} attempts",
        text(&one["kind"]),
        short(text(&one["name"]), 60),
        answer["tasks"],
        answer["attempts"]
    ))?;
    for note in answer["notes"].as_array().into_iter().flatten() {
        output.line(text(note))?;
    }
    Ok(Exit::Ok)
}

fn line(one: &Value) -> String {
    let id = text(&one["id"]);
    let files = match one["files"].as_str() {
        Some("trash") => "files in the trash, ignored ones too",
        Some("snapshot") => "files in a snapshot",
        Some(_) => "what was committed",
        None => "",
    };
    format!(
        "{}  {:<8}  {}  {}  {files}",
        id.get(..8).unwrap_or(id),
        text(&one["kind"]),
        text(&one["removed_at"]),
        short(text(&one["name"]), 40)
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
