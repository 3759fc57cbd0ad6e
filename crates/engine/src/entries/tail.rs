//! Following the entries of a run. A reader that stalls costs nothing: it finds each entry in its newest form.
//!
//! There are two orders. By index, every entry is given first in its place, and then what changes: a list can be made
//! of it as it comes. By change, what was written longest ago is given first; each step has a position, from which a
//! reader that was away goes on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use forge_model::{Entry, Run};
use tokio::sync::watch;

use super::asks::key;
use super::deleted;
use super::format::OPENING;
use super::group::Group;
use super::hub::{News, Room};
use super::reader::{Here, Reader, understood};
use crate::background::blocking;
use crate::{Engine, Error, LogEnd, Result};

/// About how much JSON one batch has.
const BATCH: usize = 32 * 1024;

/// How many bits of a position say where; those above say in which cache.
const PLACE_BITS: u32 = 40;

/// Which entries are given, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntriesFrom {
    /// By index, from one on.
    Index(u64),
    /// By index, the last so many that are there.
    Last(u64),
    /// By change, after a position, or from the beginning.
    Change(Option<i64>),
}

/// Some entries of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryBatch {
    /// Entries by their index, each at most once.
    pub entries: Vec<(u64, Entry)>,
    /// Where to go on, for those who read by change.
    pub position: i64,
    /// The position that was asked for is of entries that are no more: these begin anew.
    pub is_anew: bool,
}

/// A reader that follows the entries of a run.
#[derive(Debug)]
pub struct EntryTail {
    engine: Engine,
    run: Run,
    room: Arc<Room>,
    news: watch::Receiver<News>,
    /// Taken while a read is under way.
    cursor: Option<Cursor>,
    follow: bool,
    /// The entries were made for this reader once.
    tried: bool,
    /// It may have been away when the end of the run left asks without an answer, which is in no record.
    was_away: bool,
    end: LogEnd,
    /// What is given instead of entries whose log was deleted.
    stand_in: Option<EntryBatch>,
}

/// Where a reader is.
#[derive(Debug)]
struct Cursor {
    dir: PathBuf,
    from: EntriesFrom,
    open: Option<Open>,
    /// A position was of another cache.
    is_anew: bool,
    /// Entries that were given while they waited for an ask.
    waiting: BTreeSet<u32>,
}

#[derive(Debug)]
struct Open {
    reader: Reader,
    /// The record that is read next, once everything that was there is given.
    at: u64,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Index {
        first: u32,
        /// Those before it were given.
        next: u32,
        /// How many there were when the reader came.
        there: u32,
        /// Forms that were given before their record was come to.
        ahead: HashMap<u32, u64>,
    },
    Change,
}

/// What a look gave.
enum Look {
    Some(Vec<(u32, Entry)>, u64),
    Nothing,
    /// Everything was given, and there will be no more.
    Whole,
}

/// Names a place in a cache.
fn position_of(number: u64, at: u64) -> i64 {
    i64::try_from(number << PLACE_BITS | at).unwrap_or(i64::MAX)
}

/// Returns the position after everything that is there now.
pub(super) fn position_at_end(reader: &mut Reader) -> io::Result<i64> {
    Ok(position_of(reader.number(), reader.end()?.0))
}

impl EntryTail {
    pub(super) fn new(engine: Engine, run: Run, from: EntriesFrom, follow: bool) -> Self {
        let room = engine.inner.entries.room(run.id);
        let news = room.listen();
        let dir = engine.inner.paths.run(run.id);
        let was_away = matches!(from, EntriesFrom::Change(Some(_)));
        let cursor = Cursor { dir, from, open: None, is_anew: false, waiting: BTreeSet::new() };
        let deleted = deleted::batch(&run, from);
        let end = if deleted.is_some() { LogEnd::Over } else { LogEnd::CaughtUp };
        Self {
            engine,
            run,
            room,
            news,
            cursor: deleted.is_none().then_some(cursor),
            follow,
            tried: false,
            was_away,
            end,
            stand_in: deleted.flatten(),
        }
    }

    /// Returns why the last [`next`](Self::next) gave nothing.
    pub fn end(&self) -> LogEnd {
        self.end
    }

