//! Landing an attempt: what it made becomes one commit on its target branch.
//!
//! Nothing moves unless everything can: a target that has moved on, a file in the way in the checkout that has the
//! target, a hook that refuses, and the attempt is as it was. The tip before is kept under `refs/forge/landed`. The
//! act is written down first, so that a restart finishes it or takes it back.

use forge_git::{CommitRequest, Limits, Repo};
use forge_model::state::TaskHappened;
use forge_model::{AttemptId, Merge, MergeId, MergeKind, Noun, Op};
use serde::{Deserialize, Serialize};

use crate::background::{blocking, detached};
use crate::site::{HOOK_TIME, MEND_OR_SKIP, Site, committed};
use crate::store::acts::{self, Act};
use crate::store::merges;
use crate::{Engine, Error, Result, moves};

/// What an act of landing is called in the store.
pub(crate) const LAND: &str = "land";

/// How an attempt is to be landed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Land {
    /// Goes on without the person's hooks, because they said so.
    pub skip_hooks: bool,
}

/// What a landing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    pub merge: Merge,
    /// The commit that was made of what was left uncommitted, if anything was.
    pub committed: Option<String>,
}

/// A landing as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Landing {
    target: String,
    /// Where the target was.
    onto: String,
    /// The attempt's tip, once everything is committed.
    tip: Option<String>,
    /// The one commit of it all, once it is made.
    squash: Option<String>,
    /// The commit that was made of what was left uncommitted, if anything was.
    #[serde(default)]
    left: Option<String>,
}

impl Engine {
    /// Lands an attempt on its target branch. Its task is done then.
    pub async fn land(&self, id: AttemptId, land: Land) -> Result<Landed> {
        let engine = self.clone();
        detached(async move { engine.land_now(id, land).await }).await
    }

    async fn land_now(&self, id: AttemptId, land: Land) -> Result<Landed> {
        self.settle_rebase(id).await?;
        self.keep_before(id).await;
        // What is opened below tells whether an earlier landing has happened, so the turn comes first.
        let project = self.project(self.attempt(id).await?.attempt.project).await?;
        let _turn = self.inner.landings.take(project.path.display()).await;
        self.refuse_busy(id, "merged").await?;
        let site = self.site(id, "merge").await?;
        let looked = site.clone();
        let mut landing = blocking(move || looked.can_land()).await??;
        let mut act = Act::new(LAND, id, &landing)?;
        self.begin_act(&act, "merged").await?;
        match self.move_target(&site, &mut act, &mut landing, land).await {
            Ok(commit) => {
                let merge = self.record_landing(&site, &act, &landing, commit).await?;
                self.start_next(id).await;
                Ok(Landed { merge, committed: landing.left })
            }
            Err(error) => {
                if let Err(why) = self.take_back_landing(&site, &landing).await {
                    tracing::warn!(attempt.id = %id, "the landing of attempt {id} is taken back at the next start: {why}");
                    return Err(error);
                }
                self.end_act(&act).await?;
                Err(error)
            }
        }
    }

    /// Makes the one commit and moves the target to it; `landing` says how far it came.
    async fn move_target(
        &self,
        site: &Site,
        act: &mut Act,
        landing: &mut Landing,
        land: Land,
    ) -> Result<String> {
        let id = site.attempt.id;
        let (work, onto) = (site.clone(), landing.onto.clone());
        let tip = blocking(move || -> Result<_> {
            let left = work.commit_leftovers("merged", land.skip_hooks)?;
            let tip = work.worktree.head()?;
            if work.repo.tree_of(&tip)? == work.repo.tree_of(&onto)? {
                return Err(nothing_to_land(&work));
            }
            work.repo.keep_commit(&format!("refs/forge/landed/{id}"), &tip)?;
            Ok((tip, left))
        });
        let (tip, left) = tip.await??;
        landing.tip = Some(tip.clone());
        landing.left = left;
        self.note_act(act, LAND, landing).await?;
        let (work, onto) = (site.clone(), landing.onto.clone());
        let squash = blocking(move || -> Result<_> {
            let request = CommitRequest {
                message: work.message(),
                time_limit: HOOK_TIME,
                run_hooks: !land.skip_hooks,
                limits: Limits::default(),
            };
            work.worktree.check_on(&work.attempt.branch)?;
            committed(work.worktree.squash(&onto, &tip, &request)?, MEND_OR_SKIP)?
                .ok_or_else(|| nothing_to_land(&work))
        });
        let squash = squash.await??;
        landing.squash = Some(squash.clone());
        self.note_act(act, LAND, landing).await?;
        let (repo, target, onto) = (site.repo.clone(), landing.target.clone(), landing.onto.clone());
        let to = squash.clone();
        blocking(move || repo.forward_branch(&target, &onto, &to)).await??;
        Ok(squash)
    }

