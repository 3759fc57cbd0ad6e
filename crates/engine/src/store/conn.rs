//! One connection to the database: SQL text and values in, rows and named errors out.
//!
//! The text must run on SQLite and PostgreSQL alike, so parameters are written `$1` and bound by that number,
//! and nothing outside this file knows which engine is underneath.

use std::path::Path;

use rusqlite::OpenFlags;
use rusqlite::ffi::ErrorCode;

/// A value that goes in or comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
}

/// A row that came out.
#[derive(Debug)]
pub(crate) struct Row {
    values: Vec<Value>,
}

/// What went wrong, by name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("a row with that key is already there")]
    Unique,
    #[error("the row it refers to is not there")]
    ForeignKey,
    #[error("the disk is full")]
    Full,
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("the database could not be used: {0}")]
    Other(String),
    #[error("column {column} of the answer to `{sql}` is not what was expected")]
    Shape { sql: String, column: usize },
    #[error("the store is closed")]
    Closed,
    #[error("{0}")]
    Shut(String),
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Conn {
    inner: rusqlite::Connection,
}

impl Conn {
    /// Opens the database for the one writer.
    pub(crate) fn writer(path: &Path) -> Result<Self, Error> {
        let conn = Self::open(path)?;
        conn.batch(
            "pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 1000;
             pragma journal_size_limit = 67108864;",
        )?;
        Ok(conn)
    }

    /// Opens the database for reading only.
    pub(crate) fn reader(path: &Path) -> Result<Self, Error> {
        let conn = Self::open(path)?;
        conn.batch("pragma query_only = on;")?;
        Ok(conn)
    }

    /// Opens the database of another data directory. Nothing is written to it, whatever its state is.
    pub(crate) fn looker(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Ok(Self { inner: rusqlite::Connection::open_with_flags(path, flags)? })
    }

    fn open(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let inner = rusqlite::Connection::open_with_flags(path, flags)?;
        inner.set_prepared_statement_cache_capacity(128);
        let conn = Self { inner };
        conn.batch("pragma foreign_keys = on; pragma busy_timeout = 5000; pragma trusted_schema = off;")?;
        Ok(conn)
    }

    /// Runs a query and returns all its rows.
    pub(crate) fn query(&self, sql: &str, args: &[Value]) -> Result<Vec<Row>, Error> {
        let mut statement = self.inner.prepare_cached(sql)?;
        bind(&mut statement, args)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let mut values = Vec::with_capacity(columns);
            for column in 0..columns {
                values.push(match row.get_ref(column)? {
                    rusqlite::types::ValueRef::Null => Value::Null,
                    rusqlite::types::ValueRef::Integer(number) => Value::Int(number),
                    rusqlite::types::ValueRef::Text(text) => {
                        Value::Text(String::from_utf8_lossy(text).into_owned())
                    }
                    _ => return Err(Error::Shape { sql: sql.to_string(), column }),
                });
            }
            out.push(Row { values });
        }
        Ok(out)
    }

    /// Runs a query and returns its rows as JSON objects by column name.
    pub(crate) fn query_json(&self, sql: &str, args: &[Value]) -> Result<serde_json::Value, Error> {
        let names: Vec<String> = {
            let statement = self.inner.prepare_cached(sql)?;
            statement.column_names().map(str::to_string).collect()
        };
        let rows = self.query(sql, args)?.into_iter().map(|row| {
            let values = row.values.into_iter().map(|value| match value {
                Value::Null => serde_json::Value::Null,
                Value::Int(number) => number.into(),
                Value::Text(text) => text.into(),
            });
            names.iter().cloned().zip(values).collect::<serde_json::Map<_, _>>().into()
        });
        Ok(serde_json::Value::Array(rows.collect()))
    }

    /// Returns the names of the columns that a query answers with.
    pub(crate) fn columns(&self, sql: &str) -> Result<Vec<String>, Error> {
        Ok(self.inner.prepare_cached(sql)?.column_names().map(str::to_string).collect())
    }

    /// Runs a statement and returns how many rows it touched.
    pub(crate) fn execute(&self, sql: &str, args: &[Value]) -> Result<usize, Error> {
        let mut statement = self.inner.prepare_cached(sql)?;
        bind(&mut statement, args)?;
        Ok(statement.raw_execute()?)
    }

    /// Runs statements that take no values.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), Error> {
        Ok(self.inner.execute_batch(sql)?)
    }

    /// Says whether a transaction is open; a full disk can end one at any statement.
    pub(crate) fn in_transaction(&self) -> bool {
        !self.inner.is_autocommit()
    }

    /// Copies the whole database, consistent, to a new file.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), Error> {
        self.execute("vacuum into $1", &[Value::Text(path.to_string_lossy().into_owned())])?;
        Ok(())
    }

    /// Looks through the whole database, and returns what is wrong with it; none when nothing is.
    pub(crate) fn damage(&self) -> Result<Option<String>, Error> {
        let rows = match self.query("pragma quick_check(3)", &[]) {
            Ok(rows) => rows,
            Err(Error::Corrupt(detail)) => return Ok(Some(detail)),
            Err(error) => return Err(error),
        };
        let found = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<String> = found.into_iter().filter(|line| line != "ok").collect();
        Ok((!found.is_empty()).then(|| found.join("; ")))
    }

    /// Checks that a statement can be prepared.
    #[cfg(test)]
    pub(crate) fn prepare(&self, sql: &str) -> Result<(), Error> {
        self.inner.prepare(sql)?;
        Ok(())
    }
}

