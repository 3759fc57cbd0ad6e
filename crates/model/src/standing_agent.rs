//! A standing agent: a kind of agent that has a task of its own in a project, outside the board.

use crate::{ProjectId, StandingAgentId, TaskId, Time};

/// A kind of agent, such as `wish` or `review`, with the task that its conversations belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingAgent {
    pub id: StandingAgentId,
    pub project: ProjectId,
    pub kind: String,
    pub task: TaskId,
    pub created_at: Time,
    pub updated_at: Time,
}