    /// Writes down that an attempt has landed; its task is done.
    async fn record_landing(
        &self,
        site: &Site,
        act: &Act,
        landing: &Landing,
        commit: String,
    ) -> Result<Merge> {
        let (id, project, task) = (site.attempt.id, site.attempt.project, site.task.clone());
        let (act, landing) = (act.id.clone(), landing.clone());
        let written = self.inner.store.write(move |tx| {
            let merge = Merge {
                id: MergeId::random(),
                attempt: id,
                target_branch: landing.target,
                how: MergeKind::Direct { commit, tip: landing.tip },
                created_at: tx.now(),
            };
            merges::insert(tx.conn(), &merge)?;
            acts::delete(tx.conn(), &act)?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            if let Some(task) = &task {
                moves::task(tx, task, TaskHappened::Landed)?;
            }
            Ok(merge)
        });
        let merge = written.await?;
        tracing::info!(attempt.id = %id, "attempt {id} landed on {}", merge.target_branch);
        Ok(merge)
    }

    /// Puts an attempt whose landing did not come to its end back to its tip.
    async fn take_back_landing(&self, site: &Site, landing: &Landing) -> Result<()> {
        let Some(tip) = landing.tip.clone() else { return Ok(()) };
        let (site, onto) = (site.clone(), landing.onto.clone());
        blocking(move || -> Result<()> {
            let branch = &site.attempt.branch;
            let Some(now) = site.repo.local_branch(branch)? else { return Ok(()) };
            if now == tip || site.worktree.branch()?.as_deref() != Some(branch) {
                return Ok(());
            }
            if now == onto {
                site.worktree.move_branch_only(&tip)?;
            } else if site.repo.parents_of(&now)? == [onto] {
                site.worktree.move_to(branch, &tip)?;
            }
            // Anything else is somebody's work since.
            Ok(())
        })
        .await?
    }

    /// After a restart: a landing whose target has moved is written down, any other is taken back.
    pub(crate) async fn reconcile_landing(&self, act: &Act) -> Result<()> {
        let landing: Landing = serde_json::from_str(&act.body)
            .map_err(|error| Error::internal(format!("a landing cannot be read: {error}")))?;
        let site = self.site_as_it_is(act.attempt).await?;
        let (looked, seen) = (site.clone(), landing.clone());
        let landed = blocking(move || looked.has_landed(&seen)).await??;
        match landed {
            Some(commit) => self.record_landing(&site, act, &landing, commit).await.map(drop),
            None => {
                self.take_back_landing(&site, &landing).await?;
                let id = act.id.clone();
                Ok(self.inner.store.write(move |tx| acts::delete(tx.conn(), &id)).await?)
            }
        }
    }
}

impl Site {
    /// Refuses what cannot land, before anything is done. Blocks.
    fn can_land(&self) -> Result<Landing> {
        let target = self.attempt.target_branch.clone();
        let (standing, tip) = self.at_rest()?;
        self.worktree.check_filters(&tip)?;
        let onto = target_commit(&self.repo, &self.attempt.branch, &target)?;
        let (ahead, behind) = self.repo.ahead_behind(&tip, &onto)?;
        if behind > 0 {
            return Err(Error::conflict(format!(
                "Branches diverged: Cannot merge: base branch '{target}' is {behind} commits ahead of '{}', which is \
                 {ahead} commits ahead of it. Rebase the attempt onto '{target}', then merge again.",
                self.attempt.branch
            ))
            .with_code("diverged"));
        }
        let is_clean = standing.uncommitted == 0 && standing.untracked == 0;
        if is_clean && self.repo.tree_of(&tip)? == self.repo.tree_of(&onto)? {
            return Err(nothing_to_land(self));
        }
        self.repo.check_movable(&target)?;
        Ok(Landing { target, onto, tip: None, squash: None, left: None })
    }

    /// Finds the one commit of a landing, when the target has it. Blocks.
    fn has_landed(&self, landing: &Landing) -> Result<Option<String>> {
        let (Some(tip), Some(target)) = (&landing.tip, self.repo.local_branch(&landing.target)?) else {
            return Ok(None);
        };
        let squash = match &landing.squash {
            Some(squash) => Some(squash.clone()),
            None => self.repo.local_branch(&self.attempt.branch)?.filter(|now| now != tip),
        };
        let Some(squash) = squash else { return Ok(None) };
        let is_it = self.repo.parents_of(&squash)? == [landing.onto.clone()];
        Ok((is_it && self.repo.is_ancestor(&squash, &target)?).then_some(squash))
    }
}

/// Returns where a target branch is, which must be a branch of this repository's own. Blocks.
pub(crate) fn target_commit(repo: &Repo, branch: &str, target: &str) -> Result<String> {
    if target == branch {
        return Err(Error::conflict(format!(
            "branch {branch} is its own target; change the target branch first"
        )));
    }
    if let Some(oid) = repo.local_branch(target)? {
        return Ok(oid);
    }
    let why = match repo.resolve_branch(target) {
        Ok(_) => "is a branch of a remote; open a pull request, or change the target to a branch of your own",
        Err(_) => "does not exist in the repository any more; change the target branch first",
    };
    Err(Error::conflict(format!("the target branch '{target}' {why}")).with_code("no_target"))
}

fn nothing_to_land(site: &Site) -> Error {
    let (id, target) = (site.attempt.id, &site.attempt.target_branch);
    if site.is_merged {
        return Error::conflict(format!(
            "attempt {id} is merged already, and nothing has changed in it since"
        ))
        .with_code("already_merged");
    }
    Error::conflict(format!(
        "attempt {id} has changed nothing on top of '{target}', so there is nothing to merge"
    ))
    .with_code("empty")
}
