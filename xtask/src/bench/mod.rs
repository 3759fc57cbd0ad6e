//! `cargo xtask bench`: the numbers that are promised, each beside a floor measured in the same run.

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
mod pool;
mod snapshot;
mod start;
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
#[command(after_help = "Example:\n  cargo xtask bench --check --only latency")]
pub(crate) struct Args {
    /// Fail when a limit is exceeded
    #[arg(long)]
    check: bool,
    /// Measure one row only: start, pool, snapshot, latency, memory, boot, crowd, stop, survive, viewers,
    /// lists, diffs, landing, entries, board, commands or import
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// The forge binary to run; without it, one is built in release
    #[arg(long, value_name = "PATH")]
    forge: Option<PathBuf>,
}

/// One measured number.
#[derive(Debug)]
struct Row {
    what: &'static str,
    measured: String,
    floor: String,
    limit: String,
    ok: bool,
}

/// What measures one or more rows with a binary.
type Measure = fn(&Path) -> anyhow::Result<Vec<Row>>;

const MEASURES: [(&str, Measure); 17] = [
    ("start", start::measure),
    ("pool", pool::measure),
    ("snapshot", snapshot::measure),
    ("latency", latency::measure),
    ("memory", memory::measure),
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
    let chosen: Vec<_> =
        MEASURES.iter().filter(|(name, _)| args.only.as_deref().is_none_or(|only| only == *name)).collect();
    if chosen.is_empty() {
        let names: Vec<_> = MEASURES.iter().map(|(name, _)| *name).collect();
        bail!("there is no row of that name; the rows are {}", names.join(", "));
    }
    let forge = binary::find(args.forge.as_deref(), Profile::Release)?;
    println!("bench: load {} before", load());
    let mut rows = Vec::new();
    for (name, measure) in chosen {
        eprintln!("bench: {name}");
        rows.extend(measure(&forge).with_context(|| format!("could not measure {name}"))?);
    }
    print(&rows);
    println!("bench: load {} after", load());
    Ok(!args.check || rows.iter().all(|row| row.ok))
}

fn print(rows: &[Row]) {
    let heads = ["what", "measured", "floor", "limit"];
    let cells =
        |row: &Row| [row.what.to_string(), row.measured.clone(), row.floor.clone(), row.limit.clone()];
    let mut widths = heads.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(cells(row)) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [String; 4], last: &str| {
        let padded: Vec<_> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("{}  {last}", padded.join("  "));
    };
    line(heads.map(str::to_string), "ok");
    for row in rows {
        line(cells(row), if row.ok { "yes" } else { "NO" });
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
