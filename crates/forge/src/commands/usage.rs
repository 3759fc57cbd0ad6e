//! `forge usage`: the tokens and the money that agents used.

use clap::ValueEnum;
use serde_json::Value;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::wire::short_id;
use crate::{autostart, ids};

/// Show the tokens and the money that agents used
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge usage --by agent\n  forge usage 6a0c2f1e --by turn")]
pub(crate) struct Args {
    /// Sum up by this
    #[arg(long, value_name = "KEY", default_value = "day")]
    by: By,
    /// Count this attempt only
    id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Agent,
    Project,
    Task,
    Attempt,
    Turn,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let by = match args.by {
        By::Day => "day",
        By::Agent => "agent",
        By::Project => "project",
        By::Task => "task",
        By::Attempt => "attempt",
        By::Turn => "turn",
    };
    let mut path = format!("/api/usage?by={by}");
    if let Some(typed) = &args.id {
        path.push_str(&format!("&task_attempt_id={}", ids::attempt(&client, typed)?.id));
    }
    let sums = client.get(&path)?;
    let sums = sums.as_array().map_or(&[][..], Vec::as_slice);
    if output.json {
        output.value(&sums.into())?;
        return Ok(Exit::Ok);
    }
    if sums.is_empty() {
        output.remark("no agent has told what it used");
        return Ok(Exit::Ok);
    }
    let head = ("turns", "input", "output", "cache write", "cache read", "cost");
    output.line(row(by, head.0, head.1, head.2, head.3, head.4, head.5))?;
    for sum in sums {
        let key = sum["key"].as_str().unwrap_or_default();
        let key = match args.by {
            By::Day | By::Agent => key.to_string(),
            By::Turn => {
                key.split_once('#').map_or(key.to_string(), |(run, n)| format!("{}#{n}", short_id(run)))
            }
            By::Project | By::Task | By::Attempt => short_id(key).to_string(),
        };
        let told = |name: &str| number(&sum[name]);
        output.line(row(
            &key,
            &told("turns"),
            &told("input_tokens"),
            &told("output_tokens"),
            &told("cache_creation_tokens"),
            &told("cache_read_tokens"),
            &money(&sum["cost_micros"]),
        ))?;
    }
    Ok(Exit::Ok)
}

fn row(key: &str, turns: &str, input: &str, out: &str, write: &str, read: &str, cost: &str) -> String {
    format!("{key:<12}  {turns:>6}  {input:>12}  {out:>10}  {write:>12}  {read:>12}  {cost:>10}")
}

/// What an agent does not tell is shown as not told, and never as nothing.
fn number(value: &Value) -> String {
    value.as_i64().map_or_else(|| "-".to_string(), |number| number.to_string())
}

fn money(micros: &Value) -> String {
    micros.as_i64().map_or_else(
        || "-".to_string(),
        |micros| {
            let cents = (micros + if micros < 0 { -50 } else { 50 }) / 100;
            format!("${}.{:04}", cents / 10_000, (cents % 10_000).abs())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn money_is_shown_to_a_hundredth_of_a_cent() {
        assert_eq!(money(&json!(1_234_567)), "$1.2346");
        assert_eq!(money(&json!(0)), "$0.0000");
        assert_eq!(money(&json!(null)), "-");
    }
}
