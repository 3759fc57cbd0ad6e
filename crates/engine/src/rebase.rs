//! Rebasing an attempt: its commits are built again on the newest commit of a branch, which becomes its target.
//!
//! Without a conflict that happens in memory and the worktree moves once. With one, a rebase of git's own is left open
//! in the worktree, for the agent or a person to resolve; it is in git's hands, so it survives a restart and can be
//! continued with git by anybody. The act stays written down as open until it is finished or aborted.

use std::path::PathBuf;

use forge_git::{Operation, Rebase, Replayed, Repo};
use forge_model::{AttemptId, Noun, Op};
use serde::{Deserialize, Serialize};

use crate::background::{blocking, detached};
use crate::diffs::Summed;
use crate::site::Site;
use crate::store::acts::{self, Act};
use crate::store::attempts;
use crate::{Engine, Error, Result};

/// What an act of rebasing is called in the store.
pub(crate) const REBASE: &str = "rebase";
/// What it is called while its conflicts wait for somebody.
pub(crate) const OPEN: &str = "rebase.open";

/// How an attempt is to be rebased.
#[derive(Debug, Clone, Default)]
pub struct RebaseRequest {
    /// The branch whose commits are not the attempt's own; none means its target.
    pub old_base: Option<String>,
    /// The branch to build on, which becomes the target; none means the target that it has.
    pub new_base: Option<String>,
    /// Commits what is left over without the person's hooks, because they said so.
    pub skip_hooks: bool,
}

/// What came of a rebase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    Done,
    /// It is left open in the worktree until these files are resolved.
    Conflicts {
        files: Vec<String>,
        message: String,
    },
}

impl Rebased {
    /// A rebase onto a target that waits for these files.
    pub(crate) fn stopped(target: &str, paths: &[PathBuf]) -> Self {
        let files: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let count = match files.len() {
            1 => "1 conflict".to_string(),
            count => format!("{count} conflicts"),
        };
        let message = format!(
            "Rebase onto '{target}' stopped at {count}: {}. Resolve or abort it; a file that is right as it stands \
             is decided by `git add`.",
            files.join(", ")
        );
        Self::Conflicts { files, message }
    }
}

/// A rebase as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Rebasing {
    old_target: String,
    new_target: String,
    old_base: String,
    onto: String,
    /// The attempt's tip, once everything is committed.
    tip: Option<String>,
    /// The new tip, once it is built.
    new_tip: Option<String>,
}

impl Engine {
    /// Rebases an attempt onto a branch, which becomes its target.
    pub async fn rebase(&self, id: AttemptId, request: RebaseRequest) -> Result<Rebased> {
        let engine = self.clone();
        detached(async move { engine.rebase_now(id, request).await }).await
    }

    async fn rebase_now(&self, id: AttemptId, request: RebaseRequest) -> Result<Rebased> {
        self.settle_rebase(id).await?;
        self.refuse_busy(id, "rebased").await?;
        let site = self.site(id, "rebase").await?;
        let skip_hooks = request.skip_hooks;
        let looked = site.clone();
        let mut rebasing = blocking(move || looked.can_rebase(request)).await??;
        let mut act = Act::new(REBASE, id, &rebasing)?;
        self.begin_act(&act, "rebased").await?;
        match self.build_again(&site, &mut act, &mut rebasing, skip_hooks).await {
            Ok(Rebased::Done) => {
                self.record_rebase(&site, &act, &rebasing).await?;
                self.start_next(id).await;
                self.sum_later(id, Summed::Files);
                Ok(Rebased::Done)
            }
            Ok(conflicts) => {
                self.record_open(&site, &mut act, &rebasing).await?;
                self.start_next(id).await;
                Ok(conflicts)
            }
            Err(error) => {
                if let Err(why) = self.take_back_rebase(&site).await {
                    tracing::warn!(attempt.id = %id, "the rebase of attempt {id} is taken back at the next start: {why}");
                    return Err(error);
                }
                self.end_act(&act).await?;
                Err(error)
            }
        }
    }

