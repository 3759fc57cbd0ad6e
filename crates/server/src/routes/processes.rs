//! Runs, which the wire calls execution processes.

use axum::extract::State;
use axum::response::Response;
use forge_model::RunId;

use crate::api::{Api, may, need, op};
use crate::compat::{self, Document, MapMessage, Processes};
use crate::decode::{Id, Query, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, RawLogMessage, Upgrade};
use crate::wire::{self, ExecutionProcess};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/execution-processes",
            list,
            op("listExecutionProcesses", "Lists an attempt's runs, oldest first.")
                .query(need(names::TASK_ATTEMPT_ID))
                .query(may(names::SHOW_SOFT_DELETED))
                .gives::<Vec<ExecutionProcess>>(),
        )
        .get(
            "/api/execution-processes/stream/ws",
            follow,
            op("followExecutionProcesses", "Follows an attempt's runs: all of them, then what changes.")
                .query(need(names::TASK_ATTEMPT_ID))
                .query(may(names::SHOW_SOFT_DELETED))
                .becomes_socket::<MapMessage<ExecutionProcess>>(),
        )
        .get(
            "/api/execution-processes/{run_id}",
            one,
            op("getExecutionProcess", "Returns a run.").gives::<ExecutionProcess>(),
        )
        .post(
            "/api/execution-processes/{run_id}/stop",
            stop,
            op("stopExecutionProcess", "Stops a run, and answers when none of its processes is left."),
        )
        .get(
            "/api/execution-processes/{run_id}/raw-logs/ws",
            raw_logs,
            op("followRawLogs", "Follows a run's output as it was written, from a position until it ends.")
                .query(may(names::FROM))
                .query(may(names::FOLLOW))
                .becomes_socket::<RawLogMessage>(),
        )
}

/// Lists an attempt's runs, oldest first.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<ExecutionProcess>> {
    let attempt = query.required("task_attempt_id")?;
    let with_dropped = query.flag("show_soft_deleted")?;
    Ok(Envelope(wire::list(app.engine.runs(attempt, with_dropped).await?)))
}

async fn one(State(app): State<App>, Id(id): Id<RunId>) -> Reply<ExecutionProcess> {
    Ok(Envelope(app.engine.run(id).await?.into()))
}

async fn stop(State(app): State<App>, Id(id): Id<RunId>) -> Reply<()> {
    app.engine.stop_run(id).await?;
    Ok(NOTHING)
}

/// Follows a run's output from a position until the run ends; `?follow=false` gives only what is there.
async fn raw_logs(
    State(app): State<App>,
    Id(id): Id<RunId>,
    query: Query,
    upgrade: Upgrade,
) -> Result<Response, Problem> {
    let from = query.optional("from")?.unwrap_or(0);
    let log = match query.optional("follow")?.unwrap_or(true) {
        true => app.engine.log(id, from).await?,
        false => app.engine.log_so_far(id, from).await?,
    };
    upgrade.serve(&app, move |socket| streams::raw_logs(socket, log))
}

/// Follows an attempt's runs: all of them, then what changes. An attempt that is not there has none: an older
/// client asks for a task's id, too, and must not be refused.
async fn follow(State(app): State<App>, query: Query, upgrade: Upgrade) -> Result<Response, Problem> {
    let attempt = query.required("task_attempt_id")?;
    let runs = Processes { attempt, with_dropped: query.flag("show_soft_deleted")? };
    let all = runs.whole(&app.engine).await?;
    let engine = app.engine.clone();
    upgrade.serve(&app, move |socket| compat::follow(socket, engine, runs, all))
}
