//! A window on the conversation of an attempt: so many entries before a place, across all of its agent's runs.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use forge_model::{AttemptId, Entry, Run, RunId, RunKind};

use super::reader::Reader;
use crate::background::blocking;
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

/// Some entries of an attempt, newest last.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryWindow {
    pub entries: Vec<PlacedEntry>,
    /// There are earlier ones.
    pub has_more: bool,
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

impl Engine {
    /// Returns the last entries of an attempt, or the last before a place.
    pub async fn attempt_entries(
        &self,
        attempt: AttemptId,
        before: Option<EntryPlace>,
        limit: usize,
    ) -> Result<EntryWindow> {
        // One that is not there has no runs either.
        self.attempt(attempt).await?;
        let mut runs = self.runs(attempt, false).await?;
        runs.retain(|run| run.kind == RunKind::Agent);
        let mut index = None;
        if let Some(before) = before {
            let Some(at) = runs.iter().position(|run| run.id == before.run) else {
                let message = format!("`before`: attempt {attempt} has no agent run {}", before.run);
                return Err(Error::invalid(message));
            };
            runs.truncate(at + 1);
            index = Some(before.index);
        }
        let (mut found, mut bytes) = (Vec::new(), 0);
        let mut has_more = false;
        for run in runs.into_iter().rev() {
            let to = index.take();
            let dir = self.inner.paths.run(run.id);
            if !self.are_there(&run).await? {
                continue;
            }
            // One more than is wanted tells whether there is more.
            let want = limit + 1 - found.len();
            let room = MOST_BYTES.saturating_sub(bytes);
            let read = blocking(move || read_back(dir, to, want, room)).await?;
            let (entries, took, is_cut) = match read {
                Ok(read) => read,
                Err(error) => {
                    let room = self.inner.entries.room(run.id);
                    self.forget_damaged(&run, &room, &error).await;
                    let message = format!("the entries of run {} cannot be read: {error}; try again", run.id);
                    return Err(Error::unavailable(message));
                }
            };
            bytes += took;
            let laid = self.with_asks(run.id, entries).await?;
            found.extend(laid.into_iter().map(|(index, entry, _)| {
                let place = EntryPlace { run: run.id, index: u64::from(index) };
                PlacedEntry { place, entry }
            }));
            if found.len() > limit || is_cut {
                has_more = true;
                break;
            }
        }
        found.truncate(limit);
        found.reverse();
        Ok(EntryWindow { entries: found, has_more })
    }

    /// Waits until the entries of a run are there, as far as its log goes; false when it has no log any more.
    async fn are_there(&self, run: &Run) -> Result<bool> {
        let dir = self.inner.paths.run(run.id);
        if !dir.is_dir() {
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

/// What was read backwards: entries, newest first, how much JSON they are, and whether they were cut short of what
/// was wanted.
type ReadBack = (Vec<(u32, Entry)>, usize, bool);

/// Reads entries before an index backwards.
fn read_back(dir: PathBuf, to: Option<u64>, want: usize, room: usize) -> io::Result<ReadBack> {
    let Some(mut reader) = Reader::open(&dir)? else { return Ok((Vec::new(), 0, false)) };
    let count = reader.count()?;
    let to = to.map_or(count, |to| u32::try_from(to).map_or(count, |to| to.min(count)));
    let first = to.saturating_sub(u32::try_from(want).unwrap_or(u32::MAX));
    let places = reader.places(first, (to - first) as usize)?;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    for (index, at) in (first..to).zip(places).rev() {
        if bytes >= room && !entries.is_empty() {
            return Ok((entries, bytes, true));
        }
        let (entry, size) = reader.entry(index, at)?;
        bytes += size;
        entries.push((index, entry));
    }
    Ok((entries, bytes, false))
}
