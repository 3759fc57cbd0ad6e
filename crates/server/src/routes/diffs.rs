//! What an attempt has changed.

use axum::extract::State;
use axum::response::Response;
use forge_model::AttemptId;

use crate::api::{Api, may, op};
use crate::decode::{Id, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, DiffMessage, Upgrade};
use crate::wire::{self, TaskAttemptDiff};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/diff",
            once,
            op(
                "getTaskAttemptDiff",
                "Returns what an attempt has changed since it left its target branch, as it is now: with contents, with \
                 counts only, or only the files that `path` names, which may be there many times. `from` and `to` compare \
                 snapshots of it instead; `start` is where it began, `now` its files as they are.",
            )
            .query(may(names::STATS_ONLY))
            .query(may(names::DIFF_PATH))
            .query(may(names::FROM_SNAPSHOT))
            .query(may(names::TO_SNAPSHOT))
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
    Ok(Envelope(app.engine.diff(id, wire::diff_wanted(&query)?).await?.into()))
}

/// Follows what an attempt has changed.
async fn follow(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    query: Query,
    upgrade: Upgrade,
) -> Result<Response, Problem> {
    let view = app.engine.follow_diff(id, query.flag("stats_only")?).await?;
    upgrade.serve(&app, move |socket| streams::diffs(socket, view))
}
