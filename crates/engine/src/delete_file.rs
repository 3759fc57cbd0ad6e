//! Deleting one file of an attempt's worktree, and committing that.

use forge_git::{CommitRequest, Limits};
use forge_model::AttemptId;

use crate::background::{blocking, detached};
use crate::diffs::Summed;
use crate::site::{HOOK_TIME, committed, rebase_in_progress};
use crate::store::acts::Act;
use crate::{Engine, Error, Result};

impl Engine {
    /// Deletes a file and commits that alone. A snapshot that has the file is taken first.
    pub async fn delete_file(&self, id: AttemptId, path: String) -> Result<()> {
        let engine = self.clone();
        detached(async move { engine.delete_now(id, path).await }).await
    }

    async fn delete_now(&self, id: AttemptId, path: String) -> Result<()> {
        self.refuse_busy(id, "changed").await?;
        let site = self.site(id, "delete anything in").await?;
        let looked = site.clone();
        let path = blocking(move || -> Result<_> {
            if looked.worktree.operation().is_some() {
                return Err(rebase_in_progress());
            }
            Ok(looked.worktree.check_deletable(&path)?)
        })
        .await??;
        let act = Act::new("delete", id, &path)?;
        self.begin_act(&act, "changed").await?;
        let engine = self.clone();
        let deleted = blocking(move || -> Result<_> {
            site.worktree.check_on(&site.attempt.branch)?;
            let message = format!("Delete {}", path.display());
            let taken = engine.take_snapshot(
                &site.worktree,
                id,
                &format!("attempt {id} before a file is deleted"),
            )?;
            let left_out = taken.left_out.as_deref().unwrap_or_default();
            if left_out.contains(&serde_json::json!(path.to_string_lossy()).to_string()) {
                return Err(Error::conflict(format!(
                    "{} is not deleted, because a snapshot cannot hold it; delete it with git yourself",
                    path.display()
                )));
            }
            let request =
                CommitRequest { message, time_limit: HOOK_TIME, run_hooks: true, limits: Limits::default() };
            committed(site.worktree.delete_file(&path, &request)?, "mend it, and delete the file again")?;
            Ok(taken)
        });
        let deleted = deleted.await;
        self.end_act(&act).await?;
        let taken = deleted??;
        let kept = self.inner.store.write(move |tx| {
            crate::store::snapshots::insert(
                tx.conn(),
                id,
                None,
                &taken,
                "before a file was deleted",
                tx.now(),
            )
        });
        kept.await?;
        self.sum_later(id, Summed::Files);
        Ok(())
    }
}
