//! Starts under way: written before anything is made, gone when it has happened or was undone.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    INSERT = "insert into starts (run_id, attempt_id, body, created_at) values ($1, $2, $3, $4)";
    UPDATE = "update starts set body = $2 where run_id = $1";
    ALL = "select body from starts order by created_at, run_id";
    OF_ATTEMPT = "select exists (select 1 from starts where attempt_id = $1)";
    BODIES = "select body from starts where attempt_id = $1 order by created_at, run_id";
    DELETE = "delete from starts where run_id = $1";
}

/// Records that a start is under way.
pub(crate) fn insert(
    conn: &Conn,
    run: RunId,
    attempt: AttemptId,
    body: &str,
    now: Time,
) -> Result<(), Error> {
    conn.execute(INSERT, args![run, attempt, body, now]).map(drop)
}

/// Writes down more of a start under way.
pub(crate) fn update(conn: &Conn, run: RunId, body: &str) -> Result<(), Error> {
    conn.execute(UPDATE, args![run, body]).map(drop)
}

/// Returns every start under way.
pub(crate) fn all(conn: &Conn) -> Result<Vec<String>, Error> {
    conn.query(ALL, &[])?.iter().map(|row| row.text(0)).collect()
}

/// Says whether a start of this attempt is under way.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?[0].flag(0)
}

/// Returns the starts of an attempt that are under way.
pub(crate) fn bodies(conn: &Conn, attempt: AttemptId) -> Result<Vec<String>, Error> {
    conn.query(BODIES, args![attempt])?.iter().map(|row| row.text(0)).collect()
}

/// Forgets a start; says whether it was there.
pub(crate) fn delete(conn: &Conn, run: RunId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![run])? == 1)
}
