//! Cleaning up worktrees: what is due, and doing it.
//!
//! Nothing goes without evidence that it may: the attempt is at rest, its files are in a snapshot, nobody is inside.
//! No worktree is deleted either: it goes to the trash, and the branch stays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_model::{AttemptId, Noun, Op};

use crate::ages::Ages;
use crate::background::blocking;
use crate::clean::expired;
use crate::error::whole;
use crate::lifetime::{Due, Lifetimes, due};
use crate::occupants::occupants;
use crate::snapshots;
use crate::store::lodgings::{self, BEFORE_CLEANING, Lodging};
use crate::store::snapshots as kept;
use crate::{Engine, Error, Result};

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(30 * 60);

/// A server that was just started has better things to do.
const SOON: Duration = Duration::from_secs(20);

/// How long a repository may take over one attempt before its others are left for the next time.
const PATIENCE: Duration = Duration::from_secs(60);

/// What cleaning up did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub swept: Vec<Swept>,
    /// What could have gone, or is nobody's, and stays.
    pub left: Vec<Left>,
}

/// Something that went to the trash, or out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    pub what: What,
    /// Where it is or was; of what was removed, its kind and its id.
    pub path: PathBuf,
    pub attempt: Option<AttemptId>,
    /// How much room it takes, when that was asked for.
    pub bytes: Option<u64>,
    pub reason: String,
}

/// What was swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A worktree, into the trash.
    Worktree,
    /// Ignored directories of a worktree, into the trash.
    Ignored,
    /// A worktree that belongs to no attempt, into the trash.
    Stray,
    /// An empty directory, which is gone.
    Empty,
    /// Something in the trash whose time is over, which is gone.
    Trash,
    /// The log of a run, which is gone.
    Log,
    /// The record of something that was removed, which is gone: it cannot be recovered any more.
    Removed,
}

impl What {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Worktree => "worktree",
            What::Ignored => "ignored",
            What::Stray => "stray",
            What::Empty => "empty",
            What::Trash => "trash",
            What::Log => "log",
            What::Removed => "removed",
        }
    }
}

/// Something that stays, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub path: PathBuf,
    pub attempt: Option<AttemptId>,
    pub why: String,
}

impl Engine {
    /// Cleans up what is due, or says what that would be.
    pub async fn gc(&self, dry_run: bool) -> Result<Cleaned> {
        let mut cleaned = self.sweep(dry_run, true).await?;
        let ages = self.ages().await?;
        self.sweep_logs(&ages, dry_run, true, &mut cleaned).await?;
        self.sweep_removed(&ages, dry_run, &mut cleaned).await?;
        Ok(cleaned)
    }

    /// Cleans up now and then, for as long as the engine lives.
    pub(crate) fn keep_sweeping(&self) {
        let inner = std::sync::Arc::downgrade(&self.inner);
        self.aside(async move {
            let mut times = tokio::time::interval_at(tokio::time::Instant::now() + SOON, EVERY);
            loop {
                times.tick().await;
                let Some(inner) = inner.upgrade() else { return };
                let engine = Engine { inner };
                engine.sweep_aside().await;
                engine.sweep_old_aside().await;
            }
        });
    }

    /// Cleans up worktrees without anybody waiting for it.
    pub(crate) async fn sweep_aside(&self) {
        match self.sweep(false, false).await {
            Ok(cleaned) => log(cleaned),
            Err(error) => tracing::warn!("could not clean up worktrees: {error}"),
        }
    }

    /// Cleans up old logs and old removals without anybody waiting for it.
    async fn sweep_old_aside(&self) {
        let mut cleaned = Cleaned::default();
        let swept = async {
            self.may_change()?;
            let ages = self.ages().await?;
            self.sweep_logs(&ages, false, false, &mut cleaned).await?;
            self.sweep_removed(&ages, false, &mut cleaned).await
        };
        let swept = swept.await;
        log(cleaned);
        if let Err(error) = swept {
            tracing::warn!("could not delete old logs: {error}");
        }
    }

