//! Giving an attempt its worktree: the base is settled and written down, then the worktree is made on its branch.

use std::path::Path;

use forge_git::{NewWorktree, Repo};

use crate::background::blocking;
use crate::intent::{Base, Intent, What};
use crate::store::ready;
use crate::{Engine, Error, Result};

/// Why a start was not made.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Somebody else has that name: draw another.
    NameTaken,
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl Engine {
    /// Makes the worktree of an intent; an intent without one is left as it is.
    pub(crate) async fn make_worktree(
        &self,
        intent: &mut Intent,
        base_branch: Option<String>,
    ) -> std::result::Result<(), Failure> {
        self.make_on_branch(intent, base_branch).await?;
        self.link_worktree(intent.worktree.clone());
        self.inner.seam.pass("start.worktree", "").await;
        Ok(())
    }

    async fn make_on_branch(
        &self,
        intent: &mut Intent,
        base_branch: Option<String>,
    ) -> std::result::Result<(), Failure> {
        let (engine, repository) = (self.clone(), intent.repository.clone());
        let What::Attempt { branch, base, .. } = &mut intent.what else { return Ok(()) };
        let (branch, settled) = (branch.clone(), base.clone());
        let is_written = settled.is_some();
        let resolved = blocking(move || -> Result<_> {
            let repo = engine.repo(&repository)?;
            let base = settled.map_or_else(|| resolve_base(&repo, &repository, base_branch), Ok)?;
            Ok((repo, base))
        });
        let (repo, resolved) = resolved.await??;
        let commit = resolved.commit.clone();
        *base = Some(resolved);
        let taken = self.take_ready(intent.project, &repo, &commit).await;
        let claimed = taken.as_ref().map(|taken| taken.path().to_string_lossy().into_owned());
        let is_claimed = match is_written && claimed.is_none() {
            // Everything that is about to be made is on record already.
            true => false,
            false => {
                let written = intent.clone();
                let written = self.inner.store.write(move |tx| {
                    written.update(tx)?;
                    claimed.map_or(Ok(false), |path| ready::claim(tx.conn(), &path, written.attempt))
                });
                written.await.map_err(Error::from)?
            }
        };
        if is_claimed
            && let Some(taken) = taken
            && self.hand_over(taken, &intent.worktree, &branch).await?
        {
            return Ok(());
        }
        let path = intent.worktree.clone();
        let lock_reason = self.lock_reason();
        let root = self.inner.paths.worktrees.clone();
        let added = blocking(move || {
            crate::open::private_dir(&root)?;
            let new = NewWorktree { path, branch, base_oid: commit, lock_reason };
            match repo.add_worktree(&new) {
                Ok(_) => Ok(()),
                Err(forge_git::Error::BranchTaken { .. } | forge_git::Error::PathTaken { .. }) => {
                    Err(Failure::NameTaken)
                }
                Err(error) => Err(Failure::Other(error.into())),
            }
        });
        added.await?
    }
}

/// Settles what an attempt starts from: the branch that was named, or the one that is checked out. Blocks.
pub(crate) fn resolve_base(repo: &Repo, repository: &Path, named: Option<String>) -> Result<Base> {
    let branch = match named {
        Some(branch) => branch,
        None => repo.current_branch()?.ok_or_else(|| {
            Error::invalid(format!(
                "{} has no branch checked out; name the branch to start from in `base_branch`",
                repository.display()
            ))
        })?,
    };
    match repo.resolve_branch(&branch) {
        Ok(commit) => Ok(Base { branch, commit }),
        // A repository without commits has no branches either; that is the better thing to say.
        Err(forge_git::Error::NoSuchBranch { .. }) if !repo.has_commits()? => {
            Err(forge_git::Error::NoCommits { repo: repository.to_path_buf() }.into())
        }
        Err(error) => Err(error.into()),
    }
}
