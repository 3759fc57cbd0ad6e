//! An attempt without a task on the wire, where it is called an execution run.

use forge_engine::{AttemptView, NewLooseAttempt, StartedLoose};
use forge_model::{AttemptId, AttemptState, ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::ExecutionProcess;
use super::process::ExecutionProcessStatus;
use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

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
    /// Its place among those that a limit holds back, counted from 1.
    queue_place: Option<i64>,
}

impl From<AttemptView> for ExecutionRun {
    fn from(view: AttemptView) -> Self {
        let attempt = view.attempt;
        let exists = attempt.state != AttemptState::Queued;
        Self {
            id: attempt.id,
            project_id: attempt.project,
            branch: attempt.branch,
            target_branch: attempt.target_branch,
            executor: attempt.profile.agent,
            variant: attempt.profile.variant,
            container_ref: exists.then(|| attempt.worktree.to_string_lossy().into_owned()),
            prompt: attempt.prompt,
            worktree_deleted: attempt.worktree_deleted,
            created_at: attempt.created_at,
            updated_at: attempt.updated_at,
            status: view.status.map(ExecutionProcessStatus::from),
            state: attempt.state,
            reason: attempt.reason,
            open_asks: view.open_asks,
            queued: view.queued,
            queue_place: view.place,
        }
    }
}

/// An execution run that was started, and its first process, which exists; none when a limit holds it back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StartedExecutionRun {
    execution_run: ExecutionRun,
    execution_process: Option<ExecutionProcess>,
}

impl From<StartedLoose> for StartedExecutionRun {
    fn from(started: StartedLoose) -> Self {
        Self {
            execution_run: started.attempt.into(),
            execution_process: started.run.map(ExecutionProcess::from),
        }
    }
}

pub(crate) const CREATE_EXECUTION_RUN: Body = Body::new(
    "CreateExecutionRun",
    &[
        need(names::PROJECT_ID),
        need(names::PROMPT),
        need(names::EXECUTOR_PROFILE_ID),
        may(names::BASE_BRANCH),
    ],
);

impl TryFrom<Fields> for NewLooseAttempt {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(NewLooseAttempt {
            project: fields.id(names::PROJECT_ID)?,
            prompt: fields.text(names::PROMPT)?,
            profile: fields.profile(names::EXECUTOR_PROFILE_ID)?,
            base_branch: fields.filled_text(names::BASE_BRANCH)?,
        })
    }
}
