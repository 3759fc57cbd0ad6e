//! Streams that belong to no one noun: everything a tab follows over one socket, and a project's drafts.

use axum::extract::State;
use axum::response::Response;

use crate::api::{Api, need, op};
use crate::compat::{self, Document, DraftValue, Drafts, MapMessage};
use crate::decode::{Query, names};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, LiveMessage, Upgrade};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/live/ws",
            live,
            op("live", "Follows any number of topics over one socket, each from a position.")
                .becomes_socket::<LiveMessage>(),
        )
        .get(
            "/api/drafts/stream/ws",
            drafts,
            op("followDrafts", "Follows the drafts of a project's attempts: all of them, then what changes.")
                .query(need(names::PROJECT_ID))
                .becomes_socket::<MapMessage<DraftValue>>(),
        )
}

/// Opens the one socket of a tab.
async fn live(State(app): State<App>, upgrade: Upgrade) -> Result<Response, Problem> {
    let engine = app.engine.clone();
    upgrade.serve(&app, move |socket| streams::live(socket, engine))
}

/// Follows the drafts of a project's attempts.
async fn drafts(State(app): State<App>, query: Query, upgrade: Upgrade) -> Result<Response, Problem> {
    let drafts = Drafts(query.required("project_id")?);
    let all = drafts.whole(&app.engine).await?;
    let engine = app.engine.clone();
    upgrade.serve(&app, move |socket| compat::follow(socket, engine, drafts, all))
}
