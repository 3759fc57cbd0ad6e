//! A foreign database, opened from our private copy of it, and recognised by its tables.
//!
//! Every table is asked for its columns first, and only those that are there are read: each release had others. A
//! column or a table that is missing reads as nothing.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::cell::Cell;
use crate::{Error, Result};

/// Whose data it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    AutomagikForge,
    VibeKanban,
}

impl Product {
    /// Both of them.
    pub const ALL: &'static [Product] = &[Product::AutomagikForge, Product::VibeKanban];

    /// The word for it, as it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Product::AutomagikForge => "automagik-forge",
            Product::VibeKanban => "vibe-kanban",
        }
    }
}

impl std::str::FromStr for Product {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|product| product.as_str() == text).ok_or_else(|| {
            Error::invalid(format!("{text:?} cannot be imported; say `automagik-forge` or `vibe-kanban`"))
        })
    }
}

/// The newest migration that is known of each product.
const NEWEST_AUTOMAGIK: i64 = 20_251_212_100_000;
const NEWEST_VIBE: i64 = 20_260_317_120_000;

/// Migrations that only one of the two ever had.
const ONLY_AUTOMAGIK: &[i64] = &[
    20_250_903_172_012,
    20_251_008_000_001,
    20_251_020_000_001,
    20_251_027_000_000,
    20_251_105_000_000,
    20_251_105_140_000,
    20_251_105_140_001,
    20_251_127_100_000,
    20_251_212_100_000,
];

/// A foreign database that was recognised.
#[derive(Debug)]
pub(super) struct Source {
    conn: Connection,
    columns: HashMap<String, HashSet<String>>,
    pub(super) product: Product,
    pub(super) migrations: usize,
    pub(super) newest_migration: i64,
    /// What is odd about it, in sentences.
    pub(super) warnings: Vec<String>,
}

/// A row, its values in the order they were asked for.
pub(super) type Cells = Vec<Cell>;

impl Source {
    /// Opens a private copy; `named` is the file that the person knows.
    pub(super) fn open(copy: &Path, named: &Path) -> Result<Self> {
        let no_source = |why: &str| {
            Error::invalid(format!(
                "{} {why}; give the data directory or the database of Automagik Forge or vibe-kanban",
                named.display()
            ))
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(copy, flags).and_then(|conn| {
            // What the schema of a stranger says is data: nothing of it is called.
            conn.execute_batch(
                "pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0;
                 pragma cache_size = -2000; pragma journal_mode = delete; pragma synchronous = off;",
            )?;
            let checked: String = conn.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
            Ok((conn, checked))
        });
        let (conn, checked) =
            opened.map_err(|error| no_source(&format!("is no database that can be read ({error})")))?;
        if checked != "ok" {
            return Err(no_source(&format!("is damaged ({checked})")));
        }
        let columns = tables(&conn).map_err(|error| no_source(&format!("cannot be read ({error})")))?;
        let has = |table: &str| columns.contains_key(table);
        if !has("_sqlx_migrations") || !has("projects") || !has("tasks") {
            return Err(no_source("is a database, but not of a product that can be imported"));
        }
        let mut source = Self {
            product: Product::VibeKanban,
            conn,
            columns,
            migrations: 0,
            newest_migration: 0,
            warnings: Vec::new(),
        };
        source.recognise()?;
        source.index()?;
        Ok(source)
    }

    fn recognise(&mut self) -> Result<()> {
        let rows = self.rows("_sqlx_migrations", &["version", "success"])?;
        let versions: Vec<i64> = rows.iter().filter_map(|row| row[0].int()).collect();
        let is_automagik = ["forge_agents", "forge_task_attempt_config", "forge_global_settings"]
            .iter()
            .any(|table| self.has(table))
            || self.has_column("tasks", "branch_template")
            || versions.iter().any(|version| ONLY_AUTOMAGIK.contains(version));
        self.product = if is_automagik { Product::AutomagikForge } else { Product::VibeKanban };
        self.migrations = versions.len();
        self.newest_migration = versions.iter().copied().max().unwrap_or(0);
        let known = if is_automagik { NEWEST_AUTOMAGIK.max(20_251_020_120_000) } else { NEWEST_VIBE };
        if self.newest_migration > known {
            self.warnings.push(format!(
                "The database was written by a newer {} than is known here (migration {}): what it knows by other \
                 names is left out.",
                self.product.as_str(),
                self.newest_migration
            ));
        }
        let broken = rows.iter().filter(|row| row[1].int() == Some(0)).count();
        if broken > 0 {
            self.warnings.push(format!(
                "{broken} of its migrations did not finish there; what is in the tables was read all the same."
            ));
        }
        Ok(())
    }

    /// Makes what is looked up quick to find. The copy is ours.
    fn index(&self) -> Result<()> {
        let wanted = [
            ("task_attempts", "task_id"),
            ("workspaces", "task_id"),
            ("sessions", "workspace_id"),
            ("workspace_repos", "workspace_id"),
            ("attempt_repos", "attempt_id"),
            ("execution_processes", "task_attempt_id"),
            ("execution_processes", "session_id"),
            ("execution_processes", "execution_run_id"),
            ("execution_process_logs", "execution_id"),
            ("execution_process_repo_states", "execution_process_id"),
            ("executor_sessions", "execution_process_id"),
            ("coding_agent_turns", "execution_process_id"),
        ];
        for (table, column) in wanted.iter().filter(|(table, column)| self.has_column(table, column)) {
            let sql = format!("create index if not exists forge_{table}_{column} on {table} ({column})");
            self.conn.execute_batch(&sql).map_err(|error| unreadable(table, &error))?;
        }
        self.conn.execute_batch("pragma query_only = on").map_err(|error| unreadable("the copy", &error))
    }

    /// Says whether there is a table of that name.
    pub(super) fn has(&self, table: &str) -> bool {
        self.columns.contains_key(table)
    }

    /// Says whether a table has a column.
    pub(super) fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns.get(table).is_some_and(|columns| columns.contains(column))
    }

