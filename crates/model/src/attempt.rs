//! An attempt: one try, on a branch of its own, in a worktree of its own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{AttemptId, AttemptState, ProfileId, ProjectId, TaskId, Time};

/// One try at a task by one agent. Without a task it is what the wire calls an execution run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub id: AttemptId,
    pub project: ProjectId,
    pub task: Option<TaskId>,
    pub profile: ProfileId,
    pub state: AttemptState,
    /// Why the state is what it is, in a sentence, when there is something to say.
    pub reason: Option<String>,
    pub branch: String,
    pub target_branch: String,
    /// The commit the branch started from.
    pub base_commit: String,
    pub worktree: PathBuf,
    pub worktree_deleted: bool,
    /// It works in the person's checkout, because they asked: `worktree` is the project's path, and nothing there
    /// is ours.
    pub in_place: bool,
    /// When the project's setup script was done in this worktree.
    pub setup_completed_at: Option<Time>,
    /// The agent's own conversation id, once it is known.
    pub session: Option<String>,
    /// What the agent was first told.
    pub prompt: String,
    pub manner: Manner,
    pub usage: Usage,
    pub created_at: Time,
    pub updated_at: Time,
}

/// How an attempt is to go about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Manner {
    /// Nobody is there to answer: permissions are given, plans approved, questions turned down.
    pub unattended: bool,
    /// It goes on by itself when a limit of its agent's provider is over; none means as the settings say.
    pub resume_when_limited: Option<bool>,
    /// The attempt whose conversation its own branched off.
    pub forked_from: Option<AttemptId>,
}

/// What an attempt has used so far, where the agent tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub cache_creation_tokens: Option<i64>,
    pub cache_read_tokens: Option<i64>,
    /// Millionths of a US dollar.
    pub cost_micros: Option<i64>,
}
