//! `forge asks`: what agents ask, and who answered what.

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, printable, short};
use crate::wire::short_id;
use crate::{autostart, ids};

/// Show what agents ask, and who answered what
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge asks --all 6a0c2f1e")]
pub(crate) struct Args {
    /// Show those that were answered, cancelled or expired as well
    #[arg(long)]
    all: bool,
    /// Show those of this attempt only
    id: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let mut path = "/api/approvals?".to_string();
    if !args.all {
        path.push_str("state=open&");
    }
    if let Some(typed) = &args.id {
        path.push_str(&format!("task_attempt_id={}", ids::attempt(&client, typed)?.id));
    }
    let asks = client.get(&path)?;
    let asks = asks.as_array().map_or(&[][..], Vec::as_slice);
    if output.json {
        for ask in asks {
            output.value(ask)?;
        }
        return Ok(Exit::Ok);
    }
    if asks.is_empty() {
        output.remark(match args.all {
            true => "no agent has asked anything",
            false => "no agent waits for an answer; `forge asks --all` shows those that were answered",
        });
    }
    for ask in asks {
        let text = |key: &str| printable(ask[key].as_str().unwrap_or_default());
        let by = match text("answered_by") {
            by if by.is_empty() => String::new(),
            by => format!(" by {by}"),
        };
        let said = match text("answer") {
            said if said.is_empty() => String::new(),
            said => format!(": {}", short(&said, 80)),
        };
        output.line(format_args!(
            "{}  {}  {:<9}  {}: {}{by}{said}",
            text("requested_at"),
            short_id(&text("task_attempt_id")),
            text("state"),
            text("tool_name"),
            short(&text("text"), 80),
        ))?;
    }
    Ok(Exit::Ok)
}