    /// Reads columns of all rows of a table, in the order of the rows.
    pub(super) fn rows(&self, table: &str, columns: &[&str]) -> Result<Vec<Cells>> {
        self.rows_by(table, columns, "", None)
    }

    /// Reads columns of the rows that have an id in a column, in whichever spelling.
    pub(super) fn rows_of(
        &self,
        table: &str,
        columns: &[&str],
        column: &str,
        id: &str,
    ) -> Result<Vec<Cells>> {
        if !self.has_column(table, column) {
            return Ok(Vec::new());
        }
        self.rows_by(table, columns, &format!("{column} in (?1, ?2, ?3, ?4)"), Some(id))
    }

    fn rows_by(&self, table: &str, columns: &[&str], filter: &str, id: Option<&str>) -> Result<Vec<Cells>> {
        let Some(known) = self.columns.get(table) else { return Ok(Vec::new()) };
        let wanted: Vec<&str> = columns
            .iter()
            .map(|column| if *column == "rowid" || known.contains(*column) { *column } else { "null" })
            .collect();
        let filter = if filter.is_empty() { String::new() } else { format!(" where {filter}") };
        let sql = format!("select {} from {table}{filter}", wanted.join(", "));
        let read = || -> rusqlite::Result<Vec<Cells>> {
            // A table may have no order of its own.
            let ordered = self.conn.prepare_cached(&format!("{sql} order by rowid"));
            let mut statement = ordered.or_else(|_| self.conn.prepare_cached(&sql))?;
            if let Some(id) = id {
                let digits = id.replace('-', "");
                statement.raw_bind_parameter(1, bytes(&digits))?;
                statement.raw_bind_parameter(2, id)?;
                statement.raw_bind_parameter(3, digits.to_ascii_uppercase())?;
                statement.raw_bind_parameter(4, digits)?;
            }
            let mut rows = statement.raw_query();
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let cells: rusqlite::Result<Cells> =
                    (0..columns.len()).map(|at| row.get_ref(at).map(Cell::from)).collect();
                all.push(cells?);
            }
            Ok(all)
        };
        read().map_err(|error| unreadable(table, &error))
    }

    /// Counts the rows of a table.
    pub(super) fn count(&self, table: &str) -> Result<usize> {
        if !self.has(table) {
            return Ok(0);
        }
        let counted =
            self.conn.query_row(&format!("select count(*) from {table}"), [], |row| row.get::<_, i64>(0));
        Ok(usize::try_from(counted.map_err(|error| unreadable(table, &error))?).unwrap_or(0))
    }

    /// Opens a text of a row to be read a piece at a time, however long it is.
    pub(super) fn long_text(&self, table: &str, column: &str, row: i64) -> Result<rusqlite::blob::Blob<'_>> {
        self.conn.blob_open("main", table, column, row, true).map_err(|error| unreadable(table, &error))
    }
}

/// The columns of every table, hidden ones included.
fn tables(conn: &Connection) -> rusqlite::Result<HashMap<String, HashSet<String>>> {
    let mut statement = conn.prepare("select name from sqlite_schema where type = 'table'")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let is_plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut tables = HashMap::new();
    for name in names.into_iter().filter(is_plain) {
        let mut statement = conn.prepare("select name from pragma_table_xinfo(?1)")?;
        let columns = statement.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        tables.insert(name, columns);
    }
    Ok(tables)
}

/// The bytes that hex digits stand for.
fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2)
        .filter_map(|at| u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok())
        .collect()
}

fn unreadable(table: &str, error: &rusqlite::Error) -> Error {
    Error::unavailable(format!("`{table}` of the database could not be read: {error}"))
}
