//! Drafts of an attempt, and the queue that its follow-ups wait in.

use axum::extract::State;
use forge_model::{AttemptId, DraftKind};

use crate::api::{Api, need, op};
use crate::decode::{Fields, Id, Ids, Query, StartCall, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, DraftResponse, QueuedFollowUp};

pub(super) fn api() -> Api {
    drafts().merge(queue())
}

fn drafts() -> Api {
    let saves = |id| {
        op(
            id,
            "Writes a draft: an absent key keeps. Refused while it is queued or when its version is older.",
        )
        .query(need(names::DRAFT_TYPE))
        .takes(wire::SAVE_DRAFT)
        .gives::<DraftResponse>()
    };
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/draft",
            one,
            op("getDraft", "Returns a draft; an empty one of version 0 when there is none.")
                .query(need(names::DRAFT_TYPE))
                .gives::<DraftResponse>(),
        )
        .put("/api/task-attempts/{attempt_id}/draft", save, saves("saveDraft"))
        .post("/api/task-attempts/{attempt_id}/draft", save, saves("saveDraftByPost"))
        .delete(
            "/api/task-attempts/{attempt_id}/draft",
            delete,
            op("deleteDraft", "Drops a retry that was begun.").query(need(names::DRAFT_TYPE)),
        )
        .post(
            "/api/task-attempts/{attempt_id}/draft/queue",
            set_queued,
            op("queueDraft", "Sends a draft when the agent is done, at once if it is; or takes it back.")
                .query(need(names::DRAFT_TYPE))
                .takes(wire::QUEUE_DRAFT)
                .gives::<DraftResponse>()
                .repeatable(),
        )
}

fn queue() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/queue",
            list_queued,
            op("listQueue", "Lists the follow-ups that wait, first what is sent first.")
                .gives::<Vec<QueuedFollowUp>>(),
        )
        .put(
            "/api/task-attempts/{attempt_id}/queue/{item}",
            change_queued,
            op("changeQueued", "Changes the text or the place of a follow-up that waits.")
                .takes(wire::CHANGE_QUEUED)
                .gives::<Vec<QueuedFollowUp>>(),
        )
        .delete(
            "/api/task-attempts/{attempt_id}/queue/{item}",
            withdraw_queued,
            op("withdrawQueued", "Takes a follow-up that waits back.").gives::<Vec<QueuedFollowUp>>(),
        )
}

async fn one(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<DraftResponse> {
    Ok(Envelope(app.engine.draft(id, wire::draft_kind(&query)?).await?.into()))
}

async fn save(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    query: Query,
    fields: Fields,
) -> Reply<DraftResponse> {
    let kind = wire::draft_kind(&query)?;
    let change = wire::draft_change(&fields, kind)?;
    Ok(Envelope(app.engine.save_draft(id, kind, change).await?.into()))
}

async fn delete(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<()> {
    app.engine.delete_draft(id, wire::draft_kind(&query)?).await?;
    Ok(NOTHING)
}

/// Puts the follow-up draft into the queue, or takes it out. A retry is never queued.
async fn set_queued(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    query: Query,
    call: StartCall,
) -> Reply<DraftResponse> {
    if wire::draft_kind(&query)? == DraftKind::Retry {
        return Err(Problem::invalid("`type` must be `follow_up`: a retry is never queued"));
    }
    let wanted = call.fields.try_into()?;
    Ok(Envelope(app.engine.queue_draft(id, wanted, call.key).await?.into()))
}

async fn list_queued(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Vec<QueuedFollowUp>> {
    Ok(Envelope(wire::queue(app.engine.queue(id).await?)))
}

async fn change_queued(
    State(app): State<App>,
    Ids(id, item): Ids<AttemptId, String>,
    fields: Fields,
) -> Reply<Vec<QueuedFollowUp>> {
    Ok(Envelope(wire::queue(app.engine.change_queued(id, item, fields.try_into()?).await?)))
}

async fn withdraw_queued(
    State(app): State<App>,
    Ids(id, item): Ids<AttemptId, String>,
) -> Reply<Vec<QueuedFollowUp>> {
    Ok(Envelope(wire::queue(app.engine.withdraw_queued(id, item).await?)))
}
