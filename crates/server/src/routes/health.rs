//! Whether a server is there.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Api, op};
use crate::envelope::Envelope;

pub(super) fn api() -> Api {
    Api::new()
        .get("/health", bare, op("health", "Says that the server is there.").gives_bare::<Health>())
        .get("/api/health", enveloped, op("apiHealth", "Says that the API is there.").gives::<String>())
}

#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    status: &'static str,
    service: &'static str,
    version: &'static str,
    message: &'static str,
}

/// Says that the server is there, in the shape that older clients wait for.
async fn bare() -> Json<Health> {
    Json(Health {
        status: "ok",
        service: "forge-app",
        version: env!("CARGO_PKG_VERSION"),
        message: "Forge application ready",
    })
}

async fn enveloped() -> Envelope<&'static str> {
    Envelope("OK")
}
