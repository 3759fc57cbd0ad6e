//! `forge findings`: what changed outside an attempt's worktree while it was at work, and putting it back.

use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::wire::short_id;
use crate::{autostart, ids};

/// Show what changed outside an attempt's worktree while it was at work, and put it back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge findings 6a0c2f1e --restore 91d2c4aa")]
pub(crate) struct Args {
    /// The attempt
    id: String,
    /// Put this back to what it was before the turn
    #[arg(long, value_name = "FINDING", conflicts_with = "dismiss")]
    restore: Option<String>,
    /// Leave this as it is, and show it no longer as open
    #[arg(long, value_name = "FINDING")]
    dismiss: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let path = format!("/api/task-attempts/{}/findings", attempt.id);
    let findings = client.get(&path)?;
    let findings = findings.as_array().cloned().unwrap_or_default();
    let act = match (&args.restore, &args.dismiss) {
        (Some(typed), _) => Some((typed, "restore")),
        (None, Some(typed)) => Some((typed, "dismiss")),
        (None, None) => None,
    };
    let shown = match act {
        Some((typed, verb)) => {
            let id = pick(&findings, typed)?;
            vec![client.post(&format!("{path}/{id}/{verb}"), None)?]
        }
        None => findings,
    };
    if output.json {
        // One that was acted on is itself the answer.
        match (&shown[..], act) {
            ([finding], Some(_)) => output.value(finding)?,
            _ => output.value(&shown.into())?,
        }
        return Ok(Exit::Ok);
    }
    if shown.is_empty() {
        output.line(format_args!("nothing was found outside the worktree of {}", attempt.short()))?;
    }
    for finding in &shown {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let fixed = if text("state") == "seen" && finding["can_restore"] == false {
            ", cannot be put back"
        } else {
            ""
        };
        output.line(format_args!("{}  {}{fixed}: {}", short_id(text("id")), text("state"), text("text")))?;
    }
    Ok(Exit::Ok)
}

/// Finds the finding that is meant.
fn pick(findings: &[Value], typed: &str) -> Result<String> {
    let digits = ids::digits(typed)?;
    let ids = findings.iter().filter_map(|finding| finding["id"].as_str());
    let fitting: Vec<&str> = ids.filter(|id| ids::fits(id, &digits)).collect();
    match fitting[..] {
        [only] => Ok(only.to_string()),
        [] => Err(Failure::not_found(format!(
            "there is no finding {typed}; leave the option out to see them all"
        ))),
        _ => Err(Failure::invalid(format!("{typed} fits {} findings; give more digits", fitting.len()))),
    }
}
