//! Appending to a log. One record is one write; a write that fails is taken back.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::frame::{self, MAX_PAYLOAD, Stream};
use crate::{Error, Result, segments};

/// Large enough to be rare, small enough that finding the end of a log is a matter of milliseconds.
pub(crate) const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The writing side of a log. There is one per directory: the shim that holds its lock.
#[derive(Debug)]
pub struct LogWriter {
    dir: PathBuf,
    file: Arc<File>,
    start: u64,
    end: u64,
    segment_bytes: u64,
    record: Vec<u8>,
}

impl LogWriter {
    /// Begins an empty log in `dir`. Nothing is put on the disk yet: a start should not wait for it.
    pub fn create(dir: &Path, segment_bytes: Option<u64>) -> Result<Self> {
        Ok(Self {
            dir: dir.to_owned(),
            file: Arc::new(create_segment(dir, 0)?),
            start: 0,
            end: 0,
            segment_bytes: segment_bytes.unwrap_or(SEGMENT_BYTES),
            record: Vec::new(),
        })
    }

    /// Appends one record and returns the log's new end.
    ///
    /// Ordered streams need an ordinal; the others have none. When the disk refuses, what was written
    /// of the record is cut off again and the log is as it was before.
    pub fn append(
        &mut self,
        stream: Stream,
        at_us: u64,
        ordinal: Option<u64>,
        payload: &[u8],
    ) -> Result<u64> {
        debug_assert_eq!(stream.is_ordered(), ordinal.is_some());
        let ordinal = ordinal.map(u64::to_le_bytes);
        let ordinal = ordinal.as_ref().map_or(&[][..], |bytes| &bytes[..]);
        let len = ordinal.len() + payload.len();
        if len > MAX_PAYLOAD {
            return Err(Error::TooLong { len, most: MAX_PAYLOAD });
        }
        let len = (frame::HEADER + len) as u64;
        if self.end > self.start && self.end - self.start + len > self.segment_bytes {
            self.roll()?;
        }
        frame::encode(&mut self.record, stream, self.end, at_us, &[ordinal, payload]);
        if let Err(source) = self.file.write_all_at(&self.record, self.end - self.start) {
            // If even the cut fails, the next record is written over the torn one.
            let _ = self.file.set_len(self.end - self.start);
            return Err(Error::io("append to", segments::path(&self.dir, self.start), source));
        }
        self.end += len;
        // A long prompt must not stay in memory for the rest of the run.
        self.record.shrink_to(128 * 1024);
        Ok(self.end)
    }

    /// The offset after the last record.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Puts everything written so far on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(|source| Error::io("sync", segments::path(&self.dir, self.start), source))
    }

    /// Makes the newest segment's name survive a power cut as well.
    fn sync_name(&self) -> Result<()> {
        sync_dir(&self.dir).map_err(|source| Error::io("sync", &self.dir, source))
    }

    /// The file being written, for syncing it while others append.
    pub(crate) fn current(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Ends this segment. It is synced first, so that only the newest one can ever have a torn tail.
    fn roll(&mut self) -> Result<()> {
        self.sync()?;
        self.file = Arc::new(create_segment(&self.dir, self.end)?);
        self.start = self.end;
        self.sync_name()
    }
}

fn create_segment(dir: &Path, start: u64) -> Result<File> {
    let path = segments::path(dir, start);
    let created = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    created.map_err(|source| Error::io("create", &path, source))
}

/// Makes the names in a directory survive a power cut.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
