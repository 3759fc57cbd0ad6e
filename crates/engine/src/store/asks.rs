//! Asks in the store: open until answered, cancelled or expired, and answered at most once.

use forge_model::{Answer, Ask, AskId, AskState, AttemptId, RunId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::AskFilter;

macro_rules! columns {
    ($tail:literal) => {
        concat!(
            "select id, run_id, attempt_id, key, kind, tool, text, input, state, answer, created_at, answered_at,
                answered_by from asks ",
            $tail
        )
    };
}

statements! {
    OPEN = columns!("where state = 'open' order by created_at, id");
    ONE = columns!("where id = $1");
    LIST = columns!("where ($1 is null or attempt_id = $1)
        and ($2 is null or attempt_id in (select a.id from attempts a where a.project_id = $2))
        and ($3 is null or state = $3) order by created_at desc, id limit $4");
    OF_KEY = columns!("where run_id = $1 and key = $2");
    // The log is folded again after a restart: an ask that is known already is left as it is.
    INSERT = "insert into asks (id, run_id, attempt_id, key, kind, tool, text, input, state, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9) on conflict (run_id, key) do nothing";
    NEWEST = "select max(created_at) from asks where run_id = $1";
    ANSWER = "update asks set state = $2, answer = $3, answered_by = $4, answered_at = $5
        where id = $1 and state = 'open'";
    CLOSE_RUN = "update asks set state = $2, answered_at = $3 where run_id = $1 and state = 'open' returning id";
    CLOSE_KEY = "update asks set state = 'cancelled', answered_at = $3
        where run_id = $1 and key = $2 and state = 'open' returning id";
    UNANSWERED = "select key from asks where run_id = $1 and state in ('cancelled', 'expired')";
    OPEN_OF_ATTEMPT = "select count(*) from asks where attempt_id = $1 and state = 'open'";
    COUNT_OPEN = "select count(*) from asks where state = 'open'";
    DELETE = "delete from asks where attempt_id = $1";
}

/// Returns the asks that wait, oldest first.
pub(crate) fn open(conn: &Conn) -> Result<Vec<Ask>, Error> {
    conn.query(OPEN, &[])?.iter().map(ask).collect()
}

/// Returns asks, newest first.
pub(crate) fn list(conn: &Conn, filter: &AskFilter, limit: i64) -> Result<Vec<Ask>, Error> {
    let rows = conn.query(LIST, args![filter.attempt, filter.project, filter.state, limit])?;
    rows.iter().map(ask).collect()
}

/// Returns one ask.
pub(crate) fn one(conn: &Conn, id: AskId) -> Result<Option<Ask>, Error> {
    conn.query(ONE, args![id])?.first().map(ask).transpose()
}

/// Returns the ask of a run by its key.
pub(crate) fn of_key(conn: &Conn, run: RunId, key: &str) -> Result<Option<Ask>, Error> {
    conn.query(OF_KEY, args![run, key])?.first().map(ask).transpose()
}

/// Returns when a run last asked something.
pub(crate) fn newest(conn: &Conn, run: RunId) -> Result<Option<Time>, Error> {
    Ok(conn.query(NEWEST, args![run])?[0].maybe_int(0)?.map(Time::from_millis))
}

/// Adds an open ask; says whether it was new.
pub(crate) fn insert(conn: &Conn, a: &Ask) -> Result<bool, Error> {
    let touched = conn.execute(
        INSERT,
        args![a.id, a.run, a.attempt, &a.key, a.kind, &a.tool, &a.text, a.input.to_string(), a.created_at],
    )?;
    Ok(touched == 1)
}

/// Records an answer; says whether the ask was still open.
pub(crate) fn answer(conn: &Conn, id: AskId, answer: &Answer, by: &str, now: Time) -> Result<bool, Error> {
    let body = serde_json::to_string(answer).map_err(|error| Error::Other(error.to_string()))?;
    Ok(conn.execute(ANSWER, args![id, answer.state(), body, by, now])? == 1)
}

/// Closes what a run has open, and returns it.
pub(crate) fn close_run(conn: &Conn, run: RunId, state: AskState, now: Time) -> Result<Vec<AskId>, Error> {
    conn.query(CLOSE_RUN, args![run, state, now])?.iter().map(|row| row.parse(0)).collect()
}

/// Closes an ask that its agent took back.
pub(crate) fn close_key(conn: &Conn, run: RunId, key: &str, now: Time) -> Result<Option<AskId>, Error> {
    conn.query(CLOSE_KEY, args![run, key, now])?.first().map(|row| row.parse(0)).transpose()
}

/// Returns the keys of what a run asked and nobody answered before it was taken back or its run ended.
pub(crate) fn unanswered(conn: &Conn, run: RunId) -> Result<Vec<String>, Error> {
    conn.query(UNANSWERED, args![run])?.iter().map(|row| row.text(0)).collect()
}

/// Counts the open asks of an attempt.
pub(crate) fn open_of_attempt(conn: &Conn, attempt: AttemptId) -> Result<i64, Error> {
    conn.query(OPEN_OF_ATTEMPT, args![attempt])?[0].int(0)
}

/// Counts all open asks.
pub(crate) fn count_open(conn: &Conn) -> Result<i64, Error> {
    conn.query(COUNT_OPEN, &[])?[0].int(0)
}

/// Deletes the rows of an attempt's asks.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}

fn ask(row: &Row) -> Result<Ask, Error> {
    let json = |error: serde_json::Error| Error::Other(format!("an ask's row is not JSON: {error}"));
    Ok(Ask {
        id: row.parse(0)?,
        run: row.parse(1)?,
        attempt: row.parse(2)?,
        key: row.text(3)?,
        kind: row.parse(4)?,
        tool: row.text(5)?,
        text: row.text(6)?,
        input: serde_json::from_str(&row.text(7)?).map_err(json)?,
        state: row.parse(8)?,
        answer: row.maybe_text(9)?.map(|body| serde_json::from_str(&body).map_err(json)).transpose()?,
        created_at: Time::from_millis(row.int(10)?),
        answered_at: row.maybe_int(11)?.map(Time::from_millis),
        answered_by: row.maybe_text(12)?,
    })
}
