//! An attempt on the wire, what starts one, and what a start answers.

use forge_engine::{AttemptView, FollowUp, NewAttempt, StartTask, Started};
use forge_model::{AttemptId, AttemptState, Manner, ProfileId, ProjectId, TaskId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::card::AttemptCard;
use super::process::ExecutionProcessStatus;
use super::task::new_task;
use super::{Task, TaskWithAttemptStatus};
use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAttempt {
    id: AttemptId,
    task_id: Option<TaskId>,
    container_ref: Option<String>,
    branch: String,
    target_branch: String,
    executor: String,
    worktree_deleted: bool,
    setup_completed_at: Option<Time>,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    cache_creation_tokens: Option<i64>,
    cache_read_tokens: Option<i64>,
    created_at: Time,
    updated_at: Time,
    // From here on, additions to the contract.
    status: Option<ExecutionProcessStatus>,
    state: AttemptState,
    reason: Option<String>,
    project_id: ProjectId,
    executor_profile_id: ProfileId,
    worktree_path: Option<String>,
    branch_name: String,
    open_asks: i64,
    queued: i64,
    /// Its place among those that a limit holds back, counted from 1.
    queue_place: Option<i64>,
    is_merged: bool,
    is_conflicted: bool,
    /// It works in the person's own checkout, where Forge changes nothing.
    in_place: bool,
    /// Changes outside its worktree that were found after its runs and are open.
    findings: i64,
    /// Millionths of a US dollar that it has cost, where its agent tells.
    cost_micros: Option<i64>,
    /// When the limit of its agent's provider is over; null when nobody said, or there is none.
    limited_until: Option<Time>,
    /// It goes on by itself when such a limit is over; null means as the settings say.
    resume_when_limited: Option<bool>,
    /// Why it seems to be stuck, in a sentence; null while it does not.
    stalled: Option<String>,
    /// Nobody is there to answer: what its agent asks is answered by rule.
    unattended: bool,
    /// The attempt whose conversation its own branched off.
    forked_from: Option<AttemptId>,
    #[serde(flatten)]
    card: AttemptCard,
    task: Option<Task>,
}

/// What an event says about an attempt that changed.
#[derive(Debug, Serialize)]
pub(crate) struct AttemptUpdate {
    id: AttemptId,
    status: Option<ExecutionProcessStatus>,
    title: Option<String>,
    task_id: Option<TaskId>,
}

/// The task that was created, and the attempt that was started, under every key a client looks for it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StartedTask {
    #[serde(flatten)]
    view: TaskWithAttemptStatus,
    attempt_id: AttemptId,
    attempt: TaskAttempt,
    attempts: [TaskAttempt; 1],
    task: Task,
}

impl From<AttemptView> for TaskAttempt {
    fn from(view: AttemptView) -> Self {
        let state = view.state();
        let attempt = view.attempt;
        // While a cap holds an attempt back there is no worktree yet, only the place it will have.
        let exists = attempt.state != AttemptState::Queued;
        let worktree = exists.then(|| attempt.worktree.to_string_lossy().into_owned());
        Self {
            id: attempt.id,
            task_id: attempt.task,
            container_ref: worktree.clone(),
            branch: attempt.branch.clone(),
            target_branch: attempt.target_branch,
            executor: attempt.profile.to_string(),
            worktree_deleted: attempt.worktree_deleted,
            setup_completed_at: attempt.setup_completed_at,
            input_tokens: attempt.usage.input_tokens,
            output_tokens: attempt.usage.output_tokens,
            cache_creation_tokens: attempt.usage.cache_creation_tokens,
            cache_read_tokens: attempt.usage.cache_read_tokens,
            created_at: attempt.created_at,
            updated_at: attempt.updated_at,
            status: view.status.map(ExecutionProcessStatus::from),
            state,
            reason: attempt.reason,
            project_id: attempt.project,
            executor_profile_id: attempt.profile,
            worktree_path: worktree,
            branch_name: attempt.branch,
            open_asks: view.open_asks,
            queued: view.queued,
            queue_place: view.place,
            is_merged: view.is_merged,
            is_conflicted: view.is_conflicted,
            in_place: attempt.in_place,
            findings: view.findings,
            cost_micros: attempt.usage.cost_micros,
            limited_until: view.limited.and_then(|limited| limited.until),
            resume_when_limited: attempt.manner.resume_when_limited,
            stalled: view.stalled,
            unattended: attempt.manner.unattended,
            forked_from: attempt.manner.forked_from,
            card: AttemptCard::new(attempt.id, view.card),
            task: view.task.map(Task::from),
        }
    }
}

