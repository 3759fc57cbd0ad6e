//! Reading a log from any byte, while it grows, in bounded memory. Never blocks and never polls:
//! an empty answer means that nothing new is there, and a [`Watcher`](crate::Watcher) says when to
//! ask again.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::frame::{self, Frame, Parsed, Stream};
use crate::scan::{self, BLOCK, Found};
use crate::{Error, Result, segments};

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it begins in the whole log.
    pub offset: u64,
    /// Where the next one begins: the position to resume from once this one was dealt with.
    pub end: u64,
    pub stream: Stream,
    /// When the shim read it, in microseconds since 1970.
    pub at_us: u64,
    /// The ordinal of an input, a note or the closing of the input.
    pub ordinal: Option<u64>,
    /// The bytes as they came, without the ordinal.
    pub payload: Vec<u8>,
}

/// A position in a log, and the means to read on from it.
#[derive(Debug)]
pub struct LogReader {
    dir: PathBuf,
    segment: Option<Segment>,
    position: u64,
    skipped: u64,
    /// Bytes of the log from `block_at` on. What is unfinished in it is read again, never believed.
    block: Vec<u8>,
    block_at: u64,
}

#[derive(Debug)]
struct Segment {
    start: u64,
    file: File,
}

/// What stands at a reader's position.
enum Here {
    Record(Record),
    /// A record of another layout.
    Foreign(u8),
    Nothing,
}

impl LogReader {
    /// Opens the log at the first record at or after `from`; beyond the end, at the end.
    ///
    /// A position that a reader gave out is a record's edge and is taken as it is. From any other
    /// offset, the first record that states its own position is found by scanning forward.
    pub fn open(dir: &Path, from: u64) -> Result<Self> {
        let mut reader = Self {
            dir: dir.to_owned(),
            segment: None,
            position: 0,
            skipped: 0,
            block: Vec::new(),
            block_at: 0,
        };
        let starts = reader.starts()?;
        let Some(first) = starts.first() else { return Ok(reader) };
        let from = from.max(*first);
        let start = starts.iter().copied().rfind(|start| *start <= from).unwrap_or(*first);
        let segment = reader.enter(start)?;
        let len = segment.file.metadata().map_err(|source| reader.error("inspect", start, source))?.len();
        reader.position = if from < start + len {
            let found = scan::next_record(&segment.file, start, from, &mut reader.block);
            match found.map_err(|source| reader.error("read", start, source))? {
                Found::Record(at) | Found::Nothing(at) => at,
            }
        } else if from == start + len {
            from
        } else {
            scan::whole_end(&segment.file, start).map_err(|source| reader.error("read", start, source))?.0
        };
        reader.block.clear();
        reader.segment = Some(segment);
        Ok(reader)
    }

    /// Reads the records that are there now, about `max_bytes` of payload and at least one record.
    pub fn read(&mut self, max_bytes: usize) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        let mut taken = 0;
        loop {
            match self.parse()? {
                Here::Record(record) => {
                    taken += record.payload.len();
                    self.position = record.end;
                    records.push(record);
                    if taken >= max_bytes {
                        return Ok(records);
                    }
                }
                // What was read so far is handed out before any harder look.
                Here::Foreign(_) | Here::Nothing if !records.is_empty() => return Ok(records),
                Here::Foreign(version) => {
                    return Err(Error::Layout { dir: self.dir.clone(), found: version });
                }
                Here::Nothing => {
                    if !self.look_further()? {
                        return Ok(records);
                    }
                }
            }
        }
    }

    /// Where the next record will be read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many damaged bytes were passed over. Zero unless a disk lied.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Parses at the position: from the block when it has a whole record there, else from the file.
    fn parse(&mut self) -> Result<Here> {
        let index = self.position.checked_sub(self.block_at).and_then(|index| usize::try_from(index).ok());
        if let Some(bytes) = index.and_then(|index| self.block.get(index..))
            && let Parsed::Whole(frame) = frame::parse(bytes, self.position)
        {
            return Ok(Here::Record(record(&frame, self.position)));
        }
        let mut want = BLOCK;
        loop {
            self.fill(want)?;
            match frame::parse(&self.block, self.position) {
                Parsed::Whole(frame) => return Ok(Here::Record(record(&frame, self.position))),
                Parsed::Foreign { version } => return Ok(Here::Foreign(version)),
                Parsed::Partial { needs } if self.block.len() == want => want = needs.max(want + 1),
                Parsed::Partial { .. } | Parsed::Damaged => return Ok(Here::Nothing),
            }
        }
    }

    fn fill(&mut self, want: usize) -> Result<()> {
        if self.segment.is_none() && self.starts()?.first().is_some_and(|start| *start == self.position) {
            self.segment = Some(self.enter(self.position)?);
        }
        self.block.clear();
        // One long record must not leave a large block behind.
        self.block.shrink_to(want);
        self.block_at = self.position;
        let Some(segment) = &self.segment else { return Ok(()) };
        scan::fill(&segment.file, segment.start, self.position, want, &mut self.block)
            .map_err(|source| self.error("read", segment.start, source))
    }

    /// Called when no whole record stands at the position: moves to where one does, here or in the
    /// next segment. False when there is nothing more for now.
    fn look_further(&mut self) -> Result<bool> {
        let Some(segment) = &self.segment else { return Ok(false) };
        let start = segment.start;
        // Listed before the file is looked at again: what a later segment exists for, is complete.
        let next = self.starts()?.into_iter().find(|next| *next > start);
        let len = segment.file.metadata().map_err(|source| self.error("inspect", start, source))?.len();
        if self.position < start + len {
            let found = scan::next_record(&segment.file, start, self.position, &mut self.block)
                .map_err(|source| self.error("read", start, source))?;
            self.block.clear();
            let may_grow = self.may_grow()?;
            match found {
                Found::Record(at) => {
                    self.skip_to(at);
                    return Ok(true);
                }
                Found::Nothing(at) if next.is_none() => {
                    if !may_grow {
                        self.skip_to(at);
                    }
                    return Ok(false);
                }
                Found::Nothing(_) => {}
            }
        }
        let Some(next) = next else { return Ok(false) };
        self.segment = Some(self.enter(next)?);
        self.block.clear();
        self.skip_to(next);
        Ok(true)
    }

    /// Whether what stands at the position may still become a record.
    fn may_grow(&mut self) -> Result<bool> {
        self.fill(BLOCK)?;
        Ok(matches!(frame::parse(&self.block, self.position), Parsed::Partial { .. } | Parsed::Whole(_)))
    }

    fn skip_to(&mut self, at: u64) {
        self.skipped += at - self.position;
        self.position = at;
    }

    fn enter(&self, start: u64) -> Result<Segment> {
        let file = File::open(segments::path(&self.dir, start))
            .map_err(|source| self.error("open", start, source))?;
        Ok(Segment { start, file })
    }

    fn starts(&self) -> Result<Vec<u64>> {
        segments::starts(&self.dir).map_err(|source| Error::io("list", &self.dir, source))
    }

    fn error(&self, act: &'static str, start: u64, source: io::Error) -> Error {
        Error::io(act, segments::path(&self.dir, start), source)
    }
}

fn record(frame: &Frame<'_>, offset: u64) -> Record {
    let (ordinal, payload) = if frame.stream.is_ordered() {
        (Some(frame::long(frame.payload, 0)), &frame.payload[8..])
    } else {
        (None, frame.payload)
    };
    Record {
        offset,
        end: offset + frame.len() as u64,
        stream: frame.stream,
        at_us: frame.at_us,
        ordinal,
        payload: payload.to_vec(),
    }
}
