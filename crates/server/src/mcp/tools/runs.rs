//! Attempts without a task, which clients know as execution runs, as tools.

use forge_engine::{AttemptView, NewLooseAttempt};
use forge_model::{AttemptId, ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::call::Call;
use super::super::names::EXECUTION_RUN_ID;
use super::super::tool::{Tool, changes, destroys, may, need, reads};
use crate::decode::names::{BASE_BRANCH, EXECUTOR, PROJECT_ID, PROMPT, VARIANT};
use crate::error::Problem;
use crate::wire;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        changes(
            "start_execution_run",
            "Start execution run",
            "Starts an agent on a prompt, without a task, on a branch and in a worktree of its own.",
        )
        .takes(&[
            need(PROJECT_ID, "The project."),
            need(PROMPT, "What the agent is told."),
            need(EXECUTOR, "The agent, as CLAUDE_CODE or CODEX; `list_agents` tells which are here."),
            may(VARIANT, "A variant of the agent's settings."),
            may(BASE_BRANCH, "The branch to start from; `main` or the project's own default without."),
        ])
        .does(start),
        reads("list_execution_runs", "List execution runs", "Lists runs without a task, newest first.")
            .takes(&[may(PROJECT_ID, "Only runs in this project.")])
            .does(list),
        reads("get_execution_run", "Get execution run", "Returns one run without a task.")
            .takes(&[need(EXECUTION_RUN_ID, "The run.")])
            .does(one),
        destroys(
            "stop_execution_run",
            "Stop execution run",
            "Stops a run without a task, and answers when no process is left; its work stays.",
        )
        .takes(&[need(EXECUTION_RUN_ID, "The run.")])
        .idempotent()
        .does(stop),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct StartedRun {
    execution_run_id: AttemptId,
    project_id: ProjectId,
    branch: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Runs {
    runs: Vec<RunSummary>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RunSummary {
    id: AttemptId,
    project_id: ProjectId,
    branch: String,
    target_branch: String,
    executor: String,
    created_at: Time,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RunDetails {
    #[serde(flatten)]
    summary: RunSummary,
    prompt: String,
    /// Where it stands.
    state: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StoppedRun {
    stopped: bool,
    execution_run_id: AttemptId,
}

impl From<AttemptView> for RunSummary {
    fn from(view: AttemptView) -> Self {
        let attempt = view.attempt;
        Self {
            id: attempt.id,
            project_id: attempt.project,
            branch: attempt.branch,
            target_branch: attempt.target_branch,
            executor: attempt.profile.agent,
            created_at: attempt.created_at,
        }
    }
}

async fn start(call: Call) -> Result<StartedRun, Problem> {
    let new = NewLooseAttempt {
        project: call.id(PROJECT_ID)?,
        prompt: call.fields.text(PROMPT)?,
        profile: call.profile()?,
        base_branch: call.fields.filled_text(BASE_BRANCH)?,
    };
    let attempt = call.app.engine.start_loose(new, None).await?.attempt.attempt;
    Ok(StartedRun { execution_run_id: attempt.id, project_id: attempt.project, branch: attempt.branch })
}

async fn list(call: Call) -> Result<Runs, Problem> {
    let project = call.fields.optional_id(PROJECT_ID)?;
    let runs: Vec<RunSummary> = wire::list(call.app.engine.loose_attempts(project).await?);
    Ok(Runs { count: runs.len(), runs })
}

async fn one(call: Call) -> Result<RunDetails, Problem> {
    let view = call.app.engine.loose_attempt(call.id(EXECUTION_RUN_ID)?).await?;
    let (prompt, state) = (view.attempt.prompt.clone(), view.state().as_str());
    Ok(RunDetails { prompt, state, summary: view.into() })
}

async fn stop(call: Call) -> Result<StoppedRun, Problem> {
    let execution_run_id = call.id(EXECUTION_RUN_ID)?;
    call.app.engine.stop_loose(execution_run_id).await?;
    Ok(StoppedRun { stopped: true, execution_run_id })
}
