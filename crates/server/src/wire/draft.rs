//! A draft on the wire: whole, as streams send it, and the shorter form that calls answer.

use forge_engine::{DraftChange, DraftQueue, QueueChange, QueueItem};
use forge_model::{AttemptId, CommentId, DraftId, DraftKind, ImageId, RunId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, Query, names};
use crate::error::Problem;

/// A draft as streams send it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Draft {
    id: DraftId,
    task_attempt_id: AttemptId,
    draft_type: DraftKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_process_id: Option<RunId>,
    prompt: String,
    queued: bool,
    sending: bool,
    variant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_ids: Option<Vec<ImageId>>,
    created_at: Time,
    updated_at: Time,
    version: i64,
}

impl From<forge_model::Draft> for Draft {
    fn from(draft: forge_model::Draft) -> Self {
        Self {
            id: draft.id,
            task_attempt_id: draft.attempt,
            draft_type: draft.kind,
            retry_process_id: draft.retry,
            prompt: draft.prompt,
            queued: draft.queued.is_some(),
            sending: draft.sending,
            variant: draft.variant,
            image_ids: draft.images,
            created_at: draft.created_at,
            updated_at: draft.updated_at,
            version: draft.version,
        }
    }
}

/// A draft as calls answer it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DraftResponse {
    task_attempt_id: AttemptId,
    draft_type: DraftKind,
    retry_process_id: Option<RunId>,
    prompt: String,
    queued: bool,
    variant: Option<String>,
    image_ids: Option<Vec<ImageId>>,
    version: i64,
    // From here on, additions to the contract.
    sending: bool,
}

impl From<forge_model::Draft> for DraftResponse {
    fn from(draft: forge_model::Draft) -> Self {
        Self {
            task_attempt_id: draft.attempt,
            draft_type: draft.kind,
            retry_process_id: draft.retry,
            prompt: draft.prompt,
            queued: draft.queued.is_some(),
            variant: draft.variant,
            image_ids: draft.images,
            version: draft.version,
            sending: draft.sending,
        }
    }
}

pub(crate) const SAVE_DRAFT: Body = Body::new(
    "SaveDraft",
    &[
        may(names::DRAFT_PROMPT),
        may(names::VARIANT),
        may(names::IMAGE_IDS),
        may(names::RETRY_PROCESS_ID),
        may(names::VERSION),
    ],
);

pub(crate) const QUEUE_DRAFT: Body = Body::new(
    "QueueDraft",
    &[
        need(names::QUEUED),
        may(names::EXPECTED_QUEUED),
        may(names::EXPECTED_VERSION),
        may(names::DRAFT_PROMPT),
    ],
);

/// Reads which draft is meant. Clients have sent other words for a follow-up, so every other word is one.
pub(crate) fn draft_kind(query: &Query) -> Result<DraftKind, Problem> {
    Ok(match query.required::<String>("type")?.as_str() {
        "retry" => DraftKind::Retry,
        _ => DraftKind::FollowUp,
    })
}

/// Reads what to change of a draft; null keeps, as an absent key does.
pub(crate) fn draft_change(fields: &Fields, kind: DraftKind) -> Result<DraftChange, Problem> {
    Ok(DraftChange {
        prompt: fields.optional_text(names::DRAFT_PROMPT)?,
        variant: fields.variant(names::VARIANT)?,
        images: fields.ids(names::IMAGE_IDS)?,
        retry: match kind {
            DraftKind::Retry => Some(fields.id(names::RETRY_PROCESS_ID)?),
            // What to run again means nothing to a follow-up, but must still be an id.
            DraftKind::FollowUp => fields.optional_id::<RunId>(names::RETRY_PROCESS_ID)?.and(None),
        },
        version: fields.number(names::VERSION)?,
    })
}

impl TryFrom<Fields> for DraftQueue {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(DraftQueue {
            queued: fields
                .flag(names::QUEUED)?
                .ok_or_else(|| fields.refuse(names::QUEUED, "must be true or false"))?,
            expected_queued: fields.flag(names::EXPECTED_QUEUED)?,
            expected_version: fields.number(names::EXPECTED_VERSION)?,
            prompt: fields.optional_text(names::DRAFT_PROMPT)?,
        })
    }
}

/// A follow-up that waits for the turn's end.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueuedFollowUp {
    id: String,
    /// Counted from 0, which is sent first.
    position: usize,
    state: QueueState,
    prompt: String,
    variant: Option<String>,
    image_ids: Option<Vec<ImageId>>,
    /// The review comments that it takes along; taken out of the queue, it gives them back.
    comment_ids: Vec<CommentId>,
    created_at: Time,
}

/// It waits, or its turn is being started right now.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum QueueState {
    Queued,
    Sending,
}

/// Encodes a queue.
pub(crate) fn queue(items: Vec<QueueItem>) -> Vec<QueuedFollowUp> {
    let items = items.into_iter().enumerate().map(|(position, item)| QueuedFollowUp {
        id: item.id,
        position,
        state: if item.sending { QueueState::Sending } else { QueueState::Queued },
        prompt: item.prompt,
        variant: item.variant,
        image_ids: item.images,
        comment_ids: item.comments,
        created_at: item.created_at,
    });
    items.collect()
}

pub(crate) const CHANGE_QUEUED: Body = Body::new("ChangeQueued", &[may(names::PROMPT), may(names::POSITION)]);

impl TryFrom<Fields> for QueueChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let position = fields.number(names::POSITION)?.map(usize::try_from).transpose();
        Ok(QueueChange {
            prompt: fields.optional_text(names::PROMPT)?,
            position: position.map_err(|_| fields.refuse(names::POSITION, "must not be negative"))?,
        })
    }
}