impl From<&AttemptView> for AttemptUpdate {
    fn from(view: &AttemptView) -> Self {
        Self {
            id: view.attempt.id,
            status: view.status.map(ExecutionProcessStatus::from),
            title: view.task.as_ref().map(|task| task.title.clone()),
            task_id: view.attempt.task,
        }
    }
}

impl From<Started> for TaskAttempt {
    fn from(started: Started) -> Self {
        started.attempt.into()
    }
}

impl From<Started> for StartedTask {
    fn from(started: Started) -> Self {
        Self {
            attempt_id: started.attempt.attempt.id,
            attempt: started.attempt.clone().into(),
            attempts: [started.attempt.into()],
            task: started.task.clone().into(),
            view: started.task.into(),
        }
    }
}

pub(crate) const CREATE_AND_START_TASK: Body = Body::new(
    "CreateAndStartTaskRequest",
    &[
        need(names::TASK),
        need(names::EXECUTOR_PROFILE_ID),
        may(names::BASE_BRANCH),
        may(names::USE_WORKTREE),
        may(names::UNATTENDED),
        may(names::RESUME_WHEN_LIMITED),
        may(names::FORK_FROM),
    ],
);

pub(crate) const CREATE_ATTEMPT: Body = Body::new(
    "CreateTaskAttemptBody",
    &[
        need(names::TASK_ID),
        need(names::EXECUTOR_PROFILE_ID),
        may(names::BASE_BRANCH),
        may(names::USE_WORKTREE),
        may(names::UNATTENDED),
        may(names::RESUME_WHEN_LIMITED),
        may(names::FORK_FROM),
    ],
);

pub(crate) const RUN_AGENT_SETUP: Body =
    Body::new("RunAgentSetupRequest", &[need(names::EXECUTOR_PROFILE_ID)]);

/// Nothing stands in the way.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunAgentSetupResponse {}

pub(crate) const FOLLOW_UP: Body = Body::new(
    "CreateFollowUpAttempt",
    &[
        need(names::PROMPT),
        may(names::VARIANT),
        may(names::IMAGE_IDS),
        may(names::FOLLOW_UP_COMMENTS),
        may(names::RETRY_PROCESS_ID),
        may(names::FORCE_WHEN_DIRTY),
        may(names::PERFORM_GIT_RESET),
    ],
);

/// Reads a task to create and start; `project` is the one the path names.
pub(crate) fn start_task(fields: &Fields, project: Option<ProjectId>) -> Result<StartTask, Problem> {
    Ok(StartTask {
        task: new_task(&fields.object(names::TASK)?, project)?,
        profile: fields.profile(names::EXECUTOR_PROFILE_ID)?,
        base_branch: fields.filled_text(names::BASE_BRANCH)?,
        use_worktree: fields.flag(names::USE_WORKTREE)?.unwrap_or(true),
        manner: manner(fields)?,
    })
}

/// Reads how an attempt is to go about its work.
fn manner(fields: &Fields) -> Result<Manner, Problem> {
    Ok(Manner {
        unattended: fields.flag(names::UNATTENDED)?.unwrap_or(false),
        resume_when_limited: fields.flag(names::RESUME_WHEN_LIMITED)?,
        forked_from: fields.optional_id(names::FORK_FROM)?,
    })
}

impl TryFrom<Fields> for NewAttempt {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(NewAttempt {
            task: fields.id(names::TASK_ID)?,
            profile: fields.profile(names::EXECUTOR_PROFILE_ID)?,
            base_branch: fields.filled_text(names::BASE_BRANCH)?,
            use_worktree: fields.flag(names::USE_WORKTREE)?.unwrap_or(true),
            manner: manner(&fields)?,
        })
    }
}

impl TryFrom<Fields> for FollowUp {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        if fields.has(names::RETRY_PROCESS_ID) && !fields.value(names::RETRY_PROCESS_ID).is_null() {
            let rule = "is not taken here: a turn is run again by `replace-process`";
            return Err(fields.refuse(names::RETRY_PROCESS_ID, rule));
        }
        // They mean something for a turn that is run again only, and are no less wrong here when they are.
        fields.flag(names::FORCE_WHEN_DIRTY)?;
        fields.flag(names::PERFORM_GIT_RESET)?;
        Ok(FollowUp {
            prompt: fields.text(names::PROMPT)?,
            variant: fields.variant(names::VARIANT)?,
            images: fields.ids(names::IMAGE_IDS)?.unwrap_or_default(),
            comments: fields.ids(names::FOLLOW_UP_COMMENTS)?.unwrap_or_default(),
        })
    }
}
