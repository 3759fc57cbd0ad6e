//! Events: numbered without gaps, in the order of commits.

use forge_model::Event;

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    NEWEST = "select n from seqs where name = 'events'";
    OLDEST = "select min(seq) from events";
    // The counter row is taken last in an act, so that number order is commit order on every engine.
    TAKE = "update seqs set n = n + $1 where name = 'events' returning n";
    INSERT = "insert into events (seq, noun, id, project_id, attempt_id, op, at) values ($1, $2, $3, $4, $5, $6, $7)";
    AFTER = "select seq, noun, id, project_id, attempt_id, op, at from events where seq > $1 order by seq limit $2";
    // By number, or a clock that was set back would leave a hole that no reader notices.
    FORGET_ONE = "delete from events where seq = $1";
    FORGET = "delete from events where seq <= (select max(seq) from events where at < $1) and seq <= $2";
}

/// Numbers and inserts the events of an act.
pub(crate) fn insert(conn: &Conn, events: &[Event]) -> Result<(), Error> {
    if events.is_empty() {
        return Ok(());
    }
    let count = events.len() as i64;
    let last = conn.query(TAKE, args![count])?[0].int(0)?;
    for (seq, event) in (last - count + 1..).zip(events) {
        let at = event.at;
        conn.execute(INSERT, args![seq, event.noun, &event.id, event.project, event.attempt, event.op, at])?;
    }
    Ok(())
}

/// Returns the newest event's number; 0 when there was none.
pub(crate) fn newest(conn: &Conn) -> Result<i64, Error> {
    conn.query(NEWEST, &[])?[0].int(0)
}

/// Returns the oldest event that is still kept.
pub(crate) fn oldest(conn: &Conn) -> Result<Option<i64>, Error> {
    conn.query(OLDEST, &[])?[0].maybe_int(0)
}

/// Returns the events after a number, oldest first.
pub(crate) fn after(conn: &Conn, seq: i64, most: i64) -> Result<Vec<Event>, Error> {
    conn.query(AFTER, args![seq, most])?.iter().map(event).collect()
}

/// Forgets an event that a newer one of the same thing takes the place of.
pub(crate) fn forget_one(conn: &Conn, seq: i64) -> Result<(), Error> {
    conn.execute(FORGET_ONE, args![seq]).map(drop)
}

/// Forgets events older than a moment, but never the newest.
pub(crate) fn forget(conn: &Conn, before: forge_model::Time) -> Result<usize, Error> {
    let newest = newest(conn)?;
    conn.execute(FORGET, args![before, newest - 1])
}

fn event(row: &Row) -> Result<Event, Error> {
    Ok(Event {
        seq: row.int(0)?,
        noun: row.parse(1)?,
        id: row.text(2)?,
        project: row.maybe_parse(3)?,
        attempt: row.maybe_parse(4)?,
        op: row.parse(5)?,
        at: forge_model::Time::from_millis(row.int(6)?),
    })
}
