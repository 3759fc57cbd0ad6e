//! Templates: what a new task may begin as.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use forge_model::TemplateId;

use crate::decode::{Fields, Id, Query};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, TaskTemplate};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/templates", get(list).post(create))
        .route("/api/templates/{template_id}", get(one).put(update).delete(delete))
}

/// Lists templates: those for every project with `?global=true`, those of `?project_id=`, or all.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<TaskTemplate>> {
    Ok(Envelope(wire::list(app.engine.templates(query.try_into()?).await?)))
}

async fn create(State(app): State<App>, fields: Fields) -> Reply<TaskTemplate> {
    Ok(Envelope(app.engine.create_template(fields.try_into()?).await?.into()))
}

async fn one(State(app): State<App>, Id(id): Id<TemplateId>) -> Reply<TaskTemplate> {
    Ok(Envelope(app.engine.template(id).await?.into()))
}

/// Changes a template: an absent key keeps, a description of null is cleared.
async fn update(State(app): State<App>, Id(id): Id<TemplateId>, fields: Fields) -> Reply<TaskTemplate> {
    Ok(Envelope(app.engine.update_template(id, fields.try_into()?).await?.into()))
}

async fn delete(State(app): State<App>, Id(id): Id<TemplateId>) -> Reply<()> {
    app.engine.delete_template(id).await?;
    Ok(NOTHING)
}
