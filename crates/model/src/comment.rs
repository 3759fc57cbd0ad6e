//! A comment: what a person writes beside lines of a diff, to be sent to the agent.

use crate::state::named;
use crate::{AttemptId, CommentId, Time};

/// What a person wrote beside lines of an attempt's diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub id: CommentId,
    pub attempt: AttemptId,
    pub path: String,
    pub side: CommentSide,
    /// Counted from 1.
    pub line: i64,
    /// The last line it is about.
    pub end_line: i64,
    /// What the lines said when it was written: by it the place is known again.
    pub quote: String,
    pub text: String,
    pub created_at: Time,
    pub updated_at: Time,
    /// When it was sent to the agent; none while it waits.
    pub sent_at: Option<Time>,
}

named! {
    /// Which side of a diff a comment is about.
    CommentSide {
        Old = "old",
        New = "new",
    }
}
