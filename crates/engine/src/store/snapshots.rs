//! Which snapshots were taken of an attempt's files, and why.

use forge_git::Holds;
use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    INSERT = "insert into snapshots (id, attempt_id, run_id, oid, head, why, left_out, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    OF_ATTEMPT = "select id, run_id, oid, head, why, left_out, created_at from snapshots where attempt_id = $1
        order by created_at, id";
    NEWEST = "select oid from snapshots where attempt_id = $1 order by created_at desc, id desc limit 1";
    NEWEST_AT = "select max(created_at) from snapshots where attempt_id = $1";
    SET_OID = "update snapshots set oid = $3 where attempt_id = $1 and oid = $2";
    DELETE = "delete from snapshots where id = $1 and attempt_id = $2";
}

/// A snapshot that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) oid: String,
    /// The commit that was checked out.
    pub(crate) head: Option<String>,
    /// A JSON list of {path, why}: what is not in it.
    pub(crate) left_out: Option<String>,
    /// The same, for whoever has just taken it.
    pub(crate) passed_over: Vec<forge_git::LeftOut>,
    /// How what it holds stands to what git would commit.
    pub(crate) holds: Holds,
}

/// The record of a snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) id: String,
    pub(crate) run: Option<RunId>,
    pub(crate) oid: String,
    pub(crate) head: Option<String>,
    pub(crate) why: String,
    pub(crate) left_out: Option<String>,
    pub(crate) created_at: Time,
}

/// Keeps a snapshot. A run that changed nothing has the one before it, under a row of its own. Their order is that
/// of their times, so that no two have the same.
pub(crate) fn insert(
    conn: &Conn,
    attempt: AttemptId,
    run: Option<RunId>,
    taken: &Taken,
    why: &str,
    now: Time,
) -> Result<(), Error> {
    let id = RunId::random().to_string();
    let last = conn.query(NEWEST_AT, args![attempt])?[0].maybe_int(0)?;
    let at = last.map_or(now, |last| now.max(Time::from_millis(last + 1)));
    let (oid, head, left_out) = (&taken.oid, taken.head.clone(), taken.left_out.clone());
    conn.execute(INSERT, args![id, attempt, run, oid, head, why, left_out, at]).map(drop)
}

/// Returns the snapshots of an attempt, oldest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Kept>, Error> {
    let kept = |row: &Row| {
        Ok(Kept {
            id: row.text(0)?,
            run: row.maybe_parse(1)?,
            oid: row.text(2)?,
            head: row.maybe_text(3)?,
            why: row.text(4)?,
            left_out: row.maybe_text(5)?,
            created_at: Time::from_millis(row.int(6)?),
        })
    };
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(kept).collect()
}

/// Returns the record of the newest snapshot of an attempt.
pub(crate) fn newest_kept(conn: &Conn, attempt: AttemptId) -> Result<Option<Kept>, Error> {
    Ok(of_attempt(conn, attempt)?.pop())
}

/// Records that a snapshot is another commit now.
pub(crate) fn set_oid(conn: &Conn, attempt: AttemptId, old: &str, new: &str) -> Result<(), Error> {
    conn.execute(SET_OID, args![attempt, old, new]).map(drop)
}

/// Forgets a snapshot.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId, id: &str) -> Result<(), Error> {
    conn.execute(DELETE, args![id, attempt]).map(drop)
}

/// Returns the newest snapshot of an attempt.
pub(crate) fn newest(conn: &Conn, attempt: AttemptId) -> Result<Option<String>, Error> {
    conn.query(NEWEST, args![attempt])?.first().map(|row| row.text(0)).transpose()
}
