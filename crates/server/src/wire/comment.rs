//! A review comment on the wire, what creates and changes one, and how an attempt is put aside.

use forge_engine::{CommentChange, Dismiss, NewComment};
use forge_model::{AttemptId, CommentId, CommentSide, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewComment {
    id: CommentId,
    task_attempt_id: AttemptId,
    path: String,
    side: CommentSide,
    /// Counted from 1.
    line: i64,
    /// The last line it is about.
    end_line: i64,
    /// What the lines said when it was written.
    quote: String,
    text: String,
    created_at: Time,
    updated_at: Time,
    /// When it was sent to the agent; null while it waits.
    sent_at: Option<Time>,
}

impl From<forge_model::Comment> for ReviewComment {
    fn from(comment: forge_model::Comment) -> Self {
        Self {
            id: comment.id,
            task_attempt_id: comment.attempt,
            path: comment.path,
            side: comment.side,
            line: comment.line,
            end_line: comment.end_line,
            quote: comment.quote,
            text: comment.text,
            created_at: comment.created_at,
            updated_at: comment.updated_at,
            sent_at: comment.sent_at,
        }
    }
}

pub(crate) const CREATE_COMMENT: Body = Body::new(
    "CreateReviewComment",
    &[
        need(names::COMMENT_PATH),
        may(names::COMMENT_SIDE),
        need(names::LINE),
        may(names::END_LINE),
        may(names::QUOTE),
        need(names::COMMENT_TEXT),
    ],
);

pub(crate) const UPDATE_COMMENT: Body = Body::new(
    "UpdateReviewComment",
    &[may(names::LINE), may(names::END_LINE), may(names::QUOTE), may(names::COMMENT_TEXT)],
);

pub(crate) const COMMENTS_SENT: Body = Body::new("ReviewCommentsSent", &[need(names::COMMENT_IDS)]);

pub(crate) const DISMISS: Body =
    Body::new("DismissTaskAttempt", &[may(names::DISMISS_UNTIL), may(names::UNDO)]);

impl TryFrom<Fields> for NewComment {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let line = fields.number(names::LINE)?;
        Ok(Self {
            path: fields.line(names::COMMENT_PATH)?,
            side: fields.one_of(names::COMMENT_SIDE)?.unwrap_or(CommentSide::New),
            line: line.ok_or_else(|| fields.refuse(names::LINE, "must be the number of a line, from 1"))?,
            end_line: fields.number(names::END_LINE)?,
            quote: fields.optional_text(names::QUOTE)?.unwrap_or_default(),
            text: fields.text(names::COMMENT_TEXT)?,
        })
    }
}

impl TryFrom<Fields> for CommentChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(Self {
            line: fields.number(names::LINE)?,
            end_line: fields.number(names::END_LINE)?,
            quote: fields.optional_text(names::QUOTE)?,
            text: fields.optional_text(names::COMMENT_TEXT)?,
        })
    }
}

/// Reads which comments were sent.
pub(crate) fn comment_ids(fields: &Fields) -> Result<Vec<CommentId>, Problem> {
    let ids = fields.ids(names::COMMENT_IDS)?;
    ids.ok_or_else(|| fields.refuse(names::COMMENT_IDS, "must be a list of ids"))
}

impl TryFrom<Fields> for Dismiss {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let until = fields.filled_text(names::DISMISS_UNTIL)?;
        match (fields.flag(names::UNDO)?.unwrap_or(false), until) {
            (true, Some(_)) => Err(fields.refuse(names::UNDO, "and `until` are not given together")),
            (true, None) => Ok(Self::Undo),
            (false, None) => Ok(Self::Now),
            (false, Some(until)) => until.parse().map(Self::Until).map_err(|_| {
                let rule = format!("must be a time as 2026-01-31T17:00:00Z; {until:?} is none");
                fields.refuse(names::DISMISS_UNTIL, &rule)
            }),
        }
    }
}
