//! What was found changed outside an attempt's worktree, on the wire.

use forge_model::{AttemptId, FindingId, FindingKind, FindingState, RunId, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// Something outside an attempt's worktree that changed while one of its processes was at work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Finding {
    id: FindingId,
    task_attempt_id: AttemptId,
    execution_process_id: Option<RunId>,
    kind: FindingKind,
    /// What changed: a reference, a path.
    subject: String,
    /// What was found, in a sentence.
    text: String,
    /// How it was, for people; null when it did not exist.
    before: Option<String>,
    /// How it was found, for people; null when it was gone.
    after: Option<String>,
    state: FindingState,
    /// One act puts it back.
    can_restore: bool,
    created_at: Time,
    settled_at: Option<Time>,
}

impl From<forge_model::Finding> for Finding {
    fn from(finding: forge_model::Finding) -> Self {
        Self {
            id: finding.id,
            task_attempt_id: finding.attempt,
            execution_process_id: finding.run,
            kind: finding.kind,
            text: finding.sentence(),
            can_restore: finding.can_restore(),
            before: finding.before.map(|side| side.shown),
            after: finding.after.map(|side| side.shown),
            subject: finding.subject,
            state: finding.state,
            created_at: finding.created_at,
            settled_at: finding.settled_at,
        }
    }
}
