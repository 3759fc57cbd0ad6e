//! `cargo xtask bench`: the numbers that are promised, each beside a floor measured in the same run.

mod against;
mod board;
mod boot;
mod commands;
mod crowd;
mod diffs;
mod entries;
mod history;
mod import;
mod landing;
mod latency;
mod lists;
mod memory;
mod one_line;
mod pool;
mod smoke;
mod snapshot;
mod start;
mod steady;
mod stop;
mod survive;
mod viewers;
mod watchers;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::api::{Api, text};
use crate::binary::{self, Profile};
use crate::wait::{SOON, eventually};

/// Measure what is promised, beside floors measured in the same run
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask bench --check --only latency\n  \
                        cargo xtask bench --against ../older/forge --rounds 5")]
pub(crate) struct Args {
    /// Fail when a limit is exceeded
    #[arg(long)]
    check: bool,
    /// Measure these rows only, separated by commas: start, steady, pool, snapshot, latency, memory, one_line, boot, crowd,
    /// stop, survive, viewers, lists, diffs, landing, entries, board, commands or import
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The forge binary to run; without it, one is built in release (with --smoke, as for tests)
    #[arg(long, value_name = "PATH")]
    forge: Option<PathBuf>,
    /// Only see whether every row can be measured, with little of everything; the figures mean nothing
    #[arg(long, conflicts_with_all = ["check", "against"])]
    smoke: bool,
    /// Compare with an older forge binary, in turns; fails when a median is more than 5 % worse
    #[arg(long, value_name = "PATH", conflicts_with = "check")]
    against: Option<PathBuf>,
    /// How often each binary is measured when two are compared
    #[arg(long, value_name = "N", default_value_t = 5, requires = "against",
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// One measured number.
#[derive(Debug)]
struct Row {
    what: &'static str,
    measured: String,
    floor: String,
    limit: String,
    /// What two binaries are compared by, in milliseconds or megabytes: a median where many were measured. Less is better.
    figure: Option<f64>,
    ok: bool,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// What is promised.
    Whole,
    /// Just enough to see that it can be measured.
    Small,
}

impl Size {
    fn of<T>(self, whole: T, small: T) -> T {
        match self {
            Size::Whole => whole,
            Size::Small => small,
        }
    }
}

/// What measures one or more rows with a binary.
type Measure = fn(&Path, Size) -> anyhow::Result<Vec<Row>>;

const MEASURES: [(&str, Measure); 19] = [
    ("start", start::measure),
    ("steady", steady::measure),
    ("pool", pool::measure),
    ("snapshot", snapshot::measure),
    ("latency", latency::measure),
    ("memory", memory::measure),
    ("one_line", one_line::measure),
    ("boot", boot::measure),
    ("crowd", crowd::measure),
    ("stop", stop::measure),
    ("survive", survive::measure),
    ("viewers", viewers::measure),
    ("lists", lists::measure),
    ("diffs", diffs::measure),
    ("landing", landing::measure),
    ("entries", entries::measure),
    ("board", board::measure),
    ("commands", commands::measure),
    ("import", import::measure),
];

/// Measures; says whether every limit was held, or that it does not matter.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let chosen = chosen(&args.only)?;
    let profile = if args.smoke { Profile::Dev } else { Profile::Release };
    let forge = binary::find(args.forge.as_deref(), profile)?;
    if args.smoke {
        return Ok(smoke::run(&forge, &chosen));
    }
    println!("bench: load {} before", load());
    let held = match &args.against {
        Some(older) => against::run(&binary::find(Some(older), profile)?, &forge, args.rounds, &chosen)?,
        None => measure_all(&forge, &chosen)? || !args.check,
    };
    println!("bench: load {} after", load());
    Ok(held)
}

