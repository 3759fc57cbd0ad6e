//! Files of a checkout as they lie on disk. No link is followed, neither at the end of a path nor on the way.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};

use super::raw::LINK;
use crate::plain_file::{self, Plain};

/// A file that was written this recently may be written again without looking different.
const RACY: Duration = Duration::from_millis(50);

/// How a file looks from outside. One that was looked at in peace and looks the same is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Looks {
    pub(super) mode: u32,
    size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What lies at a path.
#[derive(Debug)]
pub(super) enum Found {
    Bytes(Vec<u8>),
    TooLong,
    /// It cannot be read, or is neither a file nor a link.
    Unreadable,
}

/// Looks at a path, which may have gone in the meantime.
pub(super) fn look(top: &Path, path: &Path) -> Option<Looks> {
    let (parent, name) = parent(top, path)?;
    looks(&statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?)
}

/// Reads a path that `look` found, when it is no longer than `most`.
pub(super) fn read(top: &Path, path: &Path, looked: &Looks, most: u64) -> Found {
    if looked.mode == LINK {
        let target = parent(top, path).and_then(|(parent, name)| readlinkat(&parent, name, Vec::new()).ok());
        return target.map_or(Found::Unreadable, |target| Found::Bytes(target.into_bytes()));
    }
    // A pipe that took the file's place must not keep us waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened =
        parent(top, path).and_then(|(parent, name)| openat(&parent, name, flags, Mode::empty()).ok());
    match opened.map_or(Plain::Nothing, |opened| plain_file::read_opened(opened, most)) {
        Plain::Bytes(bytes) => Found::Bytes(bytes),
        Plain::TooLong => Found::TooLong,
        Plain::Nothing => Found::Unreadable,
    }
}

impl Looks {
    /// Tells whether the file may have changed after it was read without looking different.
    pub(super) fn is_racy(&self, read_at: SystemTime) -> bool {
        let (seconds, nanos) = self.modified.max(self.changed);
        let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
        read_at.duration_since(UNIX_EPOCH + since).map_or(true, |age| age < RACY)
    }
}

/// Opens the directory that a path lies in, step by step.
fn parent<'a>(top: &Path, path: &'a Path) -> Option<(OwnedFd, &'a [u8])> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = openat(CWD, top, flags, Mode::empty()).ok()?;
    let mut steps = path.components();
    let Some(Component::Normal(name)) = steps.next_back() else { return None };
    for step in steps {
        let Component::Normal(step) = step else { return None };
        here = openat(&here, step.as_bytes(), flags | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    }
    Some((here, name.as_bytes()))
}

fn looks(stat: &Stat) -> Option<Looks> {
    let mode = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_mode & 0o100 != 0 => 0o100_755,
        FileType::RegularFile => 0o100_644,
        FileType::Symlink => LINK,
        // A directory in the place of a file: git tells of what is in it by itself.
        FileType::Directory => return None,
        _ => 0,
    };
    Some(Looks {
        mode,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        inode: stat.st_ino,
        modified: (stat.st_mtime, nanos(stat.st_mtime_nsec)),
        changed: (stat.st_ctime, nanos(stat.st_ctime_nsec)),
    })
}

/// Systems do not agree on the type.
fn nanos(nanos: impl TryInto<i64>) -> i64 {
    nanos.try_into().unwrap_or(0)
}
