//! Figures about this server, for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::api::{Api, op};
use crate::error::Problem;
use crate::state::App;

/// The text format of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn api() -> Api {
    let metrics = op("metrics", "Tells the server's figures in the text format of Prometheus.");
    Api::new().get("/metrics", tell, metrics.gives_bytes("text/plain"))
}

/// Tells every figure in the text format of Prometheus. It is the owner's, as the API is.
async fn tell(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let text = app.metrics.exposition(&app.engine.vitals().await?);
    Ok(([(header::CONTENT_TYPE, TEXT)], text))
}
