//! Attempts without a task, which the wire calls execution runs.

use axum::extract::State;
use axum::response::Response;
use forge_model::AttemptId;

use crate::api::{Api, may, op};
use crate::decode::{Id, Query, StartCall, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, PlainLogMessage, Upgrade};
use crate::wire::{self, ExecutionProcess, ExecutionRun, FollowUpProcess, StartedExecutionRun};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/execution-runs",
            list,
            op(
                "listExecutionRuns",
                "Lists attempts without a task, newest first: those of a project, or all.",
            )
            .query(may(names::PROJECT_ID))
            .gives::<Vec<ExecutionRun>>(),
        )
        .post(
            "/api/execution-runs",
            create,
            op("createExecutionRun", "Starts an attempt without a task; its process runs when this answers.")
                .takes(wire::CREATE_EXECUTION_RUN)
                .gives::<StartedExecutionRun>()
                .repeatable(),
        )
        .get(
            "/api/execution-runs/{execution_run_id}",
            one,
            op("getExecutionRun", "Returns an attempt without a task.").gives::<ExecutionRun>(),
        )
        .post(
            "/api/execution-runs/{execution_run_id}/follow-up",
            follow_up,
            op("followUpExecutionRun", "Tells the agent of an attempt without a task something more.")
                .takes(wire::FOLLOW_UP)
                .gives::<FollowUpProcess>()
                .repeatable(),
        )
        .get(
            "/api/execution-runs/{execution_run_id}/logs/ws",
            logs,
            op("followExecutionRunLogs", "Follows the output of the newest run, as it was written.")
                .becomes_socket::<PlainLogMessage>(),
        )
        .post(
            "/api/execution-runs/{execution_run_id}/stop",
            stop,
            op("stopExecutionRun", "Stops an attempt without a task, and answers when no process is left."),
        )
        .get(
            "/api/execution-runs/{execution_run_id}/processes",
            processes,
            op("listExecutionRunProcesses", "Lists the runs of an attempt without a task, oldest first.")
                .gives::<Vec<ExecutionProcess>>(),
        )
}

async fn list(State(app): State<App>, query: Query) -> Reply<Vec<ExecutionRun>> {
    let project = query.optional("project_id")?;
    Ok(Envelope(wire::list(app.engine.loose_attempts(project).await?)))
}

async fn create(State(app): State<App>, call: StartCall) -> Reply<StartedExecutionRun> {
    let new = call.fields.try_into()?;
    Ok(Envelope(app.engine.start_loose(new, call.key).await?.into()))
}

async fn one(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<ExecutionRun> {
    Ok(Envelope(app.engine.loose_attempt(id).await?.into()))
}

async fn follow_up(State(app): State<App>, Id(id): Id<AttemptId>, call: StartCall) -> Reply<FollowUpProcess> {
    let follow = call.fields.try_into()?;
    Ok(Envelope(app.engine.follow_up_loose(id, follow, call.key).await?.into()))
}

async fn logs(State(app): State<App>, Id(id): Id<AttemptId>, upgrade: Upgrade) -> Result<Response, Problem> {
    let log = app.engine.log_of_loose(id).await?;
    upgrade.serve(&app, move |socket| streams::plain_logs(socket, log))
}

async fn stop(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    app.engine.stop_loose(id).await?;
    Ok(NOTHING)
}

async fn processes(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Vec<ExecutionProcess>> {
    Ok(Envelope(wire::list(app.engine.runs_of_loose(id).await?)))
}