/// Binds values by the number in the parameter's name: SQLite itself counts by first appearance.
fn bind(statement: &mut rusqlite::CachedStatement<'_>, args: &[Value]) -> Result<(), Error> {
    for index in 1..=statement.parameter_count() {
        let number = statement
            .parameter_name(index)
            .and_then(|name| name.get(1..))
            .and_then(|digits| digits.parse::<usize>().ok())
            .ok_or_else(|| Error::Other(format!("parameter {index} is not written as $1")))?;
        let value = args
            .get(number.wrapping_sub(1))
            .ok_or_else(|| Error::Other(format!("no value was given for ${number}")))?;
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(number) => statement.raw_bind_parameter(index, number)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
        }
    }
    Ok(())
}

impl Row {
    fn shape(&self, column: usize) -> Error {
        Error::Shape { sql: format!("a row of {} columns", self.values.len()), column }
    }

    /// Reads a text.
    pub(crate) fn text(&self, column: usize) -> Result<String, Error> {
        self.maybe_text(column)?.ok_or_else(|| self.shape(column))
    }

    /// Reads a text or nothing.
    pub(crate) fn maybe_text(&self, column: usize) -> Result<Option<String>, Error> {
        match self.values.get(column) {
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::Null) => Ok(None),
            _ => Err(self.shape(column)),
        }
    }

    /// Reads a number.
    pub(crate) fn int(&self, column: usize) -> Result<i64, Error> {
        self.maybe_int(column)?.ok_or_else(|| self.shape(column))
    }

    /// Reads a number or nothing.
    pub(crate) fn maybe_int(&self, column: usize) -> Result<Option<i64>, Error> {
        match self.values.get(column) {
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.shape(column)),
        }
    }

    /// Reads a yes or no.
    pub(crate) fn flag(&self, column: usize) -> Result<bool, Error> {
        Ok(self.int(column)? != 0)
    }

    /// Reads anything that is written as text: an id, a state, a name.
    pub(crate) fn parse<T: std::str::FromStr>(&self, column: usize) -> Result<T, Error> {
        self.text(column)?.parse().map_err(|_| self.shape(column))
    }

    /// Reads anything that is written as text, or nothing.
    pub(crate) fn maybe_parse<T: std::str::FromStr>(&self, column: usize) -> Result<Option<T>, Error> {
        self.maybe_text(column)?.map(|text| text.parse().map_err(|_| self.shape(column))).transpose()
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ffi;
        match &error {
            rusqlite::Error::SqliteFailure(failure, message) => match failure.extended_code {
                ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE => Error::Unique,
                ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Error::ForeignKey,
                _ => match failure.code {
                    ErrorCode::DiskFull => Error::Full,
                    ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                        Error::Corrupt(message.clone().unwrap_or_else(|| error.to_string()))
                    }
                    _ => Error::Other(error.to_string()),
                },
            },
            _ => Error::Other(error.to_string()),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Int(i64::from(flag))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_string())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(flag) => Value::from(*flag),
            serde_json::Value::Number(number) => number.as_i64().map_or(Value::Null, Value::Int),
            serde_json::Value::String(text) => Value::Text(text.clone()),
            other => Value::Text(other.to_string()),
        }
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.clone())
    }
}