    async fn build_again(
        &self,
        site: &Site,
        act: &mut Act,
        rebasing: &mut Rebasing,
        skip_hooks: bool,
    ) -> Result<Rebased> {
        let work = site.clone();
        let tip = blocking(move || -> Result<_> {
            work.commit_leftovers("rebased", skip_hooks)?;
            Ok(work.worktree.head()?)
        });
        let tip = tip.await??;
        rebasing.tip = Some(tip.clone());
        self.note_act(act, REBASE, rebasing).await?;
        self.snapshot(site.attempt.id, "before a rebase").await?;
        let (work, plan, from) = (site.clone(), rebasing.clone(), tip.clone());
        let (upstream, replayed) = blocking(move || -> Result<_> {
            let upstream = upstream(&work.repo, &work.attempt.base_commit, &plan.old_base, &from)?;
            let replayed = work.repo.replay(&upstream, &from, &plan.onto)?;
            Ok((upstream, replayed))
        })
        .await??;
        let (work, onto) = (site.clone(), rebasing.onto.clone());
        match replayed {
            Replayed::Tip { oid, .. } if oid == tip => Ok(Rebased::Done),
            Replayed::Tip { oid, held } => {
                rebasing.new_tip = Some(oid.clone());
                self.note_act(act, REBASE, rebasing).await?;
                blocking(move || {
                    let moved = work.worktree.move_to(&work.attempt.branch, &oid);
                    drop(held);
                    moved
                })
                .await??;
                Ok(Rebased::Done)
            }
            Replayed::Conflicts(_) => {
                match blocking(move || work.worktree.begin_rebase(&upstream, &onto)).await?? {
                    Rebase::Done => Ok(Rebased::Done),
                    Rebase::Conflicts(paths) => Ok(Rebased::stopped(&rebasing.new_target, &paths)),
                }
            }
        }
    }

    /// Writes down that a rebase is done: the branch that it went onto is the target.
    async fn record_rebase(&self, site: &Site, act: &Act, rebasing: &Rebasing) -> Result<()> {
        let (id, project, act) = (site.attempt.id, site.attempt.project, act.id.clone());
        let (target, base) = (rebasing.new_target.clone(), rebasing.onto.clone());
        let written = self.inner.store.write(move |tx| {
            // Another look may have written it down, and more has happened to the attempt since.
            if !acts::is_there(tx.conn(), &act)? {
                return Ok(());
            }
            attempts::begin(tx.conn(), id, &target, &base, tx.now())?;
            acts::delete(tx.conn(), &act)?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            Ok(())
        });
        Ok(written.await?)
    }

    /// Writes down that a rebase waits for somebody to resolve its conflicts.
    async fn record_open(&self, site: &Site, act: &mut Act, rebasing: &Rebasing) -> Result<()> {
        let (id, project) = (site.attempt.id, site.attempt.project);
        act.kind = OPEN.to_string();
        let (open, target) = (act.clone(), rebasing.new_target.clone());
        let written = self.inner.store.write(move |tx| {
            acts::update(tx.conn(), &open)?;
            attempts::set_target(tx.conn(), id, &target, tx.now())?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            Ok(())
        });
        Ok(written.await?)
    }

    /// Puts an attempt whose rebase could not be made back to its tip.
    async fn take_back_rebase(&self, site: &Site) -> Result<()> {
        let site = site.clone();
        blocking(move || -> Result<()> {
            if site.worktree.operation() == Some(Operation::Rebase) {
                site.worktree.check_rebase_of(&site.attempt.branch)?;
                site.worktree.abort_operation()?;
            }
            Ok(())
        })
        .await?
    }

    /// After a restart: a rebase that has moved the worktree is written down, one that stopped at a conflict waits,
    /// and any other has changed nothing.
    pub(crate) async fn reconcile_rebase(&self, act: &Act) -> Result<()> {
        let rebasing = read(act)?;
        let site = self.site_as_it_is(act.attempt).await?;
        let looked = site.clone();
        let (operation, now) = blocking(move || -> Result<_> {
            Ok((looked.worktree.operation(), looked.repo.local_branch(&looked.attempt.branch)?))
        })
        .await??;
        if operation == Some(Operation::Rebase) {
            return self.record_open(&site, &mut act.clone(), &rebasing).await;
        }
        let went_on = rebasing.tip.is_some() && now != rebasing.tip;
        if now.is_some() && (now == rebasing.new_tip || (went_on && rebasing.new_tip.is_none())) {
            return self.record_rebase(&site, act, &rebasing).await;
        }
        let id = act.id.clone();
        Ok(self.inner.store.write(move |tx| acts::delete(tx.conn(), &id)).await?)
    }

