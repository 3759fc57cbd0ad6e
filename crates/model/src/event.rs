//! An event: the notice that something changed, numbered in the order of commits.

use crate::state::named;
use crate::{AttemptId, ProjectId, Time};

/// The notice that something changed. It says what, never the content: readers fetch the newest form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub seq: i64,
    pub noun: Noun,
    pub id: String,
    pub project: Option<ProjectId>,
    pub attempt: Option<AttemptId>,
    pub op: Op,
    pub at: Time,
}

named! {
    /// What kind of thing changed.
    Noun {
        Project = "project",
        Task = "task",
        Attempt = "attempt",
        Run = "run",
        Ask = "ask",
        Queue = "queue",
        Draft = "draft",
    }
}

named! {
    /// What happened to it.
    Op {
        Add = "add",
        Change = "change",
        Remove = "remove",
    }
}
