//! What an attempt has changed, live: files against where its branch left the target, for any number of viewers.
//!
//! However many look at a worktree, one watch listens to it and one computation answers them all; it ends when the
//! last of them has gone. A viewer is told what differs from what it was told before, so a slow one gets the newest
//! and nothing in between. What is shown is computed from the files, never kept: whoever comes back gets all of it.

mod hub;
mod plan;
mod sum;
mod turn;
mod view;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use forge_git::{Diff, FileChange, MOST_CONTENT, TreeWatcher};
use forge_model::AttemptId;
use tokio::sync::watch;

use crate::background::blocking;
use crate::paths::Paths;
use crate::turns::Turns;
use crate::{Engine, Error, Result};

pub use turn::DiffTurn;
pub use view::{DiffFile, DiffStep, DiffView, FileVersion};

pub(crate) use sum::Summed;

use plan::Plan;

/// Everything that an attempt has changed, at one moment.
#[derive(Debug, Clone)]
pub struct DiffSet {
    /// Later computations have higher numbers.
    pub generation: u64,
    pub of: DiffOf,
    /// The commit that was compared with; none means an empty tree.
    pub base: Option<String>,
    /// By path, as it is shown.
    pub files: BTreeMap<String, Arc<FileChange>>,
}

/// What was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffOf {
    /// The files of the worktree.
    Files,
    /// What the branch has committed: the worktree is gone.
    Branch,
    /// The commit that landed.
    Landing,
    /// One snapshot and another, or the files as they are now.
    Snapshots,
}

/// What of a diff is wanted.
#[derive(Debug, Clone, Default)]
pub struct DiffWanted {
    /// No contents, only counts.
    pub stats_only: bool,
    /// Only files with these paths, as they are shown; all when there are none.
    pub paths: Vec<String>,
    /// From one snapshot to another, instead of everything that was changed.
    pub turn: Option<DiffTurn>,
}

/// The diffs that somebody looks at.
#[derive(Debug)]
pub(crate) struct Diffs {
    /// Where private indexes are; empty when nobody looks.
    directory: PathBuf,
    hubs: Mutex<HashMap<AttemptId, watch::Sender<State>>>,
    watcher: OnceLock<Option<TreeWatcher>>,
    computed: AtomicU64,
    directories: AtomicU64,
    /// The diffs that somebody asked for once and waits for.
    asked: Mutex<HashMap<AttemptId, Asked>>,
    /// Repositories for an attempt of which it is worked out, with nobody waiting, what its diff comes to.
    summing: Turns,
    /// How many bytes of contents one viewer is told.
    most: AtomicU64,
}

/// The newest diff that was computed for somebody who asked once, and when that began.
type Asked = Arc<tokio::sync::Mutex<Option<(Instant, Arc<DiffSet>)>>>;

/// One of those who wait for a diff. The last of them takes away what was computed, also when it hangs up.
#[derive(Debug)]
struct Asking<'a> {
    diffs: &'a Diffs,
    id: AttemptId,
    asked: Asked,
}

impl<'a> Asking<'a> {
    fn of(diffs: &'a Diffs, id: AttemptId) -> Self {
        Self { diffs, id, asked: diffs.asked().entry(id).or_default().clone() }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut waiting = self.diffs.asked();
        // The map's and ours: nobody else waits. Who comes and goes does so under this lock.
        if Arc::strong_count(&self.asked) <= 2 {
            waiting.remove(&self.id);
        }
    }
}

/// What a hub has to tell: nothing yet, the newest set, or why there is none.
type State = Option<std::result::Result<Arc<DiffSet>, Arc<Error>>>;

impl Diffs {
    /// Forgets what an earlier server left behind.
    pub(crate) fn open(paths: &Paths) -> Diffs {
        let directory = paths.diffs();
        // What cannot be removed is in the way of nothing: every index gets a directory of its own.
        let _gone = std::fs::remove_dir_all(&directory);
        Diffs {
            directory,
            hubs: Mutex::default(),
            watcher: OnceLock::new(),
            computed: AtomicU64::new(0),
            directories: AtomicU64::new(0),
            asked: Mutex::default(),
            summing: Default::default(),
            most: AtomicU64::new(MOST_CONTENT),
        }
    }

