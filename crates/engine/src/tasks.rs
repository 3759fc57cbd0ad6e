//! Tasks: what is wanted in a project.

use forge_model::{AttemptId, ProjectId, TaskId, TaskStatus};

use crate::{Engine, Result, TaskView};

/// A task to add.
#[derive(Debug, Clone)]
pub struct NewTask {
    pub project: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub parent: Option<AttemptId>,
}

/// What to change of a task; none keeps.
#[derive(Debug, Clone, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    /// A blank text clears it.
    pub description: Option<String>,
    pub status: Option<TaskStatus>,
    pub parent: Option<AttemptId>,
}

impl Engine {
    pub async fn tasks(&self, _project: ProjectId) -> Result<Vec<TaskView>> {
        todo!()
    }
    pub async fn task(&self, _id: TaskId) -> Result<TaskView> {
        todo!()
    }
    pub async fn create_task(&self, _new: NewTask) -> Result<TaskView> {
        todo!()
    }
    pub async fn update_task(&self, _id: TaskId, _change: TaskChange) -> Result<TaskView> {
        todo!()
    }
    pub async fn delete_task(&self, _id: TaskId) -> Result<()> {
        todo!()
    }
}
