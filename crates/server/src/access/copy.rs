//! A data directory that is a copy of another is served for reading.

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::error::Problem;
use crate::state::App;

/// Exchanges a token for a cookie, and changes nothing.
const SESSION: &str = "/api/session";

/// Refuses what would change something, when the data is a copy.
pub(crate) async fn keep_to_reading(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    match app.engine.copy() {
        Some(why) if !reads && request.uri().path() != SESSION => {
            Problem::new(StatusCode::CONFLICT, why).with_error_data(json!({ "type": "copy" })).into_response()
        }
        _ => next.run(request).await,
    }
}
