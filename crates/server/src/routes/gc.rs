//! Cleaning up: what has had its time goes to the trash or is deleted, or is only told.

use axum::extract::State;

use crate::api::{Api, op};
use crate::decode::{MaybeFields, names};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, Cleaned};

pub(super) fn api() -> Api {
    Api::new().post(
        "/api/gc",
        gc,
        op("collectGarbage", "Moves worktrees that have had their time to the trash, and deletes old logs; a dry run only tells.")
            .may_take(wire::GC)
            .gives::<Cleaned>(),
    )
}

async fn gc(State(app): State<App>, MaybeFields(fields): MaybeFields) -> Reply<Cleaned> {
    let dry_run = fields.flag(names::DRY_RUN)?.unwrap_or(false);
    Ok(Envelope(app.engine.gc(dry_run).await?.into()))
}
