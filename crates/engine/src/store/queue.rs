//! Follow-ups that wait for the turn's end: queued, then sending while their turn is being started, then sent.

use forge_model::{AttemptId, ImageId, RunId, Time};

use super::conn::{Conn, Error, args};
use super::drafts::{read_images, write_images};
use super::{comments, statements};
use crate::QueueItem;

statements! {
    // Each comes after those before it, whatever the clock does.
    ADD = "insert into queue (id, attempt_id, prompt, variant, images, state, created_at)
        select $1, $2, $3, $4, $5, 'queued', case when max(created_at) >= $6 then max(created_at) + 1 else $6 end
        from queue where attempt_id = $2";
    // Something that must come before all others; put there once, whoever tries.
    ADD_FIRST = "insert into queue (id, attempt_id, prompt, variant, images, state, created_at)
        select $1, $2, $3, $4, $5, 'queued', case when min(created_at) <= $6 then min(created_at) - 1 else $6 end
        from queue where attempt_id = $2 and state = 'queued' on conflict (id) do nothing";
    NEXT = "select id, prompt, variant, images from queue where attempt_id = $1 and state = 'queued'
        order by created_at, id limit 1";
    SENDING = "update queue set state = 'sending' where id = $1 and state = 'queued'";
    NOT_SENT = "update queue set state = 'queued' where id = $1 and state = 'sending'";
    SENT = "update queue set state = 'sent', run_id = $2 where id = $1 and state in ('queued', 'sending')";
    OF_ATTEMPT = "select id, state, prompt, variant, images, created_at from queue
        where attempt_id = $1 and state in ('queued', 'sending') order by created_at, id";
    UPDATE = "update queue set prompt = $2, created_at = $3 where id = $1 and state = 'queued'";
    WITHDRAW = "delete from queue where id = $1 and state = 'queued'";
    DELETE = "delete from queue where attempt_id = $1";
}

/// A follow-up that waits.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Waiting {
    pub(crate) id: String,
    pub(crate) prompt: String,
    pub(crate) variant: Option<String>,
    pub(crate) images: Option<Vec<ImageId>>,
}

/// Adds a follow-up at the end of the queue.
pub(crate) fn add(conn: &Conn, attempt: AttemptId, waiting: &Waiting, now: Time) -> Result<(), Error> {
    let images = write_images(waiting.images.as_deref());
    let args = args![&waiting.id, attempt, &waiting.prompt, waiting.variant.clone(), images, now];
    conn.execute(ADD, args).map(drop)
}

/// Adds a follow-up before all that wait, unless it is known already.
pub(crate) fn add_first(conn: &Conn, attempt: AttemptId, waiting: &Waiting, now: Time) -> Result<(), Error> {
    let images = write_images(waiting.images.as_deref());
    let args = args![&waiting.id, attempt, &waiting.prompt, waiting.variant.clone(), images, now];
    conn.execute(ADD_FIRST, args).map(drop)
}

/// Returns the follow-up to send next.
pub(crate) fn next(conn: &Conn, attempt: AttemptId) -> Result<Option<Waiting>, Error> {
    let rows = conn.query(NEXT, args![attempt])?;
    let waiting = rows.first().map(|row| {
        let images = read_images(row.maybe_text(3)?);
        Ok(Waiting { id: row.text(0)?, prompt: row.text(1)?, variant: row.maybe_text(2)?, images })
    });
    waiting.transpose()
}

/// Records that the turn of a follow-up is being started; from here on it cannot be taken back.
pub(crate) fn sending(conn: &Conn, id: &str) -> Result<(), Error> {
    conn.execute(SENDING, args![id]).map(drop)
}

/// Records that the turn of a follow-up could not be started: it waits again.
pub(crate) fn not_sent(conn: &Conn, id: &str) -> Result<(), Error> {
    conn.execute(NOT_SENT, args![id]).map(drop)
}

/// Returns what waits for an attempt, first what is sent first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<QueueItem>, Error> {
    let rows = conn.query(OF_ATTEMPT, args![attempt])?;
    let items = rows.iter().map(|row| {
        let id = row.text(0)?;
        Ok(QueueItem {
            comments: comments::of_message(conn, attempt, &id)?,
            id,
            sending: row.text(1)? == "sending",
            prompt: row.text(2)?,
            variant: row.maybe_text(3)?,
            images: read_images(row.maybe_text(4)?),
            created_at: Time::from_millis(row.int(5)?),
        })
    });
    items.collect()
}

/// Writes the text and the place of a follow-up that still waits.
pub(crate) fn update(conn: &Conn, item: &QueueItem) -> Result<(), Error> {
    conn.execute(UPDATE, args![&item.id, &item.prompt, item.created_at]).map(drop)
}

/// Takes a follow-up out of the queue; says whether it still waited.
pub(crate) fn withdraw(conn: &Conn, id: &str) -> Result<bool, Error> {
    Ok(conn.execute(WITHDRAW, args![id])? == 1)
}

/// Records which run was told a follow-up; says whether it was still waiting.
pub(crate) fn sent(conn: &Conn, id: &str, run: RunId) -> Result<bool, Error> {
    Ok(conn.execute(SENT, args![id, run])? == 1)
}

/// Deletes the queue of an attempt.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}
