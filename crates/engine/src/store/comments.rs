//! Review comments in the store.

use forge_model::{AttemptId, Comment, CommentId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! whole {
    ($tail:literal) => {
        concat!(
            "select id, attempt_id, path, side, line, end_line, quote, text, created_at, updated_at, sent_at
                from comments ",
            $tail
        )
    };
}

statements! {
    OF_ATTEMPT = whole!("where attempt_id = $1 order by created_at, id");
    ONE = whole!("where attempt_id = $1 and id = $2");
    COUNT = "select count(*) from comments where attempt_id = $1";
    INSERT = "insert into comments (id, attempt_id, path, side, line, end_line, quote, text, created_at, updated_at,
        sent_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    UPDATE = "update comments set line = $2, end_line = $3, quote = $4, text = $5, updated_at = $6 where id = $1";
    SENT = "update comments set sent_at = $3, updated_at = $3, message = $4
        where attempt_id = $1 and id = $2 and sent_at is null";
    NOT_SENT = "update comments set sent_at = null, updated_at = $3, message = null where attempt_id = $1 and id = $2";
    OF_MESSAGE = "select id from comments where attempt_id = $1 and message = $2 order by created_at, id";
    DELETE = "delete from comments where attempt_id = $1 and id = $2";
}

/// Returns the comments on an attempt, oldest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Comment>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(comment).collect()
}

/// Returns one comment on an attempt.
pub(crate) fn one(conn: &Conn, attempt: AttemptId, id: CommentId) -> Result<Option<Comment>, Error> {
    conn.query(ONE, args![attempt, id])?.first().map(comment).transpose()
}

/// Counts the comments on an attempt.
pub(crate) fn count(conn: &Conn, attempt: AttemptId) -> Result<i64, Error> {
    conn.query(COUNT, args![attempt])?[0].int(0)
}

/// Adds a comment.
pub(crate) fn insert(conn: &Conn, c: &Comment) -> Result<(), Error> {
    let (path, side, quote, text) = (&c.path, c.side, &c.quote, &c.text);
    let (line, end, at, changed) = (c.line, c.end_line, c.created_at, c.updated_at);
    conn.execute(INSERT, args![c.id, c.attempt, path, side, line, end, quote, text, at, changed, c.sent_at])
        .map(drop)
}

/// Writes a comment over; what it is about stays.
pub(crate) fn update(conn: &Conn, c: &Comment) -> Result<(), Error> {
    conn.execute(UPDATE, args![c.id, c.line, c.end_line, &c.quote, &c.text, c.updated_at]).map(drop)
}

/// Records that a comment was sent, and with which message, unless it was before.
pub(crate) fn sent(
    conn: &Conn,
    attempt: AttemptId,
    id: CommentId,
    message: Option<&str>,
    now: Time,
) -> Result<(), Error> {
    conn.execute(SENT, args![attempt, id, now, message.map(str::to_string)]).map(drop)
}

/// Returns the comments that a message takes along, oldest first.
pub(crate) fn of_message(conn: &Conn, attempt: AttemptId, message: &str) -> Result<Vec<CommentId>, Error> {
    conn.query(OF_MESSAGE, args![attempt, message])?.iter().map(|row| row.parse(0)).collect()
}

/// Records that a comment was not sent after all.
pub(crate) fn not_sent(conn: &Conn, attempt: AttemptId, id: CommentId, now: Time) -> Result<(), Error> {
    conn.execute(NOT_SENT, args![attempt, id, now]).map(drop)
}

/// Deletes a comment; says whether it was there.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId, id: CommentId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![attempt, id])? == 1)
}

fn comment(row: &Row) -> Result<Comment, Error> {
    Ok(Comment {
        id: row.parse(0)?,
        attempt: row.parse(1)?,
        path: row.text(2)?,
        side: row.parse(3)?,
        line: row.int(4)?,
        end_line: row.int(5)?,
        quote: row.text(6)?,
        text: row.text(7)?,
        created_at: Time::from_millis(row.int(8)?),
        updated_at: Time::from_millis(row.int(9)?),
        sent_at: row.maybe_int(10)?.map(Time::from_millis),
    })
}
