//! A window on the conversation of an attempt: so many entries at its end or about a place, across all of its agent's
//! runs.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use forge_model::{AttemptId, Entry, Run, RunId, RunKind};

use super::deleted::stand_in;
use super::reader::Reader;
use super::tail::position_at_end;
use crate::background::{blocking, is_dir};
use crate::{Engine, Error, Result};

/// About how much JSON a window has at most; a single entry may have more.
const MOST_BYTES: usize = 4 << 20;

/// How long a window waits for entries that are being made.
const PATIENCE: Duration = Duration::from_secs(20);

/// A place in the conversation of an attempt: before an entry of a run. Written as `<run id>:<index>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPlace {
    pub run: RunId,
    pub index: u64,
}

/// Where a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowAt {
    /// At the end.
    Last,
    /// Before an entry, which is not in it.
    Before(EntryPlace),
    /// After an entry, which is not in it.
    After(EntryPlace),
    /// About an entry, which is in its middle.
    Around(EntryPlace),
}

/// Some entries of an attempt, newest last.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryWindow {
    pub entries: Vec<PlacedEntry>,
    /// There are earlier ones.
    pub has_more: bool,
    /// There are later ones.
    pub has_newer: bool,
    /// The agent's runs, oldest first, and how many entries each has.
    pub runs: Vec<RunEntries>,
}

/// How many entries a run has, and from where more are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEntries {
    pub run: RunId,
    /// None when they are being made.
    pub entries: Option<u64>,
    /// It was over before the window was read, so there will be no more.
    pub is_over: bool,
    /// What changes after this position is not in the window; none when all of it may not be.
    pub after: Option<i64>,
}

/// An entry and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedEntry {
    pub place: EntryPlace,
    pub entry: Entry,
}

impl fmt::Display for EntryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.run, self.index)
    }
}

impl FromStr for EntryPlace {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let read = |text: &str| {
            let (run, index) = text.split_once(':')?;
            Some(Self { run: run.parse().ok()?, index: index.parse().ok()? })
        };
        read(text).ok_or("it must be a place that an earlier answer named, `<run id>:<index>`")
    }
}

/// Entries on one side of a place, and whether there are more beyond them.
#[derive(Debug, Default)]
struct Part {
    entries: Vec<PlacedEntry>,
    bytes: usize,
    is_cut: bool,
}

impl Part {
    fn add(&mut self, run: &Run, entries: impl Iterator<Item = (u64, Entry)>) {
        self.entries.extend(entries.map(|(index, entry)| {
            let place = EntryPlace { run: run.id, index };
            PlacedEntry { place, entry }
        }));
    }
}

impl Engine {
    /// Returns some entries of an attempt: the last, or those about a place.
    pub async fn attempt_entries(
        &self,
        attempt: AttemptId,
        at: WindowAt,
        limit: usize,
    ) -> Result<EntryWindow> {
        let runs = self.agent_runs(attempt).await?;
        // Before the entries are: what comes between is then in both, and never in neither.
        let ends = self.ends(&runs).await?;
        let (place, half) = match at {
            WindowAt::Last => (None, limit),
            WindowAt::Before(place) => (Some(("before", place)), limit),
            WindowAt::After(place) => (Some(("after", place)), 0),
            WindowAt::Around(place) => (Some(("around", place)), limit / 2),
        };
        let mut split = runs.len();
        let mut index = None;
        if let Some((name, place)) = place {
            let Some(at) = runs.iter().position(|run| run.id == place.run) else {
                let message = format!("`{name}`: attempt {attempt} has no agent run {}", place.run);
                return Err(Error::invalid(message));
            };
            (split, index) = (at, Some(place.index));
        }
        let earlier = match at {
            WindowAt::After(_) => Part::default(),
            _ => self.entries_before(&runs[..runs.len().min(split + 1)], index, half, MOST_BYTES).await?,
        };
        let room = MOST_BYTES.saturating_sub(earlier.bytes);
        let later = match (at, index) {
            (WindowAt::After(_), Some(index)) => {
                self.entries_from(&runs[split..], index.saturating_add(1), limit, room).await?
            }
            (WindowAt::Around(_), Some(index)) => {
                self.entries_from(&runs[split..], index, limit - earlier.entries.len(), room).await?
            }
            _ => Part::default(),
        };
        let counts = self.count_entries(&runs, &ends).await?;
        let holds = |place: EntryPlace| {
            let of_run = counts.iter().find(|it| it.run == place.run);
            of_run.and_then(|it| it.entries).is_none_or(|entries| place.index < entries)
        };
        // What a place names is on neither side of it.
        let (has_more, has_newer) = match at {
            WindowAt::Last => (earlier.is_cut, false),
            WindowAt::Before(place) => (earlier.is_cut, holds(place) || split + 1 < runs.len()),
            WindowAt::After(_) => (true, later.is_cut),
            WindowAt::Around(_) => (earlier.is_cut, later.is_cut),
        };
        let entries = earlier.entries.into_iter().chain(later.entries).collect();
        Ok(EntryWindow { entries, has_more, has_newer, runs: counts })
    }

