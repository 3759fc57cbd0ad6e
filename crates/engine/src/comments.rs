//! Review comments: what people write beside the lines of an attempt's diff, kept until it is sent and after.
//!
//! A follow-up that is made of comments names them, and they are sent with it or not at all: one that waits and is taken
//! back gives them back. A client that told the agent in another way says here that it did.

use forge_model::{AttemptId, Comment, CommentId, CommentSide, Noun, Op, ProjectId};

use crate::store::{Conn, Error as StoreError, Tx, cards, comments};
use crate::{Engine, Error, Result};

/// The longest comment, and the longest quote, in bytes.
const LONGEST: usize = 20 * 1024;

/// How many comments an attempt may have.
const MOST: i64 = 500;

/// A comment to add.
#[derive(Debug, Clone)]
pub struct NewComment {
    pub path: String,
    pub side: CommentSide,
    pub line: i64,
    /// The last line; none means the first is.
    pub end_line: Option<i64>,
    pub quote: String,
    pub text: String,
}

/// What to change of a comment; none keeps.
#[derive(Debug, Clone, Default)]
pub struct CommentChange {
    pub line: Option<i64>,
    pub end_line: Option<i64>,
    pub quote: Option<String>,
    pub text: Option<String>,
}

/// What came of writing about a comment.
enum Written<T> {
    Done(T),
    NoAttempt,
    NoComment(CommentId),
    TooMany,
}

/// Why a comment cannot be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unsendable {
    Gone(CommentId),
    /// Somebody was quicker: to send it again would tell the agent twice.
    Sent(CommentId),
}

impl Unsendable {
    pub(crate) fn refused(self, attempt: AttemptId) -> Error {
        match self {
            Self::Gone(id) => {
                Error::invalid(format!("`comment_ids` names no comment on attempt {attempt}: {id}"))
            }
            Self::Sent(id) => Error::conflict(format!(
                "comment {id} was sent to the agent already; nothing was sent now, look at the comments again"
            )),
        }
    }
}

