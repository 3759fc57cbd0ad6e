//! Findings: what changed outside an attempt's worktree while it was at work.

use axum::extract::State;
use forge_model::{AttemptId, FindingId};

use crate::api::{Api, op};
use crate::decode::{Id, Ids};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, Finding};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/findings",
            list,
            op(
                "listFindings",
                "Lists what changed outside an attempt's worktree while its processes ran, oldest first.",
            )
            .gives::<Vec<Finding>>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/findings/{finding_id}/restore",
            restore,
            op(
                "restoreFinding",
                "Puts back what was found changed, if it is still as it was found; what it replaces is kept.",
            )
            .gives::<Finding>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/findings/{finding_id}/dismiss",
            dismiss,
            op("dismissFinding", "Leaves what was found as it is, and counts it as open no longer.")
                .gives::<Finding>(),
        )
}

async fn list(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Vec<Finding>> {
    Ok(Envelope(wire::list(app.engine.findings(id).await?)))
}

/// Puts back what was found changed.
async fn restore(State(app): State<App>, Ids(attempt, id): Ids<AttemptId, FindingId>) -> Reply<Finding> {
    Ok(Envelope(app.engine.restore_finding(attempt, id).await?.into()))
}

/// Leaves what was found as it is.
async fn dismiss(State(app): State<App>, Ids(attempt, id): Ids<AttemptId, FindingId>) -> Reply<Finding> {
    Ok(Envelope(app.engine.dismiss_finding(attempt, id).await?.into()))
}
