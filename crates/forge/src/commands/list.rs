//! `forge list`: every attempt, newest first.

use crate::autostart;
use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, printable, short};
use crate::wire::{self, Attempt};

/// List all attempts, newest first
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example:\n  forge list --running")]
pub(crate) struct Args {
    /// List only attempts with a running agent
    #[arg(long)]
    running: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let mut attempts = Vec::new();
    for value in client.get("/api/task-attempts")?.as_array().into_iter().flatten() {
        let attempt: Attempt = wire::read(value)?;
        if attempt.is_live() || !args.running {
            attempts.push((attempt, value.clone()));
        }
    }
    if output.json {
        output.value(&attempts.into_iter().map(|(_, value)| value).collect())?;
        return Ok(Exit::Ok);
    }
    if attempts.is_empty() {
        output.remark(match args.running {
            true => "no agent runs; `forge list` shows all attempts",
            false => "there is no attempt yet; begin one with `forge run \"PROMPT\"`",
        });
        return Ok(Exit::Ok);
    }
    for (attempt, _) in &attempts {
        output.line(line(attempt))?;
    }
    Ok(Exit::Ok)
}

fn line(attempt: &Attempt) -> String {
    let state = match (attempt.open_asks, attempt.queue_place) {
        (0, Some(place)) if attempt.state == "queued" => format!("queued {place}"),
        (0, _) if attempt.stalled.is_some() => "stalled".to_string(),
        (0, _) => attempt.state.clone(),
        _ => "asks".to_string(),
    };
    let more = match (&attempt.stalled, &attempt.limited_until) {
        (Some(stalled), _) => format!("  ({})", printable(stalled)),
        (None, Some(until)) => format!("  (until {})", printable(until)),
        (None, None) => String::new(),
    };
    format!(
        "{}  {state:<8}  {:<12}  {:<28}  {}{more}",
        attempt.short(),
        attempt.executor,
        attempt.branch,
        short(attempt.title(), 60)
    )
}
