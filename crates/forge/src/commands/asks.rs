//! `forge asks`: what agents ask, and who answered what.

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, marked, printable, short};
use crate::wire::{self, Ask, short_id};
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
        output.value(&asks.into())?;
        return Ok(Exit::Ok);
    }
    if asks.is_empty() {
        output.remark(match args.all {
            true => "no agent has asked anything",
            false => "no agent waits for an answer; `forge asks --all` shows those that were answered",
        });
    }
    for value in asks {
        let text = |key: &str| printable(value[key].as_str().unwrap_or_default());
        let ask: Ask = wire::read(value)?;
        let by = match text("answered_by") {
            by if by.is_empty() => String::new(),
            by => format!(" by {by}"),
        };
        let said = match text("answer") {
            said if said.is_empty() => String::new(),
            said => format!(": {}", short(&said, 80)),
        };
        let named = match ask.kind.as_str() {
            "permission" => String::new(),
            _ => format!("{}: ", marked(&ask.tool_name)),
        };
        output.line(format_args!(
            "{}  {}  {:<9}  {}  {named}{}{by}{said}",
            text("requested_at"),
            short_id(&ask.task_attempt_id),
            text("state"),
            ask.short(),
            ask.line(),
        ))?;
        // What is still to be decided is shown whole.
        if text("state") == "open" {
            output.write(ask.whole().as_bytes())?;
        }
    }
    Ok(Exit::Ok)
}
