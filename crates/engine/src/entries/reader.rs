//! Reading the entry cache of a run: an entry by its index, or what was written after a place. Reads only what it is
//! asked for, so a cache of any size costs little.

use std::fs::File;
use std::io;
use std::path::Path;

use forge_model::Entry;

use super::format::{self, HEAD, Kind, OPENING, Record, Records};
use super::writer::place;

/// Reads the entry cache of a run.
#[derive(Debug)]
pub(crate) struct Reader {
    records: Records,
    slots: File,
    number: u64,
}

/// What stands at a place.
#[derive(Debug)]
pub(crate) enum Here {
    /// A form of an entry; its text is understood only when it is wanted.
    Entry { index: u32, text: Vec<u8>, next: u64 },
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
        Ok(Some(Self { records: Records::new(records), slots, number }))
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

    /// Returns the place after everything that was written.
    pub(crate) fn end(&self) -> io::Result<u64> {
        Ok(self.records.file.metadata()?.len())
    }

    /// Says whether the run is over and everything is there.
    pub(crate) fn is_whole(&mut self) -> io::Result<bool> {
        let Some(last) = self.end()?.checked_sub(HEAD as u64) else { return Ok(false) };
        Ok(self.records.at(last)?.is_some_and(|record| record.kind == Kind::End))
    }

    /// Returns where the newest forms of entries stand, as many as there are.
    pub(crate) fn places(&self, first: u32, count: usize) -> io::Result<Vec<u64>> {
        format::longs(&self.slots, OPENING + u64::from(first) * 8, count)
    }

    /// Returns where the newest form of an entry stands.
    pub(crate) fn place(&self, index: u32) -> io::Result<Option<u64>> {
        Ok(self.places(index, 1)?.first().copied())
    }

    /// Reads the entry at a place, and how long it is as JSON.
    pub(crate) fn entry(&mut self, index: u32, at: u64) -> io::Result<(Entry, usize)> {
        let payload = self.text(index, at)?;
        Ok((understood(index, &payload)?, payload.len()))
    }

    /// Reads the entry at a place as it was written.
    pub(crate) fn text(&mut self, index: u32, at: u64) -> io::Result<Vec<u8>> {
        let record = self.records.at(at)?.filter(|it| it.kind == Kind::Entry && it.index == index);
        let Record { payload, .. } = record.ok_or_else(|| damaged(index))?;
        Ok(payload)
    }

    /// Says what stands at a place.
    pub(crate) fn here(&mut self, at: u64) -> io::Result<Here> {
        let Some(record) = self.records.at(at)? else { return Ok(Here::Nothing) };
        let next = at + record.size();
        Ok(match record.kind {
            Kind::Entry => Here::Entry { index: record.index, text: record.payload, next },
            Kind::Checkpoint => Here::Other { next },
            Kind::End => Here::End,
        })
    }
}

/// Reads an entry as it was written.
pub(crate) fn understood(index: u32, text: &[u8]) -> io::Result<Entry> {
    serde_json::from_slice(text).map_err(|_| damaged(index))
}

fn damaged(index: u32) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("entry {index} cannot be read"))
}
