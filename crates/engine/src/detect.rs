//! The detector: what a repository was before a run, and what of it is different after.
//!
//! The guard can be got around, so this is what counts. Refs, stash, HEAD, config, hooks and `info` are read before the
//! process starts, the files of the person's checkout and the reflogs in the background after that; all lie beside the
//! attempt's other things, so a restart in between changes nothing. What Forge and other attempts did is not told. Nothing
//! is undone here but what keeps git or Forge from working, hides history, or makes a branch another's name.

pub(crate) mod before;
pub(crate) mod checkout;
mod compare;
mod heal;
mod mend;
pub(crate) mod objects;
pub(crate) mod reflogs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_model::{AttemptId, Finding, Noun, Op, ProjectId, Run, RunId, RunKind};

use crate::background::blocking;
use crate::store::findings::{self, Facts};
use crate::store::{Error as StoreError, Tx, attempts};
use crate::{Engine, Result};
use before::Before;
use objects::Objects;

/// How long the list of a checkout waits for starts and ends to be over. What is changed before it is made is told by its time.
const LIST_WITHIN: Duration = Duration::from_secs(5);

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
            let ours = facts.branches();
            engine.inner.reflogs.keep(&repo, &print, &ours, at);
            let objects = engine.objects();
            let before = Before::new(at, repo.places(), own, worktree, ours, print, &objects)?;
            before.write(&files.before)
        })
        .await?
    }

    /// Lists the files of the person's checkout in the background, behind starts and one checkout at a time.
    pub(crate) fn list_checkout_later(&self, run: &Run) {
        let (inner, files, id) = (std::sync::Arc::downgrade(&self.inner), self.guard_files(run), run.id);
        self.aside(async move {
            let Some(inner) = inner.upgrade() else { return };
            let engine = Engine { inner };
            engine.inner.calm.wait_for_all(LIST_WITHIN).await;
            if let Err(error) = engine.list_checkout(files).await {
                tracing::warn!(run.id = %id, "the checkout is not listed for run {id}: {error}");
            }
        });
    }

    /// Lists the files of a person's checkout. Nobody else lists it meanwhile.
    async fn list_checkout(&self, files: GuardFiles) -> Result<()> {
        let path = files.before.clone();
        let Some(before) = blocking(move || Before::read(&path)).await?? else { return Ok(()) };
        let places = before.places();
        let _turn = self.inner.listing.take(places.top.display()).await;
        let engine = self.clone();
        blocking(move || {
            let repo = engine.inner.git.reopen(places);
            let objects = engine.objects();
            let logs = engine.inner.reflogs.list(&repo, &objects, &before)?;
            before::write(&files.logs, &logs)?;
            checkout::list(&repo, &objects, &files.dir, Some(checkout::Budget::default()))
                .and_then(|list| list.write(&files.list))
        })
        .await?
    }

    /// Finds what changed in the repository during a run, and heals what must not stay; it takes milliseconds. That it
    /// cannot be done keeps no run from ending.
    pub(crate) async fn look_behind(&self, run: &Run) -> Option<FirstLook> {
        self.try_look_behind(run).await.unwrap_or_else(|error| {
            unknown(run, &error);
            None
        })
    }

    async fn try_look_behind(&self, run: &Run) -> Result<Option<FirstLook>> {
        let path = self.guard_files(run).before;
        let Some(before) = blocking(move || Before::read(&path)).await?? else { return Ok(None) };
        let (attempt, since) = (run.attempt, before.at);
        let facts = self.inner.store.read(move |conn| {
            let Some(view) = attempts::one(conn, attempt)? else { return Ok(None) };
            Ok(Some(findings::facts(conn, view.attempt.project, since)?))
        });
        let Some(facts) = facts.await? else { return Ok(None) };
        let engine = self.clone();
        blocking(move || engine.compare(before, &facts).map(Some)).await?
    }

    fn compare(&self, before: Before, facts: &Facts) -> Result<FirstLook> {
        let repo = self.inner.git.reopen(before.places());
        let objects = self.objects();
        let lock = self.lock_reason();
        let (healed, now) = heal::heal(&repo, &before, facts, &objects, &lock)?;
        let at = crate::store::now().millis();
        let steering = before::mark(now.clone(), &objects)?;
        let steered = compare::steering(&repo, &before, &steering, facts, &objects)?;
        // With a config that git cannot read, everything else fails; the config itself was found.
        let refs = || -> Result<_> {
            let print = before::mark(repo.fingerprint_from(now)?, &objects)?;
            let found = compare::refs(&repo, &before, &print, facts)?;
            Ok((print, found))
        };
        let refs = refs();
        Ok(FirstLook { at, before, healed, steered, refs })
    }

    /// Finds what changed in the person's checkout during a run, and returns that with what the first look found.
    pub(crate) async fn look_at_checkout(&self, run: &Run, first: Option<FirstLook>) -> Vec<Finding> {
        let Some(first) = first else { return Vec::new() };
        let (engine, files) = (self.clone(), self.guard_files(run));
        let found = blocking(move || engine.with_checkout(first, &files)).await.and_then(|found| found);
        let found = found.unwrap_or_else(|error| {
            unknown(run, &error);
            Vec::new()
        });
        let now = crate::store::now();
        found.into_iter().map(|found| found.finding(run, now)).collect()
    }

    fn with_checkout(&self, first: FirstLook, files_of: &GuardFiles) -> Result<Vec<compare::Found>> {
        let FirstLook { at, before, healed: mut all, mut steered, refs } = first;
        let repo = self.inner.git.reopen(before.places());
        let rest = refs.and_then(|(print, mut found)| {
            let after = checkout::list(&repo, &self.objects(), &files_of.dir, None)?;
            let listed = checkout::List::read(&files_of.list)?;
            let files =
                |without_move| checkout::compare(&repo, before.at, listed.as_ref(), &after, without_move);
            let moved = compare::head_moved(&before, &print);
            let is_told = moved && compare::tells_of_head(steered.iter().chain(&found), &before);
            let mut changed = files(moved && !is_told);
            if is_told && changed.len() > checkout::MOST_FILES {
                // So many go back with HEAD, or not at all.
                changed = files(true);
                compare::take_files_along(steered.iter_mut().chain(&mut found), &before);
            }
            found.extend(checkout::gathered(changed));
            if let Some(logs) = before::read::<reflogs::Logs>(&files_of.logs)? {
                found.extend(logs.compare(&repo, &self.objects(), &print)?);
            }
            Ok(found)
        });
        all.extend(compare::without_passing_locks(steered, &repo, at));
        match rest {
            Ok(more) => all.extend(more),
            Err(error) if all.is_empty() => return Err(error),
            Err(error) => {
                tracing::warn!("not all that changed in {} is known: {error}", repo.top().display());
            }
        }
        Ok(all)
    }

    /// Forgets what the repository was before a run that is over.
    pub(crate) async fn forget_before(&self, run: &Run) {
        let files = self.guard_files(run);
        let forgotten = blocking(move || {
            for path in [files.before, files.list, files.logs] {
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

fn unknown(run: &Run, error: &crate::Error) {
    let id = run.id;
    tracing::warn!(run.id = %id, "what changed during run {id} is not known: {error}");
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

/// What the first look after a run found, before its work is kept. The checkout, which takes longer to look at, is
/// looked at once the work is safe.
#[derive(Debug)]
pub(crate) struct FirstLook {
    /// When it was, in milliseconds since 1970.
    at: i64,
    before: Before,
    healed: Vec<compare::Found>,
    steered: Vec<compare::Found>,
    refs: Result<(before::Print, Vec<compare::Found>)>,
}

/// Where a run's lists are.
#[derive(Debug, Clone)]
struct GuardFiles {
    dir: PathBuf,
    before: PathBuf,
    list: PathBuf,
    logs: PathBuf,
}

impl GuardFiles {
    fn new(dir: PathBuf, run: RunId) -> Self {
        let at = |what: &str| dir.join(format!("{run}.{what}.json"));
        Self { before: at("before"), list: at("files"), logs: at("logs"), dir }
    }
}
