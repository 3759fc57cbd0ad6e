//! Calls with an idempotency key that have happened, kept for a day.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ONE = "select fingerprint, attempt_id, run_id, delivered from calls where key = $1";
    INSERT = "insert into calls (key, fingerprint, attempt_id, run_id, delivered, created_at)
        values ($1, $2, $3, $4, $5, $6)";
    FORGET = "delete from calls where created_at < $1";
}

/// A call that has happened.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) fingerprint: String,
    pub(crate) attempt: AttemptId,
    pub(crate) run: RunId,
    pub(crate) delivered: String,
}

/// Returns the call that had a key.
pub(crate) fn one(conn: &Conn, key: &str) -> Result<Option<Call>, Error> {
    let rows = conn.query(ONE, args![key])?;
    rows.first()
        .map(|row| {
            Ok(Call {
                fingerprint: row.text(0)?,
                attempt: row.parse(1)?,
                run: row.parse(2)?,
                delivered: row.text(3)?,
            })
        })
        .transpose()
}

/// Keeps a call.
pub(crate) fn insert(conn: &Conn, key: &str, call: &Call, now: Time) -> Result<(), Error> {
    conn.execute(INSERT, args![key, &call.fingerprint, call.attempt, call.run, &call.delivered, now])
        .map(drop)
}

/// Forgets calls from before a moment.
pub(crate) fn forget(conn: &Conn, before: Time) -> Result<usize, Error> {
    conn.execute(FORGET, args![before])
}
