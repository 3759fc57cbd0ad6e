//! Much history out of little: copies of one finished attempt, made in the database while no server has it.

use anyhow::Context;
use rusqlite::Connection;

use crate::world::World;

/// Draws the ids of the copies.
const NUMBER: &str = "
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?1)
insert into copies select n, lower(hex(randomblob(16))), lower(hex(randomblob(16))), lower(hex(randomblob(16)))
from numbers;
";

/// Adds so many tasks, and an attempt with a run to so many of them, all of it by copying what the server wrote.
pub(super) fn multiply(world: &World, tasks: u32, attempts: u32) -> anyhow::Result<()> {
    let path = world.home().join("forge.db");
    let mut database =
        Connection::open(&path).with_context(|| format!("could not open {}", path.display()))?;
    let copying = database.transaction()?;
    copying.execute_batch("create temp table copies (n integer, task text, attempt text, run text);")?;
    copying.execute(NUMBER, [tasks.max(attempts)])?;
    for (table, count, changed) in [
        ("tasks", tasks, &[("id", "task")][..]),
        ("attempts", attempts, &[("id", "attempt"), ("task_id", "task")]),
        ("runs", attempts, &[("id", "run"), ("attempt_id", "attempt")]),
        ("snapshots", attempts, &[("attempt_id", "attempt"), ("run_id", "run")]),
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
                // Each was made a second before the next, or an order by time would have nothing to do.
                None if column == "created_at" => format!("o.{column} - 1000 * c.n"),
                None => format!("o.{column}"),
            })
            .collect();
        let (columns, values) = (columns.join(", "), values.join(", "));
        let original = format!("(select * from {table} limit 1)");
        let copy = format!(
            "insert into {table} ({columns}) select {values} from {original} o, copies c where c.n <= ?1"
        );
        copying.execute(&copy, [count])?;
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
