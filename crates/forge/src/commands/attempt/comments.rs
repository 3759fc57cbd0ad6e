//! Review comments on an attempt's diff, and sending them to its agent.

use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::landing::at;
use super::start::waited;
use crate::client::Client;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::ids;
use crate::output::Output;
use crate::table::{Table, items, number, text};
use crate::wire::short_id;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List them, oldest first
    List {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Write one beside a line
    Add {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// The file and the line, as PATH:LINE or PATH:FIRST-LAST
        place: String,
        text: String,
        /// Count lines in the old file instead of the new one
        #[arg(long, value_enum, default_value = "new")]
        side: Side,
    },
    /// Change what one says
    Edit {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        comment: String,
        text: String,
    },
    /// Delete one
    Delete {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        comment: String,
    },
    /// Send those that were not sent yet to the agent
    Send {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Wait until it comes to rest; the exit code says how
        #[arg(long)]
        wait: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Side {
    Old,
    New,
}

pub(super) fn run(client: &mut Client, output: &Output, args: &Args) -> Result<Exit> {
    match &args.act {
        Act::List { id } => list(output, &client.get(&at(&ids::attempt(client, id)?, "comments"))?),
        Act::Add { id, place, text: words, side } => {
            let attempt = ids::attempt(client, id)?;
            let (path, first, last) = lines(place)?;
            let side = match side {
                Side::Old => "old",
                Side::New => "new",
            };
            let body = json!({"path": path, "line": first, "end_line": last, "side": side, "text": words});
            let made = client.post(&at(&attempt, "comments"), Some(&body))?;
            told(output, &made, &format!("comment {} waits to be sent", short_id(text(&made, "id"))))
        }
        Act::Edit { id, comment, text: words } => {
            let (path, _) = one(client, id, comment)?;
            told(output, &client.put(&path, &json!({"text": words}))?, "it is changed")
        }
        Act::Delete { id, comment } => {
            let (path, _) = one(client, id, comment)?;
            told(output, &client.delete(&path)?, "it is deleted")
        }
        Act::Send { id, wait } => send(client, output, id, *wait),
    }
}

fn list(output: &Output, comments: &Value) -> Result<Exit> {
    if output.json {
        output.value(comments)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["COMMENT", "SENT", "PLACE", "TEXT"]);
    for comment in items(comments) {
        let place = format!("{}:{}", text(comment, "path"), number(comment, "line"));
        let sent = if comment["sent_at"].is_null() { "no" } else { "yes" };
        table.row([short_id(text(comment, "id")), sent, &place, text(comment, "text")]);
    }
    if table.is_empty() {
        output.remark("there are no comments");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

/// Finds a comment of an attempt, and its path.
fn one(client: &Client, attempt: &str, typed: &str) -> Result<(String, Value)> {
    let path = at(&ids::attempt(client, attempt)?, "comments");
    let comments = client.get(&path)?;
    let found = ids::beginning(&comments, typed, "comment", "forge attempt comments list")?;
    Ok((format!("{path}/{}", text(found, "id")), found.clone()))
}

/// Tells the agent all comments that wait, and notes that it was told.
fn send(client: &mut Client, output: &Output, typed: &str, wait: bool) -> Result<Exit> {
    let attempt = ids::attempt(client, typed)?;
    let comments = client.get(&at(&attempt, "comments"))?;
    let waiting: Vec<&Value> = items(&comments).iter().filter(|one| one["sent_at"].is_null()).collect();
    if waiting.is_empty() {
        return Err(Failure::conflict(format!("no comment on {} waits to be sent", attempt.short())));
    }
    let mut words = String::from("Review comments:\n");
    for comment in &waiting {
        words.push_str(&format!("\n{}:{}", text(comment, "path"), number(comment, "line")));
        words.push_str(if text(comment, "side") == "old" { " (before the change)\n" } else { "\n" });
        for line in text(comment, "quote").lines() {
            words.push_str(&format!("> {line}\n"));
        }
        words.push_str(&format!("{}\n", text(comment, "text")));
    }
    client.post_once(&at(&attempt, "follow-up"), &json!({"prompt": words}))?;
    let mut body = Map::new();
    body.insert("ids".into(), waiting.iter().map(|one| one["id"].clone()).collect());
    let sent = client.post(&at(&attempt, "comments/sent"), Some(&Value::Object(body)))?;
    if wait {
        return waited(client, output, &attempt.id);
    }
    let count = waiting.len();
    told(output, &sent, &format!("{count} sent; see it with `forge logs -f {}`", attempt.short()))
}

/// Reads a place: the file, the first line and the last.
fn lines(place: &str) -> Result<(&str, u32, u32)> {
    let read = || {
        let (path, lines) = place.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((path, first.parse().ok()?, last.parse().ok()?))
    };
    read().filter(|(path, ..)| !path.is_empty()).ok_or_else(|| {
        Failure::invalid(format!(
            "{place:?} is no place; write PATH:LINE or PATH:FIRST-LAST, as in src/main.rs:12"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_and_lines() {
        assert_eq!(lines("src/a:b.rs:12-14").unwrap(), ("src/a:b.rs", 12, 14));
        assert_eq!(lines("a:3").unwrap(), ("a", 3, 3));
        assert!(lines("a").is_err() && lines("a:x").is_err() && lines(":3").is_err());
    }
}
