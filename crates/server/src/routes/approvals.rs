//! Asks, which the wire calls approvals: what agents wait for, and what people answer.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use forge_model::AskId;

use crate::decode::{Fields, Id};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, Approval, Responded};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/approvals/pending", get(pending))
        .route("/api/approvals/{ask_id}/respond", post(respond))
        .route("/api/approvals/{ask_id}/status", get(status))
}

/// Lists what agents wait for.
async fn pending(State(app): State<App>) -> Reply<Vec<Approval>> {
    Ok(Envelope(wire::list(app.engine.open_asks().await?)))
}

/// Answers an ask, once.
async fn respond(State(app): State<App>, Id(id): Id<AskId>, fields: Fields) -> Result<Responded, Problem> {
    Ok(app.engine.answer(id, fields.try_into()?, "owner").await?.into())
}

async fn status(State(app): State<App>, Id(id): Id<AskId>) -> Result<Responded, Problem> {
    Ok(app.engine.ask(id).await?.into())
}
