//! The whole router: every route, what stands around them, and what answers where there is none.

use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use forge_engine::Engine;
use futures_util::FutureExt;
use tower::ServiceBuilder;

use crate::access::{keep_to_reading, keep_to_scope};
use crate::error::Problem;
use crate::metrics::Metrics;
use crate::state::App;
use crate::streams::Flight;
use crate::{Access, Closing, mcp, routes, shell};

/// Makes the router of a server: routes inside, rules around them, the headers of every answer outside.
pub fn router(engine: Engine, access: Access, closing: Closing) -> Router {
    let metrics = Metrics::new();
    let app =
        App { engine, access: access.clone(), closing, metrics: metrics.clone(), flight: Flight::new() };
    let door = middleware::from_fn_with_state(app.clone(), mcp::enter);
    let mcp = ServiceBuilder::new().layer(door).service(mcp::service(app.clone()));
    let inside = routes::all()
        .into_parts()
        .0
        .route_service(mcp::PATH, mcp)
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), keep_to_reading))
        .layer(middleware::from_fn_with_state(app.clone(), keep_to_scope))
        .with_state(app);
    access.guard(inside).layer(middleware::from_fn_with_state(metrics, finish))
}

/// Answers where no route does: of the API there is nothing, of the board perhaps a page or a file.
async fn nothing_here(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if path == "/api" || path.starts_with("/api/") {
        return Problem::new(StatusCode::NOT_FOUND, format!("there is no {path} in this API"))
            .into_response();
    }
    shell::answer(&method, path, &headers)
}

async fn wrong_method(request: Request) -> Problem {
    let message = format!("{} does not take {}", request.uri().path(), request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

/// Adds the headers of every answer, measures it, and answers where a route panicked: a bug must not hang up on a
/// caller.
async fn finish(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let asked = metrics.asked(&request);
    let path = request.uri().path().to_string();
    let served = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = served.unwrap_or_else(|_| {
        tracing::error!("a route panicked: {path}");
        let message = "Forge failed while it served this; its log says more";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
    });
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    asked.answered(response)
}

/// What every answer carries, unless it carries its own.
const HEADERS: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("x-forge-api-version"), "1"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];
