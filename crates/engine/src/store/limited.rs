//! Attempts that their agent's provider does not serve for a while.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    ALL = "select attempt_id, run_id, until, resumed_at from limited order by until, attempt_id";
    PUT = "insert into limited (attempt_id, run_id, until, resumed_at, created_at) values ($1, $2, $3, null, $4)
        on conflict (attempt_id) do update set run_id = excluded.run_id, until = excluded.until, resumed_at = null";
    RESUMED = "update limited set resumed_at = $2 where attempt_id = $1 and resumed_at is null";
    DELETE = "delete from limited where attempt_id = $1";
}

/// A limit that an attempt has hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) attempt: AttemptId,
    pub(crate) run: RunId,
    pub(crate) until: Option<Time>,
    /// Going on was put in the queue.
    pub(crate) resumed: bool,
}

/// Returns every limit, the one that is over first first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Hit>, Error> {
    conn.query(ALL, &[])?.iter().map(limited).collect()
}

/// Notes that an attempt has hit a limit.
pub(crate) fn put(
    conn: &Conn,
    attempt: AttemptId,
    run: RunId,
    until: Option<Time>,
    now: Time,
) -> Result<(), Error> {
    conn.execute(PUT, args![attempt, run, until, now]).map(drop)
}

/// Notes that going on was put in the queue; says whether nobody had done so before.
pub(crate) fn resumed(conn: &Conn, attempt: AttemptId, now: Time) -> Result<bool, Error> {
    Ok(conn.execute(RESUMED, args![attempt, now])? == 1)
}

/// Forgets the limit of an attempt; says whether there was one.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![attempt])? > 0)
}

fn limited(row: &Row) -> Result<Hit, Error> {
    Ok(Hit {
        attempt: row.parse(0)?,
        run: row.parse(1)?,
        until: row.maybe_int(2)?.map(Time::from_millis),
        resumed: row.maybe_int(3)?.is_some(),
    })
}
