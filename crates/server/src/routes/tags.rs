//! Tags: texts that people put into prompts by a short name.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use forge_model::TagId;

use crate::decode::{Fields, Id, Query};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, Tag};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/tags", get(list).post(create))
        .route("/api/tags/{tag_id}", get(one).put(update).delete(delete))
}

/// Lists tags by name; `?search=` keeps those whose name contains it, whatever its case.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<Tag>> {
    let search = query.optional("search")?;
    Ok(Envelope(wire::list(app.engine.tags(search).await?)))
}

async fn create(State(app): State<App>, fields: Fields) -> Reply<Tag> {
    Ok(Envelope(app.engine.create_tag(fields.try_into()?).await?.into()))
}

async fn one(State(app): State<App>, Id(id): Id<TagId>) -> Reply<Tag> {
    Ok(Envelope(app.engine.tag(id).await?.into()))
}

/// Changes a tag: an absent key keeps.
async fn update(State(app): State<App>, Id(id): Id<TagId>, fields: Fields) -> Reply<Tag> {
    Ok(Envelope(app.engine.update_tag(id, fields.try_into()?).await?.into()))
}

async fn delete(State(app): State<App>, Id(id): Id<TagId>) -> Reply<()> {
    app.engine.delete_tag(id).await?;
    Ok(NOTHING)
}
