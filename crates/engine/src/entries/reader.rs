//! Reading the entry cache of a run: an entry by its index, or what was written after a place. Reads only what it is
//! asked for, so a cache of any size costs little.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use forge_model::Entry;

use super::format::{self, Kind, OPENING, Records};
use super::group::Group;
use super::writer::place;

/// Reads the entry cache of a run.
#[derive(Debug)]
pub(crate) struct Reader {
    records: Records,
    slots: File,
    number: u64,
    /// The forms that were read last, and their place: what is read next is often among them.
    last: (u64, Arc<Group>),
}

/// What stands at a place.
#[derive(Debug)]
pub(crate) enum Here {
    /// Forms of entries, each understood only when it is wanted.
    Entries { group: Arc<Group>, next: u64 },
    /// Something that is no entry.
    Other { next: u64 },
    /// That this is all.
    End,
    /// Nothing yet.
    Nothing,
}

impl Reader {
    /// Opens the cache of a run; none when there is none of this version.
    pub(crate) fn open(run: &Path) -> io::Result<Option<Self>> {
        let place = place(run);
        let open = |name| match File::open(place.join(name)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let (Some(records), Some(slots)) = (open("records")?, open("slots")?) else { return Ok(None) };
        let Some(number) = format::number(&records)? else { return Ok(None) };
        if format::longs(&slots, 0, 1)? != [number] {
            return Ok(None);
        }
        Ok(Some(Self { records: Records::new(records), slots, number, last: Default::default() }))
    }

    /// Returns the number by which positions name this cache.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Says how many entries there are.
    pub(crate) fn count(&self) -> io::Result<u32> {
        let slots = self.slots.metadata()?.len().saturating_sub(OPENING) / 8;
        u32::try_from(slots).map_err(io::Error::other)
    }

    /// Returns the place after the last record that the slots know of, and whether the record there says that this is
    /// all. Whoever takes this place first and counts the entries afterwards misses none: what is not counted stands
    /// behind it.
    ///
    /// It is walked to from a record that is known: the length of a file grows while a record is written to it, and
    /// whoever began in the midst of one, or behind the last, would wait there for ever. The walk ends before a record
    /// that the slots do not point to yet, since a record is written before its slots.
    pub(crate) fn end(&mut self) -> io::Result<(u64, bool)> {
        let checkpoint = format::longs(&self.slots, 8, 1)?.first().copied().unwrap_or_default();
        let newest = match self.count()?.checked_sub(1) {
            Some(last) => self.place(last)?.unwrap_or_default(),
            None => 0,
        };
        let mut at = newest.max(checkpoint).max(OPENING);
        loop {
            let Some(record) = self.records.at(at)? else { return Ok((at, false)) };
            match record.kind {
                Kind::End => return Ok((at, true)),
                Kind::Checkpoint => {}
                Kind::Entries => {
                    // Its slots are written in the order of the indexes. One that cannot be read is met by whoever
                    // reads it.
                    let group = Group::read(record.payload).unwrap_or_default();
                    if let Some(last) = group.indexes().last()
                        && self.place(last)?.is_none_or(|place| place < at)
                    {
                        return Ok((at, false));
                    }
                }
            }
            at += record.size;
        }
    }

    /// Says whether the run is over and everything is there.
    pub(crate) fn is_whole(&mut self) -> io::Result<bool> {
        Ok(self.end()?.1)
    }

    /// Returns where the newest forms of entries stand, as many as there are.
    pub(crate) fn places(&self, first: u32, count: usize) -> io::Result<Vec<u64>> {
        format::longs(&self.slots, OPENING + u64::from(first) * 8, count)
    }

    /// Returns where the newest form of an entry stands.
    pub(crate) fn place(&self, index: u32) -> io::Result<Option<u64>> {
        Ok(self.places(index, 1)?.first().copied())
    }

    /// Reads the form of an entry at a place, and about how long it is as JSON.
    pub(crate) fn entry(&mut self, index: u32, at: u64) -> io::Result<(Entry, usize)> {
        understood(self.group(index, at)?, index)
    }

    /// Reads the form of an entry at a place as it was written: as JSON, which begins with a brace, or as a byte and
    /// its text.
    pub(crate) fn form(&mut self, index: u32, at: u64) -> io::Result<&[u8]> {
        self.group(index, at)?.form(index).ok_or_else(|| damaged(index))
    }

    fn group(&mut self, index: u32, at: u64) -> io::Result<&Group> {
        if self.last.0 != at || at == 0 {
            let record = self.records.at(at)?.filter(|record| record.kind == Kind::Entries);
            let group = record.and_then(|record| Group::read(record.payload));
            self.last = (at, Arc::new(group.ok_or_else(|| damaged(index))?));
        }
        Ok(&self.last.1)
    }

    /// Says what stands at a place.
    pub(crate) fn here(&mut self, at: u64) -> io::Result<Here> {
        let Some(record) = self.records.at(at)? else { return Ok(Here::Nothing) };
        let next = at + record.size;
        Ok(match record.kind {
            Kind::Entries => {
                let unreadable = || damaged(record.count);
                let group = Arc::new(Group::read(record.payload).ok_or_else(unreadable)?);
                self.last = (at, group.clone());
                Here::Entries { group, next }
            }
            Kind::Checkpoint => Here::Other { next },
            Kind::End => Here::End,
        })
    }
}

/// Reads the form of an entry as it was written, and about how long it is as JSON.
pub(crate) fn understood(group: &Group, index: u32) -> io::Result<(Entry, usize)> {
    group.entry(index).ok_or_else(|| damaged(index))
}

fn damaged(index: u32) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("entry {index} cannot be read"))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::atomic::{AtomicBool, Ordering};

    use forge_model::entry::EntryType;

    use super::super::writer::Writer;
    use super::*;

    #[test]
    fn a_reader_that_comes_while_entries_are_written_stands_between_two_of_them() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = Writer::create(dir.path()).unwrap();
            let is_over = AtomicBool::new(false);
            let ends: BTreeSet<(u64, u32)> = std::thread::scope(|scope| {
                let watch = scope.spawn(|| {
                    let mut ends = BTreeSet::new();
                    while !is_over.load(Ordering::SeqCst) {
                        let mut reader = Reader::open(dir.path()).unwrap().unwrap();
                        let end = reader.end().unwrap().0;
                        ends.insert((end, reader.count().unwrap()));
                    }
                    ends
                });
                for log in 1..50 {
                    // Long, and unlike each other, so that writing them takes a while.
                    let text = |index: u64| -> String {
                        (0..800).map(|n| format!("{:x} ", (log * 97 + index * 31 + n) * n * n)).collect()
                    };
                    let entry = |index: u64| Entry::new(EntryType::AssistantMessage, text(index));
                    let first = log * 4;
                    writer.take((first..first + 4).map(|index| (index as usize - 4, entry(index))).collect());
                    writer.write(log).unwrap();
                }
                writer.finish(50).unwrap();
                is_over.store(true, Ordering::SeqCst);
                watch.join().unwrap()
            });
            let mut reader = Reader::open(dir.path()).unwrap().unwrap();
            // How many entries the records before a place have.
            let (mut edges, mut at, mut count) = (BTreeMap::from([(OPENING, 0)]), OPENING, 0);
            loop {
                at = match reader.here(at).unwrap() {
                    Here::Entries { group, next } => {
                        count = count.max(group.indexes().last().unwrap() + 1);
                        next
                    }
                    Here::Other { next } => next,
                    Here::End => break,
                    Here::Nothing => panic!("nothing stands at {at}"),
                };
                edges.insert(at, count);
            }
            for (end, counted) in ends {
                let before = edges.get(&end);
                let before =
                    before.unwrap_or_else(|| panic!("{end} is in the midst of a record, or behind {at}"));
                assert!(counted >= *before, "{counted} were counted, and {before} stand before {end}");
            }
        }
    }
}
