//! How long a server with much history takes until it answers.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rusqlite::Connection;

use super::{Row, Times, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::{Birth, Server};
use crate::wait::SOON;
use crate::world::World;

const ATTEMPTS: u32 = 10_000;
const TIMES: usize = 9;
const LIMIT: Duration = Duration::from_millis(200);

/// Makes more of a history out of one finished attempt, all of it by copying what the server wrote.
const MULTIPLY: &str = "
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?1)
insert into copies select n, lower(hex(randomblob(16))), lower(hex(randomblob(16))), lower(hex(randomblob(16)))
from numbers;
";

pub(super) fn measure(forge: &Path) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::new(world.port);
    let project = world.project(&api)?;
    let attempt = start_task(&api, &project, "history", "say hello\nedit a.txt b")?;
    until_finished(&api, &attempt, SOON)?;
    server.kill()?;
    fill(&world)?;
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let begun = Instant::now();
        let status = world.command(forge).arg("--version").stdout(Stdio::null()).status();
        floors.push(begun.elapsed());
        anyhow::ensure!(status.context("could not run forge")?.success(), "forge --version failed");
        let mut server = Server::start(&world, None)?;
        match server.until_healthy(&api)? {
            Birth::Healthy(after) => times.push(after),
            Birth::Killed => bail!("the server did not stay"),
        }
        let found = api.list("/api/task-attempts")?.len();
        anyhow::ensure!(found > ATTEMPTS as usize, "only {found} attempts are there");
        server.kill()?;
    }
    let (times, floors) = (Times::sorted(times), Times::sorted(floors));
    let time = times.percentile(50);
    Ok(vec![Row {
        what: "until healthy, 10,000 attempts stored",
        measured: format!("{} (worst {})", milliseconds(time), milliseconds(times.percentile(100))),
        floor: format!("{} forge --version", milliseconds(floors.percentile(50))),
        limit: milliseconds(LIMIT),
        ok: time <= LIMIT,
    }])
}

/// Copies the one attempt of a database, with its task, run and snapshot, ten thousand times.
fn fill(world: &World) -> anyhow::Result<()> {
    let path = world.home().join("forge.db");
    let mut database =
        Connection::open(&path).with_context(|| format!("could not open {}", path.display()))?;
    let copying = database.transaction()?;
    copying.execute_batch("create temp table copies (n integer, task text, attempt text, run text);")?;
    copying.execute(MULTIPLY, [ATTEMPTS])?;
    for (table, changed) in [
        ("tasks", &[("id", "task")][..]),
        ("attempts", &[("id", "attempt"), ("task_id", "task")]),
        ("runs", &[("id", "run"), ("attempt_id", "attempt")]),
        ("snapshots", &[("attempt_id", "attempt"), ("run_id", "run")]),
    ] {
        let columns: Vec<String> = copying
            .prepare(&format!("select name from pragma_table_info('{table}')"))?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let values: Vec<String> = columns
            .iter()
            .map(|column| match changed.iter().find(|(name, _)| name == column) {
                Some((_, id)) => uuid(id),
                None if column == "branch" || column == "worktree" => format!("o.{column} || '-' || c.n"),
                None => format!("o.{column}"),
            })
            .collect();
        let (columns, values) = (columns.join(", "), values.join(", "));
        let original = format!("(select * from {table} limit 1)");
        copying.execute(
            &format!("insert into {table} ({columns}) select {values} from {original} o, copies c"),
            [],
        )?;
    }
    copying.commit().context("could not fill the database")
}

/// Writes 32 hex digits as an id is written.
fn uuid(column: &str) -> String {
    let part = |from: u32, length: u32| format!("substr(c.{column}, {from}, {length})");
    // Version 4, variant 8: the digits that make it an id of the kind the server reads.
    format!(
        "{} || '-' || {} || '-4' || {} || '-8' || {} || '-' || {}",
        part(1, 8),
        part(9, 4),
        part(14, 3),
        part(18, 3),
        part(21, 12)
    )
}
