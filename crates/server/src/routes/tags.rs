//! Tags: texts that people put into prompts by a short name.

use axum::extract::State;
use forge_model::TagId;

use crate::api::{Api, may, op};
use crate::decode::{Fields, Id, Query, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, Tag};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/tags",
            list,
            op("listTags", "Lists tags by name; a search keeps those whose name contains it.")
                .query(may(names::SEARCH))
                .gives::<Vec<Tag>>(),
        )
        .post("/api/tags", create, op("createTag", "Adds a tag.").takes(wire::CREATE_TAG).gives::<Tag>())
        .get("/api/tags/{tag_id}", one, op("getTag", "Returns a tag.").gives::<Tag>())
        .put(
            "/api/tags/{tag_id}",
            update,
            op("updateTag", "Changes a tag: an absent key keeps.").takes(wire::UPDATE_TAG).gives::<Tag>(),
        )
        .delete("/api/tags/{tag_id}", delete, op("deleteTag", "Deletes a tag."))
}

/// Lists tags by name; `?search=` keeps those whose name contains it, whatever its case.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<Tag>> {
    let search = query.text(names::SEARCH)?;
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