    /// Returns the agent's runs of an attempt that are in its history, oldest first.
    pub(super) async fn agent_runs(&self, attempt: AttemptId) -> Result<Vec<Run>> {
        // One that is not there has no runs either.
        self.attempt(attempt).await?;
        let mut runs = self.runs(attempt, false).await?;
        runs.retain(|run| run.kind == RunKind::Agent);
        Ok(runs)
    }

    /// Reads backwards from the end of the last run, or from before an index in it.
    async fn entries_before(
        &self,
        runs: &[Run],
        mut index: Option<u64>,
        limit: usize,
        room: usize,
    ) -> Result<Part> {
        let mut part = Part::default();
        for run in runs.iter().rev() {
            let to = index.take();
            // One more than is wanted tells whether there is more.
            let (want, room) = (limit + 1 - part.entries.len(), room.saturating_sub(part.bytes));
            let is_cut = match stand_in(run) {
                Some(entries) => {
                    let entries = entries.into_iter().rev();
                    part.add(run, entries.filter(|(index, _)| to.is_none_or(|to| *index < to)));
                    false
                }
                None => {
                    let read = move |dir: PathBuf| read_back(dir, to, want, room);
                    self.take_part(run, &mut part, read).await?
                }
            };
            if is_cut || part.entries.len() > limit {
                part.is_cut = true;
                break;
            }
        }
        part.entries.truncate(limit);
        part.entries.reverse();
        Ok(part)
    }

    /// Reads forwards from an index of the first run.
    async fn entries_from(&self, runs: &[Run], index: u64, limit: usize, room: usize) -> Result<Part> {
        let mut part = Part::default();
        let mut index = Some(index);
        for run in runs {
            let from = index.take().unwrap_or(0);
            let (want, room) = (limit + 1 - part.entries.len(), room.saturating_sub(part.bytes));
            let is_cut = match stand_in(run) {
                Some(entries) => {
                    part.add(run, entries.into_iter().filter(|(index, _)| *index >= from));
                    false
                }
                None => {
                    let read = move |dir: PathBuf| read_on(dir, from, want, room);
                    self.take_part(run, &mut part, read).await?
                }
            };
            if is_cut || part.entries.len() > limit {
                part.is_cut = true;
                break;
            }
        }
        part.entries.truncate(limit);
        Ok(part)
    }

    /// Reads some entries of a run, and adds them to those of others; says whether they were cut short.
    async fn take_part(
        &self,
        run: &Run,
        part: &mut Part,
        read: impl FnOnce(PathBuf) -> io::Result<ReadSome> + Send + 'static,
    ) -> Result<bool> {
        if !self.are_there(run).await? {
            return Ok(false);
        }
        let dir = self.inner.paths.run(run.id);
        let (entries, took, is_cut) = match blocking(move || read(dir)).await? {
            Ok(read) => read,
            Err(error) => return Err(self.unreadable_entries(run, &error).await),
        };
        part.bytes += took;
        let laid = self.with_asks(run.id, entries).await?;
        part.add(run, laid.into_iter().map(|(index, entry, _)| (u64::from(index), entry)));
        Ok(is_cut)
    }

    /// Returns where the entries of runs that go on end now.
    async fn ends(&self, runs: &[Run]) -> Result<Vec<Option<i64>>> {
        let goes_on = |run: &Run| (!run.state.is_over()).then(|| self.inner.paths.run(run.id));
        let dirs: Vec<Option<PathBuf>> = runs.iter().map(goes_on).collect();
        blocking(move || {
            let end = |dir: PathBuf| {
                let mut reader = Reader::open(&dir).ok().flatten()?;
                position_at_end(&mut reader).ok()
            };
            dirs.into_iter().map(|dir| dir.and_then(end)).collect()
        })
        .await
    }

