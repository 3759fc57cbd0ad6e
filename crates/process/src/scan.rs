//! Finding records in one segment from anywhere: after a tear, a damaged record, or a guess.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::frame::{self, HEADER, MAGIC, Parsed};

/// One read of a log. Holds several of the largest chunks of output, and keeps a reader small.
pub(crate) const BLOCK: usize = 256 * 1024;

/// Where the next record is, as far as the segment goes now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Record(u64),
    /// No whole record follows. The position is where one may still be in the making, else the end.
    Nothing(u64),
}

/// Looks for the first record at or after `from` in the segment that begins at `start`.
pub(crate) fn next_record(file: &File, start: u64, from: u64, block: &mut Vec<u8>) -> io::Result<Found> {
    let mut at = from;
    loop {
        fill(file, start, at, BLOCK, block)?;
        let last = block.len() < BLOCK;
        let mut from = 0;
        let mut unfinished = None;
        while let Some(found) = find_magic(&block[from..]) {
            let index = from + found;
            let here = at + index as u64;
            match frame::parse(&block[index..], here) {
                Parsed::Whole(_) | Parsed::Foreign { .. } => return Ok(Found::Record(here)),
                Parsed::Damaged => {}
                Parsed::Partial { needs } if index + needs > block.len() => {
                    if let Some(whole) = look_closer(file, start, here, needs)? {
                        if whole {
                            return Ok(Found::Record(here));
                        }
                    } else if unfinished.is_none() {
                        unfinished = Some(here);
                    }
                }
                Parsed::Partial { .. } => {}
            }
            from = index + 1;
        }
        if last {
            return Ok(Found::Nothing(unfinished.unwrap_or(at + block.len() as u64)));
        }
        // A header may straddle the blocks, so the last bytes are looked at again.
        at += (block.len() - (HEADER - 1)) as u64;
    }
}

/// The end of the last whole record of a segment, read from its beginning, and the segment's length.
pub(crate) fn whole_end(file: &File, start: u64) -> io::Result<(u64, u64)> {
    let mut block = Vec::new();
    let mut other = Vec::new();
    let mut at = start;
    let mut end = start;
    let mut want = BLOCK;
    loop {
        fill(file, start, at, want, &mut block)?;
        let last = block.len() < want;
        let mut index = 0;
        want = BLOCK;
        loop {
            match frame::parse(&block[index..], at + index as u64) {
                Parsed::Whole(frame) => {
                    index += frame.len();
                    end = at + index as u64;
                }
                // Records of a layout to come are kept as they are.
                Parsed::Foreign { .. } => {
                    return Ok((start + file.metadata()?.len(), file.metadata()?.len()));
                }
                Parsed::Partial { needs } if !last => {
                    want = needs.max(BLOCK);
                    at += index as u64;
                    break;
                }
                Parsed::Partial { .. } | Parsed::Damaged => {
                    match next_record(file, start, at + index as u64 + 1, &mut other)? {
                        Found::Record(next) => at = next,
                        Found::Nothing(_) => return Ok((end, file.metadata()?.len())),
                    }
                    break;
                }
            }
        }
    }
}

/// Replaces `block` with up to `want` bytes of the log at `at`; fewer mean the end of the segment.
pub(crate) fn fill(file: &File, start: u64, at: u64, want: usize, block: &mut Vec<u8>) -> io::Result<()> {
    // A follower mostly finds a few bytes; a whole block need not be cleared for them.
    let there = (start + file.metadata()?.len()).saturating_sub(at);
    let want = usize::try_from(there).map_or(want, |there| there.min(want));
    block.clear();
    block.resize(want, 0);
    let mut got = 0;
    while got < want {
        match file.read_at(&mut block[got..], at - start + got as u64) {
            Ok(0) => break,
            Ok(read) => got += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    block.truncate(got);
    Ok(())
}

/// Whether a record that runs out of the block is whole; `None` when the segment ends within it.
fn look_closer(file: &File, start: u64, at: u64, needs: usize) -> io::Result<Option<bool>> {
    let mut record = Vec::new();
    fill(file, start, at, needs, &mut record)?;
    match frame::parse(&record, at) {
        Parsed::Whole(_) | Parsed::Foreign { .. } => Ok(Some(true)),
        Parsed::Damaged => Ok(Some(false)),
        Parsed::Partial { .. } if record.len() < needs => Ok(None),
        Parsed::Partial { needs } => look_closer(file, start, at, needs),
    }
}

/// The first place where a record may begin, a lone first byte at the very end included.
fn find_magic(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = bytes[from..].iter().position(|byte| *byte == MAGIC[0]) {
        let index = from + found;
        if bytes.get(index + 1).is_none_or(|byte| *byte == MAGIC[1]) {
            return Some(index);
        }
        from = index + 1;
    }
    None
}