    async fn sweep(&self, dry_run: bool, measure: bool) -> Result<Cleaned> {
        self.may_change()?;
        // Two at once would each wonder where the other's things went.
        let _turn = self.inner.sweeping.lock().await;
        let mut cleaned = Cleaned::default();
        let engine = self.clone();
        let lifetimes = Lifetimes::read(&blocking(move || engine.stored_config()).await??);
        let ages = self.ages().await?;
        self.sweep_attempts(lifetimes, &ages, dry_run, measure, &mut cleaned).await?;
        self.sweep_strays(lifetimes.expire, &ages, dry_run, measure, &mut cleaned).await?;
        self.sweep_trash(&ages, dry_run, measure, &mut cleaned).await?;
        self.drop_dead_links().await?;
        if !dry_run {
            self.drop_dead_entries().await?;
        }
        Ok(cleaned)
    }

    async fn sweep_attempts(
        &self,
        lifetimes: Lifetimes,
        ages: &Ages,
        dry_run: bool,
        measure: bool,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let (resting, halves) = self
            .inner
            .store
            .read(|conn| Ok((lodgings::at_rest(conn)?, lodgings::half_removed(conn)?)))
            .await?;
        let (engine, clock) = (self.clone(), ages.clone());
        // One repository whose disk does not answer must not keep the others from being cleaned up.
        let (found, decided, gone, mut silent) = blocking(move || -> Result<_> {
            let resting: Vec<Lodging> = resting.into_iter().filter(|one| one.worktree.exists()).collect();
            // A removal that broke off between the store and the files is carried out.
            let (halves, gone): (Vec<Lodging>, Vec<Lodging>) =
                halves.into_iter().partition(|one| one.worktree.exists());
            let paths: Vec<PathBuf> = resting.iter().chain(&halves).map(|one| one.worktree.clone()).collect();
            let found = occupants(&paths)?;
            let mut silent = BTreeSet::new();
            let mut looked = Vec::new();
            for one in resting {
                let begun = Instant::now();
                let is_silent = silent.contains(&one.repository);
                let due = due(&one, lifetimes, &clock, || !is_silent && engine.is_landed(&one));
                if begun.elapsed() > PATIENCE {
                    silent.insert(one.repository.clone());
                }
                looked.push((one, due));
            }
            let reason = "its removal broke off".to_string();
            let halves = halves.into_iter().map(|one| (one, Due::RemoveNow(reason.clone())));
            looked.extend(halves);
            Ok((found, looked, gone, silent))
        })
        .await??;
        if !dry_run && !gone.is_empty() {
            self.are_gone(gone).await?;
        }
        for (lodging, due) in decided {
            if silent.contains(&lodging.repository) {
                let (path, attempt) = (lodging.worktree, Some(lodging.attempt));
                let why = format!("{} takes too long to answer", lodging.repository.display());
                cleaned.left.push(Left { path, attempt, why });
                continue;
            }
            let (begun, left, repository) = (Instant::now(), cleaned.left.len(), lodging.repository.clone());
            self.sweep_one(lodging, due, &found, (dry_run, measure), cleaned).await?;
            if cleaned.left.len() > left && begun.elapsed() > PATIENCE {
                silent.insert(repository);
            }
        }
        Ok(())
    }

    /// Remembers whose files were seen to be gone, so that they are not looked for at every sweep from now on.
    async fn are_gone(&self, gone: Vec<Lodging>) -> Result<()> {
        let written = self
            .inner
            .store
            .write(move |tx| gone.iter().try_for_each(|one| lodgings::gone(tx.conn(), one.attempt)));
        Ok(written.await?)
    }

