//! The four keys around every API answer: `success`, `data`, `error_data`, `message`.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

use crate::error::Problem;

/// What a route answers.
pub(crate) type Reply<T> = Result<Envelope<T>, Problem>;

/// A good answer: its payload becomes `data`.
#[derive(Debug)]
pub(crate) struct Envelope<T>(pub(crate) T);

/// The payload of an answer that has nothing to say.
pub(crate) const NOTHING: Envelope<()> = Envelope(());

#[derive(Serialize)]
struct Keys<T> {
    success: bool,
    data: T,
    error_data: Value,
    message: Option<String>,
}

impl<T: Serialize> IntoResponse for Envelope<T> {
    fn into_response(self) -> Response {
        Json(Keys { success: true, data: self.0, error_data: Value::Null, message: None }).into_response()
    }
}

/// Encodes a failure in the envelope.
pub(crate) fn failure(status: StatusCode, message: String, error_data: Value) -> Response {
    (status, Json(Keys { success: false, data: (), error_data, message: Some(message) })).into_response()
}
