//! Review comments on an attempt, and what a person notes about it as they go through their list.

use axum::extract::State;
use forge_model::{AttemptId, CommentId};

use crate::api::{Api, op};
use crate::decode::{Fields, Id, Ids, MaybeFields};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, ReviewComment, TaskAttempt};

pub(super) fn api() -> Api {
    Api::new()
        .post(
            "/api/task-attempts/{attempt_id}/seen",
            seen,
            op("seeTaskAttempt", "Notes that a person looked at an attempt.").gives::<TaskAttempt>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/dismiss",
            dismiss,
            op(
                "dismissTaskAttempt",
                "Notes that a person is done with an attempt: for now, until a time, or not after all.",
            )
            .may_take(wire::DISMISS)
            .gives::<TaskAttempt>(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/comments",
            list,
            op("listReviewComments", "Lists the review comments on an attempt, oldest first.")
                .gives::<Vec<ReviewComment>>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/comments",
            create,
            op("createReviewComment", "Adds a review comment beside lines of an attempt's diff.")
                .takes(wire::CREATE_COMMENT)
                .gives::<ReviewComment>(),
        )
        .put(
            "/api/task-attempts/{attempt_id}/comments/{comment_id}",
            update,
            op("updateReviewComment", "Changes a review comment: an absent key keeps.")
                .takes(wire::UPDATE_COMMENT)
                .gives::<ReviewComment>(),
        )
        .delete(
            "/api/task-attempts/{attempt_id}/comments/{comment_id}",
            delete,
            op("deleteReviewComment", "Deletes a review comment."),
        )
        .post(
            "/api/task-attempts/{attempt_id}/comments/sent",
            sent,
            op(
                "markReviewCommentsSent",
                "Notes that review comments were sent to the agent, all of them or none, and lists all there are.",
            )
            .takes(wire::COMMENTS_SENT)
            .gives::<Vec<ReviewComment>>(),
        )
}

async fn seen(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<TaskAttempt> {
    Ok(Envelope(app.engine.note_seen(id).await?.into()))
}

/// Puts an attempt aside: until something new happens to it, until a time, or not any more.
async fn dismiss(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<TaskAttempt> {
    Ok(Envelope(app.engine.put_aside(id, fields.try_into()?).await?.into()))
}

async fn list(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Vec<ReviewComment>> {
    Ok(Envelope(wire::list(app.engine.comments(id).await?)))
}

async fn create(State(app): State<App>, Id(id): Id<AttemptId>, fields: Fields) -> Reply<ReviewComment> {
    Ok(Envelope(app.engine.create_comment(id, fields.try_into()?).await?.into()))
}

/// Changes a comment: an absent key keeps.
async fn update(
    State(app): State<App>,
    Ids(attempt, id): Ids<AttemptId, CommentId>,
    fields: Fields,
) -> Reply<ReviewComment> {
    Ok(Envelope(app.engine.update_comment(attempt, id, fields.try_into()?).await?.into()))
}

async fn delete(State(app): State<App>, Ids(attempt, id): Ids<AttemptId, CommentId>) -> Reply<()> {
    app.engine.delete_comment(attempt, id).await?;
    Ok(NOTHING)
}

/// Notes that comments were sent.
async fn sent(State(app): State<App>, Id(id): Id<AttemptId>, fields: Fields) -> Reply<Vec<ReviewComment>> {
    let ids = wire::comment_ids(&fields)?;
    Ok(Envelope(wire::list(app.engine.comments_sent(id, ids).await?)))
}
