//! What an agent's token reaches: reading its own attempt, that attempt's task and its runs; and `/mcp`, where each tool
//! says for itself what it opens.
//!
//! Everything is shut unless it is listed here, so that a new route is closed to agents until someone thinks.

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use forge_model::{AttemptId, RunId, TaskId};

use super::Caller;
use crate::error::Problem;
use crate::state::App;

/// Refuses what a scoped token does not reach.
pub(crate) async fn keep_to_scope(State(app): State<App>, request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().copied();
    if let Some(Caller::Attempt(attempt)) = caller
        && !reaches(&app, attempt, request.method().clone(), request.uri().path(), request.uri().query())
            .await
    {
        let message = "the token of an attempt may only read that attempt, its task and its runs";
        return Problem::new(StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

async fn reaches(app: &App, own: AttemptId, method: Method, path: &str, query: Option<&str>) -> bool {
    if path == crate::mcp::PATH {
        return true;
    }
    if method != Method::GET && method != Method::HEAD {
        return false;
    }
    let mut parts = path.split('/').skip(1);
    match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("api"), Some("health"), None, ..) => true,
        (Some("api"), Some("task-attempts"), Some(id), None, ..) => id.parse() == Ok(own),
        (Some("api"), Some("tasks"), Some(id), None, ..) => owns_task(app, own, id).await,
        // Exactly this query, so that no second parameter can name another attempt.
        (Some("api"), Some("execution-processes"), None, ..) => {
            query == Some(format!("task_attempt_id={own}").as_str())
        }
        (Some("api"), Some("execution-processes"), Some(id), None, ..)
        | (Some("api"), Some("execution-processes"), Some(id), Some("raw-logs"), Some("ws"), None) => {
            owns_run(app, own, id).await
        }
        _ => false,
    }
}

async fn owns_task(app: &App, own: AttemptId, id: &str) -> bool {
    let Ok(id) = id.parse::<TaskId>() else { return false };
    app.engine.attempt(own).await.is_ok_and(|view| view.attempt.task == Some(id))
}

async fn owns_run(app: &App, own: AttemptId, id: &str) -> bool {
    let Ok(id) = id.parse::<RunId>() else { return false };
    app.engine.run(id).await.is_ok_and(|run| run.attempt == own)
}
