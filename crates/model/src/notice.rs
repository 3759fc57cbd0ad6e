//! A notice: a text that was meant for a person's messenger, and what became of it.

use crate::state::named;
use crate::{NoticeId, TaskId, Time};

/// A text for a person, about something that happened to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub id: NoticeId,
    pub task: Option<TaskId>,
    pub kind: NoticeKind,
    pub status: NoticeStatus,
    pub recipient: Option<String>,
    pub message: String,
    /// Why it could not be sent, the last time it was tried.
    pub error: Option<String>,
    /// What it is about, and how often it was tried.
    pub metadata: serde_json::Value,
    pub created_at: Time,
    pub sent_at: Option<Time>,
}

named! {
    /// What a notice tells.
    NoticeKind {
        Finished = "finished",
        Failed = "failed",
        Asked = "asked",
    }
}

named! {
    /// What became of a notice.
    NoticeStatus {
        Pending = "pending",
        Sent = "sent",
        Failed = "failed",
    }
}
