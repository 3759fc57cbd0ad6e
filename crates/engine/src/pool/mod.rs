//! The warm pool: worktrees that were made ahead, and how a start gets one of them.
//!
//! A start never waits for the pool and never fails because of it: whatever is not right with a worktree that
//! waits, the start makes its own. `keeper` makes them, looks after them and throws them away; a worktree is
//! handed out only when it is known that nobody touched it since the keeper looked.

mod demand;
mod keeper;
mod making;
mod silence;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use forge_git::{Pace, Ready, Repo, Weight};
use forge_model::ProjectId;
use tokio::sync::Notify;

use crate::background::blocking;
use crate::worktree::Failure;
use crate::{Engine, Result};
use demand::Demand;
use silence::{Silence, Tree};

/// A tree of at most so many files is looked through at the hand-over when it could not be watched; that takes less
/// than to make one.
const LOOKED_THROUGH: u32 = 5_000;

/// After so many in a row that failed, no more are made.
const FAILURES: u32 = 3;

/// The worktrees that wait, as far as this server is sure of them.
#[derive(Debug)]
pub(crate) struct Pool {
    trees: Mutex<Trees>,
    silence: Silence,
    demand: Demand,
    /// Something happened that the keeper should look at.
    poked: Arc<Notify>,
    /// What is known of the commit that a project's attempts start from.
    bases: Mutex<HashMap<ProjectId, Base>>,
    handed_over: AtomicU64,
}

/// The worktrees that wait, and those that starts took.
#[derive(Debug, Default)]
struct Trees {
    waiting: Vec<Waiting>,
    /// What the database says of these may be older than what a start does with them, so the keeper passes them over.
    taken: HashSet<PathBuf>,
    /// Those of them whose start is through: the next look at the database is newer than that.
    through: HashSet<PathBuf>,
}

/// A commit, what it weighs, and whether worktrees of it are of no use.
#[derive(Debug)]
struct Base {
    oid: String,
    weight: Weight,
    /// How many in a row could not be made, or were touched before they could wait.
    failed: u32,
    rests: bool,
}

/// A worktree that waits for a start.
#[derive(Debug, Clone)]
struct Waiting {
    project: ProjectId,
    ready: Ready,
    /// What its files depend on besides their commit.
    circumstances: Vec<u8>,
    index: Option<(u64, u64, i64, i64)>,
    files: u32,
    tree: Option<Tree>,
}

/// A worktree that a start took out of the pool.
#[derive(Debug)]
pub(crate) struct Taken {
    waiting: Waiting,
    _turn: Turn,
}

/// Keeps the keeper away from a worktree until it is dropped.
#[derive(Debug)]
struct Turn {
    engine: Engine,
    path: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.engine.inner.pool.lock().through.insert(self.path.clone());
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            trees: Mutex::default(),
            demand: Demand::default(),
            silence: Silence::new(silence::MOST),
            poked: Arc::default(),
            bases: Mutex::default(),
            handed_over: AtomicU64::new(0),
        }
    }
}

impl Pool {
    /// Has the keeper look, once no start is under way.
    pub(crate) fn poke(&self) {
        self.poked.notify_one();
    }

    /// Notes that a start is wanted: where they come in a stream, more worktrees wait.
    pub(crate) fn wanted(&self, project: ProjectId) {
        self.demand.note(project, Instant::now());
    }

    /// How many wait, and how many were handed over.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.lock().waiting.len() as u64, self.handed_over.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Trees> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a worktree out for the keeper, which is alone with it then.
    fn take_back(&self, path: &Path) -> Option<Waiting> {
        let mut trees = self.lock();
        let at = trees.waiting.iter().position(|waiting| waiting.path() == path)?;
        Some(trees.waiting.remove(at))
    }

    /// Returns a worktree that waits, and leaves it there.
    fn look(&self, path: &Path) -> Option<Waiting> {
        self.lock().waiting.iter().find(|waiting| waiting.path() == path).cloned()
    }

    /// How many worktrees wait for starts of a project.
    fn waiting_for(&self, project: ProjectId) -> usize {
        self.lock().waiting.iter().filter(|waiting| waiting.project == project).count()
    }

    /// Says how much the next worktree of a project is wanted, where few wait or none.
    fn pace(&self, project: ProjectId, are_few: bool) -> Pace {
        let is_stream = self.demand.reserve(project, Instant::now()).made > 0;
        if is_stream && are_few { Pace::Urgent } else { Pace::Gentle }
    }

    /// Says whether a start has a worktree.
    fn is_taken(&self, path: &Path) -> bool {
        self.lock().taken.contains(path)
    }

    /// Forgets the starts that are through. What is read of the database after this says what became of them.
    fn forget_through(&self) {
        let mut trees = self.lock();
        let through = std::mem::take(&mut trees.through);
        trees.taken.retain(|path| !through.contains(path));
    }

    /// Says whether a worktree is as the keeper left it.
    fn is_untouched(&self, waiting: &Waiting) -> bool {
        self.seems_untouched(waiting)
            && (waiting.tree.is_some()
                || waiting.files <= LOOKED_THROUGH && waiting.ready.is_clean().unwrap_or(false))
    }

