//! The log of a server in the background: what it has to say, and what was written before, bounded by one size each.
//!
//! It is put aside when a server is started, and while one runs: a server that has something to complain about for
//! weeks must not fill the disk with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A log larger than this is put aside, in the place of the one that was put aside before.
const LARGEST: u64 = 10 * 1024 * 1024;

/// The log that this process writes as its standard error.
#[derive(Debug)]
pub(crate) struct ServerLog {
    path: PathBuf,
    /// Held while it is put aside, or what came last would take the place of what came before.
    turn: Mutex<()>,
}

/// Where the log of a data directory is.
pub(crate) fn path(home: &Path) -> PathBuf {
    home.join("server.log")
}

/// Opens a log to write at its end.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Puts a log aside that is too large.
pub(crate) fn put_aside(path: &Path) -> io::Result<()> {
    put_aside_beyond(path, LARGEST).map(drop)
}

fn put_aside_beyond(path: &Path, largest: u64) -> io::Result<bool> {
    let is_large = fs::metadata(path).is_ok_and(|found| found.len() > largest);
    if is_large {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    Ok(is_large)
}

impl ServerLog {
    /// Returns the log of a data directory when it is what this process has as its standard error.
    pub(crate) fn of_this_process(home: &Path) -> Option<ServerLog> {
        let path = path(home);
        let (log, errors) = (fs::metadata(&path).ok()?, rustix::fs::fstat(io::stderr()).ok()?);
        let is_it = log.dev() == errors.st_dev && log.ino() == errors.st_ino;
        is_it.then(|| ServerLog { path, turn: Mutex::default() })
    }

    /// Goes on in a new file when this one is too large.
    fn go_on(&self) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if put_aside_beyond(&self.path, LARGEST)? {
            let new = open(&self.path)?;
            rustix::stdio::dup2_stdout(&new)?;
            rustix::stdio::dup2_stderr(&new)?;
        }
        Ok(())
    }
}

impl Write for &ServerLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stderr().write(bytes)?;
        let size = rustix::fs::fstat(io::stderr()).ok().and_then(|found| u64::try_from(found.st_size).ok());
        if size.is_some_and(|size| size > LARGEST) {
            // Where that cannot be done, there is nobody to tell; it is tried again.
            let _ = self.go_on();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_log_that_is_too_large_is_put_aside_and_one_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (log, older) = (path(dir.path()), dir.path().join("server.log.1"));
        fs::write(&log, "first").unwrap();
        assert!(!put_aside_beyond(&log, 5).unwrap());
        fs::write(&log, "second").unwrap();
        assert!(put_aside_beyond(&log, 5).unwrap());
        fs::write(&log, "third and more").unwrap();
        assert!(put_aside_beyond(&log, 5).unwrap());
        assert!(!log.exists());
        assert_eq!(fs::read_to_string(older).unwrap(), "third and more");
    }
}
