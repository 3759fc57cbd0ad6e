//! Which attempt a worktree belongs to, for editors that know only where they are.

use axum::extract::State;

use crate::api::{Api, need, op};
use crate::decode::{Query, names};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::ContainerInfo;

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/containers/info",
        info,
        op("getContainerInfo", "Finds the attempt whose worktree is exactly at a path.")
            .query(need(names::CONTAINER_REF))
            .gives::<ContainerInfo>(),
    )
}

async fn info(State(app): State<App>, query: Query) -> Reply<ContainerInfo> {
    Ok(Envelope(app.engine.attempt_at(query.required("ref")?).await?.into()))
}
