//! What differs between two snapshots of an attempt's files, or between one and the files as they are: what a turn did.
//!
//! Snapshots hold the bytes on disk, so a file that git converts on its way there differs from what was committed.

use forge_git::DiffBase;
use forge_model::AttemptId;

use super::{DiffOf, DiffSet};
use crate::background::blocking;
use crate::{AttemptView, Engine, Error, Result};

/// From where to where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffTurn {
    /// A snapshot of the attempt; none means the commit that the attempt began with.
    pub from: Option<String>,
    /// A snapshot of the attempt; none means the files as they are.
    pub to: Option<String>,
}

impl Engine {
    pub(super) async fn turn_diff(&self, id: AttemptId, turn: &DiffTurn) -> Result<DiffSet> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let repository = self.project(attempt.project).await?.path;
        let from = match &turn.from {
            Some(from) => self.kept_snapshot(id, from).await?.oid,
            None => attempt.base_commit.clone(),
        };
        let to = match &turn.to {
            Some(to) => Some(self.kept_snapshot(id, to).await?.oid),
            None => None,
        };
        let engine = self.clone();
        let set = blocking(move || -> Result<_> {
            let repo = engine.repo(&repository)?;
            let place = engine.inner.diffs.place(id);
            let diff = match to {
                Some(to) => repo.diff_between(&from, &to)?,
                None if attempt.in_place => repo.own_differ(&place)?.diff(&DiffBase::Exactly(from))?,
                None => {
                    let Ok(worktree) = repo.worktree(&attempt.worktree) else {
                        let path = attempt.worktree.display();
                        return Err(Error::conflict(format!(
                            "the worktree {path} is gone; compare snapshots"
                        )));
                    };
                    repo.differ(&worktree, &place)?.diff(&DiffBase::Exactly(from))?
                }
            };
            Ok(engine.inner.diffs.computed(DiffOf::Snapshots, &diff))
        });
        set.await?
    }
}
