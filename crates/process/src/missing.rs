//! How much of a log is not there any more, or cannot be read: a disk lied, or somebody wrote into its files.

use std::path::Path;

use crate::{LogReader, Result};

/// How much is read at a time.
const PIECE: usize = 1 << 20;

/// Reads the log of a run that has ended with `end` bytes of log, and returns how many of them are in no whole record.
pub fn missing(dir: &Path, end: u64) -> Result<u64> {
    let mut reader = LogReader::open(dir, 0)?;
    let mut whole = 0;
    loop {
        let records = reader.read(PIECE)?;
        if records.is_empty() {
            return Ok(end.saturating_sub(whole));
        }
        whole += records
            .iter()
            .filter(|record| record.end <= end)
            .map(|record| record.end - record.offset)
            .sum::<u64>();
    }
}
