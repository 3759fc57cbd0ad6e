//! Git work of several steps that is under way: written down before its first step, gone when it has happened or
//! was taken back.
//!
//! An act that is only waiting for somebody, such as a rebase whose conflicts are open, keeps its row and is not
//! under way.

use forge_model::{AttemptId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    INSERT = "insert into acts (id, kind, attempt_id, body, created_at) values ($1, $2, $3, $4, $5)";
    UPDATE = "update acts set kind = $2, body = $3 where id = $1";
    ALL = "select id, kind, attempt_id, body from acts order by created_at, id";
    OF_ATTEMPT = "select id, kind, attempt_id, body from acts where attempt_id = $1 order by created_at, id";
    UNDER_WAY = "select exists (select 1 from acts where attempt_id = $1 and kind not like '%.open')";
    IS_THERE = "select exists (select 1 from acts where id = $1)";
    // What was done to an attempt happened to it; only letting go of old snapshots does not.
    TOUCH = "update attempts set updated_at = $2
        where id = (select attempt_id from acts where id = $1 and kind <> 'retain')";
    DELETE = "delete from acts where id = $1";
    DELETE_OF_ATTEMPT = "delete from acts where attempt_id = $1";
}

/// An act as it was written down.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) id: String,
    /// What is done: `land`, `rebase`, ... One that ends with `.open` waits for somebody and is not under way.
    pub(crate) kind: String,
    pub(crate) attempt: AttemptId,
    /// What it needs to be finished or taken back, as JSON.
    pub(crate) body: String,
}

/// Writes an act down.
pub(crate) fn insert(conn: &Conn, act: &Act, now: Time) -> Result<(), Error> {
    conn.execute(INSERT, args![&act.id, &act.kind, act.attempt, &act.body, now]).map(drop)
}

/// Writes down more of an act.
pub(crate) fn update(conn: &Conn, act: &Act) -> Result<(), Error> {
    conn.execute(UPDATE, args![&act.id, &act.kind, &act.body]).map(drop)
}

/// Returns every act, oldest first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Act>, Error> {
    conn.query(ALL, &[])?.iter().map(act).collect()
}

/// Returns the acts of an attempt, oldest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Act>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(act).collect()
}

/// Says whether an act on an attempt's worktree is under way: nothing else may begin there meanwhile.
pub(crate) fn under_way(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    conn.query(UNDER_WAY, args![attempt])?[0].flag(0)
}

/// Says whether an act is still written down.
pub(crate) fn is_there(conn: &Conn, id: &str) -> Result<bool, Error> {
    conn.query(IS_THERE, args![id])?[0].flag(0)
}

/// Forgets an act: something has happened to its attempt, or was taken back.
pub(crate) fn delete(conn: &Conn, id: &str) -> Result<(), Error> {
    conn.execute(TOUCH, args![id, super::now()])?;
    conn.execute(DELETE, args![id]).map(drop)
}

/// Forgets the acts of an attempt that is removed.
pub(crate) fn delete_of_attempt(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE_OF_ATTEMPT, args![attempt]).map(drop)
}

fn act(row: &Row) -> Result<Act, Error> {
    Ok(Act { id: row.text(0)?, kind: row.text(1)?, attempt: row.parse(2)?, body: row.text(3)? })
}
