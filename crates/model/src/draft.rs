//! A draft: what stands in an attempt's composer and was not sent yet.

use crate::state::named;
use crate::{AttemptId, DraftId, ImageId, RunId, Time};

/// What stands in an attempt's composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: DraftId,
    pub attempt: AttemptId,
    pub kind: DraftKind,
    /// The run that a retry runs again.
    pub retry: Option<RunId>,
    pub prompt: String,
    pub variant: Option<String>,
    /// None when images were never spoken of.
    pub images: Option<Vec<ImageId>>,
    /// Counts every change; 0 is a draft that nobody has written yet.
    pub version: i64,
    /// The item of the queue that this text waits as.
    pub queued: Option<String>,
    /// A turn with this text is being started right now.
    pub sending: bool,
    pub created_at: Time,
    pub updated_at: Time,
}

named! {
    /// What a draft is for.
    DraftKind {
        FollowUp = "follow_up",
        Retry = "retry",
    }
}

impl Draft {
    /// A draft that nobody has written yet, as old as it is told.
    pub fn empty(attempt: AttemptId, kind: DraftKind, at: Time) -> Self {
        let salt = match kind {
            DraftKind::FollowUp => 1,
            DraftKind::Retry => 2,
        };
        Self {
            id: DraftId::of(attempt, salt),
            attempt,
            kind,
            retry: None,
            prompt: String::new(),
            variant: None,
            images: None,
            version: 0,
            queued: None,
            sending: false,
            created_at: at,
            updated_at: at,
        }
    }
}