    /// Looks whether a rebase that waited for somebody has come to its end, by whoever's hand, and writes that down.
    pub(crate) async fn settle_rebase(&self, id: AttemptId) -> Result<()> {
        let waiting = self.inner.store.read(move |conn| acts::of_attempt(conn, id)).await?;
        let Some(act) = waiting.into_iter().find(|act| act.kind == OPEN) else { return Ok(()) };
        let rebasing = read(&act)?;
        let site = match self.site_as_it_is(id).await {
            Ok(site) => site,
            // The worktree is gone; when it is brought back there is no rebase in it.
            Err(error) => {
                tracing::debug!(attempt.id = %id, "the rebase of attempt {id} cannot be looked at: {error}");
                return Ok(());
            }
        };
        let (looked, plan) = (site.clone(), rebasing.clone());
        let ended = blocking(move || -> Result<_> {
            if looked.worktree.operation() == Some(Operation::Rebase) {
                return Ok(None);
            }
            let now = looked.repo.local_branch(&looked.attempt.branch)?;
            let (Some(now), Some(tip)) = (now, &plan.tip) else { return Ok(Some(false)) };
            Ok(Some(now != *tip && looked.repo.is_ancestor(&plan.onto, &now)?))
        })
        .await??;
        match ended {
            None => Ok(()),
            Some(true) => self.record_rebase(&site, &act, &rebasing).await,
            Some(false) => {
                let (project, act, target) = (site.attempt.project, act.id.clone(), rebasing.old_target);
                let written = self.inner.store.write(move |tx| {
                    if !acts::is_there(tx.conn(), &act)? {
                        return Ok(());
                    }
                    attempts::set_target(tx.conn(), id, &target, tx.now())?;
                    acts::delete(tx.conn(), &act)?;
                    tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
                    Ok(())
                });
                Ok(written.await?)
            }
        }
    }
}

impl Site {
    /// Refuses what cannot be rebased, before anything is done. Blocks.
    fn can_rebase(&self, request: RebaseRequest) -> Result<Rebasing> {
        let old_target = self.attempt.target_branch.clone();
        let new_target = request.new_base.unwrap_or_else(|| old_target.clone());
        let (_, tip) = self.at_rest()?;
        self.worktree.check_filters(&tip)?;
        if new_target == self.attempt.branch {
            return Err(Error::invalid(format!(
                "`new_base_branch`: {new_target} is the attempt's own branch"
            )));
        }
        let onto = existing(&self.repo, &new_target)?;
        let old_base = match request.old_base {
            Some(branch) => existing(&self.repo, &branch)?,
            // A target that is gone leaves the commit that the attempt started from.
            None => existing(&self.repo, &old_target).unwrap_or_else(|_| self.attempt.base_commit.clone()),
        };
        Ok(Rebasing { old_target, new_target, old_base, onto, tip: None, new_tip: None })
    }
}

/// Returns where a branch is. Blocks.
pub(crate) fn existing(repo: &Repo, branch: &str) -> Result<String> {
    repo.resolve_branch(branch).map_err(|error| match error {
        forge_git::Error::NoSuchBranch { .. }
        | forge_git::Error::BadName { .. }
        | forge_git::Error::NoCommits { .. } => {
            Error::invalid(format!("Branch '{branch}' does not exist in the repository"))
                .with_code("no_such_branch")
        }
        error => error.into(),
    })
}

/// Finds the commit that the attempt's own work starts from: where it left the old base, or where it began if that
/// is later, because a base that was rewritten has not got it any more.
fn upstream(repo: &Repo, base_commit: &str, old_base: &str, tip: &str) -> Result<String> {
    let base = Some(base_commit.to_string()).filter(|base| repo.is_ancestor(base, tip).unwrap_or(false));
    let left = repo.merge_base(old_base, tip)?;
    match (base, left) {
        (Some(base), Some(left)) if repo.is_ancestor(&left, &base)? => Ok(base),
        (_, Some(left)) => Ok(left),
        (Some(base), None) => Ok(base),
        (None, None) => Err(Error::conflict("the attempt and its base have no commit in common")),
    }
}

fn read(act: &Act) -> Result<Rebasing> {
    serde_json::from_str(&act.body)
        .map_err(|error| Error::internal(format!("a rebase cannot be read: {error}")))
}
