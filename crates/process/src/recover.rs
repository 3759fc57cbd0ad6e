//! The end of a log: where it is, and how it is mended after its shim was lost.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::{Error, Exit, Result, lock, scan, segments};

/// What was left of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// The offset after the last whole record.
    pub end: u64,
    /// How many bytes of an unfinished record were cut off.
    pub torn_bytes: u64,
}

/// The offset after the last whole record.
pub fn log_end(dir: &Path) -> Result<u64> {
    if let Some(exit) = Exit::read(dir)? {
        return Ok(exit.log_end);
    }
    let Some(start) = last_segment(dir)? else { return Ok(0) };
    let path = segments::path(dir, start);
    let file = File::open(&path).map_err(|source| Error::io("open", &path, source))?;
    let (end, _) = scan::whole_end(&file, start).map_err(|source| Error::io("read", &path, source))?;
    Ok(end)
}

/// Cuts the unfinished record from the end of a log whose shim is gone. Whole records stay, also
/// behind a damaged one. Safe to do twice; refused while a shim holds the run.
pub fn recover(dir: &Path) -> Result<Recovered> {
    let _held = lock::shared(dir)?;
    let Some(start) = last_segment(dir)? else { return Ok(Recovered { end: 0, torn_bytes: 0 }) };
    let path = segments::path(dir, start);
    let opened = OpenOptions::new().read(true).write(true).open(&path);
    let file = opened.map_err(|source| Error::io("open", &path, source))?;
    let (end, len) = scan::whole_end(&file, start).map_err(|source| Error::io("read", &path, source))?;
    let torn_bytes = start + len - end;
    if torn_bytes > 0 {
        file.set_len(end - start)
            .and_then(|()| file.sync_all())
            .map_err(|source| Error::io("cut the torn end of", &path, source))?;
    }
    Ok(Recovered { end, torn_bytes })
}

fn last_segment(dir: &Path) -> Result<Option<u64>> {
    let starts = segments::starts(dir).map_err(|source| Error::io("list", dir, source))?;
    Ok(starts.last().copied())
}
