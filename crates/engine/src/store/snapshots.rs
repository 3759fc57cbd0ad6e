//! Which snapshots were taken of an attempt's files, and why.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    INSERT = "insert into snapshots (id, attempt_id, run_id, oid, head, why, left_out, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    NEWEST = "select oid from snapshots where attempt_id = $1 order by created_at desc, id desc limit 1";
}

/// A snapshot that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) oid: String,
    /// The commit that was checked out.
    pub(crate) head: Option<String>,
    /// A JSON list of {path, why}: what is not in it.
    pub(crate) left_out: Option<String>,
}

/// Keeps a snapshot. A run that changed nothing has the one before it, under a row of its own.
pub(crate) fn insert(
    conn: &Conn,
    attempt: AttemptId,
    run: Option<RunId>,
    taken: &Taken,
    why: &str,
    now: Time,
) -> Result<(), Error> {
    let id = RunId::random().to_string();
    let (oid, head, left_out) = (&taken.oid, taken.head.clone(), taken.left_out.clone());
    conn.execute(INSERT, args![id, attempt, run, oid, head, why, left_out, now]).map(drop)
}

/// Returns the newest snapshot of an attempt.
pub(crate) fn newest(conn: &Conn, attempt: AttemptId) -> Result<Option<String>, Error> {
    conn.query(NEWEST, args![attempt])?.first().map(|row| row.text(0)).transpose()
}