    /// Waits for entries and returns them; none when the run is over and everything was given, or when everything
    /// that is there was given and nobody wants to wait.
    pub async fn next(&mut self) -> Result<Option<EntryBatch>> {
        if let Some(stand_in) = self.stand_in.take() {
            return Ok(Some(stand_in));
        }
        loop {
            let news = self.news.borrow_and_update().clone();
            let Some(mut cursor) = self.cursor.take() else { return Ok(None) };
            let (mut cursor, seen) = blocking(move || {
                let seen = cursor.look(&news);
                (cursor, seen.map(|seen| (seen, news)))
            })
            .await?;
            let (seen, news) = match seen {
                Ok(seen) => seen,
                Err(error) => return Err(self.unreadable(&error).await),
            };
            match seen {
                Look::Some(entries, position) => {
                    let batch = self.laid_over(&mut cursor, entries, position).await?;
                    self.cursor = Some(cursor);
                    return Ok(Some(batch));
                }
                Look::Whole => {
                    self.end = LogEnd::Over;
                    // What nobody answered is told once more: nobody can any more.
                    let left = std::mem::take(&mut cursor.waiting);
                    let unheard = match std::mem::take(&mut self.was_away) {
                        true => self.engine.unanswered(self.run.id).await?,
                        false => Vec::new(),
                    };
                    let (cursor, entries) = blocking(move || {
                        let entries = cursor.again(left, &unheard);
                        (cursor, entries)
                    })
                    .await?;
                    let entries = match entries {
                        Ok(entries) => entries,
                        Err(error) => return Err(self.unreadable(&error).await),
                    };
                    if entries.is_empty() {
                        return Ok(None);
                    }
                    let mut cursor = cursor;
                    let position = cursor.position();
                    let batch = self.laid_over(&mut cursor, entries, position).await?;
                    cursor.waiting.clear();
                    self.cursor = Some(cursor);
                    return Ok(Some(batch));
                }
                Look::Nothing if !self.follow && news.caught_up => return Ok(None),
                Look::Nothing => {
                    self.cursor = Some(cursor);
                    // Whoever has the turn met with trouble, or whoever took it for us.
                    if let Some(trouble) = news.trouble.filter(|_| self.tried || self.room.is_claimed()) {
                        return Err(Error::unavailable(format!("run {}: {trouble}", self.run.id)));
                    }
                    self.tried |= self.engine.fold_if_over(&self.run, &self.room).await?;
                    // The room keeps the other end, so this ends only with news.
                    let _ = self.news.changed().await;
                }
            }
        }
    }

    async fn laid_over(
        &self,
        cursor: &mut Cursor,
        entries: Vec<(u32, Entry)>,
        position: u64,
    ) -> Result<EntryBatch> {
        let laid = self.engine.with_asks(self.run.id, entries).await?;
        for (index, _, is_open) in &laid {
            match is_open {
                true => cursor.waiting.insert(*index),
                false => cursor.waiting.remove(index),
            };
        }
        let entries = laid.into_iter().map(|(index, entry, _)| (u64::from(index), entry)).collect();
        let number = cursor.open.as_ref().map_or(0, |open| open.reader.number());
        Ok(EntryBatch {
            entries,
            position: position_of(number, position),
            is_anew: std::mem::take(&mut cursor.is_anew),
        })
    }

    /// Says that the entries cannot be read. Those that are damaged go, so that they are made anew.
    async fn unreadable(&self, error: &io::Error) -> Error {
        self.engine.forget_damaged(&self.run, &self.room, error).await;
        let run = self.run.id;
        Error::unavailable(format!("the entries of run {run} cannot be read: {error}; try again"))
    }
}

