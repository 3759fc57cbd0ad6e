//! Settings in the store: a JSON text for all projects, and one for each project that has its own.

use forge_model::Time;

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ONE = "select body from settings where scope = $1";
    PUT = "insert into settings (scope, body, updated_at) values ($1, $2, $3)
        on conflict (scope) do update set body = excluded.body, updated_at = excluded.updated_at";
    DELETE = "delete from settings where scope = $1";
}

/// Returns the settings of a scope; none when nobody has set any.
pub(crate) fn one(conn: &Conn, scope: &str) -> Result<Option<String>, Error> {
    conn.query(ONE, args![scope])?.first().map(|row| row.text(0)).transpose()
}

/// Writes the settings of a scope.
pub(crate) fn put(conn: &Conn, scope: &str, body: &str, now: Time) -> Result<(), Error> {
    conn.execute(PUT, args![scope, body, now]).map(drop)
}

/// Deletes the settings of a scope.
pub(crate) fn delete(conn: &Conn, scope: &str) -> Result<(), Error> {
    conn.execute(DELETE, args![scope]).map(drop)
}