    async fn sweep_one(
        &self,
        lodging: Lodging,
        due: Due,
        found: &BTreeMap<PathBuf, u32>,
        (dry_run, measure): (bool, bool),
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let (id, path) = (lodging.attempt, lodging.worktree.clone());
        let left = |why: String| Left { path: path.clone(), attempt: Some(id), why };
        if due == Due::Nothing {
            return Ok(());
        }
        if let Some(pid) = found.get(&path) {
            cleaned.left.push(left(format!("process {pid} is inside")));
            return Ok(());
        }
        let (what, reason) = match &due {
            Due::Tidy(reason) => (What::Ignored, reason.clone()),
            Due::Remove(reason) | Due::RemoveNow(reason) => (What::Worktree, reason.clone()),
            Due::Nothing => return Ok(()),
        };
        let ignored = match what {
            What::Ignored => match self.ignored_of(&lodging).await {
                Ok(ignored) => ignored,
                Err(error) => {
                    cleaned.left.push(left(error.to_string()));
                    return Ok(());
                }
            },
            _ => Vec::new(),
        };
        if what == What::Ignored && ignored.is_empty() {
            if !dry_run {
                self.inner.store.write(move |tx| lodgings::tidied(tx.conn(), id, tx.now())).await?;
            }
            return Ok(());
        }
        let bytes = match (measure, what) {
            (false, _) => None,
            (true, What::Ignored) => {
                let (paths, top) = (ignored.clone(), path.clone());
                Some(blocking(move || paths.iter().map(|one| size(&top.join(one))).sum()).await?)
            }
            (true, _) => Some(measured(&path).await?),
        };
        let done = match &due {
            _ if dry_run => Ok(true),
            Due::Tidy(_) => self.tidy(&lodging, ignored).await,
            Due::Remove(_) => self.clear(&lodging, false).await,
            _ => self.clear(&lodging, true).await,
        };
        match done {
            Ok(true) => cleaned.swept.push(Swept { what, path, attempt: Some(id), bytes, reason }),
            Ok(false) => cleaned.left.push(left("somebody worked in it since its last turn".to_string())),
            // One that cannot be cleaned must not keep the others from being.
            Err(error) => cleaned.left.push(left(error.to_string())),
        }
        Ok(())
    }

    /// Says whether everything on an attempt's branch is in its target, however it got there. Blocks.
    fn is_landed(&self, lodging: &Lodging) -> bool {
        let landed = self.repo(&lodging.repository).and_then(|repo| {
            let (tip, target) =
                (repo.resolve_branch(&lodging.branch)?, repo.resolve_branch(&lodging.target_branch)?);
            Ok(repo.holds_changes_of(&target, &tip)?)
        });
        landed.unwrap_or(false)
    }

    async fn ignored_of(&self, lodging: &Lodging) -> Result<Vec<PathBuf>> {
        let (engine, lodging) = (self.clone(), lodging.clone());
        blocking(move || {
            let worktree = engine.repo(&lodging.repository)?.worktree(&lodging.worktree)?;
            Ok(worktree.ignored_directories()?)
        })
        .await?
    }

    /// Moves ignored directories to the trash.
    async fn tidy(&self, lodging: &Lodging, ignored: Vec<PathBuf>) -> Result<bool> {
        let id = lodging.attempt;
        let _turn = self.inner.returning.take(id).await;
        if !self.is_still_at_rest(id).await? {
            return Ok(false);
        }
        let (engine, lodging) = (self.clone(), lodging.clone());
        let place = self.ignored_in_trash(id);
        blocking(move || -> Result<()> {
            let worktree = engine.repo(&lodging.repository)?.worktree(&lodging.worktree)?;
            Ok(worktree.move_aside(&ignored, &place)?)
        })
        .await??;
        self.inner.store.write(move |tx| lodgings::tidied(tx.conn(), id, tx.now())).await?;
        Ok(true)
    }

