//! What stands before `/mcp`: who may come in at all, and how large a hello may be.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::sdk::{CALLER, LARGEST_CALL};
use crate::access::Caller;
use crate::error::Problem;
use crate::state::App;

/// The largest hello. It is kept for as long as its session.
const LARGEST_HELLO: usize = 16 * 1024;

/// The header by which a message belongs to a session.
const SESSION: &str = "mcp-session-id";

/// Lets in whom the tools are for. A hello is bounded, because what it says is kept.
pub(crate) async fn enter(State(app): State<App>, request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().copied();
    if let Some(Caller::Attempt(own)) = caller
        && !app.engine.has_forge_tools(own).await.unwrap_or(false)
    {
        let message = "the agent of this attempt has none of Forge's tools; a user can give it them by `forge_mcp` in its \
                       profile";
        return Problem::new(StatusCode::FORBIDDEN, message).into_response();
    }
    let request = match request.method() == Method::POST && !request.headers().contains_key(SESSION) {
        true => match with_small_hello(request).await {
            Ok(request) => request,
            Err(problem) => return problem.into_response(),
        },
        false => request,
    };
    match caller {
        Some(caller) => CALLER.scope(caller, next.run(request)).await,
        None => next.run(request).await,
    }
}

/// Reads a message that belongs to no session, and refuses it when it is a hello that is too large.
async fn with_small_hello(request: Request) -> Result<Request, Problem> {
    #[derive(Deserialize)]
    struct Message<'m> {
        #[serde(borrow)]
        method: Option<std::borrow::Cow<'m, str>>,
    }
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, LARGEST_CALL).await.map_err(|_| {
        let message = format!("a message has at most {} MB", LARGEST_CALL >> 20);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    })?;
    if body.len() > LARGEST_HELLO
        && serde_json::from_slice::<Message<'_>>(&body)
            .is_ok_and(|message| message.method.as_deref() == Some("initialize"))
    {
        let message =
            format!("`initialize` has at most {} kB; say less in `clientInfo`", LARGEST_HELLO >> 10);
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}
