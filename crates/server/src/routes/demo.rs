//! The demo: a project with something to look at.

use axum::extract::State;

use crate::api::{Api, op};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::Project;

pub(super) fn api() -> Api {
    Api::new().post(
        "/api/demo",
        make,
        op(
            "makeDemo",
            "Makes the demo, unless it is there, and returns its project; its tasks follow within seconds.",
        )
        .gives::<Project>(),
    )
}

async fn make(State(app): State<App>) -> Reply<Project> {
    Ok(Envelope(app.engine.demo().await?.project.into()))
}
