//! What agents used: tokens and money, summed up.

use axum::extract::State;

use crate::api::{Api, may, op};
use crate::decode::{Query, names};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, Usage};

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/usage",
        usage,
        op("getUsage", "Sums up the tokens and the money that agents used, by day or another key.")
            .query(may(names::PROJECT_ID))
            .query(may(names::TASK_ID))
            .query(may(names::TASK_ATTEMPT_ID))
            .query(may(names::USAGE_BY))
            .gives::<Vec<Usage>>(),
    )
}

async fn usage(State(app): State<App>, query: Query) -> Reply<Vec<Usage>> {
    Ok(Envelope(wire::list(app.engine.usage(wire::usage_of(&query)?).await?)))
}
