//! `forge import`: moves in from another product, and says what came and what did not.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::gc::in_words;
use crate::autostart;
use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};

/// How often a person is told how far it is.
const TELL: Duration = Duration::from_secs(2);

/// Import projects, tasks, attempts and their logs from another product
///
/// What is there is only read, from a copy. Importing again brings over what is new, leaves alone what was edited
/// here, and doubles nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge import vibe-kanban --dry-run")]
pub(crate) struct Args {
    /// Whose data to import
    #[arg(value_name = "FROM", value_parser = ["automagik-forge", "vibe-kanban"])]
    from: String,
    /// Its data directory, its database or a home directory [default: where it has its data]
    path: Option<PathBuf>,
    /// Look for its images in this directory first
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Only say what would come
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let body = json!({
        "source": args.from,
        "path": args.path.as_deref().map(absolute).transpose()?,
        "images": args.images.as_deref().map(absolute).transpose()?,
        "dry_run": args.dry_run,
    });
    let (told, answer) = channel();
    let caller = client.clone();
    std::thread::spawn(move || {
        // Nobody listens when this process is ending anyway.
        let _ = told.send(caller.post("/api/import", Some(&body)));
    });
    let report = loop {
        match answer.recv_timeout(TELL) {
            Ok(report) => break report?,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(far) = client.get("/api/import").ok().as_ref().and_then(far) {
                    output.remark(far);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(client.is_away()),
        }
    };
    if output.json {
        output.value(&report)?;
    } else {
        print(output, &report)?;
    }
    Ok(Exit::Ok)
}

/// The server may have another working directory.
fn absolute(path: &std::path::Path) -> Result<String> {
    let whole = std::path::absolute(path)
        .map_err(|error| Failure::invalid(format!("{} is no path: {error}", path.display())))?;
    Ok(whole.to_string_lossy().into_owned())
}

fn far(progress: &Value) -> Option<String> {
    let (done, total) = (progress["done"].as_u64()?, progress["total"].as_u64()?);
    (total > 0).then(|| format!("{done} of {total} tasks"))
}

fn print(output: &Output, report: &Value) -> Result<()> {
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    output.line(format_args!("{} in {}", text(&report["source"]), text(&report["database"])))?;
    for thing in list("things") {
        let number = |name: &str| thing[name].as_u64().unwrap_or(0);
        let parts = [
            ("new", number("added")),
            ("updated", number("updated")),
            ("unchanged", number("unchanged")),
            ("kept as edited here", number("kept")),
            ("removed here", number("removed_here")),
            ("left out", number("skipped")),
        ];
        let parts =
            parts.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        output.line(format_args!("{:>7} {:<16} {parts}", number("found"), text(&thing["kind"])))?;
    }
    let (written, bytes) = (report["logs"]["written"].as_u64(), report["logs"]["bytes"].as_u64());
    if let (Some(written @ 1..), Some(bytes)) = (written, bytes) {
        output.line(format_args!("{written:>7} {:<16} {}", "logs", in_words(bytes)))?;
    }
    for note in list("notes") {
        output.line(format_args!("- {}", text(&note)))?;
    }
    if report["dry_run"] == true {
        output.remark("nothing was written; without --dry-run this comes over");
    }
    Ok(())
}
