//! `forge state`: writes SESSION-STATE.md from what the server knows, checks it, or merges two of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::Globals;
use crate::commands::list::project_here;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::session_state::{self, Block, FILE, Form};
use crate::{autostart, linking, repository};

/// Write SESSION-STATE.md: the attempts at work in this repository, for people to read
#[derive(Debug, clap::Args)]
#[command(after_help = "What stands outside the markers in the file stays. It is not staged.\n\n\
                  Example:\n  forge state --print")]
pub(crate) struct Args {
    /// How to write it
    #[arg(long, value_enum, default_value = "seed")]
    form: Form,
    /// Print what would be written, and write nothing
    #[arg(long, conflicts_with_all = ["check", "merge"])]
    print: bool,
    /// Write nothing; the exit code is 4 when the file is not what would be written
    #[arg(long, conflicts_with = "merge")]
    check: bool,
    /// Merge two versions of the file as git's merge driver does, into the second; what stands between the markers is
    /// made anew
    #[arg(long, num_args = 3, value_names = ["BASE", "OURS", "THEIRS"])]
    merge: Option<Vec<PathBuf>>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let here = repository::find(Path::new("."))?;
    if let Some([base, ours, theirs]) = args.merge.as_deref() {
        return merge(globals, output, args.form, &here, [base, ours, theirs]);
    }
    let before = session_state::read(&here.top)?;
    let sessions = sessions(globals, output, args.form, &here)?;
    let after = session_state::with_block(&before, Block::Sessions, &sessions)?;
    if args.print {
        output.write(after.as_bytes())?;
        return Ok(Exit::Ok);
    }
    if args.check {
        return match before == after {
            true => Ok(Exit::Ok),
            false => Err(Failure::conflict(format!("{FILE} is not up to date; write it with `forge state`"))),
        };
    }
    output.remark(match session_state::write(&here.top, &after)? {
        true => format!("wrote {FILE}"),
        false => format!("{FILE} is up to date"),
    });
    Ok(Exit::Ok)
}

/// Makes the part of the file that tells of the attempts at work.
fn sessions(globals: &Globals, output: &Output, form: Form, here: &repository::Repository) -> Result<String> {
    let client = autostart::connect(globals, output)?;
    let project = project_here(&client, here)?.ok_or_else(|| {
        Failure::not_found(format!("{} is no project yet; `forge run` makes it one", here.top.display()))
    })?;
    let attempts = client.get("/api/task-attempts")?;
    let own = attempts.as_array().into_iter().flatten().filter(|attempt| attempt["project_id"] == project);
    let own: Vec<Value> = own.cloned().collect();
    Ok(session_state::sessions(form, &own))
}

/// Merges two versions of the file: the lines outside the markers as git does, the links of both, and the sessions
/// as they are now. Where the server is away, the sessions of ours stay: the next `forge state` corrects them.
fn merge(
    globals: &Globals,
    output: &Output,
    form: Form,
    here: &repository::Repository,
    versions: [&PathBuf; 3],
) -> Result<Exit> {
    let mut texts = Vec::new();
    for path in versions {
        let text = fs::read_to_string(path);
        texts.push(
            text.map_err(|error| Failure::invalid(format!("{} cannot be read: {error}", path.display())))?,
        );
    }
    let [base, ours, theirs] = &texts[..] else { return Err(Failure::invalid("three versions are merged")) };
    let links = linking::merged(
        &session_state::block(ours, Block::Links)?,
        &session_state::block(theirs, Block::Links)?,
    );
    let sessions = match sessions(globals, output, form, here) {
        Ok(sessions) => sessions,
        Err(_) => session_state::block(ours, Block::Sessions)?,
    };
    // What Forge makes is the same in all three while the rest is merged, so it is in nobody's way.
    for (path, text) in versions.iter().zip([base, ours, theirs]) {
        let text = settled(text, &sessions, &links)?;
        session_state::replace(path, text.as_bytes())
            .map_err(|error| Failure::invalid(format!("{} cannot be written: {error}", path.display())))?;
    }
    let [base, ours, theirs] = versions;
    let merged = Command::new("git")
        .args(["merge-file", "-L", "ours", "-L", "base", "-L", "theirs"])
        .args([ours, base, theirs])
        .status();
    let status = merged.map_err(|error| Failure::away(format!("git could not be called: {error}")))?;
    match status.code() {
        Some(0) => Ok(Exit::Ok),
        Some(_) => Err(Failure::conflict(format!("{FILE} has conflicts outside its markers"))),
        None => Err(Failure::away("git merge-file did not end")),
    }
}

fn settled(text: &str, sessions: &str, links: &str) -> Result<String> {
    let mut text = text.to_string();
    if !sessions.is_empty() {
        text = session_state::with_block(&text, Block::Sessions, sessions)?;
    }
    if !links.is_empty() {
        text = session_state::with_block(&text, Block::Links, links)?;
    }
    Ok(text)
}
