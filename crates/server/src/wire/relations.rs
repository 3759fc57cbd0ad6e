//! What an attempt belongs to on the wire: the tasks around it, and the ids behind its worktree.

use forge_engine::{AttemptView, Family};
use forge_model::{AttemptId, ProjectId, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Task, TaskAttempt};

/// The tasks that an attempt is related to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskRelationships {
    parent_task: Option<Task>,
    current_attempt: TaskAttempt,
    children: Vec<Task>,
    /// The parent task again, under the key that an older client reads.
    parent: Option<Task>,
}

/// What a worktree belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContainerInfo {
    attempt_id: AttemptId,
    /// Null for an attempt without a task.
    task_id: Option<TaskId>,
    project_id: ProjectId,
}

impl From<Family> for TaskRelationships {
    fn from(family: Family) -> Self {
        Self {
            parent_task: family.parent.clone().map(Task::from),
            current_attempt: family.attempt.into(),
            children: super::list(family.children),
            parent: family.parent.map(Task::from),
        }
    }
}

impl From<AttemptView> for ContainerInfo {
    fn from(view: AttemptView) -> Self {
        Self { attempt_id: view.attempt.id, task_id: view.attempt.task, project_id: view.attempt.project }
    }
}
