//! `forge gc`: moves worktrees that have had their time to the trash, and deletes old logs.

use serde_json::{Value, json};

use crate::autostart;
use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Move worktrees that have had their time to the trash, and delete old logs; branches stay
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge gc --dry-run")]
pub(crate) struct Args {
    /// Only say what would go, and why
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let cleaned = client.post("/api/gc", Some(&json!({"dry_run": args.dry_run})))?;
    if output.json {
        output.value(&cleaned)?;
        return Ok(Exit::Ok);
    }
    let list = |name: &str| cleaned.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let swept = list("swept");
    for one in &swept {
        let size = one.get("bytes").and_then(Value::as_u64).map_or(String::new(), in_words);
        output.line(format_args!(
            "{:<8}  {size:>9}  {}: {}",
            text(one, "what"),
            text(one, "path"),
            text(one, "reason")
        ))?;
    }
    for one in list("left") {
        output.remark(format_args!("{} stays: {}", text(&one, "path"), text(&one, "why")));
    }
    if swept.is_empty() {
        output.remark("nothing has had its time");
    } else if args.dry_run {
        output.remark("nothing was changed; without --dry-run worktrees go to the trash for a week, and logs are deleted");
    }
    Ok(Exit::Ok)
}

/// Writes a size the way people read one.
pub(crate) fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}
