//! What came from outside for a running agent, numbered in the order it is told.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ADD = "insert into inputs (run_id, ordinal, body, created_at)
        select $1, coalesce(max(ordinal), 0) + 1, $2, $3 from inputs where run_id = $1 returning ordinal";
    AFTER = "select ordinal, body from inputs where run_id = $1 and ordinal > $2 order by ordinal";
    DELETE = "delete from inputs where run_id in (select id from runs where attempt_id = $1)";
}

/// Adds an input and returns its number.
pub(crate) fn add(conn: &Conn, run: RunId, body: &str, now: Time) -> Result<i64, Error> {
    conn.query(ADD, args![run, body, now])?[0].int(0)
}

/// Returns the inputs after a number.
pub(crate) fn after(conn: &Conn, run: RunId, ordinal: i64) -> Result<Vec<(i64, String)>, Error> {
    conn.query(AFTER, args![run, ordinal])?.iter().map(|row| Ok((row.int(0)?, row.text(1)?))).collect()
}

/// Deletes the inputs of an attempt's runs.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}