    /// Counts the entries of runs. Those of a run that are not there yet are made meanwhile.
    async fn count_entries(&self, runs: &[Run], ends: &[Option<i64>]) -> Result<Vec<RunEntries>> {
        let dirs: Vec<PathBuf> = runs.iter().map(|run| self.inner.paths.run(run.id)).collect();
        let mut counts = blocking(move || {
            let count = |dir: &PathBuf| match dir.is_dir() {
                true => Reader::open(dir).ok().flatten().and_then(|reader| reader.count().ok()),
                // Without a log there is nothing to make entries of.
                false => Some(0),
            };
            dirs.iter().map(count).collect::<Vec<_>>()
        })
        .await?;
        for (count, run) in counts.iter_mut().zip(runs) {
            if let Some(entries) = stand_in(run) {
                *count = u32::try_from(entries.len()).ok();
            }
        }
        let mut counted = Vec::with_capacity(runs.len());
        for ((run, count), after) in runs.iter().zip(counts).zip(ends) {
            if count.is_none() {
                self.fold_if_over(run, &self.inner.entries.room(run.id)).await?;
            }
            let (is_over, entries) = (run.state.is_over(), count.map(u64::from));
            counted.push(RunEntries { run: run.id, entries, is_over, after: *after });
        }
        Ok(counted)
    }

    /// Says that the entries of a run cannot be read. Those that are damaged go, so that they are made anew.
    pub(super) async fn unreadable_entries(&self, run: &Run, error: &io::Error) -> Error {
        let room = self.inner.entries.room(run.id);
        self.forget_damaged(run, &room, error).await;
        Error::unavailable(format!("the entries of run {} cannot be read: {error}; try again", run.id))
    }

    /// Waits until the entries of a run are there, as far as its log goes; false when it has no log any more.
    pub(super) async fn are_there(&self, run: &Run) -> Result<bool> {
        let dir = self.inner.paths.run(run.id);
        if run.log_deleted_at.is_some() || !is_dir(&dir).await? {
            return Ok(false);
        }
        let whole = move || match Reader::open(&dir)? {
            Some(mut reader) => reader.is_whole(),
            None => Ok(false),
        };
        if blocking(whole.clone()).await?.unwrap_or(false) {
            return Ok(true);
        }
        let room = self.inner.entries.room(run.id);
        let mut news = room.listen();
        let wait = async {
            let mut tried = false;
            loop {
                let now = news.borrow_and_update().clone();
                if now.caught_up || blocking(whole.clone()).await?.unwrap_or(false) {
                    return Ok(true);
                }
                if let Some(trouble) = now.trouble.filter(|_| tried || room.is_claimed()) {
                    return Err(Error::unavailable(format!("run {}: {trouble}", run.id)));
                }
                tried |= self.fold_if_over(run, &room).await?;
                // The room keeps the other end, so this ends only with news.
                let _ = news.changed().await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| {
            let message = format!("the entries of run {} are being made; try again in a moment", run.id);
            Err(Error::unavailable(message))
        })
    }
}

/// What was read: entries in the order of reading, how much JSON they are, and whether they were cut short of what was
/// wanted.
type ReadSome = (Vec<(u32, Entry)>, usize, bool);

/// Reads entries before an index backwards.
fn read_back(dir: PathBuf, to: Option<u64>, want: usize, room: usize) -> io::Result<ReadSome> {
    let Some(reader) = Reader::open(&dir)? else { return Ok((Vec::new(), 0, false)) };
    let count = reader.count()?;
    let to = to.map_or(count, |to| u32::try_from(to).map_or(count, |to| to.min(count)));
    let first = to.saturating_sub(u32::try_from(want).unwrap_or(u32::MAX));
    let places = reader.places(first, (to - first) as usize)?;
    read_each(reader, (first..to).zip(places).rev(), room)
}

/// Reads entries from an index on.
fn read_on(dir: PathBuf, from: u64, want: usize, room: usize) -> io::Result<ReadSome> {
    let Some(reader) = Reader::open(&dir)? else { return Ok((Vec::new(), 0, false)) };
    let count = reader.count()?;
    let first = u32::try_from(from).map_or(count, |from| from.min(count));
    let places = reader.places(first, want.min((count - first) as usize))?;
    read_each(reader, (first..count).zip(places), room)
}

fn read_each(
    mut reader: Reader,
    places: impl Iterator<Item = (u32, u64)>,
    room: usize,
) -> io::Result<ReadSome> {
    let (mut entries, mut bytes) = (Vec::new(), 0);
    for (index, at) in places {
        if bytes >= room && !entries.is_empty() {
            return Ok((entries, bytes, true));
        }
        let (entry, size) = reader.entry(index, at)?;
        bytes += size;
        entries.push((index, entry));
    }
    Ok((entries, bytes, false))
}
