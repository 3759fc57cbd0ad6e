//! An attempt whose worktree is gone gets it back when it is needed: every byte that was kept, where it was.

use std::path::{Path, PathBuf};

use forge_git::{Return, Returned};
use forge_model::{AttemptId, AttemptState, Noun, Op};

use crate::background::blocking;
use crate::store::lodgings;
use crate::{AttemptView, Engine, Error, Result};

impl Engine {
    /// Returns an attempt's worktree, brought back first when it was cleaned up, lost, or cut off from a repository
    /// that moved.
    pub(crate) async fn ensure_worktree(&self, id: AttemptId) -> Result<PathBuf> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        if attempt.in_place {
            return Ok(attempt.worktree);
        }
        if attempt.state == AttemptState::Queued {
            return Err(Error::conflict(format!("attempt {id} has no worktree yet: it waits for its turn")));
        }
        let project = self.project(attempt.project).await?;
        // Two who need it at once must not both make it.
        let _turn = self.inner.returning.lock().await;
        let (engine, worktree, repository) = (self.clone(), attempt.worktree.clone(), project.path.clone());
        let is_there =
            blocking(move || engine.repo(&repository).map(|repo| repo.worktree(&worktree).is_ok()));
        let in_trash = self.worktree_in_trash(id, &attempt.worktree);
        let aside = Some(self.ignored_in_trash(id)).filter(|place| place.is_dir());
        if is_there.await?? && in_trash.is_none() && aside.is_none() && !attempt.worktree_deleted {
            return Ok(attempt.worktree);
        }
        self.check_room(&attempt.worktree).await?;
        let tip = self.inner.store.read(move |conn| lodgings::tip(conn, id)).await?;
        let wanted = Return {
            path: attempt.worktree.clone(),
            branch: attempt.branch.clone(),
            tip,
            lock_reason: self.lock_reason(),
            trash: in_trash,
        };
        let engine = self.clone();
        let returned = blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let returned = repo.bring_worktree_back(&wanted)?;
            if let Some(aside) = aside {
                repo.worktree(&wanted.path)?.move_back(&aside)?;
            }
            Ok(returned)
        });
        let returned = returned.await??;
        let is_new = returned == Returned::Branch;
        let written = self.inner.store.write(move |tx| {
            lodgings::back(tx.conn(), id, is_new, tx.now())?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(attempt.project), Some(id));
            Ok(())
        });
        written.await?;
        tracing::info!(attempt.id = %id, "the worktree of attempt {id} is back ({returned:?})");
        Ok(attempt.worktree)
    }

    /// What git shows to whoever tries to remove a worktree of ours. It tells the worktrees of two data directories
    /// apart.
    pub(crate) fn lock_reason(&self) -> String {
        format!("forge {}", self.inner.paths.home.display())
    }

    /// Where a worktree lies in the trash when it was cleaned up, and its attempt was not removed.
    pub(crate) fn worktree_in_trash(&self, id: AttemptId, worktree: &Path) -> Option<PathBuf> {
        let place = self.inner.paths.trash().join(id.to_string()).join(worktree.file_name()?);
        place.is_dir().then_some(place)
    }
}
