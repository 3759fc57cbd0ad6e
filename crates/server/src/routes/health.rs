//! Whether a server is there.

use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::envelope::Envelope;
use crate::state::App;

pub(super) fn router() -> Router<App> {
    Router::new().route("/health", get(bare)).route("/api/health", get(enveloped))
}

/// Says that the server is there, in the shape that older clients wait for.
async fn bare() -> Json<Value> {
    Json(json!({
        "status": "ok",
        "service": "forge-app",
        "version": env!("CARGO_PKG_VERSION"),
        "message": "Forge application ready",
    }))
}

async fn enveloped() -> Envelope<&'static str> {
    Envelope("OK")
}
