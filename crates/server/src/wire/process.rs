//! A run on the wire, where it is called an execution process.

use forge_engine::{Delivered, FollowedUp};
use forge_model::{AttemptId, ProfileId, Run, RunId, RunKind, RunState, Time};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct ExecutionProcess {
    id: RunId,
    task_attempt_id: Option<AttemptId>,
    execution_run_id: Option<AttemptId>,
    run_reason: &'static str,
    executor_action: ExecutorAction,
    before_head_commit: Option<String>,
    after_head_commit: Option<String>,
    status: &'static str,
    exit_code: Option<i64>,
    dropped: bool,
    started_at: Time,
    completed_at: Option<Time>,
    created_at: Time,
    updated_at: Time,
}

/// The run that took a follow-up, and how it took it.
#[derive(Debug, Serialize)]
pub(crate) struct FollowUpProcess {
    #[serde(flatten)]
    process: ExecutionProcess,
    delivered: &'static str,
}

#[derive(Debug, Serialize)]
struct ExecutorAction {
    typ: Action,
    next_action: Option<Box<ExecutorAction>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type")]
enum Action {
    #[serde(rename = "CodingAgentInitialRequest")]
    Initial { prompt: String, executor_profile_id: ProfileId },
    #[serde(rename = "CodingAgentFollowUpRequest")]
    FollowUp { prompt: String, session_id: String, executor_profile_id: ProfileId },
    #[serde(rename = "ScriptRequest")]
    Script { script: String, language: &'static str, context: &'static str },
}

/// Returns the contract's name of a run's state, which has no word for pending and lost.
pub(super) fn wire_status(state: RunState) -> &'static str {
    match state {
        RunState::Pending | RunState::Running => "running",
        RunState::Completed => "completed",
        RunState::Failed | RunState::Lost => "failed",
        RunState::Killed => "killed",
    }
}

impl From<Run> for ExecutionProcess {
    fn from(run: Run) -> Self {
        let script = |script, context| Action::Script { script, language: "Bash", context };
        let (run_reason, typ) = match run.kind {
            RunKind::Setup => ("setupscript", script(run.prompt, "SetupScript")),
            RunKind::Cleanup => ("cleanupscript", script(run.prompt, "CleanupScript")),
            RunKind::DevServer => ("devserver", script(run.prompt, "DevServer")),
            RunKind::Agent => ("codingagent", agent_action(run.prompt, run.resumed_session, run.profile)),
        };
        Self {
            id: run.id,
            task_attempt_id: Some(run.attempt),
            execution_run_id: None,
            run_reason,
            executor_action: ExecutorAction { typ, next_action: None },
            before_head_commit: run.before_head,
            after_head_commit: run.after_head,
            status: wire_status(run.state),
            exit_code: run.exit_code,
            dropped: run.dropped,
            started_at: run.started_at,
            completed_at: run.completed_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

fn agent_action(prompt: String, session: Option<String>, executor_profile_id: ProfileId) -> Action {
    match session {
        Some(session_id) => Action::FollowUp { prompt, session_id, executor_profile_id },
        None => Action::Initial { prompt, executor_profile_id },
    }
}

impl From<FollowedUp> for FollowUpProcess {
    fn from(followed: FollowedUp) -> Self {
        let delivered = match followed.delivered {
            Delivered::Started => "started",
            Delivered::Injected => "injected",
            Delivered::Queued => "queued",
        };
        Self { process: followed.run.into(), delivered }
    }
}