impl From<forge_model::Time> for Value {
    fn from(time: forge_model::Time) -> Self {
        Value::Int(time.millis())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

macro_rules! value_from_display {
    ($($type:ty),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::Text(value.to_string())
            }
        }
    )*};
}
value_from_display!(
    forge_model::ProjectId,
    forge_model::TaskId,
    forge_model::AttemptId,
    forge_model::RunId,
    forge_model::AskId,
    forge_model::StandingAgentId,
    forge_model::NoticeId,
    forge_model::NoticeKind,
    forge_model::NoticeStatus,
    forge_model::TagId,
    forge_model::TemplateId,
    forge_model::DraftId,
    forge_model::MergeId,
    forge_model::CommentId,
    forge_model::CommentSide,
    forge_model::PullRequestStatus,
    forge_model::DraftKind,
    forge_model::TaskStatus,
    forge_model::ImageId,
    forge_model::AttemptState,
    forge_model::RunState,
    forge_model::RunKind,
    forge_model::AskKind,
    forge_model::AskState,
    forge_model::RuleAbout,
    forge_model::RuleEffect,
    forge_model::FindingId,
    forge_model::FindingKind,
    forge_model::FindingState,
    forge_model::Noun,
    forge_model::Op
);

/// Makes the values of a statement, in the order of `$1`, `$2`, …
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::store::conn::Value::from($value)),*] };
}
pub(crate) use args;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_bound_by_number_and_not_by_first_appearance() {
        let dir = tempfile::tempdir().unwrap();
        let conn = Conn::writer(&dir.path().join("x.db")).unwrap();
        let rows = conn.query("select $2, $1, $2", args!["one", "two"]).unwrap();
        let texts: Vec<_> = (0..3).map(|i| rows[0].text(i).unwrap()).collect();
        assert_eq!(texts, ["two", "one", "two"]);
    }

    #[test]
    fn constraint_errors_have_names() {
        let dir = tempfile::tempdir().unwrap();
        let conn = Conn::writer(&dir.path().join("x.db")).unwrap();
        conn.batch(
            "create table a (id text primary key) strict;
             create table b (a text references a (id)) strict;
             insert into a (id) values ('x');",
        )
        .unwrap();
        assert!(matches!(conn.execute("insert into a (id) values ($1)", args!["x"]), Err(Error::Unique)));
        assert!(matches!(conn.execute("insert into b (a) values ($1)", args!["y"]), Err(Error::ForeignKey)));
    }

    #[test]
    fn the_bundled_sqlite_has_the_wal_reset_fix() {
        let dir = tempfile::tempdir().unwrap();
        let conn = Conn::writer(&dir.path().join("x.db")).unwrap();
        let version = conn.query("select sqlite_version()", &[]).unwrap()[0].text(0).unwrap();
        let numbers: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
        assert!(numbers >= vec![3, 53, 0], "{version}");
    }
}
