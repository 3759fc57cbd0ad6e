//! A draft on the wire: whole, as streams send it, and the shorter form that calls answer.

use forge_model::{AttemptId, DraftId, DraftKind, ImageId, RunId, Time};
use schemars::JsonSchema;
use serde::Serialize;

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
