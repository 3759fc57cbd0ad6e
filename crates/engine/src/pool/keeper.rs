//! The keeper of the warm pool: makes worktrees ahead, looks at them, moves them along with their base, and throws
//! away what nobody will want.
//!
//! One at a time, behind starts and at a low priority, and never more than the disk has room for. Between two of them it
//! looks at everything anew, so what was wanted a moment ago is made first where it is missing most. What it finds in the
//! database after a crash it takes up like anything else.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_git::{Repo, Weight};
use forge_model::{AttemptId, Project, ProjectId};
use serde_json::Value;

use super::making::{Checked, Fresh};
use super::silence;
use crate::background::{blocking, is_dir};
use crate::error::whole;
use crate::paths::free_bytes;
use crate::store::ready::{self, Made, State};
use crate::store::{projects, starts};
use crate::worktree::resolve_base;
use crate::{Engine, Result};

/// What may keep going wrong here, as the log calls it.
const TROUBLE: &str = "the look after the worktrees that wait";

/// The server answers first.
const AFTER_BOOT: Duration = Duration::from_millis(250);
/// A project that was just registered is often started from at once, and that start would only be slowed down.
const AFTER_POKE: Duration = Duration::from_millis(50);
/// Starts that are under way go first, for so long at most: many at once leave nothing for anybody else.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where they come in a stream, a worktree that is made saves the next one more than it takes from this one.
const PATIENCE_IN_A_STREAM: Duration = Duration::from_millis(250);
/// How often the base branches of warm projects are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How often everything is looked at, whether something happened or not.
const ROUND: Duration = Duration::from_secs(60);
/// Git tells a file's state by its time in whole seconds, so an index has to be older than one to be trusted.
pub(super) const SETTLE: Duration = Duration::from_millis(1100);
/// A project that is older and without an attempt for so long gets none.
const WARM_MILLIS: i64 = 3 * 24 * 60 * 60 * 1000;
/// For so many projects worktrees wait.
const WARM_PROJECTS: usize = 8;
/// So much room has to stay on the disk, and twice what is wanted free for a start: agents need it more.
const SPARE: u64 = 2 << 30;

/// What a stream of starts has wait beyond `ready` takes this share of the disk at most, and of the directories that can
/// be watched: other projects' worktrees wait, too.
const SHARE: u64 = 2;

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

/// A project that people work in, or that is new.
#[derive(Debug)]
struct Warm {
    project: Project,
    /// The branch that its newest attempt started from; none of a project without attempts.
    base: Option<String>,
}

/// What the database says.
#[derive(Debug)]
struct Known {
    made: Vec<Made>,
    starting: HashSet<AttemptId>,
    warm: Vec<Warm>,
}

/// What the keeper has in hand from one look to the next.
#[derive(Default)]
struct Hand {
    settling: Vec<Fresh>,
    /// Why nothing waits for a project, so that it is told once.
    told: HashMap<ProjectId, String>,
    /// The branches that are checked out, and what told that they still are: git is not asked again and again.
    heads: HashMap<ProjectId, (Sign, Instant, String)>,
}

/// What a look led to.
#[derive(Default)]
struct Look {
    /// The files whose change makes it worth to look again.
    places: Vec<PathBuf>,
    /// There is more to do at once.
    is_more: bool,
}

/// What a project has, and what it should have.
struct Wish {
    project: ProjectId,
    repo: Repo,
    oid: String,
    weight: Weight,
    has: usize,
    wanted: usize,
}

/// How many worktrees of a project are to wait.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    /// So many are made.
    made: usize,
    /// So many stay that are there.
    kept: usize,
}

/// What is left for the projects that come after.
#[derive(Debug)]
struct Room {
    disk: u64,
    directories: u64,
}

/// What tells whether a file was written.
type Sign = Option<(u64, u64, i64, i64)>;

