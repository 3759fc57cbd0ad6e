//! Attempts, as tools: starting one, and looking at them.

use forge_engine::{AttemptView, FollowUp, NewAttempt};
use forge_model::{AttemptId, Manner, ProjectId, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::call::Call;
use super::super::names::{ATTEMPT_ID, BASE_BRANCH, MESSAGE};
use super::super::reach::Reach;
use super::super::tool::{Tool, changes, destroys, may, need, reads};
use crate::access::Caller;
use crate::decode::names::{EXECUTOR, PROJECT_ID, TASK_ID, VARIANT};
use crate::error::Problem;
use crate::wire::{self, FollowUpProcess, TaskAttempt, TaskRelationships};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        changes(
            "start_task_attempt",
            "Start task attempt",
            "Starts an agent on a task, on a branch and in a worktree of its own; it runs when this answers.",
        )
        .takes(&[
            need(TASK_ID, "The task."),
            need(EXECUTOR, "The agent, as CLAUDE_CODE or CODEX; `list_agents` tells which are here."),
            need(BASE_BRANCH, "The branch to start from."),
            may(VARIANT, "A variant of the agent's settings."),
        ])
        .reached(Reach::Subtask)
        .does(start),
        reads(
            "list_task_attempts",
            "List task attempts",
            "Lists attempts, newest first: those of a task, of a project, or all.",
        )
        .takes(&[may(PROJECT_ID, "Only attempts in this project."), may(TASK_ID, "Only attempts at this task.")])
        .advanced()
        .does(list),
        reads("get_task_attempt", "Get task attempt", "Returns an attempt: where it stands, and where its files are.")
            .takes(&[need(ATTEMPT_ID, "The attempt.")])
            .advanced()
            .reached(Reach::Attempt)
        .does(one),
        changes(
            "follow_up",
            "Follow up",
            "Tells an attempt's agent something more: at once when it can listen, else at its turn's end, and in a new \
             turn when it is done.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            need(MESSAGE, "What the agent is told."),
            may(VARIANT, "Another variant of the agent's settings."),
        ])
        .advanced()
        .does(follow_up),
        destroys(
            "stop_task_attempt",
            "Stop task attempt",
            "Stops every process of an attempt, and answers when none is left; its work stays.",
        )
        .takes(&[need(ATTEMPT_ID, "The attempt.")])
        .advanced()
        .idempotent()
        .does(stop),
        reads(
            "get_children",
            "Get children",
            "Returns the tasks that grew out of an attempt, and the task it grew out of itself.",
        )
        .takes(&[need(ATTEMPT_ID, "The attempt.")])
        .advanced()
        .does(children),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct StartedAttempt {
    task_id: TaskId,
    attempt_id: AttemptId,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Attempts {
    attempts: Vec<TaskAttempt>,
    count: usize,
    applied_filters: AttemptFilters,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AttemptFilters {
    project_id: Option<ProjectId>,
    task_id: Option<TaskId>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OneAttempt {
    task_attempt: TaskAttempt,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FollowedUp {
    success: bool,
    attempt_id: AttemptId,
    process: FollowUpProcess,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stopped {
    stopped: bool,
    attempt_id: AttemptId,
}

async fn start(call: Call) -> Result<StartedAttempt, Problem> {
    let new = NewAttempt {
        task: call.id(TASK_ID)?,
        profile: call.profile()?,
        base_branch: Some(call.fields.line(BASE_BRANCH)?),
        use_worktree: true,
        manner: Manner::default(),
    };
    let engine = &call.app.engine;
    let started = match call.caller {
        Caller::Owner => engine.start_attempt(new, None).await?,
        Caller::Attempt(own) => engine.start_attempt_at_subtask(own, new, None).await?,
    };
    Ok(StartedAttempt { task_id: started.task.task.id, attempt_id: started.attempt.attempt.id })
}

async fn list(call: Call) -> Result<Attempts, Problem> {
    let (project_id, task_id) = (call.fields.optional_id(PROJECT_ID)?, call.fields.optional_id(TASK_ID)?);
    let mut attempts: Vec<AttemptView> = call.app.engine.attempts(task_id).await?;
    attempts.retain(|view| project_id.is_none_or(|project| view.attempt.project == project));
    let attempts: Vec<TaskAttempt> = wire::list(attempts);
    let applied_filters = AttemptFilters { project_id, task_id };
    Ok(Attempts { count: attempts.len(), attempts, applied_filters })
}

async fn one(call: Call) -> Result<OneAttempt, Problem> {
    Ok(OneAttempt { task_attempt: call.app.engine.attempt(call.attempt()?).await?.into() })
}

async fn follow_up(call: Call) -> Result<FollowedUp, Problem> {
    let attempt_id = call.attempt()?;
    let follow =
        FollowUp { variant: call.fields.variant(VARIANT)?, ..FollowUp::new(call.fields.text(MESSAGE)?) };
    let process = call.app.engine.follow_up(attempt_id, follow, None).await?.into();
    Ok(FollowedUp { success: true, attempt_id, process })
}

async fn stop(call: Call) -> Result<Stopped, Problem> {
    let attempt_id = call.attempt()?;
    call.app.engine.stop_attempt(attempt_id).await?;
    Ok(Stopped { stopped: true, attempt_id })
}

async fn children(call: Call) -> Result<TaskRelationships, Problem> {
    Ok(call.app.engine.family(call.attempt()?).await?.into())
}
