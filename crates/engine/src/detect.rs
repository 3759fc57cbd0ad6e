//! The detector: what a repository was before a run, and what of it is different after.
//!
//! The guard can be got around, so this is what counts. Refs, stash, HEAD, config, hooks and `info` are read before the
//! process starts, the files of the person's checkout in the background after that; both lie beside the attempt's other
//! things, so a restart in between changes nothing. What Forge and other attempts did is not told. Nothing is undone
//! here but what keeps git or Forge from working: `core.bare`, `core.worktree`, and the attempt's own worktree.

pub(crate) mod before;
pub(crate) mod checkout;
mod compare;
mod heal;
pub(crate) mod objects;

use std::path::{Path, PathBuf};

use forge_model::{AttemptId, Finding, Noun, Op, ProjectId, Run, RunId, RunKind};

use crate::background::blocking;
use crate::store::findings::{self, Facts};
use crate::store::{Error as StoreError, Tx, attempts};
use crate::{Engine, Result};
use before::Before;
use objects::Objects;

impl Engine {
    /// Writes down what the repository is before a run. That it cannot be done keeps no run from starting.
    pub(crate) async fn look_before(
        &self,
        run: &Run,
        repository: &Path,
        worktree: &Path,
        project: ProjectId,
    ) {
        // What a script or a dev server changes is found with the turn it goes along with.
        if run.kind != RunKind::Agent {
            return;
        }
        if let Err(error) = self.try_look_before(run, repository, worktree, project).await {
            tracing::warn!(run.id = %run.id, "what the repository is before run {} is not known: {error}", run.id);
        }
    }

    async fn try_look_before(
        &self,
        run: &Run,
        repository: &Path,
        worktree: &Path,
        project: ProjectId,
    ) -> Result<()> {
        let Some(own) = self.own_reference(run.attempt, worktree).await? else { return Ok(()) };
        let facts = self.inner.store.read(move |conn| findings::facts(conn, project, 0)).await?;
        let (engine, repository) = (self.clone(), repository.to_path_buf());
        let (files, worktree) = (self.guard_files(run), worktree.to_path_buf());
        let at = crate::store::now();
        blocking(move || {
            let repo = engine.repo(&repository)?;
            let print = repo.fingerprint()?;
            let objects = engine.objects();
            let before = Before::new(at, repo.places(), own, worktree, facts.branches(), print, &objects)?;
            before.write(&files.before)
        })
        .await?
    }

    /// Lists the files of the person's checkout in the background.
    pub(crate) fn list_checkout_later(&self, run: &Run) {
        let (engine, files, id) = (self.clone(), self.guard_files(run), run.id);
        tokio::task::spawn_blocking(move || {
            let Ok(Some(before)) = Before::read(&files.before) else { return };
            let repo = engine.inner.git.reopen(before.places());
            let listed =
                checkout::list(&repo, &engine.objects(), &files.dir, Some(checkout::Budget::default()))
                    .and_then(|list| list.write(&files.list));
            if let Err(error) = listed {
                tracing::warn!(run.id = %id, "the files of {} are not listed: {error}", repo.top().display());
            }
        });
    }

    /// Finds what changed during a run, and heals what must not stay. That it cannot be done keeps no run from ending.
    pub(crate) async fn look_behind(&self, run: &Run) -> Vec<Finding> {
        match self.try_look_behind(run).await {
            Ok(found) => found,
            Err(error) => {
                let id = run.id;
                tracing::warn!(run.id = %id, "what changed during run {id} is not known: {error}");
                Vec::new()
            }
        }
    }

    async fn try_look_behind(&self, run: &Run) -> Result<Vec<Finding>> {
        let files = self.guard_files(run);
        let path = files.before.clone();
        let Some(before) = blocking(move || Before::read(&path)).await?? else { return Ok(Vec::new()) };
        let (attempt, since) = (run.attempt, before.at);
        let facts = self.inner.store.read(move |conn| {
            let Some(view) = attempts::one(conn, attempt)? else { return Ok(None) };
            Ok(Some(findings::facts(conn, view.attempt.project, since)?))
        });
        let Some(facts) = facts.await? else { return Ok(Vec::new()) };
        let (engine, run) = (self.clone(), run.clone());
        blocking(move || engine.compare(&run, &before, &facts, &files)).await?
    }

    fn compare(&self, run: &Run, before: &Before, facts: &Facts, files: &GuardFiles) -> Result<Vec<Finding>> {
        let repo = self.inner.git.reopen(before.places());
        let objects = self.objects();
        let mut found = heal::heal(&repo, before)?;
        let steering = before::mark(repo.steering_files()?, &objects)?;
        let mut steered = compare::steering(&repo, before, &steering, facts, &objects)?;
        // With a config that git cannot read, everything below fails; the config itself was found.
        let mut rest = || -> Result<Vec<compare::Found>> {
            let print = before::mark(repo.fingerprint()?, &objects)?;
            let mut found = compare::refs(&repo, before, &print, facts)?;
            let after = checkout::list(&repo, &objects, &files.dir, None)?;
            let listed = checkout::List::read(&files.list)?;
            let files =
                |without_move| checkout::compare(&repo, before.at, listed.as_ref(), &after, without_move);
            let moved = compare::head_moved(before, &print);
            let is_told = moved && compare::tells_of_head(steered.iter().chain(&found), before);
            let mut changed = files(moved && !is_told);
            if is_told && changed.len() > checkout::MOST_FILES {
                // So many go back with HEAD, or not at all.
                changed = files(true);
                compare::take_files_along(steered.iter_mut().chain(&mut found), before);
            }
            found.extend(checkout::gathered(changed));
            Ok(found)
        };
        let rest = rest();
        found.extend(steered);
        match rest {
            Ok(more) => found.extend(more),
            Err(error) if found.is_empty() => return Err(error),
            Err(error) => {
                tracing::warn!("not all that changed in {} is known: {error}", repo.top().display());
            }
        }
        let now = crate::store::now();
        Ok(found.into_iter().map(|found| found.finding(run, now)).collect())
    }

    /// Forgets what the repository was before a run that is over.
    pub(crate) async fn forget_before(&self, run: &Run) {
        let files = self.guard_files(run);
        let forgotten = blocking(move || {
            for path in [files.before, files.list] {
                // What stays is small, and goes with the attempt's other things.
                let _gone = std::fs::remove_file(path);
            }
        });
        let _forgotten = forgotten.await;
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects::new(self.inner.paths.home.join("guard/objects"))
    }

    fn guard_files(&self, run: &Run) -> GuardFiles {
        GuardFiles::new(self.inner.paths.guard(run.attempt), run.id)
    }
}

/// Keeps what was found, in the transaction that ends its run.
pub(crate) fn record(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    found: &[Finding],
) -> std::result::Result<(), StoreError> {
    for finding in found {
        findings::insert(tx.conn(), finding)?;
    }
    if let (false, Some(view)) = (found.is_empty(), attempts::one(tx.conn(), attempt)?) {
        tx.changed(Noun::Attempt, attempt, Op::Change, Some(view.attempt.project), Some(attempt));
    }
    Ok(())
}

/// Where a run's two lists are.
#[derive(Debug, Clone)]
struct GuardFiles {
    dir: PathBuf,
    before: PathBuf,
    list: PathBuf,
}

impl GuardFiles {
    fn new(dir: PathBuf, run: RunId) -> Self {
        let (before, list) = (dir.join(format!("{run}.before.json")), dir.join(format!("{run}.files.json")));
        Self { dir, before, list }
    }
}
