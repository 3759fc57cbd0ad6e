//! Reads files that a repository or an agent may have put there: never more than a few bytes too many, and never
//! something that has no end or keeps its reader waiting.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// What lies at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Bytes(Vec<u8>),
    TooLong,
    /// There is nothing, or it is no file, or cannot be read.
    Nothing,
}

/// Reads a file when it is no longer than `most`. With `through_links` a link leads to its file.
pub(crate) fn read(path: &Path, most: u64, through_links: bool) -> Plain {
    let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !through_links);
    open(path, flags, Mode::empty()).map_or(Plain::Nothing, |opened| read_opened(opened, most))
}

/// Reads what was opened without waiting, when it is a file no longer than `most`.
pub(crate) fn read_opened(opened: OwnedFd, most: u64) -> Plain {
    if !fstat(&opened).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file()) {
        return Plain::Nothing;
    }
    let mut bytes = Vec::new();
    match File::from(opened).take(most + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 > most => Plain::TooLong,
        Ok(_) => Plain::Bytes(bytes),
        Err(_) => Plain::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::{fs, process};

    #[test]
    fn what_has_no_end_or_no_writer_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "four").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        assert!(process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert_eq!(read(&at("file"), 4, false), Plain::Bytes(b"four".to_vec()));
        assert_eq!(read(&at("file"), 3, false), Plain::TooLong);
        assert_eq!(read(&at("link"), 4, false), Plain::Nothing);
        assert_eq!(read(&at("link"), 4, true), Plain::Bytes(b"four".to_vec()));
        for name in ["endless", "pipe", "missing", "."] {
            for through_links in [true, false] {
                assert_eq!(read(&at(name), 4, through_links), Plain::Nothing, "{name}");
            }
        }
    }
}