impl Engine {
    /// Keeps the pool for as long as the engine lives.
    pub(crate) fn keep_pool(&self) {
        let (weak, poked) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.pool.poked));
        self.aside(async move {
            let (mut hand, mut look, mut seen) = (Hand::default(), Look::default(), Vec::new());
            let (mut pause, mut round, mut had_reserve) = (AFTER_BOOT, Instant::now(), false);
            loop {
                let is_poked = tokio::time::timeout(pause, poked.notified()).await.is_ok();
                if is_poked && !look.is_more {
                    tokio::time::sleep(AFTER_POKE).await;
                }
                let Some(inner) = weak.upgrade() else { return };
                let engine = Engine { inner };
                let demand = &engine.inner.pool.demand;
                let has_reserve = demand.is_kept(Instant::now());
                let is_over = had_reserve && !has_reserve;
                had_reserve = has_reserve;
                let is_settled = hand.settling.first().is_some_and(|one| one.left().is_zero());
                let is_due = is_poked || is_settled || is_over || look.is_more || look.places.is_empty();
                if is_due || round.elapsed() > ROUND || signs(&look.places).await != seen {
                    let is_stream = demand.is_stream(Instant::now());
                    let patience = if is_stream { PATIENCE_IN_A_STREAM } else { PATIENCE };
                    engine.inner.calm.wait(patience).await;
                    round = Instant::now();
                    look = match engine.tend(&mut hand).await {
                        Ok(look) => {
                            engine.inner.troubles.is_over(TROUBLE);
                            look
                        }
                        Err(error) => {
                            let trouble =
                                format!("the worktrees that wait could not be looked after: {error}");
                            engine.inner.troubles.meet(TROUBLE, &trouble);
                            Look::default()
                        }
                    };
                    seen = signs(&look.places).await;
                }
                pause = match (look.is_more, look.places.is_empty()) {
                    (true, _) => Duration::ZERO,
                    (false, true) => ROUND,
                    (false, false) => LOOK,
                };
                if let Some(one) = hand.settling.first() {
                    pause = pause.min(one.left() + Duration::from_millis(1));
                }
            }
        });
    }

    /// Looks at everything once, and does the one thing that is most wanted.
    async fn tend(&self, hand: &mut Hand) -> Result<Look> {
        while hand.settling.first().is_some_and(|one| one.left().is_zero()) {
            let (id, one) = (hand.settling[0].project, hand.settling.remove(0));
            match self.finish_ready(one).await? {
                Checked::Gone { is_touched: false } => self.inner.pool.rest(id),
                done => self.inner.pool.note(id, matches!(done, Checked::Gone { .. })),
            }
        }
        let engine = self.clone();
        let settings = blocking(move || engine.pool_settings()).await??;
        // Before the database is read, which then says what became of them.
        self.inner.pool.forget_through();
        let known = self.inner.store.read(move |conn| known(conn, settings)).await?;
        let (mut left, mut unwanted, place) = (Vec::new(), Vec::new(), self.inner.paths.pool());
        for made in known.made {
            let path = Path::new(&made.path);
            match made.state {
                // A start does more with it than the database said a moment ago.
                _ if self.inner.pool.is_taken(path) => {}
                _ if hand.settling.iter().any(|one| one.path() == path) => {}
                State::Claimed(attempt) if known.starting.contains(&attempt) => {}
                // Its start gave it back, or came to be.
                State::Claimed(_) => match is_dir(path).await? {
                    true => left.push(made),
                    false => self.forget_made(made.path).await?,
                },
                State::Filling => unwanted.push(made),
                // Worktrees go elsewhere now, perhaps to another disk.
                State::Ready if !path.starts_with(&place) => unwanted.push(made),
                State::Ready => left.push(made),
            }
        }
        let (mut look, mut wishes) = (Look::default(), Vec::new());
        let mut room = Room { disk: settings.disk, directories: silence::MOST as u64 };
        for warm in known.warm {
            let (mine, others) = left.into_iter().partition(|made| made.project == warm.project.id);
            left = others;
            let id = warm.project.id;
            match self.look_at(&warm, mine, hand, settings, &mut room, &mut unwanted).await {
                Ok((places, wish)) => {
                    look.places.extend(places);
                    wishes.extend(wish);
                    hand.told.remove(&id);
                }
                Err(error) => hand.tell(id, &error),
            }
        }
        unwanted.extend(left);
        if !look.places.is_empty() {
            look.places.push(self.inner.paths.config());
        }
        look.is_more = self.do_one(hand, wishes, unwanted, settings).await?;
        Ok(look)
    }

    /// Makes a worktree where most are missing, or throws one away when none is missing. Says whether there is more of
    /// that to do.
    async fn do_one(
        &self,
        hand: &mut Hand,
        mut wishes: Vec<Wish>,
        unwanted: Vec<Made>,
        settings: Settings,
    ) -> Result<bool> {
        let spare = self.spare_room(settings);
        wishes.retain(|wish| wish.has < wish.wanted && wish.weight.bytes < spare);
        // The first of those that have least is the one that was used last.
        let Some(wish) = wishes.iter().min_by_key(|wish| wish.has) else {
            let mut unwanted = unwanted.into_iter();
            while let Some(made) = unwanted.next() {
                // One that cannot go holds the others back no longer than this.
                if self.dismiss(made).await? {
                    return Ok(unwanted.len() > 0);
                }
            }
            return Ok(false);
        };
        let pace = self.inner.pool.pace(wish.project, wish.has * 2 < wish.wanted);
        match self.make_ready(wish.project, &wish.repo, &wish.oid, wish.weight, pace).await {
            Ok(fresh) => hand.settling.push(fresh),
            Err(error) => {
                self.inner.pool.note(wish.project, true);
                hand.tell(wish.project, &error);
            }
        }
        Ok(true)
    }

    /// Looks at the worktrees of a project, and says what it wishes for.
    async fn look_at(
        &self,
        warm: &Warm,
        mut mine: Vec<Made>,
        hand: &mut Hand,
        settings: Settings,
        room: &mut Room,
        unwanted: &mut Vec<Made>,
    ) -> Result<(Vec<PathBuf>, Option<Wish>)> {
        let (engine, path, base) = (self.clone(), warm.project.path.clone(), warm.base.clone());
        let id = warm.project.id;
        let named = base.or_else(|| warm.project.default_base_branch.clone());
        let known = hand.heads.remove(&id);
        let looked = blocking(move || -> Result<_> {
            let repo = engine.repo(&path)?;
            let head = sign(&repo.common_dir().join("HEAD"));
            let known = known.filter(|(then, at, _)| *then == head && at.elapsed() < ROUND);
            let is_named = named.is_some();
            let named = named.or_else(|| known.as_ref().map(|(.., branch)| branch.clone()));
            let base = resolve_base(&repo, &path, named)?;
            let at = known.map_or_else(Instant::now, |(_, at, _)| at);
            let head = (!is_named).then(|| (head, at, base.branch.clone()));
            let is_large = u64::from(repo.tracked_files()) >= settings.from_files;
            let weight = if is_large && repo.why_not_ready()?.is_none() {
                engine.inner.pool.weight(id, &repo, &base.commit)?
            } else {
                None
            };
            Ok((repo, base, weight, head))
        });
        let looked = looked.await?;
        let weight = looked.as_ref().ok().and_then(|(_, _, weight, _)| *weight);
        let count = weight.map_or_else(Count::default, |weight| self.count(warm, settings, weight, room));
        unwanted.extend(mine.split_off(count.kept.min(mine.len())));
        let (repo, base, weight, head) = looked?;
        hand.heads.extend(head.map(|head| (id, head)));
        let (places, oid) = (signs_of(&repo, &base.branch), base.commit);
        let Some(weight) = weight else { return Ok((places, None)) };
        for made in mine {
            if let Checked::Fresh(one) = self.check(&made, &repo, &oid, weight).await? {
                hand.settling.push(*one);
            }
        }
        let settling = hand.settling.iter().filter(|one| one.project == id).count();
        let has = settling + self.inner.pool.waiting_for(id);
        let taken = count.made.max(has) as u64;
        room.disk = room.disk.saturating_sub(weight.bytes * taken);
        room.directories = room.directories.saturating_sub(weight.directories * taken);
        Ok((places, Some(Wish { project: id, repo, oid, weight, has, wanted: count.made })))
    }

    /// How many worktrees of that weight are wanted and fit.
    fn count(&self, warm: &Warm, settings: Settings, weight: Weight, room: &Room) -> Count {
        if self.spare_room(settings) == 0 {
            return Count::default();
        }
        let fits = |room: u64, of: u64| room.checked_div(of).unwrap_or(u64::MAX);
        // One is enough for a first start; the next ones show that the project is worked in.
        let ready = if warm.base.is_some() { settings.ready } else { settings.ready.min(1) };
        let ready = ready.min(fits(room.disk, weight.bytes));
        let most = fits(room.disk.min(settings.disk / SHARE), weight.bytes)
            .min(fits(room.directories.min(silence::MOST as u64 / SHARE), weight.directories));
        let reserve = self.inner.pool.demand.reserve(warm.project.id, Instant::now());
        let count =
            |reserve: usize| usize::try_from(ready.max(most.min(reserve as u64))).unwrap_or(usize::MAX);
        Count { made: count(reserve.made), kept: count(reserve.kept) }
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

impl Hand {
    /// Says why nothing is made for a project.
    fn tell(&mut self, id: ProjectId, error: &crate::Error) {
        let why = whole(error);
        if self.told.get(&id) != Some(&why) {
            tracing::info!(project.id = %id, "no worktree is made ahead for project {id}: {why}");
            self.told.insert(id, why);
        }
    }
}

/// Reads what tells whether one of these files was written.
async fn signs(places: &[PathBuf]) -> Vec<Sign> {
    let places = places.to_vec();
    blocking(move || places.iter().map(|place| sign(place)).collect()).await.unwrap_or_default()
}

fn sign(path: &Path) -> Sign {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}

fn known(conn: &crate::store::Conn, settings: Settings) -> std::result::Result<Known, crate::store::Error> {
    let mut warm = Vec::new();
    if settings.ready > 0 {
        let oldest = crate::store::now().plus_millis(-WARM_MILLIS);
        for project in projects::all(conn)? {
            let (base, at) = match ready::last_base(conn, project.id)? {
                Some((base, at)) => (Some(base), at),
                None => (None, project.created_at),
            };
            if at > oldest {
                warm.push((at, Warm { project, base }));
            }
        }
        // Those that are worked in go first: somebody may have registered many at once.
        warm.sort_by_key(|(at, warm)| std::cmp::Reverse((warm.base.is_some(), *at)));
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
    let names =
        ["HEAD", "packed-refs", "reftable/tables.list", "config", "info/attributes", "info/sparse-checkout"];
    let mut places: Vec<_> = names.iter().map(|name| repo.common_dir().join(name)).collect();
    places.extend(["refs/heads", "refs/remotes"].map(|kind| repo.common_dir().join(kind).join(base)));
    places
}
