//! SESSION-STATE.md: a view for people, made from what the server knows. What stands between the markers is written
//! anew each time; every other line is the person's and stays.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::Value;

use crate::exit::{Failure, Result};
use crate::output::short;

/// Where the file lies in a checkout.
pub(crate) const FILE: &str = ".genie/SESSION-STATE.md";

/// A part of the file that is Forge's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// The attempts that are at work.
    Sessions,
    /// What commits were linked to, one section for each attempt.
    Links,
}

/// How the sessions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A list: task, attempt, agent, and where to see it
    Seed,
    /// A heading for each, with labelled lines
    Protocol,
}

impl Block {
    fn markers(self) -> (&'static str, &'static str) {
        match self {
            Block::Sessions => (
                "<!-- forge:sessions begin: Generated from Forge API, not authoritative. `forge state` writes this anew. -->",
                "<!-- forge:sessions end -->",
            ),
            Block::Links => (
                "<!-- forge:links begin: Generated from Forge API, not authoritative. `forge link` adds to this. -->",
                "<!-- forge:links end -->",
            ),
        }
    }

    /// Where the block is in a text: its markers included, and what is between them.
    fn find(self, text: &str) -> Result<Option<(std::ops::Range<usize>, std::ops::Range<usize>)>> {
        // The first words tell a marker, so that its explanation may change.
        let (begin, end) = match self {
            Block::Sessions => ("<!-- forge:sessions begin", "<!-- forge:sessions end -->"),
            Block::Links => ("<!-- forge:links begin", "<!-- forge:links end -->"),
        };
        let Some(from) = text.find(begin) else { return Ok(None) };
        let inner = text[from..].find("-->").map(|at| from + at + 3);
        let until = inner.and_then(|inner| text[inner..].find(end).map(|at| inner + at));
        match (inner, until) {
            (Some(inner), Some(until)) => Ok(Some((from..until + end.len(), inner..until))),
            _ => Err(Failure::conflict(format!(
                "{FILE} has `{begin}` without `{end}`; put that back, or remove both"
            ))),
        }
    }
}

/// Returns what a block of a text holds; nothing when the text has no such block.
pub(crate) fn block(text: &str, block: Block) -> Result<String> {
    let found = block.find(text)?;
    Ok(found.map(|(_, inner)| text[inner].trim().to_string()).unwrap_or_default())
}

/// Returns a text with a block written anew, and everything else as it was.
pub(crate) fn with_block(text: &str, block: Block, content: &str) -> Result<String> {
    let (begin, end) = block.markers();
    let whole = format!("{begin}\n\n{}\n\n{end}", content.trim());
    Ok(match block.find(text)? {
        Some((outer, _)) => format!("{}{whole}{}", &text[..outer.start], &text[outer.end..]),
        None if text.trim().is_empty() => format!("# Session state\n\n{whole}\n"),
        None => format!("{}\n\n{whole}\n", text.trim_end()),
    })
}

