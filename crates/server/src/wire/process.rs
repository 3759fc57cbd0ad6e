//! A run on the wire, where it is called an execution process.

use forge_engine::{Delivered, FollowedUp};
use forge_model::{AttemptId, ProfileId, Run, RunId, RunKind, RunState, Time};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExecutionProcess {
    id: RunId,
    task_attempt_id: Option<AttemptId>,
    execution_run_id: Option<AttemptId>,
    run_reason: ExecutionProcessRunReason,
    executor_action: ExecutorAction,
    before_head_commit: Option<String>,
    after_head_commit: Option<String>,
    status: ExecutionProcessStatus,
    exit_code: Option<i64>,
    dropped: bool,
    /// When Forge deleted the log of the run, because it was old or took too much room.
    #[serde(skip_serializing_if = "Option::is_none")]
    logs_deleted_at: Option<Time>,
    started_at: Time,
    completed_at: Option<Time>,
    created_at: Time,
    updated_at: Time,
}

/// Why a run runs, in the contract's words.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExecutionProcessRunReason {
    SetupScript,
    CleanupScript,
    CodingAgent,
    DevServer,
}

/// Where a run stands, in the contract's words, which has none for pending and lost.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExecutionProcessStatus {
    Running,
    Completed,
    Failed,
    Killed,
}

/// The run that took a follow-up, and how it took it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FollowUpProcess {
    #[serde(flatten)]
    process: ExecutionProcess,
    delivered: HowDelivered,
}

/// A new run was started for it, the running one was told at once, or it waits for the turn's end.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HowDelivered {
    Started,
    Injected,
    Queued,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExecutorAction {
    typ: Action,
    next_action: Option<Box<ExecutorAction>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "ExecutorActionType")]
enum Action {
    #[serde(rename = "CodingAgentInitialRequest")]
    Initial { prompt: String, executor_profile_id: ProfileId },
    #[serde(rename = "CodingAgentFollowUpRequest")]
    FollowUp { prompt: String, session_id: String, executor_profile_id: ProfileId },
    #[serde(rename = "ScriptRequest")]
    Script { script: String, language: &'static str, context: &'static str },
}

impl From<RunState> for ExecutionProcessStatus {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Pending | RunState::Running => Self::Running,
            RunState::Completed => Self::Completed,
            RunState::Failed | RunState::Lost => Self::Failed,
            RunState::Killed => Self::Killed,
        }
    }
}

impl From<Run> for ExecutionProcess {
    fn from(run: Run) -> Self {
        let next_action = run.next.map(|next| {
            Box::new(ExecutorAction { typ: agent_action(next.prompt, None, next.profile), next_action: None })
        });
        let script = |script, context| Action::Script { script, language: "Bash", context };
        let (run_reason, typ) = match run.kind {
            RunKind::Setup => (ExecutionProcessRunReason::SetupScript, script(run.prompt, "SetupScript")),
            RunKind::Cleanup => {
                (ExecutionProcessRunReason::CleanupScript, script(run.prompt, "CleanupScript"))
            }
            RunKind::DevServer => (ExecutionProcessRunReason::DevServer, script(run.prompt, "DevServer")),
            RunKind::Agent => (
                ExecutionProcessRunReason::CodingAgent,
                agent_action(run.prompt, run.resumed_session, run.profile),
            ),
        };
        Self {
            id: run.id,
            task_attempt_id: run.task.map(|_| run.attempt),
            execution_run_id: run.task.is_none().then_some(run.attempt),
            run_reason,
            executor_action: ExecutorAction { typ, next_action },
            before_head_commit: run.before_head,
            after_head_commit: run.after_head,
            status: run.state.into(),
            exit_code: run.exit_code,
            dropped: run.dropped,
            logs_deleted_at: run.log_deleted_at,
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
            Delivered::Started => HowDelivered::Started,
            Delivered::Injected => HowDelivered::Injected,
            Delivered::Queued => HowDelivered::Queued,
        };
        Self { process: followed.run.into(), delivered }
    }
}