    /// How many diffs were computed, and how many directories are watched for them.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let watches = self.watcher.get().and_then(Option::as_ref).map_or(0, TreeWatcher::watches);
        (self.computed.load(Ordering::Relaxed), watches as u64)
    }

    /// The one that listens for all; none when the system has no room for it.
    fn watcher(&self) -> Option<&TreeWatcher> {
        let start =
            || TreeWatcher::start().inspect_err(|error| tracing::warn!("cannot watch files: {error}")).ok();
        self.watcher.get_or_init(start).as_ref()
    }

    /// A directory for one private index, which is not there yet.
    fn place(&self, id: AttemptId) -> PathBuf {
        self.directory.join(format!("{id}-{}", self.directories.fetch_add(1, Ordering::Relaxed)))
    }

    fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Makes a set of what was just compared.
    fn computed(&self, of: DiffOf, diff: &Diff) -> DiffSet {
        let generation = self.computed.fetch_add(1, Ordering::Relaxed) + 1;
        let files = diff.files.iter().map(|(path, change)| (shown(path), change.clone())).collect();
        DiffSet { generation, of, base: diff.base.clone(), files }
    }

    /// What the live diff of an attempt shows, while somebody follows it.
    fn live(&self, id: AttemptId) -> Option<Arc<DiffSet>> {
        match &*self.hubs().get(&id)?.borrow() {
            Some(Ok(set)) => Some(set.clone()),
            _ => None,
        }
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<AttemptId, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hubs(&self) -> MutexGuard<'_, HashMap<AttemptId, watch::Sender<State>>> {
        self.hubs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Tells so many bytes of contents at most to each who looks at a diff from now on, instead of [`MOST_CONTENT`].
    pub fn limit_diffs(&self, most: u64) {
        self.inner.diffs.most.store(most, Ordering::Relaxed);
    }

    /// Returns what an attempt has changed, compared now, or what is wanted of it.
    ///
    /// Counts and single files are those of the live diff while somebody follows that: a page asks for many of them,
    /// and they are to fit to each other.
    pub async fn diff(&self, id: AttemptId, wanted: DiffWanted) -> Result<(Arc<DiffSet>, Vec<DiffFile>)> {
        let is_part = wanted.stats_only || !wanted.paths.is_empty();
        let set = match &wanted.turn {
            Some(turn) => Arc::new(self.turn_diff(id, turn).await?),
            None => match self.inner.diffs.live(id).filter(|_| is_part) {
                Some(set) => set,
                None => self.diff_now(id).await?,
            },
        };
        let paths: HashSet<&str> = wanted.paths.iter().map(String::as_str).collect();
        let is_wanted = |path: &str| paths.is_empty() || paths.contains(path);
        let files = set.files.iter().filter(|(path, _)| is_wanted(path));
        let files = files.map(|(path, change)| (path.clone(), change.clone())).collect();
        let files =
            view::counted(view::Told::new(wanted.stats_only, self.inner.diffs.most()).choose(files)).await?;
        Ok((set, files))
    }

    /// Compares what an attempt has changed. Of those who ask at the same time one compares, and the others wait for
    /// what is compared after they asked.
    async fn diff_now(&self, id: AttemptId) -> Result<Arc<DiffSet>> {
        let since = Instant::now();
        let asking = Asking::of(&self.inner.diffs, id);
        let mut last = asking.asked.lock().await;
        let known = last.as_ref().filter(|(begun, _)| *begun >= since).map(|(_, set)| set.clone());
        match known {
            Some(set) => Ok(set),
            None => {
                let begun = Instant::now();
                let set = self.compare_now(id).await;
                *last = set.as_ref().ok().map(|set| (begun, set.clone()));
                set
            }
        }
    }

    async fn compare_now(&self, id: AttemptId) -> Result<Arc<DiffSet>> {
        let (_, plan) = self.plan_diff(id).await?;
        let engine = self.clone();
        let set = blocking(move || -> Result<_> {
            let diffs = &engine.inner.diffs;
            Ok(match plan {
                Plan::Still(of, diff) => diffs.computed(of, &diff),
                Plan::Files(mut files) => diffs.computed(DiffOf::Files, &files.differ.diff(&files.base)?),
            })
        });
        set.await?.map(Arc::new)
    }

    /// Follows what an attempt has changed, from everything to what changes, with contents or with counts only.
    pub async fn follow_diff(&self, id: AttemptId, stats_only: bool) -> Result<DiffView> {
        self.attempt(id).await?;
        let mut hubs = self.inner.diffs.hubs();
        let seen = match hubs.get(&id) {
            Some(hub) => hub.subscribe(),
            None => {
                let (hub, seen) = watch::channel(None);
                hubs.insert(id, hub.clone());
                if !self.aside(hub::tend(self.clone(), id, hub)) {
                    hubs.remove(&id);
                    return Err(Error::unavailable("no diff is followed any more: Forge stops"));
                }
                seen
            }
        };
        drop(hubs);
        Ok(DiffView::new(seen, stats_only, self.inner.diffs.most()))
    }
}

/// A path as people read it: bytes that are no text are shown by their numbers.
fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn what_was_compared_goes_with_the_last_who_asked_also_when_that_one_hangs_up() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_path_buf();
        let paths = Paths { roots: vec![home.join("worktrees")], worktrees: home.join("worktrees"), home };
        let diffs = Diffs::open(&paths);
        let id = AttemptId::random();
        let first = Asking::of(&diffs, id);
        let mut last = first.asked.lock().await;
        // The second waits for the first, and is then the one that compares.
        let mut second = Box::pin(async {
            let second = Asking::of(&diffs, id);
            let mut last = second.asked.lock().await;
            std::future::pending::<()>().await;
            last.take();
        });
        assert!(tokio::time::timeout(Duration::ZERO, second.as_mut()).await.is_err());
        let empty = Diff { base: None, files: Default::default() };
        *last = Some((Instant::now(), Arc::new(diffs.computed(DiffOf::Files, &empty))));
        drop(last);
        drop(first);
        assert_eq!(diffs.asked().len(), 1, "the second still waits for it");
        assert!(tokio::time::timeout(Duration::ZERO, second.as_mut()).await.is_err());
        drop(second);
        assert_eq!(diffs.asked().len(), 0, "nobody asks any more, and it is kept");
    }

    #[test]
    fn a_path_that_is_no_text_is_shown_by_its_bytes() {
        assert_eq!(shown(Path::new("a/é~\n")), "a/é~\n");
        assert_eq!(shown(Path::new(OsStr::from_bytes(b"n\xffn"))), "n\\xFFn");
    }
}
