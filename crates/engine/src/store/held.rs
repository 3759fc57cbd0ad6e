//! Starts that a limit holds back, in their order. While such a start is under way its row stays: a start that
//! breaks off has its place again by itself.

use forge_model::{AttemptId, ProjectId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ADD = "insert into queued_starts (attempt_id, project_id, place, body, created_at)
        select $1, $2, coalesce(max(place), 0) + 1, $3, $4 from queued_starts";
    ALL = "select q.attempt_id, q.project_id, q.body from queued_starts q
        where not exists (select 1 from starts s where s.attempt_id = q.attempt_id) order by q.place";
    ANY = "select exists (select 1 from queued_starts)";
    HAS = "select exists (select 1 from queued_starts where attempt_id = $1)";
    DELETE = "delete from queued_starts where attempt_id = $1";
    RUNNING = "select project_id, count(*) from attempts
        where state in ('running', 'waiting', 'limited') and id <> $1 group by project_id";
    IS_LIVE = "select exists (select 1 from attempts
        where id = $1 and state in ('running', 'waiting', 'limited'))";
}

/// A start that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiter {
    pub(crate) attempt: AttemptId,
    pub(crate) project: ProjectId,
    pub(crate) body: String,
}

/// Adds a start at the end.
pub(crate) fn add(conn: &Conn, waiter: &Waiter, now: Time) -> Result<(), Error> {
    conn.execute(ADD, args![waiter.attempt, waiter.project, &waiter.body, now]).map(drop)
}

/// Returns what waits, first what is to start first; what is being started already is left out.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Waiter>, Error> {
    let rows = conn.query(ALL, &[])?;
    let waiters = rows
        .iter()
        .map(|row| Ok(Waiter { attempt: row.parse(0)?, project: row.parse(1)?, body: row.text(2)? }));
    waiters.collect()
}

/// Says whether anything waits, or is being started after it waited.
pub(crate) fn any(conn: &Conn) -> Result<bool, Error> {
    conn.query(ANY, &[])?[0].flag(0)
}

/// Says whether a start of this attempt waits, or is being started after it waited.
pub(crate) fn has(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    conn.query(HAS, args![attempt])?[0].flag(0)
}

/// Takes a start out of the line; says whether it was there.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![attempt])? == 1)
}

/// Counts the attempts that run in each project, leaving one out.
pub(crate) fn running(conn: &Conn, but: AttemptId) -> Result<Vec<(ProjectId, i64)>, Error> {
    conn.query(RUNNING, args![but])?.iter().map(|row| Ok((row.parse(0)?, row.int(1)?))).collect()
}

/// Says whether an attempt runs.
pub(crate) fn is_live(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    conn.query(IS_LIVE, args![attempt])?[0].flag(0)
}
