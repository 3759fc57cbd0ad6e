//! Notices in the store.

use forge_model::{Notice, NoticeId, NoticeStatus, TaskId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    NEWEST = "select id, task_id, kind, status, recipient, message, error, metadata, created_at, sent_at
        from notices order by created_at desc, id limit $1";
    PENDING = "select id, task_id, kind, status, recipient, message, error, metadata, created_at, sent_at
        from notices where status = 'pending' order by created_at, id limit $1";
    INSERT = "insert into notices (id, task_id, kind, status, recipient, message, error, metadata, created_at, sent_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    TRIED = "update notices set status = $2, error = $3, metadata = $4, sent_at = $5
        where id = $1 and status = 'pending'";
    FREE = "update notices set task_id = null where task_id = $1";
    FORGET = "delete from notices where created_at < $1 and status <> 'pending'";
}

/// Returns the newest notices, newest first.
pub(crate) fn newest(conn: &Conn, most: i64) -> Result<Vec<Notice>, Error> {
    conn.query(NEWEST, args![most])?.iter().map(notice).collect()
}

/// Returns notices that are still to be sent, oldest first.
pub(crate) fn pending(conn: &Conn, most: i64) -> Result<Vec<Notice>, Error> {
    conn.query(PENDING, args![most])?.iter().map(notice).collect()
}

/// Adds a notice.
pub(crate) fn insert(conn: &Conn, n: &Notice) -> Result<(), Error> {
    conn.execute(
        INSERT,
        args![
            n.id,
            n.task,
            n.kind,
            n.status,
            n.recipient.clone(),
            &n.message,
            n.error.clone(),
            n.metadata.to_string(),
            n.created_at,
            n.sent_at,
        ],
    )?;
    Ok(())
}

/// Writes down what a try came to, unless the notice is settled already.
pub(crate) fn tried(
    conn: &Conn,
    id: NoticeId,
    status: NoticeStatus,
    error: Option<String>,
    metadata: &serde_json::Value,
    sent_at: Option<Time>,
) -> Result<(), Error> {
    conn.execute(TRIED, args![id, status, error, metadata.to_string(), sent_at]).map(drop)
}

/// Frees the notices about a task that goes.
pub(crate) fn free(conn: &Conn, task: TaskId) -> Result<(), Error> {
    conn.execute(FREE, args![task]).map(drop)
}

/// Forgets settled notices from before a moment.
pub(crate) fn forget(conn: &Conn, before: Time) -> Result<(), Error> {
    conn.execute(FORGET, args![before]).map(drop)
}

fn notice(row: &Row) -> Result<Notice, Error> {
    let metadata = row.maybe_text(7)?.and_then(|text| serde_json::from_str(&text).ok());
    Ok(Notice {
        id: row.parse(0)?,
        task: row.maybe_parse(1)?,
        kind: row.parse(2)?,
        status: row.parse(3)?,
        recipient: row.maybe_text(4)?,
        message: row.maybe_text(5)?.unwrap_or_default(),
        error: row.maybe_text(6)?,
        metadata: metadata.unwrap_or_default(),
        created_at: Time::from_millis(row.int(8)?),
        sent_at: row.maybe_int(9)?.map(Time::from_millis),
    })
}
