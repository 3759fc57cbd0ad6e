//! A worktree in whose place something else stands, and worktrees that git still names though nobody wants them.
//!
//! An agent may delete its `.git` and make a repository of its own, or put a link where its worktree was. That must not
//! be the end of the attempt: what stands there goes to the trash as it is, and the worktree is had again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use forge_git::{Reclaimed, Repo};
use forge_model::AttemptId;

use crate::background::blocking;
use crate::store::removed::{self, Kind};
use crate::store::{lodgings, projects};
use crate::{AttemptView, Engine, Result};

impl Engine {
    /// Makes room for an attempt's worktree, by moving all that stands there only when `whole` says so. Says where that is
    /// now. Blocks.
    pub(crate) fn reclaim(
        &self,
        repo: &Repo,
        id: AttemptId,
        worktree: &Path,
        whole: bool,
    ) -> Result<Reclaimed> {
        // Beside the worktree itself in the trash, and under another name than any worktree has.
        let aside = self.inner.paths.trash().join(id.to_string()).join("replaced");
        let root = self.inner.paths.root_of(worktree);
        let reclaimed = repo.reclaim(worktree, &self.lock_reason(), &aside, &root, whole)?;
        if let Reclaimed::Git(place) | Reclaimed::Whole(place) = &reclaimed {
            let (path, place) = (worktree.display(), place.display());
            tracing::warn!(attempt.id = %id, "something else stood in place of the worktree {path}; it is in {place} now");
        }
        Ok(reclaimed)
    }

    /// Makes room for the worktree of an attempt that is to be removed, as far as that can be done.
    pub(crate) async fn reclaim_for_removal(&self, id: AttemptId) -> Result<()> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        if attempt.in_place || attempt.worktree_deleted {
            return Ok(());
        }
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        let reclaimed =
            blocking(move || engine.reclaim(&engine.repo(&project.path)?, id, &attempt.worktree, true));
        if let Err(error) = reclaimed.await? {
            tracing::warn!(attempt.id = %id, "the worktree of attempt {id} cannot be told to be ours: {error}");
        }
        Ok(())
    }

    /// Drops what git keeps of worktrees that are gone for good: a call of git that was killed leaves it.
    pub(crate) async fn drop_dead_entries(&self) -> Result<()> {
        let looked = self.inner.store.read(|conn| {
            let known: HashSet<PathBuf> = lodgings::known(conn)?.into_iter().collect();
            let starting = crate::store::starts::all(conn)?;
            let of_removed = removed::all(conn)?.into_iter().filter(|aside| aside.kind == Kind::Attempt);
            let of_removed =
                of_removed.filter_map(|aside| aside.text("attempts", "worktree").map(PathBuf::from));
            let repositories: Vec<PathBuf> = projects::all(conn)?.into_iter().map(|one| one.path).collect();
            let removed: HashSet<PathBuf> = of_removed.filter(|path| !known.contains(path)).collect();
            Ok((known, !starting.is_empty(), removed, repositories))
        });
        let (known, is_starting, removed, repositories) = looked.await?;
        // What is being made is in no row that tells its path.
        if is_starting {
            return Ok(());
        }
        let (engine, reason) = (self.clone(), self.lock_reason());
        blocking(move || {
            for repository in repositories {
                let roots = &engine.inner.paths.roots;
                let is_ours = |path: &Path, lock: Option<&str>| {
                    let is_under = roots.iter().any(|root| path.starts_with(root));
                    // One that is locked in our name, or was unlocked by us to be removed.
                    let is_made_here =
                        lock == Some(reason.as_str()) || (lock.is_none() && removed.contains(path));
                    is_under && is_made_here && !known.contains(path)
                };
                match engine.repo(&repository).and_then(|repo| Ok(repo.drop_dead_entries(is_ours)?)) {
                    Ok(dropped) => {
                        for path in dropped {
                            tracing::info!(
                                "git named the worktree {} although it is gone; not any more",
                                path.display()
                            );
                        }
                    }
                    Err(error) => {
                        let place = repository.display();
                        tracing::debug!("the worktrees of {place} could not be looked at: {error}");
                    }
                }
            }
        })
        .await
    }
}
