//! The stream of everything that changes.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use crate::api::{Api, may, op};
use crate::decode::{Query, names};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, Position};

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/events",
        follow,
        op("followEvents", "Follows everything that changes, as server-sent events from a position.")
            .query(may(names::AFTER))
            .gives_events(),
    )
}

/// Follows changes after `Last-Event-ID` or `?after=`; without either, from now on.
async fn follow(State(app): State<App>, headers: HeaderMap, query: Query) -> Result<Response, Problem> {
    let position = match headers.get("last-event-id") {
        Some(value) => Position::told(value),
        None => query.optional("after")?.map_or(Position::Now, Position::After),
    };
    Ok(streams::events(app.engine, position, app.closing.guard()).into_response())
}