    /// Moves a worktree to the trash. Unless a person asked for it, one that somebody worked in since its last turn
    /// stays, and its time begins anew.
    async fn clear(&self, lodging: &Lodging, was_asked: bool) -> Result<bool> {
        let id = lodging.attempt;
        let (engine, one) = (self.clone(), lodging.clone());
        let taken = blocking(move || -> Result<_> {
            let worktree = engine.repo(&one.repository)?.worktree(&one.worktree)?;
            if let Some(operation) = worktree.operation() {
                // Where it stands is in git's own files, which would go with the worktree's entry.
                return Err(Error::conflict(format!("a {operation} is under way in it")));
            }
            Ok(engine.take_snapshot(&worktree, id, &format!("attempt {id} {BEFORE_CLEANING}"))?)
        });
        let taken = taken.await??;
        let is_untouched = self
            .inner
            .store
            .write(move |tx| {
                let is_untouched = kept::newest(tx.conn(), id)?.is_some_and(|oid| oid == taken.oid);
                let why = if is_untouched || was_asked { BEFORE_CLEANING } else { snapshots::TOUCHED };
                kept::insert(tx.conn(), id, None, &taken, why, tx.now())?;
                Ok(is_untouched)
            })
            .await?;
        if !is_untouched && !was_asked {
            return Ok(false);
        }
        self.inner.seam.pass("gc.snapshot", "").await;
        // Whoever needs the worktree waits here, and then brings it back.
        let _turn = self.inner.returning.take(id).await;
        let marked = self.inner.store.write(move |tx| {
            if !lodgings::is_at_rest(tx.conn(), id)? {
                return Ok(false);
            }
            if lodgings::deleted(tx.conn(), id, tx.now())? {
                let project = crate::store::attempts::one(tx.conn(), id)?.map(|view| view.attempt.project);
                tx.changed(Noun::Attempt, id, Op::Change, project, Some(id));
            }
            Ok(true)
        });
        if !marked.await? {
            return Ok(false);
        }
        self.inner.seam.pass("gc.marked", "").await;
        let (engine, one) = (self.clone(), lodging.clone());
        let (trash, root) =
            (self.inner.paths.trash().join(id.to_string()), self.inner.paths.root_of(&lodging.worktree));
        let moved = blocking(move || -> Result<()> {
            engine.repo(&one.repository)?.remove_worktree_to_trash(&one.worktree, &trash, &root)?;
            Ok(())
        });
        if let Err(error) = moved.await? {
            self.inner.store.write(move |tx| lodgings::back(tx.conn(), id, false, tx.now())).await?;
            return Err(error);
        }
        self.inner.store.write(move |tx| lodgings::gone(tx.conn(), id)).await?;
        Ok(true)
    }

    async fn is_still_at_rest(&self, id: AttemptId) -> Result<bool> {
        Ok(self.inner.store.read(move |conn| lodgings::is_at_rest(conn, id)).await?)
    }

    /// Where the ignored directories of an attempt lie in the trash.
    pub(crate) fn ignored_in_trash(&self, id: AttemptId) -> PathBuf {
        self.inner.paths.trash().join(id.to_string()).join("ignored")
    }

    async fn sweep_trash(
        &self,
        ages: &Ages,
        dry_run: bool,
        measure: bool,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let (trash, ages) = (self.inner.paths.trash(), ages.clone());
        for path in blocking(move || expired(&trash, &ages)).await? {
            let bytes = if measure { Some(measured(&path).await?) } else { None };
            let doomed = path.clone();
            if !dry_run && let Err(error) = blocking(move || std::fs::remove_dir_all(&doomed)).await? {
                cleaned.left.push(Left { path, attempt: None, why: whole(&error) });
                continue;
            }
            let reason = "it has been in the trash for a week".to_string();
            cleaned.swept.push(Swept { what: What::Trash, path, attempt: None, bytes, reason });
        }
        Ok(())
    }
}

fn log(cleaned: Cleaned) {
    for Swept { path, reason, .. } in cleaned.swept {
        tracing::info!("cleaned up {}: {reason}", path.display());
    }
}

/// Returns the bytes that a directory takes up.
pub(crate) async fn measured(path: &Path) -> Result<u64> {
    let path = path.to_path_buf();
    blocking(move || size(&path)).await
}

/// Adds up what a directory takes up on the disk, without following links. What vanishes meanwhile counts nothing.
pub(crate) fn size(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return 0 };
    let own = meta.blocks() * 512;
    if !meta.is_dir() {
        return own;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    own + entries.map(|entry| size(&entry.path())).sum::<u64>()
}