/// Reads the file of a checkout; empty when there is none. One that is a link is refused: it may lead anywhere.
pub(crate) fn read(top: &Path) -> Result<String> {
    let path = top.join(FILE);
    for part in [top.join(".genie"), path.clone()] {
        if fs::symlink_metadata(&part).is_ok_and(|about| about.is_symlink()) {
            return Err(Failure::conflict(format!(
                "{} is a link, and none is followed here",
                part.display()
            )));
        }
    }
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::conflict(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Writes the file of a checkout, all of it or nothing; says whether it changed.
pub(crate) fn write(top: &Path, text: &str) -> Result<bool> {
    if read(top)? == text {
        return Ok(false);
    }
    let path = top.join(FILE);
    replace(&path, text.as_bytes())
        .map_err(|error| Failure::conflict(format!("{} cannot be written: {error}", path.display())))?;
    Ok(true)
}

/// Replaces a file in one step, with the rights that it had.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = directory.join(format!(".{name}.{}", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        if let Ok(about) = fs::metadata(path) {
            file.set_permissions(about.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        // It is ours, and nobody waits for it.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes the attempts that are at work, oldest first, in one of the two forms. The same attempts give the same text.
pub(crate) fn sessions(form: Form, attempts: &[Value]) -> String {
    let mut active: Vec<&Value> = attempts
        .iter()
        .filter(|attempt| {
            matches!(attempt["state"].as_str(), Some("running" | "waiting" | "queued" | "limited"))
        })
        .collect();
    active.sort_by_key(|attempt| (text(attempt, "created_at"), text(attempt, "id")));
    let mut out = String::from("## Active Sessions\n\n");
    if active.is_empty() {
        out.push_str("No session is active.\n\n");
    }
    for (number, attempt) in active.iter().enumerate() {
        let number = number + 1;
        out.push_str(&match form {
            Form::Seed => seed(number, attempt),
            Form::Protocol => protocol(attempt, &active),
        });
    }
    if form == Form::Seed && !active.is_empty() {
        out.push('\n');
    }
    out.push_str("(Generated from Forge API, not authoritative)");
    out
}

fn seed(number: usize, attempt: &Value) -> String {
    let (id, state, branch) = (text(attempt, "id"), text(attempt, "state"), text(attempt, "branch"));
    format!(
        "- Task #{number}: {id} ({})\n  - Title: {}\n  - Status: {state}\n  - Branch: {branch}\n  - Forge URL: /task-attempts/{id}\n",
        agent(attempt),
        title(attempt)
    )
}

fn protocol(attempt: &Value, all: &[&Value]) -> String {
    let id = text(attempt, "id");
    let state = match text(attempt, "state").as_str() {
        "running" => "active",
        _ => "paused",
    };
    let next = match text(attempt, "state").as_str() {
        "running" => "the agent works",
        "waiting" => "an answer is wanted",
        "queued" => "it starts when there is room",
        _ => "it goes on when a limit is over",
    };
    let parent = |attempt: &Value| attempt["task"]["parent_task_attempt"].as_str().map(str::to_string);
    let children =
        all.iter().filter(|other| parent(other).as_deref() == Some(&id)).map(|other| text(other, "id"));
    let children: Vec<String> = children.collect();
    let children = if children.is_empty() { "none".to_string() } else { children.join(", ") };
    let parent = parent(attempt).map(|parent| format!("**Parent:** {parent}\n")).unwrap_or_default();
    let created = text(attempt, "created_at");
    let started = created.get(..16).map(|start| start.replace('T', " ")).unwrap_or_default();
    let (title, branch) = (title(attempt), text(attempt, "branch"));
    format!(
        "### {} - {title}\n**Session ID:** {id}\n**Started:** {started} UTC\n**Status:** {state}\n{parent}\
         **Children:** {children}\n**Purpose:** {title}\n**Context:** branch {branch}, /task-attempts/{id}\n\
         **Next:** {next}\n\n",
        agent(attempt)
    )
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_string()
}

fn title(attempt: &Value) -> String {
    let title = attempt["task"]["title"].as_str().or(attempt["prompt"].as_str()).unwrap_or_default();
    short(title, 100).replace("-->", "-- >")
}

fn agent(attempt: &Value) -> String {
    let profile = &attempt["executor_profile_id"];
    match (profile["executor"].as_str(), profile["variant"].as_str()) {
        (Some(agent), Some(variant)) => format!("{agent}:{variant}"),
        (Some(agent), None) => agent.to_string(),
        _ => text(attempt, "executor"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn attempts() -> Vec<Value> {
        let attempt = |id: &str, state: &str, at: &str| {
            json!({"id": id, "state": state, "created_at": at, "branch": format!("forge/{id}"),
                "executor_profile_id": {"executor": "SCRIPTED", "variant": "EXPLORE"}, "task": {"title": "A task"}})
        };
        vec![
            attempt("two", "waiting", "2026-01-02T03:04:05Z"),
            attempt("one", "running", "2026-01-01T03:04:05Z"),
            attempt("old", "finished", "2025-01-01T03:04:05Z"),
        ]
    }

    #[test]
    fn both_forms_tell_id_agent_and_page_of_what_is_at_work() {
        let seed = sessions(Form::Seed, &attempts());
        assert!(seed.contains("- Task #1: one (SCRIPTED:EXPLORE)\n"), "{seed}");
        assert!(seed.contains("  - Forge URL: /task-attempts/two\n") && !seed.contains("old"), "{seed}");
        let protocol = sessions(Form::Protocol, &attempts());
        assert!(protocol.contains("### SCRIPTED:EXPLORE - A task\n**Session ID:** one\n"), "{protocol}");
        assert!(protocol.contains("**Started:** 2026-01-02 03:04 UTC\n**Status:** paused\n"), "{protocol}");
    }

    #[test]
    fn what_is_outside_the_markers_is_kept_and_the_same_content_gives_the_same_text() {
        let first = with_block("# Mine\n\nwords\n", Block::Sessions, "one").unwrap();
        let edited = format!("before\n{first}after\n");
        let second = with_block(&edited, Block::Sessions, "two").unwrap();
        assert!(second.starts_with("before\n# Mine\n\nwords\n") && second.ends_with("after\n"), "{second}");
        assert!(second.contains("two") && !second.contains("one"), "{second}");
        assert_eq!(with_block(&second, Block::Sessions, "two").unwrap(), second);
        let both = with_block(&second, Block::Links, "linked").unwrap();
        assert_eq!(block(&both, Block::Sessions).unwrap(), "two");
        assert_eq!(block(&both, Block::Links).unwrap(), "linked");
        assert!(with_block("<!-- forge:links begin -->\n", Block::Links, "x").is_err());
    }
}
