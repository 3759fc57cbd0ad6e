//! Rules of projects: what their agents may do without asking, or not at all.

use axum::extract::State;
use forge_model::ProjectId;

use crate::api::{Api, op};
use crate::decode::{Fields, Id};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, Rule};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/projects/{project_id}/rules",
            list,
            op("listRules", "Lists the rules about what a project's agents ask; the first that fits counts.")
                .gives::<Vec<Rule>>(),
        )
        .put(
            "/api/projects/{project_id}/rules",
            set,
            op("setRules", "Puts these in the place of all rules of a project.")
                .takes(wire::SET_RULES)
                .gives::<Vec<Rule>>(),
        )
}

async fn list(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<Vec<Rule>> {
    Ok(Envelope(wire::list(app.engine.rules(id).await?)))
}

/// Puts these in the place of all rules of a project.
async fn set(State(app): State<App>, Id(id): Id<ProjectId>, fields: Fields) -> Reply<Vec<Rule>> {
    Ok(Envelope(wire::list(app.engine.set_rules(id, wire::rules(&fields)?).await?)))
}
