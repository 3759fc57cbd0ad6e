//! `forge queue`: what waits for the end of an attempt's turn, and changing it.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable, short};
use crate::{autostart, ids, prompt};

/// Show and change what an attempt's agent is told next
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge queue 6a0c2f1e\n  forge queue 6a0c2f1e move 3 1\n  \
                  forge queue 6a0c2f1e edit 1 \"Add a test first\"\n  forge queue 6a0c2f1e remove 2")]
pub(crate) struct Args {
    /// The attempt
    id: String,
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show what waits, first what is told first
    List,
    /// Change the text of what waits at a place, counted from 1
    Edit {
        place: usize,
        /// The new text; `-` reads it from standard input
        text: String,
    },
    /// Move what waits at a place to another
    Move { from: usize, to: usize },
    /// Take back what waits at a place
    Remove { place: usize },
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let path = format!("/api/task-attempts/{}/queue", attempt.id);
    let waiting = client.get(&path)?;
    let items = waiting.as_array().map_or(&[][..], Vec::as_slice);
    let queue = match &args.act {
        None | Some(Act::List) => waiting.clone(),
        Some(Act::Edit { place, text }) => {
            let text = prompt::read(text)?;
            client.put(&format!("{path}/{}", at(items, *place)?), &json!({"prompt": text}))?
        }
        Some(Act::Move { from, to }) => {
            let position = to.saturating_sub(1);
            client.put(&format!("{path}/{}", at(items, *from)?), &json!({"position": position}))?
        }
        Some(Act::Remove { place }) => client.delete(&format!("{path}/{}", at(items, *place)?))?,
    };
    if output.json {
        output.value(&queue)?;
        return Ok(Exit::Ok);
    }
    let items = queue.as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        output.remark(format_args!("nothing waits for {}", attempt.short()));
    }
    for (at, item) in items.iter().enumerate() {
        let text = printable(item["prompt"].as_str().unwrap_or_default());
        let sending = if item["state"] == "sending" { " (being sent)" } else { "" };
        output.line(format_args!("{:>3}  {}{sending}", at + 1, short(&text, 100)))?;
    }
    Ok(Exit::Ok)
}

/// Returns the id of what waits at a place, counted from 1.
fn at(items: &[Value], place: usize) -> Result<&str> {
    let item = place.checked_sub(1).and_then(|at| items.get(at)).and_then(|item| item["id"].as_str());
    item.ok_or_else(|| Failure::not_found(format!("nothing waits at place {place}; leave it out to see all")))
}
