//! What there is to compare for an attempt: its files, its branch when they are gone, or the commit that landed.

use std::path::{Path, PathBuf};

use forge_git::{Diff, DiffBase, Differ, Repo, Worktree};
use forge_model::{Attempt, AttemptId, AttemptState};

use crate::background::blocking;
use crate::store::diffs;
use crate::{AttemptView, Engine, Error, Result};

use super::DiffOf;

/// What a diff depends on in the store. When it changes, there may be something else to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) repository: PathBuf,
    worktree: PathBuf,
    pub(super) in_place: bool,
    branch: String,
    target: String,
    pub(super) began_at: String,
    is_queued: bool,
    worktree_deleted: bool,
    is_there: bool,
    /// The commit of the newest landing.
    landed: Option<String>,
}

/// What is compared.
pub(super) enum Plan {
    /// Something that does not change by itself.
    Still(DiffOf, Diff),
    Files(Box<Files>),
}

/// Files that are compared again and again.
pub(super) struct Files {
    pub(super) differ: Differ,
    pub(super) base: DiffBase,
    /// The branch whose moves matter.
    pub(super) target: Option<String>,
}

impl Facts {
    /// What the files of a worktree are compared with.
    pub(super) fn base(&self) -> DiffBase {
        DiffBase::Branch { name: self.target.clone(), or: self.began_at.clone() }
    }

    pub(super) fn has_landed(&self) -> bool {
        self.landed.is_some()
    }

    /// Looks whether the files that were to be compared are still there.
    pub(super) fn is_there_still(&self) -> bool {
        is_there(&self.worktree)
    }
}

impl Engine {
    pub(super) async fn plan_diff(&self, id: AttemptId) -> Result<(Facts, Plan)> {
        let facts = self.diff_facts(id).await?;
        let (engine, of) = (self.clone(), facts.clone());
        let plan = blocking(move || plan(&engine, id, &of)).await??;
        Ok((facts, plan))
    }

    pub(super) async fn diff_facts(&self, id: AttemptId) -> Result<Facts> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let repository = self.project(attempt.project).await?.path;
        let landed = self.inner.store.read(move |conn| diffs::landed(conn, id)).await?;
        let Attempt { worktree, in_place, branch, target_branch, base_commit, .. } = attempt;
        let place = worktree.clone();
        Ok(Facts {
            is_there: blocking(move || is_there(&place)).await?,
            repository,
            worktree,
            in_place,
            branch,
            target: target_branch,
            began_at: base_commit,
            is_queued: attempt.state == AttemptState::Queued,
            worktree_deleted: attempt.worktree_deleted,
            landed,
        })
    }
}

fn is_there(worktree: &Path) -> bool {
    worktree.join(".git").exists()
}

fn plan(engine: &Engine, id: AttemptId, facts: &Facts) -> Result<Plan> {
    let repo = engine.repo(&facts.repository)?;
    let place = engine.inner.diffs.place(id);
    if facts.in_place {
        // The branch is the person's own, and what they commit there is no distance from itself.
        let base = DiffBase::Commit(facts.began_at.clone());
        let mut differ = repo.own_differ(&place)?;
        differ.limit(engine.inner.diffs.most());
        return Ok(Plan::Files(Box::new(Files { differ, base, target: None })));
    }
    // Where something else lies in its place, the worktree is gone too.
    let worktree = repo.worktree(&facts.worktree).ok().filter(|_| !facts.worktree_deleted);
    if let Some(landed) = &facts.landed
        && rests(&repo, facts, worktree.as_ref())?
        // A commit that was landed elsewhere may not be here yet.
        && let Ok(diff) = repo.commit_diff(landed)
    {
        return Ok(Plan::Still(DiffOf::Landing, diff));
    }
    let base = facts.base();
    if let Some(worktree) = worktree {
        let (mut differ, target) = (repo.differ(&worktree, &place)?, Some(facts.target.clone()));
        differ.limit(engine.inner.diffs.most());
        return Ok(Plan::Files(Box::new(Files { differ, base, target })));
    }
    match repo.branch_diff(&facts.branch, &base) {
        Ok(diff) => Ok(Plan::Still(DiffOf::Branch, diff)),
        Err(_) if facts.is_queued => Ok(Plan::Still(DiffOf::Branch, Diff::default())),
        Err(forge_git::Error::NoSuchBranch { branch, .. }) => Err(Error::conflict(format!(
            "neither the worktree of attempt {id} nor its branch {branch} is there any more"
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Says whether nothing was done since the landing: no change in the files, and no commit that the target lacks.
fn rests(repo: &Repo, facts: &Facts, worktree: Option<&Worktree>) -> Result<bool> {
    if let Some(worktree) = worktree
        && !worktree.is_clean()?
    {
        return Ok(false);
    }
    let Ok(tip) = repo.resolve_branch(&facts.branch) else { return Ok(true) };
    match repo.resolve_branch(&facts.target) {
        Ok(target) => Ok(repo.is_ancestor(&tip, &target)?),
        Err(_) => Ok(false),
    }
}
