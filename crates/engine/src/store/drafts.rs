//! Drafts in the store, one of a kind for each attempt, with what the queue says about them.

use forge_model::{AttemptId, Draft, DraftKind, ImageId, ProjectId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! columns {
    ($tail:literal) => {
        concat!(
            "select d.id, d.attempt_id, d.kind, d.retry_run_id, d.prompt, d.variant, d.images, d.version, d.queue_id,
                (select q.state from queue q where q.id = d.queue_id), d.created_at, d.updated_at from drafts d ",
            $tail
        )
    };
}

statements! {
    ONE = columns!("where d.attempt_id = $1 and d.kind = $2");
    OF_PROJECT = columns!("join attempts a on a.id = d.attempt_id where a.project_id = $1");
    OF_ITEM = columns!("where d.queue_id = $1");
    PUT = "insert into drafts (id, attempt_id, kind, retry_run_id, prompt, variant, images, version, queue_id,
        created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (attempt_id, kind) do update set retry_run_id = $4, prompt = $5, variant = $6, images = $7,
        version = $8, queue_id = $9, updated_at = $11";
    DELETE = "delete from drafts where attempt_id = $1 and kind = $2";
    DELETE_ALL = "delete from drafts where attempt_id = $1";
}

/// Returns an attempt's draft of a kind, if it was ever written.
pub(crate) fn one(conn: &Conn, attempt: AttemptId, kind: DraftKind) -> Result<Option<Draft>, Error> {
    conn.query(ONE, args![attempt, kind])?.first().map(draft).transpose()
}

/// Returns every draft in a project.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<Draft>, Error> {
    conn.query(OF_PROJECT, args![project])?.iter().map(draft).collect()
}

/// Returns the draft whose text waits as an item of the queue.
pub(crate) fn of_item(conn: &Conn, item: &str) -> Result<Option<Draft>, Error> {
    conn.query(OF_ITEM, args![item])?.first().map(draft).transpose()
}

/// Writes a draft, new or over what was there.
pub(crate) fn put(conn: &Conn, d: &Draft) -> Result<(), Error> {
    conn.execute(
        PUT,
        args![
            d.id,
            d.attempt,
            d.kind,
            d.retry,
            &d.prompt,
            d.variant.clone(),
            write_images(d.images.as_deref()),
            d.version,
            d.queued.clone(),
            d.created_at,
            d.updated_at,
        ],
    )
    .map(drop)
}

/// Deletes an attempt's draft of a kind; says whether it was there.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId, kind: DraftKind) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![attempt, kind])? == 1)
}

/// Deletes the drafts of an attempt.
pub(crate) fn delete_all(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE_ALL, args![attempt]).map(drop)
}

/// Names a draft in an event. Its row may be gone when the event is read, so the name says what it was.
pub(crate) fn name(attempt: AttemptId, kind: DraftKind) -> String {
    format!("{attempt}/{kind}")
}

/// Reads the name of a draft.
pub(crate) fn named(name: &str) -> Option<(AttemptId, DraftKind)> {
    let (attempt, kind) = name.split_once('/')?;
    Some((attempt.parse().ok()?, kind.parse().ok()?))
}

/// Writes a list of images as it is stored.
pub(super) fn write_images(images: Option<&[ImageId]>) -> Option<String> {
    // Ids are texts, which JSON can always say.
    images.map(|images| serde_json::to_string(images).unwrap_or_default())
}

/// Reads a list of images; one that cannot be read belongs to a newer Forge and counts as none.
pub(super) fn read_images(text: Option<String>) -> Option<Vec<ImageId>> {
    serde_json::from_str(&text?).ok()
}

fn draft(row: &Row) -> Result<Draft, Error> {
    Ok(Draft {
        id: row.parse(0)?,
        attempt: row.parse(1)?,
        kind: row.parse(2)?,
        retry: row.maybe_parse(3)?,
        prompt: row.text(4)?,
        variant: row.maybe_text(5)?,
        images: read_images(row.maybe_text(6)?),
        version: row.int(7)?,
        queued: row.maybe_text(8)?,
        sending: row.maybe_text(9)?.as_deref() == Some("sending"),
        created_at: Time::from_millis(row.int(10)?),
        updated_at: Time::from_millis(row.int(11)?),
    })
}
