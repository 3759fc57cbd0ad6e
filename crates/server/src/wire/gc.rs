//! What cleaning up did, or would do, on the wire.

use forge_model::AttemptId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may};
use crate::decode::names;

pub(crate) const GC: Body = Body::new("CollectGarbage", &[may(names::DRY_RUN)]);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cleaned {
    /// What went, or would go.
    swept: Vec<Swept>,
    /// What stays although it is old or nobody's, and why.
    left: Vec<Left>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Swept {
    /// `worktree`, `ignored`, `stray`, `empty`, `trash`, `log` or `removed`.
    what: &'static str,
    /// Where it is or was; of what was removed, its kind and its id.
    path: String,
    task_attempt_id: Option<AttemptId>,
    bytes: Option<u64>,
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Left {
    path: String,
    task_attempt_id: Option<AttemptId>,
    why: String,
}

impl From<forge_engine::Cleaned> for Cleaned {
    fn from(cleaned: forge_engine::Cleaned) -> Self {
        let swept = cleaned.swept.into_iter().map(|one| Swept {
            what: one.what.as_str(),
            path: one.path.to_string_lossy().into_owned(),
            task_attempt_id: one.attempt,
            bytes: one.bytes,
            reason: one.reason,
        });
        let left = cleaned.left.into_iter().map(|one| Left {
            path: one.path.to_string_lossy().into_owned(),
            task_attempt_id: one.attempt,
            why: one.why,
        });
        Self { swept: swept.collect(), left: left.collect() }
    }
}
