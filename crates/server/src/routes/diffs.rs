//! What an attempt has changed.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use forge_model::AttemptId;

use crate::api::{Api, may, op};
use crate::decode::{Id, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, DiffMessage, upgraded};
use crate::wire::TaskAttemptDiff;

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/diff",
            once,
            op(
                "getTaskAttemptDiff",
                "Returns what an attempt has changed since it left its target branch, as it is now.",
            )
            .query(may(names::STATS_ONLY))
            .gives::<TaskAttemptDiff>(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/diff/ws",
            follow,
            op("followDiff", "Follows what an attempt has changed: everything, then what changes in it.")
                .query(may(names::STATS_ONLY))
                .becomes_socket::<DiffMessage>(),
        )
}

/// Returns what an attempt has changed, compared now.
async fn once(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<TaskAttemptDiff> {
    let stats_only = query.flag("stats_only")?;
    Ok(Envelope(app.engine.diff(id, stats_only).await?.into()))
}

/// Follows what an attempt has changed.
async fn follow(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    query: Query,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let view = app.engine.follow_diff(id, query.flag("stats_only")?).await?;
    let guard = app.closing.guard();
    Ok(upgraded(upgrade)?.on_upgrade(move |socket| streams::diffs(socket, view, guard)))
}
