//! Attempts: tries at a task.

use axum::extract::State;
use forge_model::AttemptId;

use crate::api::{Api, may, op};
use crate::decode::{Fields, Id, MaybeFields, Query, StartCall, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{
    self, FollowUpProcess, OpenEditorResponse, RunAgentSetupResponse, TaskAttempt, TaskRelationships,
};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts",
            list,
            op("listTaskAttempts", "Lists attempts, newest first: those of a task, or all.")
                .query(may(names::TASK_ID))
                .gives::<Vec<TaskAttempt>>(),
        )
        .post(
            "/api/task-attempts",
            create,
            op(
                "createTaskAttempt",
                "Starts a further attempt at a task; its process runs when this answers.",
            )
            .takes(wire::CREATE_ATTEMPT)
            .gives::<TaskAttempt>()
            .repeatable(),
        )
        .get(
            "/api/task-attempts/{attempt_id}",
            one,
            op("getTaskAttempt", "Returns an attempt.").gives::<TaskAttempt>(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/children",
            children,
            op(
                "getTaskAttemptChildren",
                "Returns the tasks that grew out of an attempt, and its own parent.",
            )
            .gives::<TaskRelationships>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/stop",
            stop,
            op("stopTaskAttempt", "Stops every process of an attempt, and answers when none is left."),
        )
        .post(
            "/api/task-attempts/{attempt_id}/follow-up",
            follow_up,
            op(
                "followUp",
                "Tells the agent something more: at once when it can listen, else at its turn's end.",
            )
            .takes(wire::FOLLOW_UP)
            .gives::<FollowUpProcess>()
            .repeatable(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/start-dev-server",
            start_dev_server,
            op(
                "startDevServer",
                "Starts an attempt's dev server anew on ports of its own; those of other attempts stay.",
            )
            .refuses_with_200(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/run-agent-setup",
            run_agent_setup,
            op(
                "runAgentSetup",
                "Says whether an agent is ready, or what a person must do first; nothing is installed.",
            )
            .takes(wire::RUN_AGENT_SETUP)
            .gives::<RunAgentSetupResponse>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/open-editor",
            open_editor,
            op(
                "openTaskAttemptInEditor",
                "Opens a worktree in an editor on the server's machine, or says where.",
            )
            .may_take(wire::OPEN_EDITOR)
            .gives::<OpenEditorResponse>(),
        )
}

/// Lists attempts, newest first: those of a task, or all.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<TaskAttempt>> {
    let task = query.optional("task_id")?;
    Ok(Envelope(wire::list(app.engine.attempts(task).await?)))
}

/// Starts a further attempt at a task.
async fn create(State(app): State<App>, call: StartCall) -> Reply<TaskAttempt> {
    let new = call.fields.try_into()?;
    Ok(Envelope(app.engine.start_attempt(new, call.key).await?.into()))
}

async fn one(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<TaskAttempt> {
    Ok(Envelope(app.engine.attempt(id).await?.into()))
}

async fn children(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<TaskRelationships> {
    Ok(Envelope(app.engine.family(id).await?.into()))
}

/// Stops every process of an attempt, and answers when none is left.
async fn stop(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    app.engine.stop_attempt(id).await?;
    Ok(NOTHING)
}

/// Tells the agent something more: at once when it can listen, else when its turn ends.
async fn follow_up(State(app): State<App>, Id(id): Id<AttemptId>, call: StartCall) -> Reply<FollowUpProcess> {
    let told = wire::told(call.fields)?;
    Ok(Envelope(app.engine.tell_agent(id, told, call.key).await?.into()))
}

/// Starts an attempt's dev server anew. That there is none is told with 200, where clients look for it.
async fn start_dev_server(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    app.engine.start_dev_server(id).await.map_err(|error| match error.code() {
        Some("no_dev_script") => Problem::told_with_200(error),
        _ => error.into(),
    })?;
    Ok(NOTHING)
}

/// Says whether an agent is ready, or what a person must do first.
async fn run_agent_setup(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    fields: Fields,
) -> Reply<RunAgentSetupResponse> {
    app.engine.check_setup(id, &fields.profile(names::EXECUTOR_PROFILE_ID)?).await?;
    Ok(Envelope(RunAgentSetupResponse {}))
}

/// Opens a worktree in an editor on the server's machine, or says where another finds it.
async fn open_editor(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<OpenEditorResponse> {
    Ok(Envelope(app.engine.open_attempt(id, fields.try_into()?).await?.into()))
}
