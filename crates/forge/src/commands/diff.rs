//! `forge diff`: what an attempt has changed, as a patch, as counts, or as the API tells it.

use std::io::{self, IsTerminal};

use serde::Deserialize;

use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::unified::{self, FileDiff};
use crate::{autostart, ids};

/// Show what an attempt has changed since it left its target branch
#[derive(Debug, clap::Args)]
#[command(after_help = "Committed or not, every change is in it; what `git apply` reads is printed.\n\n\
                  Example:\n  forge diff 6a0c --stat")]
pub(crate) struct Args {
    /// Print how many lines of each file were added and deleted
    #[arg(long)]
    stat: bool,
    /// The attempt
    id: String,
}

#[derive(Deserialize)]
struct Answer {
    diffs: Vec<FileDiff>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let answer = client.get(&format!("/api/task-attempts/{}/diff?stats_only={}", attempt.id, args.stat))?;
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Ok);
    }
    let answer: Answer = serde_json::from_value(answer)
        .map_err(|error| Failure::away(format!("the server's diff was not understood: {error}")))?;
    if args.stat {
        return stat(output, &answer.diffs);
    }
    // A program gets every byte; a terminal nothing that could steer it.
    let is_seen = io::stdout().is_terminal();
    for diff in &answer.diffs {
        let text = unified::patch(diff);
        output.write(if is_seen { printable(&text) } else { text }.as_bytes())?;
    }
    Ok(Exit::Ok)
}

fn stat(output: &Output, diffs: &[FileDiff]) -> Result<Exit> {
    let names: Vec<String> = diffs.iter().map(|diff| printable(&diff.name()).replace('\n', " ")).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let (mut additions, mut deletions) = (0, 0);
    for (diff, name) in diffs.iter().zip(&names) {
        let told = match (diff.additions, diff.deletions) {
            (Some(added), Some(deleted)) => {
                additions += added;
                deletions += deleted;
                format!("+{added} -{deleted}")
            }
            _ => "not counted".to_string(),
        };
        output.line(format_args!("{name:<width$}  {:<16}  {told}", diff.change))?;
    }
    let files = if diffs.len() == 1 { "file" } else { "files" };
    output.line(format_args!("{} {files}, {additions} lines added, {deletions} deleted", diffs.len()))?;
    Ok(Exit::Ok)
}
