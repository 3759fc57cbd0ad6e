//! What a board draws first, on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Approval, Project, TaskAttempt, TaskWithAttemptStatus, list};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Board {
    /// Where to follow the events from: they tell everything that is not in here.
    position: i64,
    projects: Vec<Project>,
    tasks: Vec<TaskWithAttemptStatus>,
    /// Every attempt that has a task. Its own `task` is null where `tasks` has it.
    attempts: Vec<TaskAttempt>,
    /// What agents wait for, oldest first.
    approvals: Vec<Approval>,
}

impl From<forge_engine::Board> for Board {
    fn from(board: forge_engine::Board) -> Self {
        Self {
            position: board.seq,
            projects: list(board.projects),
            tasks: list(board.tasks),
            attempts: list(board.attempts),
            approvals: list(board.asks),
        }
    }
}
