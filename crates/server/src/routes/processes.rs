//! Runs, which the wire calls execution processes.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use axum::routing::{get, post};
use forge_model::RunId;

use crate::decode::{Id, Query};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, upgraded};
use crate::wire::{self, ExecutionProcess};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/execution-processes", get(list))
        .route("/api/execution-processes/{run_id}", get(one))
        .route("/api/execution-processes/{run_id}/stop", post(stop))
        .route("/api/execution-processes/{run_id}/raw-logs/ws", get(raw_logs))
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
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let from = query.optional("from")?.unwrap_or(0);
    let log = match query.optional("follow")?.unwrap_or(true) {
        true => app.engine.log(id, from).await?,
        false => app.engine.log_so_far(id, from).await?,
    };
    let guard = app.closing.guard();
    Ok(upgraded(upgrade)?.on_upgrade(move |socket| streams::raw_logs(socket, log, guard)))
}