impl Cursor {
    fn position(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.at)
    }

    /// Gives what there is to give.
    fn look(&mut self, news: &News) -> io::Result<Look> {
        if let (Some(open), Some(number)) = (&self.open, news.number)
            && open.reader.number() != number
        {
            if !matches!(open.order, Order::Change) {
                return Err(io::Error::other("they are being made anew"));
            }
            (self.open, self.is_anew, self.from) = (None, true, EntriesFrom::Change(None));
        }
        if self.open.is_none() {
            let Some(mut reader) = Reader::open(&self.dir)? else { return Ok(Look::Nothing) };
            // What is the last is known when all are there.
            let all = news.caught_up || reader.is_whole()?;
            if matches!(self.from, EntriesFrom::Last(_)) && !all {
                return Ok(Look::Nothing);
            }
            // What a crash left behind a good position is cut off when somebody takes the entries up.
            let is_resumed = matches!(self.from, EntriesFrom::Change(Some(_)));
            if is_resumed && news.number.is_none() && !all {
                return Ok(Look::Nothing);
            }
            let (open, is_anew) = Open::at(reader, self.from)?;
            self.open = Some(open);
            self.is_anew |= is_anew;
        }
        match &mut self.open {
            Some(open) => open.look(),
            None => Ok(Look::Nothing),
        }
    }

    /// Gives entries as they are now, and those about asks by their keys.
    fn again(&mut self, mut indexes: BTreeSet<u32>, keys: &[String]) -> io::Result<Vec<(u32, Entry)>> {
        let Some(open) = &mut self.open else { return Ok(Vec::new()) };
        if !keys.is_empty() {
            for index in 0..open.reader.count()? {
                let (entry, _) = open.newest(index)?;
                if key(&entry).is_some_and(|key| keys.iter().any(|wanted| wanted == key)) {
                    indexes.insert(index);
                }
            }
        }
        indexes.into_iter().map(|index| Ok((index, open.newest(index)?.0))).collect()
    }
}

impl Open {
    /// Goes to where a reader wants to begin; says whether that is elsewhere than it wants.
    fn at(mut reader: Reader, from: EntriesFrom) -> io::Result<(Self, bool)> {
        // The end is taken first: what comes after the count is behind it.
        let (end, _) = reader.end()?;
        let there = reader.count()?;
        let by_index = |first: u32| Order::Index { first, next: first, there, ahead: HashMap::new() };
        let (order, at, is_anew) = match from {
            EntriesFrom::Index(first) => (by_index(u32::try_from(first).unwrap_or(u32::MAX)), end, false),
            EntriesFrom::Last(last) => {
                let last = u32::try_from(last).unwrap_or(u32::MAX);
                (by_index(there.saturating_sub(last)), end, false)
            }
            EntriesFrom::Change(None) => (Order::Change, OPENING, false),
            EntriesFrom::Change(Some(after)) => {
                let after = u64::try_from(after).unwrap_or(u64::MAX);
                let (number, at) = (after >> PLACE_BITS, after & ((1 << PLACE_BITS) - 1));
                let is_known = number == reader.number()
                    && at >= OPENING
                    && (at == end || !matches!(reader.here(at)?, Here::Nothing));
                (Order::Change, if is_known { at } else { OPENING }, !is_known)
            }
        };
        Ok((Self { reader, at, order }, is_anew))
    }

    fn look(&mut self) -> io::Result<Look> {
        let mut batch = Batch::default();
        self.replay(&mut batch)?;
        while !batch.is_full() {
            match self.reader.here(self.at)? {
                // A batch ends between two records, so that its position is the place of one.
                Here::Entries { group, next } => {
                    for index in group.indexes() {
                        self.come_to(index, &group, &mut batch)?;
                    }
                    self.at = next;
                }
                Here::Other { next } => self.at = next,
                Here::Nothing if batch.entries.is_empty() => return Ok(Look::Nothing),
                Here::End if batch.entries.is_empty() => return Ok(Look::Whole),
                Here::Nothing | Here::End => break,
            }
        }
        Ok(Look::Some(batch.in_order(), self.at))
    }

    /// Gives what was there when the reader came, by index.
    fn replay(&mut self, batch: &mut Batch) -> io::Result<()> {
        // A few hundred of the usual size fill a batch.
        const PLACES: u32 = 256;
        let Order::Index { next, there, ahead, .. } = &mut self.order else { return Ok(()) };
        while *next < *there && !batch.is_full() {
            let places = self.reader.places(*next, PLACES.min(*there - *next) as usize)?;
            if places.is_empty() {
                *there = *next;
            }
            for at in places {
                if batch.is_full() {
                    break;
                }
                let (entry, size) = self.reader.entry(*next, at)?;
                if at >= self.at {
                    ahead.insert(*next, at);
                }
                batch.put(*next, entry, size);
                *next += 1;
            }
        }
        Ok(())
    }

