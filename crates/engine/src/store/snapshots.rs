//! Which snapshots were taken of an attempt's files, and why.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    INSERT = "insert into snapshots (attempt_id, oid, run_id, why, created_at) values ($1, $2, $3, $4, $5)
        on conflict (attempt_id, oid) do nothing";
    NEWEST = "select oid from snapshots where attempt_id = $1 order by created_at desc, oid limit 1";
}

/// Keeps a snapshot.
pub(crate) fn insert(
    conn: &Conn,
    attempt: AttemptId,
    oid: &str,
    run: Option<RunId>,
    why: &str,
    now: Time,
) -> Result<(), Error> {
    conn.execute(INSERT, args![attempt, oid, run, why, now]).map(drop)
}

/// Returns the newest snapshot of an attempt.
pub(crate) fn newest(conn: &Conn, attempt: AttemptId) -> Result<Option<String>, Error> {
    conn.query(NEWEST, args![attempt])?.first().map(|row| row.text(0)).transpose()
}
