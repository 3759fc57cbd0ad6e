//! Follow-ups that wait for the turn's end.

use forge_model::{AttemptId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    // Each comes after those before it, whatever the clock does.
    ADD = "insert into queue (id, attempt_id, prompt, variant, state, created_at)
        select $1, $2, $3, $4, 'queued', case when max(created_at) >= $5 then max(created_at) + 1 else $5 end
        from queue where attempt_id = $2";
    NEXT = "select id, prompt, variant from queue where attempt_id = $1 and state = 'queued'
        order by created_at, id limit 1";
    SENT = "update queue set state = 'sent', run_id = $2 where id = $1 and state = 'queued'";
    DELETE = "delete from queue where attempt_id = $1";
}

/// A follow-up that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) id: String,
    pub(crate) prompt: String,
    pub(crate) variant: Option<String>,
}

/// Adds a follow-up at the end of the queue.
pub(crate) fn add(conn: &Conn, attempt: AttemptId, waiting: &Waiting, now: Time) -> Result<(), Error> {
    conn.execute(ADD, args![&waiting.id, attempt, &waiting.prompt, waiting.variant.clone(), now]).map(drop)
}

/// Returns the follow-up to send next.
pub(crate) fn next(conn: &Conn, attempt: AttemptId) -> Result<Option<Waiting>, Error> {
    let rows = conn.query(NEXT, args![attempt])?;
    rows.first()
        .map(|row| Ok(Waiting { id: row.text(0)?, prompt: row.text(1)?, variant: row.maybe_text(2)? }))
        .transpose()
}

/// Records which run was told a follow-up; says whether it was still waiting.
pub(crate) fn sent(conn: &Conn, id: &str, run: RunId) -> Result<bool, Error> {
    Ok(conn.execute(SENT, args![id, run])? == 1)
}

/// Deletes the queue of an attempt.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}
