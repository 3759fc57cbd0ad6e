//! Going back: the files of an attempt become what they were in one of its snapshots.
//!
//! The present is snapshotted first, so that going back can be gone back on. Branch and history stay where they are,
//! and the person's own checkout is never written to.

use forge_git::RestoreRequest;
use forge_model::{AttemptId, Noun, Op};
use serde::{Deserialize, Serialize};

use crate::background::{blocking, detached};
use crate::diffs::Summed;
use crate::in_place::refuse_in_place;
use crate::snapshots::LeftOut;
use crate::store::acts::Act;
use crate::store::snapshots::{self, Kept};
use crate::{AttemptView, Engine, Error, Result};

/// How the act is called in the store.
pub(crate) const RESTORE: &str = "restore";

/// What is to be as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RestoreFiles {
    /// The id of the snapshot to go back to.
    pub snapshot: String,
    /// Files and directories, from the top of the worktree; everything without.
    pub paths: Option<Vec<String>>,
}

/// What going back changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The id of the snapshot of the files as they were before; the way back.
    pub undo: String,
    pub written: Vec<String>,
    pub removed: Vec<String>,
    /// What was left as it is, because one of the two snapshots does not hold it.
    pub left_alone: Vec<LeftOut>,
}

impl Engine {
    /// Makes the files of an attempt what they were in a snapshot of its own.
    pub async fn restore_files(&self, id: AttemptId, wanted: RestoreFiles) -> Result<RestoredFiles> {
        let engine = self.clone();
        detached(async move {
            let AttemptView { attempt, .. } = engine.attempt(id).await?;
            refuse_in_place(&attempt, "restore files in")?;
            engine.kept_snapshot(id, &wanted.snapshot).await?;
            let act = Act::new(RESTORE, id, &wanted)?;
            engine.begin_act(&act, "restored").await?;
            let restored = engine.carry_out_restore(id, &wanted, "before a restore").await;
            engine.end_act(&act).await?;
            restored
        })
        .await
    }

    /// Finishes a restore that was broken off.
    pub(crate) async fn resume_restore(&self, act: &Act) -> Result<()> {
        let wanted: std::result::Result<RestoreFiles, _> = serde_json::from_str(&act.body);
        let finished = match wanted {
            Ok(wanted) => self.carry_out_restore(act.attempt, &wanted, "amid a restore").await.map(drop),
            Err(error) => Err(Error::internal(format!("its record cannot be read: {error}"))),
        };
        if let Err(error) = finished {
            // The snapshot from before it began is there, and the restore can be asked for again.
            tracing::warn!(attempt.id = %act.attempt, "a restore that was broken off stays so: {error}");
        }
        self.end_act(act).await
    }

    async fn carry_out_restore(
        &self,
        id: AttemptId,
        wanted: &RestoreFiles,
        why: &'static str,
    ) -> Result<RestoredFiles> {
        let then = self.kept_snapshot(id, &wanted.snapshot).await?;
        let path = self.ensure_worktree(id).await?;
        let Some(now) = self.keep_snapshot(id, why).await? else {
            return Err(Error::conflict(format!("the worktree {} is gone", path.display())));
        };
        self.inner.seam.pass("restore.snapshotted", "").await;
        let mut left_out = LeftOut::read(then.left_out.as_deref());
        left_out.extend(LeftOut::read(now.left_out.as_deref()));
        let request = RestoreRequest {
            snapshot: then.oid,
            now: now.oid,
            paths: wanted.paths.as_ref().map(|paths| paths.iter().map(Into::into).collect()),
            left_out: left_out.iter().map(LeftOut::path).collect(),
            private: Some(self.inner.paths.private(id)),
        };
        let project = self.attempt(id).await?.attempt.project;
        let (engine, repository) = (self.clone(), self.project(project).await?.path);
        let restored = blocking(move || -> Result<_> {
            Ok(engine.repo(&repository)?.worktree(&path)?.restore(&request)?)
        });
        let restored = restored.await??;
        let told = self.inner.store.write(move |tx| {
            tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            Ok(())
        });
        told.await?;
        self.sum_later(id, Summed::Files);
        let texts = |paths: Vec<std::path::PathBuf>| -> Vec<String> {
            paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
        };
        left_out.retain(|left| restored.left_alone.contains(&left.path()));
        left_out.dedup_by(|a, b| a.path == b.path);
        Ok(RestoredFiles {
            undo: now.id,
            written: texts(restored.written),
            removed: texts(restored.removed),
            left_alone: left_out,
        })
    }

    pub(crate) async fn kept_snapshot(&self, id: AttemptId, snapshot: &str) -> Result<Kept> {
        let wanted = snapshot.to_string();
        let kept = self.inner.store.read(move |conn| snapshots::of_attempt(conn, id)).await?;
        kept.into_iter()
            .find(|kept| kept.id == wanted)
            .ok_or_else(|| Error::not_found(format!("attempt {id} has no snapshot {snapshot}")))
    }
}
