//! An attempt without a task on the wire, where it is called an execution run.

use forge_engine::AttemptView;
use forge_model::{AttemptId, AttemptState, ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::process::ExecutionProcessStatus;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExecutionRun {
    id: AttemptId,
    project_id: ProjectId,
    branch: String,
    target_branch: String,
    executor: String,
    variant: Option<String>,
    container_ref: Option<String>,
    prompt: String,
    worktree_deleted: bool,
    created_at: Time,
    updated_at: Time,
    // From here on, additions to the contract.
    status: Option<ExecutionProcessStatus>,
    state: AttemptState,
    reason: Option<String>,
    open_asks: i64,
    queued: i64,
}

impl From<AttemptView> for ExecutionRun {
    fn from(view: AttemptView) -> Self {
        let attempt = view.attempt;
        Self {
            id: attempt.id,
            project_id: attempt.project,
            branch: attempt.branch,
            target_branch: attempt.target_branch,
            executor: attempt.profile.agent,
            variant: attempt.profile.variant,
            container_ref: Some(attempt.worktree.to_string_lossy().into_owned()),
            prompt: attempt.prompt,
            worktree_deleted: attempt.worktree_deleted,
            created_at: attempt.created_at,
            updated_at: attempt.updated_at,
            status: view.status.map(ExecutionProcessStatus::from),
            state: attempt.state,
            reason: attempt.reason,
            open_asks: view.open_asks,
            queued: view.queued,
        }
    }
}
