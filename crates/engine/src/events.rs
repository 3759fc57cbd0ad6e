//! What changed since a position: the durable tail behind every stream.

use forge_model::{Ask, AskId, AttemptId, Project, ProjectId, Run, RunId, TaskId};

use crate::{AttemptView, Engine, Result, TaskView};

/// Everything that changed after a position, each thing once and in its newest form.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The position after these changes.
    pub seq: i64,
    /// The position asked for is unknown or expired: start over from a snapshot.
    pub resync: bool,
    pub items: Vec<Change>,
}

/// One thing that changed; no value means that it was removed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Project { id: ProjectId, added: bool, value: Option<Project> },
    Task { id: TaskId, added: bool, value: Option<TaskView> },
    Attempt { id: AttemptId, added: bool, value: Option<AttemptView> },
    Run { id: RunId, added: bool, value: Option<Run> },
    Ask { id: AskId, added: bool, value: Option<Ask> },
}

impl Engine {
    pub fn bell(&self) -> tokio::sync::watch::Receiver<i64> {
        todo!()
    }
    pub async fn changes(&self, _after: i64) -> Result<Changes> {
        todo!()
    }
}