/// Returns what measures the rows of these names; all without a name.
fn chosen(names: &[String]) -> anyhow::Result<Vec<(&'static str, Measure)>> {
    if let Some(unknown) = names.iter().find(|name| MEASURES.iter().all(|(known, _)| known != name)) {
        let known: Vec<_> = MEASURES.iter().map(|(name, _)| *name).collect();
        bail!("there is no row {unknown:?}; the rows are {}", known.join(", "));
    }
    let is_chosen = |known: &str| names.is_empty() || names.iter().any(|name| name == known);
    Ok(MEASURES.into_iter().filter(|(name, _)| is_chosen(name)).collect())
}

/// Measures each row once and prints them; says whether every limit was held.
fn measure_all(forge: &Path, chosen: &[(&str, Measure)]) -> anyhow::Result<bool> {
    let mut rows = Vec::new();
    for (name, measure) in chosen {
        eprintln!("bench: {name}");
        rows.extend(measure(forge, Size::Whole).with_context(|| format!("could not measure {name}"))?);
    }
    let cells =
        |row: &Row| [row.what.to_string(), row.measured.clone(), row.floor.clone(), row.limit.clone()];
    let lines: Vec<_> = rows.iter().map(|row| (cells(row), row.ok)).collect();
    print(["what", "measured", "floor", "limit"], &lines);
    Ok(rows.iter().all(|row| row.ok))
}

/// Prints a table whose last column says whether a line is as it should be.
fn print(heads: [&str; 4], lines: &[([String; 4], bool)]) {
    let mut widths = heads.map(str::len);
    for (cells, _) in lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 4], last: &str| {
        let padded: Vec<_> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("{}  {last}", padded.join("  "));
    };
    line(&heads.map(str::to_string), "ok");
    for (cells, ok) in lines {
        line(cells, if *ok { "yes" } else { "NO" });
    }
}

/// The load of the machine: who reads the numbers should know.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Durations that were measured, in order.
#[derive(Debug, Default)]
struct Times(Vec<Duration>);

impl Times {
    fn sorted(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the value below which so many percent lie.
    fn percentile(&self, percent: usize) -> Duration {
        let at = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(at).copied().unwrap_or_default()
    }
}

/// Returns a duration as a figure to compare.
fn figure(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Starts a task with a script and returns its attempt's id.
fn start_task(api: &Api, project: &str, title: &str, script: &str) -> anyhow::Result<String> {
    let body = json!({
        "task": {"project_id": project, "title": title, "description": script},
        "executor_profile_id": {"executor": "SCRIPTED"},
        "base_branch": "main",
    });
    text(&api.post("/api/tasks/create-and-start", &body, None)?.data()?, "attempt_id")
}

/// Returns the id of an attempt's latest run.
fn run_of(api: &Api, attempt: &str) -> anyhow::Result<String> {
    let runs = api.list(&format!("/api/execution-processes?task_attempt_id={attempt}"))?;
    text(runs.last().context("an attempt without a run")?, "id")
}

fn until_finished(api: &Api, attempt: &str, within: Duration) -> anyhow::Result<Value> {
    eventually(within, "an attempt to finish", || {
        let found = api.read(&format!("/api/task-attempts/{attempt}"))?;
        Ok((found["status"] != "running").then_some(found))
    })
}

/// Reads the pids of a run's shim and agent.
fn pids(home: &Path, run: &str) -> anyhow::Result<(u32, u32)> {
    let path = home.join("runs").join(run).join("shim.json");
    let record: Value = eventually(SOON, "a shim's record", || {
        Ok(std::fs::read(&path).ok().and_then(|record| serde_json::from_slice(&record).ok()))
    })?;
    let pid = |key: &str| record[key].as_u64().and_then(|pid| u32::try_from(pid).ok());
    Ok((pid("shim_pid").context("no pid of a shim")?, pid("agent_pid").context("no pid of an agent")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_what_was_measured() {
        let times = Times::sorted((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(times.percentile(50), Duration::from_millis(50));
        assert_eq!(times.percentile(99), Duration::from_millis(99));
        assert_eq!(Times::default().percentile(50), Duration::ZERO);
    }
}
