//! Where there is no inotify: nothing can be watched, and whoever wants to know looks now and then.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

#[derive(Debug)]
#[expect(dead_code, reason = "nobody gives notice here")]
pub(super) enum Notice<'a> {
    Changed { watch: i32, name: &'a OsStr, is_directory: bool, is_new: bool },
    Forgotten { watch: i32 },
    Overflow,
}

#[derive(Debug)]
pub(super) struct Notices;

impl Notices {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn add(&self, _: &Path) -> io::Result<i32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(&self, _: i32) {}

    pub(super) fn follow(&self, _: impl FnMut(Notice<'_>)) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn close(&self) {}
}
