//! How much of the disk is taken.

use axum::extract::State;

use crate::api::{Api, op};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::Disk;

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/disk",
        disk,
        op("getDiskUse", "Says how much of the disk is taken, by project and attempt, and how much is free.")
            .gives::<Disk>(),
    )
}

async fn disk(State(app): State<App>) -> Reply<Disk> {
    Ok(Envelope(app.engine.disk_use().await?.into()))
}
