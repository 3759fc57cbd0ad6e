//! The files a log is made of. A segment's name is the offset of its first byte in the whole log.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PREFIX: &str = "log-";
const SUFFIX: &str = ".flog";

pub(crate) fn path(dir: &Path, start: u64) -> PathBuf {
    dir.join(format!("{PREFIX}{start:020}{SUFFIX}"))
}

pub(crate) fn is_segment(name: &str) -> bool {
    start_of(name).is_some()
}

/// The start offsets of all segments, in order. A directory that is not there has none.
pub(crate) fn starts(dir: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut starts = Vec::new();
    for entry in entries {
        if let Some(start) = entry?.file_name().to_str().and_then(start_of) {
            starts.push(start);
        }
    }
    starts.sort_unstable();
    Ok(starts)
}

fn start_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    (digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_found_in_order_among_other_files() {
        let dir = tempfile::tempdir().unwrap();
        for start in [700, 0, 90_000_000_000] {
            fs::write(path(dir.path(), start), "").unwrap();
        }
        for other in ["log-1.flog", "log-0000000000000000000x.flog", "exit.json", "entries-v1"] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        assert_eq!(starts(dir.path()).unwrap(), [0, 700, 90_000_000_000]);
        assert_eq!(starts(&dir.path().join("absent")).unwrap(), [0_u64; 0]);
    }
}
