//! Time travel: snapshots of an attempt, going back to one, what was removed, and turns that are run again.

use axum::extract::State;
use forge_model::AttemptId;

use crate::api::{Api, op};
use crate::decode::{Fields, Id, StartCall};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, AttemptSnapshot, FilesRestored, RecoveredEntry, RemovedEntry, ReplaceProcessResult};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/snapshots",
            snapshots,
            op("listSnapshots", "Lists the snapshots of an attempt's files, newest first.")
                .gives::<Vec<AttemptSnapshot>>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/restore",
            restore,
            op("restoreFiles", "Makes an attempt's files what they were in a snapshot; undone by restoring another.")
                .takes(wire::RESTORE_FILES)
                .gives::<FilesRestored>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/replace-process",
            replace,
            op(
                "replaceProcess",
                "Drops a process and all later ones, puts the files back, and tells the agent something else.",
            )
            .takes(wire::REPLACE_PROCESS)
            .gives::<ReplaceProcessResult>()
            .repeatable(),
        )
        .get(
            "/api/removed",
            removed,
            op("listRemoved", "Lists what was removed and can be brought back, newest first.")
                .gives::<Vec<RemovedEntry>>(),
        )
        .post(
            "/api/removed/{removed_id}/recover",
            recover,
            op("recoverRemoved", "Brings back what was removed, with everything that went with it.")
                .gives::<RecoveredEntry>(),
        )
}

async fn snapshots(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Vec<AttemptSnapshot>> {
    Ok(Envelope(wire::list(app.engine.snapshots(id).await?)))
}

/// Makes files what they were in a snapshot.
async fn restore(State(app): State<App>, Id(id): Id<AttemptId>, fields: Fields) -> Reply<FilesRestored> {
    Ok(Envelope(app.engine.restore_files(id, fields.try_into()?).await?.into()))
}

/// Runs a turn again in another way.
async fn replace(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    call: StartCall,
) -> Reply<ReplaceProcessResult> {
    let replace = call.fields.try_into()?;
    Ok(Envelope(app.engine.replace_run(id, replace, call.key).await?.into()))
}

async fn removed(State(app): State<App>) -> Reply<Vec<RemovedEntry>> {
    Ok(Envelope(wire::list(app.engine.removed().await?)))
}

/// Brings back what was removed.
async fn recover(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<RecoveredEntry> {
    Ok(Envelope(app.engine.recover(id.to_string()).await?.into()))
}
