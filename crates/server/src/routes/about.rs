//! What the server tells about itself: the board's page, the routes, the OpenAPI document and the page that shows it.

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api::{Api, op, openapi};
use crate::{page, routes, shell};

pub(super) fn api() -> Api {
    Api::new()
        .get("/", shell::show, op("page", "The board, a page for people.").gives_bytes("text/html"))
        .get("/docs", page::docs, op("docs", "The API, to read and to try.").gives_bytes("text/html"))
        .get(
            "/site.webmanifest",
            manifest,
            op("webManifest", "What a browser asks to put the page among its apps.")
                .gives_bytes("application/manifest+json"),
        )
        .get(
            "/api/routes",
            table,
            op("listRoutes", "Lists every route, and whether it is served.").gives_bare::<RouteTable>(),
        )
        .get(
            "/api/openapi.json",
            document,
            op("openApi", "The OpenAPI document of everything that is served.").gives_bare::<Value>(),
        )
}

#[derive(Debug, Serialize, JsonSchema)]
struct RouteTable {
    version: &'static str,
    routes: Vec<Route>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Route {
    method: &'static str,
    path: &'static str,
    /// Always true: every route that clients know is served.
    served: bool,
    /// What the OpenAPI document and the SDK call it.
    operation: Option<&'static str>,
    summary: Option<&'static str>,
}

/// Describes the page to a browser; it holds nothing of the person's.
async fn manifest(headers: HeaderMap) -> Response {
    if let Some(file) = shell::file("/site.webmanifest", &headers) {
        return file;
    }
    let manifest = json!({
        "name": "Forge", "short_name": "Forge", "start_url": "/", "display": "standalone", "icons": [],
    });
    ([(header::CONTENT_TYPE, "application/manifest+json")], manifest.to_string()).into_response()
}

async fn table() -> Json<RouteTable> {
    let served = routes::operations().iter().map(|operation| Route {
        method: operation.method,
        path: operation.path,
        served: true,
        operation: Some(operation.id),
        summary: Some(operation.summary),
    });
    Json(RouteTable { version: env!("CARGO_PKG_VERSION"), routes: served.collect() })
}

async fn document() -> Json<&'static Value> {
    Json(openapi())
}
