//! Snapshots of an attempt's files: at each turn's end, and before anything destructive.

use std::os::unix::ffi::OsStrExt;

use forge_git::{Limits, SnapshotRequest, Worktree};
use forge_model::AttemptId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::background::blocking;
use crate::store::snapshots::{self, Taken};
use crate::{AttemptView, Engine, Result};

/// Why a snapshot was taken that differs from the last turn's without a run in between.
pub(crate) const TOUCHED: &str = "somebody worked in it since its last turn";

impl Engine {
    /// Snapshots the files of an attempt and keeps the record of it. A worktree that is gone already has nothing
    /// to lose.
    pub(crate) async fn snapshot(&self, id: AttemptId, why: &'static str) -> Result<Option<String>> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        if !attempt.worktree.exists() {
            return Ok(None);
        }
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        let taken = blocking(move || -> Result<_> {
            let worktree = engine.repo(&project.path)?.worktree(&attempt.worktree)?;
            Ok(engine.take_snapshot(&worktree, id, &format!("attempt {id} {why}"))?)
        });
        let taken = taken.await??;
        let oid = taken.oid.clone();
        let kept =
            self.inner.store.write(move |tx| snapshots::insert(tx.conn(), id, None, &taken, why, tx.now()));
        kept.await?;
        Ok(Some(oid))
    }

    /// Takes a snapshot on the reference that an attempt's snapshots are chained on. Blocks.
    pub(crate) fn take_snapshot(
        &self,
        worktree: &Worktree,
        attempt: AttemptId,
        message: &str,
    ) -> forge_git::Result<Taken> {
        let snapshot = worktree.snapshot(&SnapshotRequest {
            reference: reference(attempt),
            message: message.to_string(),
            limits: Limits::default(),
            private: Some(self.inner.paths.private(attempt)),
        })?;
        let left_out = LeftOut::list(&snapshot.left_out);
        let left_out = (!left_out.is_empty()).then(|| json!(left_out).to_string());
        Ok(Taken { oid: snapshot.oid, head: worktree.head().ok(), left_out })
    }
}

/// A file that is not in a snapshot, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LeftOut {
    /// Its path as text.
    path: String,
    /// Why it is not there, in words.
    why: String,
    /// The bytes of a path that is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
}

impl LeftOut {
    fn list(left_out: &[forge_git::LeftOut]) -> Vec<LeftOut> {
        let written = left_out.iter().map(|left| {
            let bytes = left.path.as_os_str().as_bytes();
            LeftOut {
                path: left.path.to_string_lossy().into_owned(),
                why: left.why.to_string(),
                bytes: left.path.to_str().is_none().then(|| bytes.to_vec()),
            }
        });
        written.collect()
    }
}

/// The reference that an attempt's snapshots are chained on.
pub(crate) fn reference(attempt: AttemptId) -> String {
    format!("refs/forge/snapshots/{attempt}")
}
