//! The only place where an error meets an HTTP status.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use forge_engine::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::envelope::failure;

/// Why a request is not served, as the caller is told.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
    error_data: Value,
    /// How many seconds to wait before asking again.
    retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), error_data: Value::Null, retry_after: None }
    }

    /// The caller failed too often and must wait.
    pub(crate) fn too_often(wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("too many requests without the right token; wait {seconds} s");
        Self { retry_after: Some(seconds), ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }
    }

    /// The request itself is malformed.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A field is missing or cannot be right.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Answers 200 with `success: false`, where clients read the message and not the status.
    pub(crate) fn told_with_200(error: Error) -> Self {
        Self { status: StatusCode::OK, ..Self::from(error) }
    }

    /// Returns the sentence.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns what programs are told beside the sentence.
    pub(crate) fn error_data(&self) -> &Value {
        &self.error_data
    }

    /// Gives a bare word as `error_data`, where clients know it as one.
    pub(crate) fn with_word(self, word: &'static str) -> Self {
        Self { error_data: word.into(), ..self }
    }

    /// Tells programs more than the sentence does.
    pub(crate) fn with_error_data(self, error_data: Value) -> Self {
        Self { error_data, ..self }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if error.kind() == ErrorKind::Internal {
            tracing::error!(error = ?error, "a request failed: {error}");
        }
        let error_data = error.code().map_or(Value::Null, |code| json!({ "type": code }));
        Self { status, message: error.to_string(), error_data, retry_after: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = failure(self.status, self.message, self.error_data);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answer(problem: Problem) -> (StatusCode, Value) {
        let response = problem.into_response();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn each_kind_of_error_has_its_status_and_the_engines_sentence() {
        let cases = [
            (Error::not_found("no task x"), StatusCode::NOT_FOUND),
            (Error::invalid("no task x"), StatusCode::UNPROCESSABLE_ENTITY),
            (Error::conflict("no task x"), StatusCode::CONFLICT),
            (Error::unavailable("no task x"), StatusCode::SERVICE_UNAVAILABLE),
            (Error::internal("no task x"), StatusCode::INTERNAL_SERVER_ERROR),
        ];
        for (error, expected) in cases {
            let (status, body) = answer(error.into()).await;
            assert_eq!(status, expected);
            let told = json!({"success": false, "data": null, "error_data": null, "message": "no task x"});
            assert_eq!(body, told);
        }
    }

    #[tokio::test]
    async fn a_code_becomes_typed_error_data() {
        let error = Error::invalid("install claude").with_code("setup_required");
        let (status, body) = answer(error.into()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(body["error_data"], json!({"type": "setup_required"}));
        assert_eq!(body["message"], "install claude");
    }

    #[tokio::test]
    async fn some_failures_are_told_with_200_because_clients_read_the_message() {
        let (status, body) = answer(Problem::told_with_200(Error::conflict("it is there already"))).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(body["success"], false);
        assert_eq!(body["message"], "it is there already");
    }
}