    /// Comes to a form of an entry: it is given unless it was, or a newer one comes. What is new is given at once,
    /// as it is by now, because what comes next has its place behind it.
    fn come_to(&mut self, index: u32, group: &Group, batch: &mut Batch) -> io::Result<()> {
        let at = self.at;
        // A slot that still points to an older record was not written yet: this one is newer.
        let newest = self.reader.place(index)?.unwrap_or(at).max(at);
        if let Order::Index { first, next, ahead, .. } = &mut self.order {
            if index < *first {
                return Ok(());
            }
            if index >= *next {
                *next = index + 1;
                if newest != at {
                    ahead.insert(index, newest);
                    let (entry, size) = self.reader.entry(index, newest)?;
                    batch.put(index, entry, size);
                    return Ok(());
                }
            } else if let Some(given) = ahead.get(&index).copied() {
                if given <= at {
                    ahead.remove(&index);
                }
                if at <= given {
                    return Ok(());
                }
            }
        }
        if newest == at {
            let (entry, size) = understood(group, index)?;
            batch.put(index, entry, size);
        }
        Ok(())
    }

    fn newest(&mut self, index: u32) -> io::Result<(Entry, usize)> {
        let at = self.reader.place(index)?.unwrap_or_default();
        self.reader.entry(index, at)
    }
}

/// Entries that are given together, each once.
#[derive(Debug, Default)]
struct Batch {
    entries: BTreeMap<u32, Entry>,
    bytes: usize,
}

impl Batch {
    fn put(&mut self, index: u32, entry: Entry, size: usize) {
        self.bytes += size;
        self.entries.insert(index, entry);
    }

    fn is_full(&self) -> bool {
        self.bytes >= BATCH
    }

    fn in_order(self) -> Vec<(u32, Entry)> {
        self.entries.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicBool, Ordering};

    use forge_model::entry::EntryType;

    use super::super::writer::Writer;
    use super::*;

    /// Reads from a place in the cache until its end.
    fn follow(dir: &std::path::Path, from: EntriesFrom, is_over: &AtomicBool) -> BTreeMap<u32, String> {
        let reader = Reader::open(dir).unwrap().unwrap();
        let (mut open, _) = Open::at(reader, from).unwrap();
        let mut given = BTreeMap::new();
        loop {
            let was_over = is_over.load(Ordering::SeqCst);
            match open.look().unwrap() {
                Look::Some(entries, _) => {
                    given.extend(entries.into_iter().map(|(index, entry)| (index, entry.content)));
                }
                Look::Nothing => assert!(!was_over, "the end was written"),
                Look::Whole => return given,
            }
        }
    }

    #[test]
    fn readers_that_come_while_entries_are_written_miss_none_and_no_change() {
        const TIMES: u64 = 200;
        for _ in 0..10 {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = Writer::create(dir.path()).unwrap();
            let said = |index: usize, time: u64| {
                (index, Entry::new(EntryType::AssistantMessage, format!("{index} {time}")))
            };
            let is_over = AtomicBool::new(false);
            let given = std::thread::scope(|scope| {
                let readers: Vec<_> = [EntriesFrom::Index(0), EntriesFrom::Change(None)]
                    .into_iter()
                    .map(|from| {
                        let (dir, is_over) = (dir.path(), &is_over);
                        // Whoever comes in the midst gets all as well.
                        scope.spawn(move || {
                            let mut all = Vec::new();
                            while !is_over.load(Ordering::SeqCst) {
                                all.push(follow(dir, from, is_over));
                            }
                            all.push(follow(dir, from, is_over));
                            all
                        })
                    })
                    .collect();
                for time in 0..TIMES {
                    // Each time some that are new, and changes of some that are there.
                    let first = time as usize * 20;
                    let changed = (0..5).filter(|_| time > 0).map(|n| said(first - 1 - n * 3, time));
                    writer.take(changed.chain((first..first + 20).map(|index| said(index, time))).collect());
                    writer.write(time + 1).unwrap();
                }
                writer.finish(TIMES + 1).unwrap();
                is_over.store(true, Ordering::SeqCst);
                readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
            });
            let expected = follow(dir.path(), EntriesFrom::Index(0), &is_over);
            assert_eq!(expected.len(), TIMES as usize * 20);
            for given in given {
                assert_eq!(given, expected);
            }
        }
    }
}