/// Finds the first of these comments that cannot be sent.
pub(crate) fn unsendable(
    conn: &Conn,
    attempt: AttemptId,
    ids: &[CommentId],
) -> std::result::Result<Option<Unsendable>, StoreError> {
    for id in ids {
        match comments::one(conn, attempt, *id)? {
            None => return Ok(Some(Unsendable::Gone(*id))),
            Some(comment) if comment.sent_at.is_some() => return Ok(Some(Unsendable::Sent(*id))),
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Marks comments as sent, with the message that takes them along.
pub(crate) fn go_out(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    project: ProjectId,
    ids: &[CommentId],
    message: &str,
) -> std::result::Result<(), StoreError> {
    for id in ids {
        comments::sent(tx.conn(), attempt, *id, Some(message), tx.now())?;
    }
    tell(tx, attempt, project, ids);
    Ok(())
}

/// Takes it back, because the message did not go out.
pub(crate) fn come_back(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    project: ProjectId,
    ids: &[CommentId],
) -> std::result::Result<(), StoreError> {
    for id in ids {
        comments::not_sent(tx.conn(), attempt, *id, tx.now())?;
    }
    tell(tx, attempt, project, ids);
    Ok(())
}

fn tell(tx: &mut Tx<'_>, attempt: AttemptId, project: ProjectId, ids: &[CommentId]) {
    if !ids.is_empty() {
        tx.changed(Noun::Attempt, attempt, Op::Change, Some(project), Some(attempt));
    }
}

impl Engine {
    /// Returns the comments on an attempt, oldest first.
    pub async fn comments(&self, attempt: AttemptId) -> Result<Vec<Comment>> {
        let found = self.inner.store.read(move |conn| match cards::project(conn, attempt)? {
            Some(_) => comments::of_attempt(conn, attempt).map(Some),
            None => Ok(None),
        });
        found.await?.ok_or_else(|| no_attempt(attempt))
    }

    /// Adds a comment on an attempt.
    pub async fn create_comment(&self, attempt: AttemptId, new: NewComment) -> Result<Comment> {
        let end_line = new.end_line.unwrap_or(new.line);
        check(new.line, end_line, &new.quote, &new.text)?;
        self.write_comments(attempt, move |tx| {
            if comments::count(tx.conn(), attempt)? >= MOST {
                return Ok(Written::TooMany);
            }
            let comment = Comment {
                id: CommentId::random(),
                attempt,
                path: new.path,
                side: new.side,
                line: new.line,
                end_line,
                quote: new.quote,
                text: new.text,
                created_at: tx.now(),
                updated_at: tx.now(),
                sent_at: None,
            };
            comments::insert(tx.conn(), &comment)?;
            Ok(Written::Done(comment))
        })
        .await
    }

    /// Changes a comment on an attempt.
    pub async fn update_comment(
        &self,
        attempt: AttemptId,
        id: CommentId,
        change: CommentChange,
    ) -> Result<Comment> {
        let find = move |conn: &Conn| comments::one(conn, attempt, id);
        let Some(mut changed) = self.inner.store.read(find).await? else {
            return Err(no_comment(attempt, id));
        };
        // A comment that moves to another line without saying how far is about that line.
        let moved = change.line.map(|line| line + (changed.end_line - changed.line));
        changed.line = change.line.unwrap_or(changed.line);
        changed.end_line = change.end_line.or(moved).unwrap_or(changed.end_line);
        changed.quote = change.quote.unwrap_or(changed.quote);
        changed.text = change.text.unwrap_or(changed.text);
        check(changed.line, changed.end_line, &changed.quote, &changed.text)?;
        self.write_comments(attempt, move |tx| {
            let Some(now) = comments::one(tx.conn(), attempt, id)? else { return Ok(Written::NoComment(id)) };
            let changed = Comment { updated_at: tx.now(), sent_at: now.sent_at, ..changed };
            comments::update(tx.conn(), &changed)?;
            Ok(Written::Done(changed))
        })
        .await
    }

    /// Deletes a comment on an attempt.
    pub async fn delete_comment(&self, attempt: AttemptId, id: CommentId) -> Result<()> {
        self.write_comments(attempt, move |tx| match comments::delete(tx.conn(), attempt, id)? {
            true => Ok(Written::Done(())),
            false => Ok(Written::NoComment(id)),
        })
        .await
    }

    /// Records that comments on an attempt were sent, all of them or none, and returns all there are. One that was
    /// sent before keeps its time.
    pub async fn comments_sent(&self, attempt: AttemptId, ids: Vec<CommentId>) -> Result<Vec<Comment>> {
        self.write_comments(attempt, move |tx| {
            for id in &ids {
                if comments::one(tx.conn(), attempt, *id)?.is_none() {
                    return Ok(Written::NoComment(*id));
                }
            }
            for id in ids {
                comments::sent(tx.conn(), attempt, id, None, tx.now())?;
            }
            comments::of_attempt(tx.conn(), attempt).map(Written::Done)
        })
        .await
    }

    /// Writes something about the comments on an attempt, and tells that the attempt has others.
    async fn write_comments<T: Send + 'static>(
        &self,
        attempt: AttemptId,
        act: impl FnOnce(&mut Tx<'_>) -> std::result::Result<Written<T>, StoreError> + Send + 'static,
    ) -> Result<T> {
        let written = self.inner.store.write(move |tx| {
            let Some(project) = cards::project(tx.conn(), attempt)? else { return Ok(Written::NoAttempt) };
            let written = act(tx)?;
            if matches!(written, Written::Done(_)) {
                tx.changed(Noun::Attempt, attempt, Op::Change, Some(project), Some(attempt));
            }
            Ok(written)
        });
        match written.await? {
            Written::Done(done) => Ok(done),
            Written::NoAttempt => Err(no_attempt(attempt)),
            Written::NoComment(id) => Err(no_comment(attempt, id)),
            Written::TooMany => Err(Error::conflict(format!(
                "attempt {attempt} has {MOST} comments, which is the most; send or delete some"
            ))),
        }
    }
}

fn no_attempt(id: AttemptId) -> Error {
    Error::not_found(format!("there is no attempt {id}"))
}

fn no_comment(attempt: AttemptId, id: CommentId) -> Error {
    Error::not_found(format!("attempt {attempt} has no comment {id}"))
}

fn check(line: i64, end_line: i64, quote: &str, text: &str) -> Result<()> {
    if line < 1 {
        return Err(Error::invalid("`line` must be the number of a line, from 1"));
    }
    if end_line < line {
        return Err(Error::invalid("`end_line` must not be before `line`"));
    }
    if text.trim().is_empty() {
        return Err(Error::invalid("`text` must be a text that is not blank"));
    }
    for (name, text) in [("quote", quote), ("text", text)] {
        if text.len() > LONGEST {
            let most = LONGEST / 1024;
            return Err(Error::invalid(format!("`{name}` must not be longer than {most} KB")));
        }
    }
    Ok(())
}
