//! The stream of everything that changes.

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::decode::Query;
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, Position};

pub(super) fn router() -> Router<App> {
    Router::new().route("/api/events", get(follow))
}

/// Follows changes after `Last-Event-ID` or `?after=`; without either, from now on.
async fn follow(State(app): State<App>, headers: HeaderMap, query: Query) -> Result<Response, Problem> {
    let position = match headers.get("last-event-id") {
        Some(value) => Position::told(value),
        None => query.optional("after")?.map_or(Position::Now, Position::After),
    };
    Ok(streams::events(app.engine, position, app.closing.guard()).into_response())
}
