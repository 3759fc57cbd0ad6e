//! The ways out of a rebase that stopped at a conflict: going on once everything is resolved, by whoever's hand, or
//! taking it back.

use forge_git::{Operation, Rebase, Worktree};
use forge_model::AttemptId;

use crate::background::{blocking, detached};
use crate::diffs::Summed;
use crate::error::whole;
use crate::rebase::Rebased;
use crate::site::Site;
use crate::store::acts::Act;
use crate::{Engine, Error, Result};

impl Engine {
    /// Goes on with the rebase that waits in an attempt's worktree, as a person who has resolved its conflicts asks
    /// for: what is resolved is staged for them. Where a conflict is left, or the next commit has one, it goes on
    /// waiting. The files are snapshotted first. Where nothing waits there is nothing to do, and nothing is answered.
    pub async fn continue_rebase(&self, id: AttemptId) -> Result<Option<Rebased>> {
        let engine = self.clone();
        detached(async move {
            let site = engine.site(id, "go on with a rebase of").await?;
            engine
                .at_what_waits(id, "continue", "rebased", async {
                    match site.worktree.operation() {
                        None => Ok(None),
                        Some(Operation::Rebase) => engine.go_on(&site).await.map(Some),
                        Some(other) => Err(Error::conflict(format!(
                            "{other} waits in {}, not a rebase; finish it there with git, or abort it",
                            site.worktree.path().display()
                        ))),
                    }
                })
                .await
        })
        .await
    }

    async fn go_on(&self, site: &Site) -> Result<Rebased> {
        self.snapshot(site.attempt.id, "before a rebase goes on").await?;
        let work = site.clone();
        match blocking(move || go_on_rebasing(&work.worktree, &work.attempt.branch)).await?? {
            Rebase::Done => Ok(Rebased::Done),
            Rebase::Conflicts(open) => Ok(Rebased::stopped(&site.attempt.target_branch, &open)),
        }
    }

    /// Takes back the operation that waits in an attempt's worktree: the branch and the files are as they were before
    /// it. What the files are now is snapshotted first. Where nothing waits there is nothing to do.
    pub async fn abort_conflicts(&self, id: AttemptId) -> Result<()> {
        let engine = self.clone();
        detached(async move {
            let site = engine.site(id, "abort anything in").await?;
            engine
                .at_what_waits(id, "abort", "put back", async {
                    if site.worktree.operation().is_some() {
                        engine.snapshot(id, "before an abort").await?;
                        let site = site.clone();
                        let abort = move || {
                            site.worktree.check_rebase_of(&site.attempt.branch)?;
                            site.worktree.abort_operation()
                        };
                        blocking(abort).await??;
                    }
                    Ok(())
                })
                .await
        })
        .await
    }

    /// Does an act to what waits in a worktree, while nothing else is done there, and writes down what became of the
    /// rebase.
    async fn at_what_waits<T>(
        &self,
        id: AttemptId,
        kind: &str,
        doing: &str,
        act: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let begun = Act::new(kind, id, &())?;
        self.begin_act(&begun, doing).await?;
        let done = async {
            let done = act.await?;
            self.settle_rebase(id).await?;
            Ok(done)
        };
        let done = done.await;
        self.end_act(&begun).await?;
        self.sum_later(id, Summed::Files);
        done
    }
}

/// Stages what is resolved and goes on with a rebase when that is everything. Blocks.
fn go_on_rebasing(worktree: &Worktree, branch: &str) -> forge_git::Result<Rebase> {
    worktree.check_rebase_of(branch)?;
    match worktree.stage_resolved()? {
        open if open.is_empty() => worktree.continue_rebase(),
        open => Ok(Rebase::Conflicts(open)),
    }
}

/// After a turn that ended well in a worktree where a rebase waits: goes on with it when everything is resolved.
/// Returns what is still to be done, in a sentence. Blocks.
pub(crate) fn go_on_after_turn(worktree: &Worktree, branch: &str) -> Option<String> {
    match go_on_rebasing(worktree, branch) {
        Ok(Rebase::Done) => None,
        Ok(Rebase::Conflicts(open)) => {
            let files: Vec<_> = open.iter().map(|path| path.to_string_lossy()).collect();
            Some(format!("its rebase waits for conflicts to be resolved in {}", files.join(", ")))
        }
        Err(error) => Some(format!("its rebase could not go on: {}", whole(&error))),
    }
}
