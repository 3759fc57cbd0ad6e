//! The keeper of the warm pool: makes worktrees ahead, looks at them, moves them along with their base, and throws
//! away what nobody will want.
//!
//! One at a time, behind everything else on the machine, and never more than the disk has room for. What it finds
//! in the database after a crash it takes up like anything else.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_git::{Repo, Weight};
use forge_model::{AttemptId, Project};
use serde_json::Value;

use super::making::{Checked, Fresh};
use crate::background::{blocking, is_dir};
use crate::paths::free_bytes;
use crate::store::ready::{self, Made, State};
use crate::store::{projects, starts};
use crate::{Engine, Result};

/// After something happened, it has to be quiet for so long: whoever starts agents needs the machine now.
const QUIET: Duration = Duration::from_secs(1);

/// What may keep going wrong here, as the log calls it.
const TROUBLE: &str = "the look after the worktrees that wait";

/// With starts in a row nobody is kept waiting for longer than that.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the base branches of warm projects are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How often everything is looked at, whether something happened or not.
const ROUND: Duration = Duration::from_secs(60);
/// Git tells a file's state by its time in whole seconds, so an index has to be older than one to be trusted.
pub(super) const SETTLE: Duration = Duration::from_millis(1100);
/// A project without an attempt for so long gets none.
const WARM_MILLIS: i64 = 3 * 24 * 60 * 60 * 1000;
/// For so many projects worktrees wait.
const WARM_PROJECTS: usize = 8;
/// So much room has to stay on the disk, and twice what is wanted free for a start: agents need it more.
const SPARE: u64 = 2 << 30;

/// How the person wants the pool.
#[derive(Debug, Clone, Copy)]
struct Settings {
    /// How many worktrees wait per project.
    ready: u64,
    /// Repositories with fewer files are checked out about as fast as one is handed over.
    from_files: u64,
    /// What all worktrees that wait may take together.
    disk: u64,
    /// What has to stay free on the disk.
    spare: u64,
}

/// A project that people work in, and the branch that its attempts start from.
#[derive(Debug)]
struct Warm {
    project: Project,
    base: String,
}

/// What the database says.
#[derive(Debug)]
struct Known {
    made: Vec<Made>,
    starting: HashSet<AttemptId>,
    warm: Vec<Warm>,
}

/// What tells whether a file was written.
type Sign = Option<(u64, u64, i64, i64)>;

