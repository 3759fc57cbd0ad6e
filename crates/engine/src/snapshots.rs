//! Snapshots of an attempt's files: at each turn's end, and before anything destructive; and the list of them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use forge_git::{Error as GitError, Repo, Snapshot, SnapshotRequest, Tally, Worktree};
use forge_model::{AttemptId, RunId, Time};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::background::{blocking, is_dir};
use crate::store::snapshots::{self, Kept, Taken};
use crate::{AttemptView, Engine, Result};

/// Why a snapshot was taken that differs from the last turn's without a run in between.
pub(crate) const TOUCHED: &str = "somebody worked in it since its last turn";

/// A snapshot of an attempt's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotView {
    pub id: String,
    /// The run at whose end it was taken.
    pub run: Option<RunId>,
    /// Why it was taken: `turn`, or what was about to happen.
    pub why: String,
    /// The commit that was checked out.
    pub head: Option<String>,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
    pub created_at: Time,
    /// What differs from the snapshot before; of the oldest that is kept, from the commit that the attempt began with.
    /// None when git cannot tell any more.
    pub changes: Option<Tally>,
}

impl Engine {
    /// Returns the snapshots of an attempt, newest first.
    pub async fn snapshots(&self, id: AttemptId) -> Result<Vec<SnapshotView>> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let project = self.project(attempt.project).await?;
        let kept = self.inner.store.read(move |conn| snapshots::of_attempt(conn, id)).await?;
        let mut pairs = Vec::new();
        let mut before = Some(attempt.base_commit.clone());
        for one in &kept {
            pairs.push((before.unwrap_or(one.oid.clone()), one.oid.clone()));
            before = Some(one.oid.clone());
        }
        let engine = self.clone();
        let counted =
            blocking(move || -> Result<_> { Ok(engine.repo(&project.path)?.count_changes(&pairs)?) });
        // Without the repository the list is still worth having.
        let counted = counted.await?.unwrap_or_default();
        let mut views: Vec<_> = kept
            .into_iter()
            .enumerate()
            .map(|(at, kept)| SnapshotView {
                id: kept.id,
                run: kept.run,
                why: kept.why,
                head: kept.head,
                left_out: LeftOut::read(kept.left_out.as_deref()),
                created_at: kept.created_at,
                changes: counted.get(at).copied().flatten(),
            })
            .collect();
        views.reverse();
        Ok(views)
    }

    /// Snapshots the files of an attempt and keeps the record of it. A worktree that is gone already has nothing
    /// to lose.
    pub(crate) async fn snapshot(&self, id: AttemptId, why: &'static str) -> Result<Option<String>> {
        Ok(self.keep_snapshot(id, why).await?.map(|kept| kept.oid))
    }

    /// Snapshots the files of an attempt, and returns the record of it.
    pub(crate) async fn keep_snapshot(&self, id: AttemptId, why: &'static str) -> Result<Option<Kept>> {
        self.may_change()?;
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        // Nothing of ours is destructive to a person's own checkout.
        if attempt.in_place || !is_dir(&attempt.worktree).await? {
            return Ok(None);
        }
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        let taken = blocking(move || -> Result<_> {
            let worktree = engine.repo(&project.path)?.worktree(&attempt.worktree)?;
            Ok(engine.take_snapshot(&worktree, id, &format!("attempt {id} {why}"))?)
        });
        let taken = taken.await??;
        let kept = self.inner.store.write(move |tx| {
            snapshots::insert(tx.conn(), id, None, &taken, why, tx.now())?;
            snapshots::newest_kept(tx.conn(), id)
        });
        Ok(kept.await?)
    }

    /// Takes a snapshot on the reference that an attempt's snapshots are chained on. Blocks.
    pub(crate) fn take_snapshot(
        &self,
        worktree: &Worktree,
        attempt: AttemptId,
        message: &str,
    ) -> forge_git::Result<Taken> {
        let snapshot =
            self.with_whole_chain(attempt, || worktree.snapshot(&self.request(attempt, message)))?;
        Ok(written(snapshot, worktree.head().ok()))
    }

    /// Takes a snapshot of the person's own checkout, as [`Engine::take_snapshot`] does of a worktree. Blocks.
    pub(crate) fn take_snapshot_in_place(
        &self,
        repo: &Repo,
        attempt: AttemptId,
        message: &str,
    ) -> forge_git::Result<Taken> {
        let snapshot = self.with_whole_chain(attempt, || repo.snapshot(&self.request(attempt, message)))?;
        Ok(written(snapshot, repo.head()?))
    }

    /// Takes a snapshot, and where the chain that it belongs to is broken, mends that first. Blocks.
    fn with_whole_chain(
        &self,
        attempt: AttemptId,
        take: impl Fn() -> forge_git::Result<Snapshot>,
    ) -> forge_git::Result<Snapshot> {
        match take() {
            Err(error @ GitError::BrokenChain { .. }) => {
                // Where this blocks, the store may be waited for.
                let mended = tokio::runtime::Handle::current().block_on(self.mend_chain(attempt));
                if let Err(why) = mended {
                    tracing::warn!(attempt.id = %attempt, "the snapshots of attempt {attempt} could not be mended: {why}");
                    return Err(error);
                }
                take()
            }
            taken => taken,
        }
    }

    fn request(&self, attempt: AttemptId, message: &str) -> SnapshotRequest {
        SnapshotRequest {
            reference: reference(attempt),
            message: message.to_string(),
            limits: self.file_limits(),
            private: Some(self.inner.paths.private(attempt)),
        }
    }
}

fn written(snapshot: Snapshot, head: Option<String>) -> Taken {
    let passed_over = snapshot.left_out.clone();
    let left_out = LeftOut::list(&snapshot.left_out);
    let left_out = (!left_out.is_empty()).then(|| json!(left_out).to_string());
    Taken { oid: snapshot.oid, head, left_out, passed_over, holds: snapshot.holds }
}

/// A file that is not in a snapshot, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path as text.
    pub path: String,
    /// Why it is not there, in words.
    pub why: String,
    /// The bytes of a path that is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<Vec<u8>>,
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

    /// Reads what was written down. What cannot be read names nothing.
    pub(crate) fn read(text: Option<&str>) -> Vec<LeftOut> {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Its path, whatever its bytes.
    pub(crate) fn path(&self) -> PathBuf {
        match &self.bytes {
            Some(bytes) => PathBuf::from(OsStr::from_bytes(bytes)),
            None => PathBuf::from(&self.path),
        }
    }
}

/// The reference that an attempt's snapshots are chained on.
pub(crate) fn reference(attempt: AttemptId) -> String {
    format!("refs/forge/snapshots/{attempt}")
}
