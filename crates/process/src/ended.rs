//! The directory of a run that nobody supervised here: a log that came from elsewhere, and how the run ended.
//!
//! Readers cannot tell it from one that a shim has left. It is written whole and put on the disk by [`settle`],
//! many at once: a sync for each of thousands would take longer than everything else.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::layout::EXIT;
use crate::{Error, Exit, LogWriter, Result, Stream, os};

/// A log being written down after the fact.
#[derive(Debug)]
pub struct EndedLog {
    dir: PathBuf,
    writer: LogWriter,
}

impl EndedLog {
    /// Begins in a directory that must not be there yet.
    pub fn create(dir: &Path) -> Result<Self> {
        let made = DirBuilder::new().mode(0o700).create(dir);
        made.map_err(|source| Error::io("create", dir, source))?;
        Ok(Self { dir: dir.to_owned(), writer: LogWriter::create(dir, None)? })
    }

    /// Appends some output.
    pub fn append(&mut self, stream: Stream, at_us: u64, payload: &[u8]) -> Result<()> {
        self.writer.append(stream, at_us, None, payload).map(drop)
    }

    /// Writes down how it ended; the end of the log is filled in.
    pub fn end(self, exit: Exit) -> Result<()> {
        let exit = Exit { log_end: self.writer.end(), ..exit };
        let path = self.dir.join(EXIT);
        let bytes =
            serde_json::to_vec(&exit).map_err(|source| Error::Malformed { path: path.clone(), source })?;
        let mut options = File::options();
        let made = options.write(true).create_new(true).mode(0o600).open(&path);
        let written = made.and_then(|mut file| std::io::Write::write_all(&mut file, &bytes));
        written.map_err(|source| Error::io("write", &path, source))
    }
}

/// Puts everything on the disk that was written to the file system of a directory.
pub fn settle(dir: &Path) -> Result<()> {
    let opened = fs::File::open(dir).map_err(|source| Error::io("open", dir, source))?;
    os::sync_file_system(&opened).map_err(|source| Error::io("sync", dir, source))
}