    /// Says the same as far as it costs nothing: files that could not be watched are not looked at.
    fn seems_untouched(&self, waiting: &Waiting) -> bool {
        waiting.index.is_some()
            && waiting.ready.index_stamp() == waiting.index
            && waiting.ready.repo().circumstances() == waiting.circumstances
            && waiting.tree.is_none_or(|tree| self.silence.is_silent(tree))
    }

    /// Adds up the files of a project's base, once for each commit; none when it rests.
    fn weight(&self, project: ProjectId, repo: &Repo, oid: &str) -> Result<Option<Weight>> {
        let bases = || self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = bases().get(&project).filter(|base| base.oid == oid) {
            return Ok((!base.rests).then_some(base.weight));
        }
        let weight = repo.weight(oid)?;
        bases().insert(project, Base { oid: oid.to_string(), weight, failed: 0, rests: false });
        Ok(Some(weight))
    }

    /// Has no more worktrees made of a project's base until it moves.
    fn rest(&self, project: ProjectId) {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = bases.get_mut(&project) {
            base.rests = true;
        }
    }

    /// Notes whether a worktree of a project's base failed: it could not be made, or was touched before it could wait.
    /// Where that happens again and again, it would go on; something may look after every new directory.
    fn note(&self, project: ProjectId, is_failed: bool) {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = bases.get_mut(&project) {
            base.failed = if is_failed { base.failed + 1 } else { 0 };
            base.rests |= base.failed >= FAILURES;
        }
    }

    fn forget(&self, waiting: &Waiting) {
        if let Some(tree) = waiting.tree {
            self.silence.forget(tree);
        }
    }
}

impl Waiting {
    fn path(&self) -> &Path {
        self.ready.path()
    }
}

impl Taken {
    pub(crate) fn path(&self) -> &Path {
        self.waiting.path()
    }
}

impl Engine {
    /// Takes a worktree of a project at a commit out of the pool, when one waits that nobody touched. It has to be
    /// claimed before it is used.
    pub(crate) async fn take_ready(&self, project: ProjectId, repo: &Repo, oid: &str) -> Option<Taken> {
        let is_wanted = |waiting: &Waiting| {
            let same = waiting.ready.repo().common_dir() == repo.common_dir();
            waiting.project == project && waiting.ready.oid() == oid && same
        };
        loop {
            let waiting = {
                let mut trees = self.inner.pool.lock();
                let at = trees.waiting.iter().position(is_wanted)?;
                let waiting = trees.waiting.remove(at);
                trees.taken.insert(waiting.path().to_path_buf());
                waiting
            };
            let turn = Turn { engine: self.clone(), path: waiting.path().to_path_buf() };
            let engine = self.clone();
            let looked = blocking(move || {
                let pool = &engine.inner.pool;
                if pool.is_untouched(&waiting) {
                    return Some(waiting);
                }
                // The keeper looks through it, and has it wait again or throws it away.
                pool.forget(&waiting);
                None
            });
            if let Some(waiting) = looked.await.ok()? {
                return Some(Taken { waiting, _turn: turn });
            }
            drop(turn);
            self.inner.pool.poke();
        }
    }

    /// Hands a claimed worktree over: it is then where it was wanted, on its branch. Says whether it could be done;
    /// if not, everything is as before.
    pub(crate) async fn hand_over(
        &self,
        taken: Taken,
        to: &Path,
        branch: &str,
    ) -> std::result::Result<bool, Failure> {
        let Taken { waiting, _turn } = taken;
        let (mut ready, from) = (waiting.ready.clone(), waiting.path().to_path_buf());
        let (engine, target) = (self.clone(), to.to_path_buf());
        // Nobody listens to it from now on; a large tree has many watches, and the start does not wait for that.
        tokio::task::spawn_blocking(move || engine.inner.pool.forget(&waiting));
        let renamed = blocking(move || ready.rename(&target).map(|()| ready)).await?;
        let ready = match renamed {
            Ok(ready) => ready,
            Err(forge_git::Error::PathTaken { .. }) => return Err(Failure::NameTaken),
            Err(error) => return Ok(trouble(&from, &error)),
        };
        self.inner.seam.pass("pool.renamed", "").await;
        let (pointed, ready) = blocking(move || (ready.point(), ready)).await?;
        self.inner.seam.pass("pool.pointed", "").await;
        let branch = branch.to_string();
        let home = from.clone();
        let put = blocking(move || {
            let put = pointed.and_then(|()| ready.put_on(&branch));
            if put.is_err()
                && let Err(error) = put_back(ready, &home)
            {
                tracing::warn!("worktree {} could not go back: {error}", home.display());
            }
            put
        });
        match put.await? {
            Ok(_) => {
                self.inner.pool.handed_over.fetch_add(1, Ordering::Relaxed);
                Ok(true)
            }
            Err(forge_git::Error::BranchTaken { .. }) => Err(Failure::NameTaken),
            Err(error) => Ok(trouble(&from, &error)),
        }
    }
}

fn put_back(mut ready: Ready, from: &Path) -> Result<()> {
    ready.rename(from)?;
    Ok(ready.point()?)
}

/// Notes why a worktree could not be handed over; the start makes its own then.
fn trouble(path: &Path, error: &forge_git::Error) -> bool {
    let why = crate::error::whole(error);
    tracing::warn!("worktree {} could not be handed over: {why}", path.display());
    false
}