impl Engine {
    /// Keeps the pool for as long as the engine lives.
    pub(crate) fn keep_pool(&self) {
        let (weak, poked) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.pool.poked));
        self.aside(async move {
            let mut pause = QUIET;
            let mut seen = (Vec::new(), Vec::new());
            let mut round = Instant::now();
            loop {
                let is_poked = tokio::time::timeout(pause, poked.notified()).await.is_ok();
                if is_poked {
                    let since = Instant::now();
                    while since.elapsed() < PATIENCE
                        && tokio::time::timeout(QUIET, poked.notified()).await.is_ok()
                    {}
                }
                let is_due = is_poked || seen.0.is_empty() || round.elapsed() > ROUND;
                if !is_due && signs(&seen.0).await == seen.1 {
                    continue;
                }
                let Some(inner) = weak.upgrade() else { return };
                round = Instant::now();
                let engine = Engine { inner };
                let places = match engine.tend().await {
                    Ok(places) => {
                        engine.inner.troubles.is_over(TROUBLE);
                        places
                    }
                    Err(error) => {
                        let trouble = format!("the worktrees that wait could not be looked after: {error}");
                        engine.inner.troubles.meet(TROUBLE, &trouble);
                        Vec::new()
                    }
                };
                drop(engine);
                pause = if places.is_empty() { ROUND } else { LOOK };
                let found = signs(&places).await;
                seen = (places, found);
            }
        });
    }

    /// Looks after everything once, and returns the files whose change makes it worth to look again.
    async fn tend(&self) -> Result<Vec<PathBuf>> {
        let engine = self.clone();
        let settings = blocking(move || engine.pool_settings()).await??;
        let known = self.inner.store.read(move |conn| known(conn, settings)).await?;
        let (mut left, place) = (Vec::new(), self.inner.paths.pool());
        for made in known.made {
            match made.state {
                State::Claimed(attempt) if known.starting.contains(&attempt) => {}
                // Its start gave it back, or came to be.
                State::Claimed(_) => match is_dir(Path::new(&made.path)).await? {
                    true => left.push(made),
                    false => self.forget_made(made.path).await?,
                },
                State::Filling => self.dismiss(made).await?,
                // Worktrees go elsewhere now, perhaps to another disk.
                State::Ready if !Path::new(&made.path).starts_with(&place) => self.dismiss(made).await?,
                State::Ready => left.push(made),
            }
        }
        let mut places = Vec::new();
        let mut disk = settings.disk;
        for warm in known.warm {
            let (mine, others) = left.into_iter().partition(|made| made.project == warm.project.id);
            left = others;
            let id = warm.project.id;
            match self.tend_project(&warm, mine, settings, &mut disk).await {
                Ok(found) => places.extend(found),
                Err(error) => tracing::info!(project.id = %id, "no worktrees wait for project {id}: {error}"),
            }
        }
        for made in left {
            self.dismiss(made).await?;
        }
        if !places.is_empty() {
            places.push(self.inner.paths.config());
        }
        Ok(places)
    }

    /// Has as many worktrees of a project wait as are wanted and fit.
    async fn tend_project(
        &self,
        warm: &Warm,
        mut mine: Vec<Made>,
        settings: Settings,
        disk: &mut u64,
    ) -> Result<Vec<PathBuf>> {
        let (engine, path, base) = (self.clone(), warm.project.path.clone(), warm.base.clone());
        let id = warm.project.id;
        let looked = blocking(move || -> Result<_> {
            let repo = engine.repo(&path)?;
            let oid = repo.resolve_branch(&base)?;
            let is_large = u64::from(repo.tracked_files()) >= settings.from_files;
            let weight = if is_large && repo.why_not_ready()?.is_none() {
                engine.inner.pool.weight(id, &repo, &oid)?
            } else {
                None
            };
            Ok((repo, oid, weight))
        });
        let looked = looked.await?;
        let weight = looked.as_ref().ok().and_then(|(_, _, weight)| *weight);
        let wanted = weight.map_or(0, |weight| self.wanted(settings, weight, *disk));
        for made in mine.split_off(wanted.min(mine.len())) {
            self.dismiss(made).await?;
        }
        let (repo, oid, weight) = looked?;
        let places = signs_of(&repo, &warm.base);
        let Some(weight) = weight else { return Ok(places) };
        *disk -= weight.bytes * wanted as u64;
        let mut fresh = Vec::new();
        let mut waiting = 0;
        for made in mine {
            match self.check(&made, &repo, &oid, weight).await? {
                Checked::Waits => waiting += 1,
                Checked::Fresh(one) => fresh.push(*one),
                Checked::Gone => {}
            }
        }
        let mut missing = wanted.saturating_sub(waiting + fresh.len());
        // Those whose time has come wait from now on, while others are still being made.
        while missing > 0 || !fresh.is_empty() {
            if fresh.first().is_some_and(|one: &Fresh| one.since.elapsed() > SETTLE) {
                if matches!(self.finish_ready(id, fresh.remove(0), weight).await?, Checked::Gone) {
                    // The next one would be no better.
                    self.inner.pool.rest(id);
                    missing = 0;
                }
            } else if missing > 0 {
                missing -= 1;
                if self.spare_room(settings) > weight.bytes {
                    let made = self.make_ready(id, &repo, &oid).await;
                    fresh.push(made.inspect_err(|_| self.inner.pool.rest(id))?);
                }
            } else if let Some(one) = fresh.first() {
                tokio::time::sleep(SETTLE.saturating_sub(one.since.elapsed()) + Duration::from_millis(1))
                    .await;
            }
        }
        Ok(places)
    }

    /// How many worktrees of that weight are wanted and fit.
    fn wanted(&self, settings: Settings, weight: Weight, disk: u64) -> usize {
        let fits = disk.checked_div(weight.bytes).unwrap_or(settings.ready);
        let wanted = if self.spare_room(settings) == 0 { 0 } else { settings.ready.min(fits) };
        usize::try_from(wanted).unwrap_or(usize::MAX)
    }

    /// What is free beyond what has to stay free.
    fn spare_room(&self, settings: Settings) -> u64 {
        let worktrees = &self.inner.paths.worktrees;
        let nearest = worktrees.ancestors().find(|path| path.exists()).unwrap_or(worktrees);
        free_bytes(nearest).unwrap_or(0).saturating_sub(settings.spare)
    }

    fn pool_settings(&self) -> Result<Settings> {
        let config = self.stored_config()?;
        let number = |section: &str, key: &str| {
            config.get(section).and_then(|section| section.get(key)).and_then(Value::as_u64).unwrap_or(0)
        };
        let megabytes = |section: &str, key: &str| number(section, key).saturating_mul(1 << 20);
        Ok(Settings {
            ready: number("worktree_pool", "ready"),
            from_files: number("worktree_pool", "from_files"),
            disk: megabytes("worktree_pool", "disk_mb"),
            spare: SPARE.max(megabytes("limits", "min_free_mb").saturating_mul(2)),
        })
    }
}

/// Reads what tells whether one of these files was written.
async fn signs(places: &[PathBuf]) -> Vec<Sign> {
    let places = places.to_vec();
    let sign = |path: PathBuf| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
    };
    blocking(move || places.into_iter().map(sign).collect()).await.unwrap_or_default()
}

fn known(conn: &crate::store::Conn, settings: Settings) -> std::result::Result<Known, crate::store::Error> {
    let mut warm = Vec::new();
    if settings.ready > 0 {
        let oldest = crate::store::now().plus_millis(-WARM_MILLIS);
        for project in projects::all(conn)? {
            if let Some((base, at)) = ready::last_base(conn, project.id)?
                && at > oldest
            {
                warm.push((at, Warm { project, base }));
            }
        }
        warm.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        warm.truncate(WARM_PROJECTS);
    }
    Ok(Known {
        made: ready::all(conn)?,
        starting: starts::marks(conn)?.into_iter().map(|start| start.attempt).collect(),
        warm: warm.into_iter().map(|(_, warm)| warm).collect(),
    })
}

/// The files of a repository that change when a branch moves, or what its checkouts depend on does.
fn signs_of(repo: &Repo, base: &str) -> Vec<PathBuf> {
    let names = ["packed-refs", "reftable/tables.list", "config", "info/attributes", "info/sparse-checkout"];
    let mut places: Vec<_> = names.iter().map(|name| repo.common_dir().join(name)).collect();
    places.extend(["refs/heads", "refs/remotes"].map(|kind| repo.common_dir().join(kind).join(base)));
    places
}
