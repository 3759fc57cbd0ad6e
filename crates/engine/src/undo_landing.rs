//! Taking a landing back: the target branch is where it was before, and the attempt is there to be reviewed again.
//!
//! Only what nobody has built on or been given is taken back: a target that has moved on, and a commit that another
//! branch, a tag or a remote has, are refused with the command that reverts it. The attempt's branch stays where it is
//! and has all of the work as one commit; its commits from before are kept under `refs/forge/landed`.

use forge_git::Repo;
use forge_model::state::TaskHappened;
use forge_model::{AttemptId, Merge, MergeId, MergeKind, Noun, Op};
use serde::{Deserialize, Serialize};

use crate::background::{blocking, detached};
use crate::store::acts::{self, Act};
use crate::store::merges;
use crate::{AttemptView, Engine, Error, Result, moves};

/// What the act is called in the store.
pub(crate) const UNDO_LANDING: &str = "undo-landing";

/// It as it is written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Undoing {
    merge: MergeId,
    target: String,
    /// The one commit that landed.
    commit: String,
    /// Where the target was before.
    onto: String,
}

impl Engine {
    /// Takes back the last landing of an attempt, which it returns. A task that was done by it is in review again.
    pub async fn undo_landing(&self, id: AttemptId) -> Result<Merge> {
        let engine = self.clone();
        detached(async move { engine.undo_landing_now(id).await }).await
    }

    async fn undo_landing_now(&self, id: AttemptId) -> Result<Merge> {
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let project = self.project(attempt.project).await?;
        let _turn = self.inner.landings.take(project.path.display()).await;
        let newest = self.merges(id).await?.into_iter().next();
        let Some((merge, commit)) = newest.and_then(|merge| Some((merge.clone(), landed_as(&merge)?))) else {
            return Err(Error::conflict(format!("attempt {id} is not merged, so there is no merge to undo"))
                .with_code("not_merged"));
        };
        let (engine, path, landed) = (self.clone(), project.path, merge.clone());
        let (repo, undoing) = blocking(move || -> Result<_> {
            let repo = engine.repo(&path)?;
            let undoing = can_be_undone(&repo, &attempt.branch, &landed, commit)?;
            Ok((repo, undoing))
        })
        .await??;
        let act = Act::new(UNDO_LANDING, id, &undoing)?;
        self.begin_act(&act, "unmerged").await?;
        let set_back = undoing.clone();
        if let Err(error) = blocking(move || set_back.move_target(&repo)).await? {
            self.end_act(&act).await?;
            return Err(error);
        }
        self.record_undoing(&act, &undoing).await?;
        self.start_next(id).await;
        Ok(merge)
    }

    /// Writes down that a landing was taken back; a task that was done is to be reviewed.
    async fn record_undoing(&self, act: &Act, undoing: &Undoing) -> Result<()> {
        let AttemptView { attempt, task, .. } = self.attempt(act.attempt).await?;
        let (id, act, merge) = (act.attempt, act.id.clone(), undoing.merge);
        let written = self.inner.store.write(move |tx| {
            merges::delete_one(tx.conn(), merge)?;
            acts::delete(tx.conn(), &act)?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(attempt.project), Some(id));
            if let Some(task) = &task {
                moves::task(tx, task, TaskHappened::LandingUndone)?;
            }
            Ok(())
        });
        written.await?;
        tracing::info!(attempt.id = %id, "the landing of attempt {id} on {} was undone", undoing.target);
        Ok(())
    }

    /// After a restart: what was begun is finished, unless the target has gone on from what landed.
    pub(crate) async fn reconcile_undoing(&self, act: &Act) -> Result<()> {
        let undoing: Undoing = serde_json::from_str(&act.body)
            .map_err(|error| Error::internal(format!("the undoing of a merge cannot be read: {error}")))?;
        let project = self.project(self.attempt(act.attempt).await?.attempt.project).await?;
        let (engine, begun) = (self.clone(), undoing.clone());
        let is_undone = blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let moved = begun.move_target(&repo);
            let Some(target) = repo.local_branch(&begun.target)? else { return Ok(false) };
            let is_undone = !repo.is_ancestor(&begun.commit, &target)?;
            if let Err(error) = moved {
                tracing::warn!("the undoing of a merge into {} was not finished: {error}", begun.target);
            }
            Ok(is_undone)
        });
        if is_undone.await?? { self.record_undoing(act, &undoing).await } else { self.end_act(act).await }
    }
}

impl Undoing {
    /// Moves the target back, with the checkout that has it. Blocks.
    fn move_target(&self, repo: &Repo) -> Result<()> {
        Ok(repo.set_branch_back(&self.target, &self.commit, &self.onto)?)
    }
}

/// The commit as which a merge landed; none when it is a pull request's.
fn landed_as(merge: &Merge) -> Option<String> {
    match &merge.how {
        MergeKind::Direct { commit, .. } => Some(commit.clone()),
        MergeKind::PullRequest(_) => None,
    }
}

/// Refuses what somebody may have built on, before anything is done. Blocks.
fn can_be_undone(repo: &Repo, own_branch: &str, merge: &Merge, commit: String) -> Result<Undoing> {
    let (target, short) = (&merge.target_branch, &commit[..commit.len().min(10)]);
    let refused = |why: String, code| {
        let remedy = format!("run `git revert {short}` on '{target}' to undo it with a commit of its own");
        Error::conflict(format!("the merge into '{target}' cannot be undone: {why}; {remedy}"))
            .with_code(code)
    };
    let Some(now) = repo.local_branch(target)? else {
        return Err(refused(format!("branch '{target}' does not exist any more"), "no_target"));
    };
    if now != commit {
        let why = match repo.is_ancestor(&commit, &now)? {
            true => format!("'{target}' has moved on since"),
            false => format!("'{target}' does not have it any more"),
        };
        return Err(refused(why, "moved_on"));
    }
    let own = [format!("refs/heads/{target}"), format!("refs/heads/{own_branch}")];
    if let Some(other) = repo.references_with(&commit)?.into_iter().find(|reference| !own.contains(reference))
    {
        let why = match other.strip_prefix("refs/heads/").or_else(|| other.strip_prefix("refs/tags/")) {
            Some(name) => format!("'{name}' is built on it"),
            None => format!("'{}' has it already", other.trim_start_matches("refs/remotes/")),
        };
        return Err(refused(why, "built_on"));
    }
    match &repo.parents_of(&commit)?[..] {
        [onto] => Ok(Undoing { merge: merge.id, target: target.clone(), onto: onto.clone(), commit }),
        _ => Err(refused("it is not one commit on top of it".into(), "moved_on")),
    }
}
