//! The target branch of an attempt: what it is measured against, and where it lands.

use forge_model::{AttemptId, Noun, Op};

use crate::background::blocking;
use crate::rebase::{OPEN, existing};
use crate::site::rebase_in_progress;
use crate::store::{acts, attempts};
use crate::{Engine, Error, Result};

impl Engine {
    /// Changes the target branch of an attempt; no commit moves. Returns how many commits the attempt is ahead of the
    /// new target, and behind.
    pub async fn change_target(&self, id: AttemptId, branch: String) -> Result<(u64, u64)> {
        self.settle_rebase(id).await?;
        let attempt = self.attempt(id).await?.attempt;
        if branch == attempt.branch {
            return Err(Error::invalid(format!("`new_target_branch`: {branch} is the attempt's own branch")));
        }
        let project = self.project(attempt.project).await?;
        let (engine, own, target) = (self.clone(), attempt.branch.clone(), branch.clone());
        let counts = blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let target = existing(&repo, &target)?;
            Ok(repo.ahead_behind(&repo.resolve_branch(&own)?, &target)?)
        });
        let counts = counts.await??;
        let changed = self.inner.store.write(move |tx| {
            if acts::of_attempt(tx.conn(), id)?.iter().any(|act| act.kind == OPEN) {
                return Ok(false);
            }
            attempts::set_target(tx.conn(), id, &branch, tx.now())?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(attempt.project), Some(id));
            Ok(true)
        });
        if changed.await? { Ok(counts) } else { Err(rebase_in_progress()) }
    }
}
