//! Much history out of little: copies of one finished attempt, made in the database while no server has it.

use std::path::Path;

use anyhow::Context;
use rusqlite::Connection;

/// Draws the ids of the copies.
const NUMBER: &str = "
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?1)
insert into copies select n, lower(hex(randomblob(16))), lower(hex(randomblob(16))), lower(hex(randomblob(16))),
    lower(hex(randomblob(16)))
from numbers;
";

/// Adds so many tasks, and an attempt with a run to so many of them, all of it by copying what the server wrote into the
/// database of a data directory.
pub(super) fn multiply(home: &Path, tasks: u32, attempts: u32) -> anyhow::Result<()> {
    let path = home.join("forge.db");
    let mut database =
        Connection::open(&path).with_context(|| format!("could not open {}", path.display()))?;
    let copying = database.transaction()?;
    copying.execute_batch(
        "create temp table copies (n integer, task text, attempt text, run text, own text);",
    )?;
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
                // Two rows of a table never have the same id, whatever else refers to it.
                None if column == "id" => uuid("own"),
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
        copying.execute(&copy, [count]).with_context(|| format!("could not copy {table}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a row with a value for each column: every text is `1`, so that every reference leads to a row.
    fn insert_one(database: &Connection, table: &str) {
        let mut types = database.prepare(&format!("select type from pragma_table_info('{table}')")).unwrap();
        let types = types.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let values: Vec<_> = types.map(|kind| if kind.unwrap() == "TEXT" { "'1'" } else { "1" }).collect();
        database.execute(&format!("insert into {table} values ({})", values.join(", ")), []).unwrap();
    }

    #[test]
    fn a_finished_attempt_can_be_copied_under_the_newest_schema() {
        let home = tempfile::tempdir().unwrap();
        let database = Connection::open(home.path().join("forge.db")).unwrap();
        let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/migrations");
        let mut files: Vec<_> =
            std::fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            database.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
        }
        for table in ["projects", "tasks", "attempts", "runs", "snapshots"] {
            insert_one(&database, table);
        }
        multiply(home.path(), 30, 20).unwrap();
        let count = |table: &str| -> u32 {
            database.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!(["tasks", "attempts", "runs", "snapshots"].map(count), [31, 21, 21, 21]);
    }
}
