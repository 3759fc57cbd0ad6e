//! Moving in: what another product had comes over, or is only told.

use axum::extract::State;

use crate::api::{Api, op};
use crate::decode::Fields;
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, ImportReport, ImportUnderWay};

pub(super) fn api() -> Api {
    Api::new()
        .post(
            "/api/import",
            import,
            op(
                "importFrom",
                "Imports what Automagik Forge or vibe-kanban has; a dry run only tells. Safe to repeat.",
            )
            .takes(wire::IMPORT)
            .gives::<ImportReport>(),
        )
        .get(
            "/api/import",
            progress,
            op("importProgress", "Tells how far the import is that is under way.").gives::<ImportUnderWay>(),
        )
}

async fn import(State(app): State<App>, fields: Fields) -> Reply<ImportReport> {
    let request = wire::import_request(&fields)?;
    Ok(Envelope(app.engine.import(request).await?.into()))
}

async fn progress(State(app): State<App>) -> Reply<ImportUnderWay> {
    Ok(Envelope(app.engine.import_progress().into()))
}
