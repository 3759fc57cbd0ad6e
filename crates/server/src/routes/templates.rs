//! Templates: what a new task may begin as.

use axum::extract::State;
use forge_model::TemplateId;

use crate::api::{Api, may, op};
use crate::decode::{Fields, Id, Query, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, TaskTemplate};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/templates",
            list,
            op("listTaskTemplates", "Lists templates: those for every project, those of one, or all.")
                .query(may(names::GLOBAL))
                .query(may(names::TEMPLATE_PROJECT_ID))
                .gives::<Vec<TaskTemplate>>(),
        )
        .post(
            "/api/templates",
            create,
            op("createTaskTemplate", "Adds a template.").takes(wire::CREATE_TEMPLATE).gives::<TaskTemplate>(),
        )
        .get(
            "/api/templates/{template_id}",
            one,
            op("getTaskTemplate", "Returns a template.").gives::<TaskTemplate>(),
        )
        .put(
            "/api/templates/{template_id}",
            update,
            op(
                "updateTaskTemplate",
                "Changes a template: an absent key keeps, a description of null is cleared.",
            )
            .takes(wire::UPDATE_TEMPLATE)
            .gives::<TaskTemplate>(),
        )
        .delete("/api/templates/{template_id}", delete, op("deleteTaskTemplate", "Deletes a template."))
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
