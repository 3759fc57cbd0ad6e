//! Notices of changes in directories, by one inotify instance.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

/// Something happened.
#[derive(Debug)]
pub(super) enum Notice<'a> {
    /// Something of this name in a watched directory is new, changed or gone.
    Changed { watch: i32, name: &'a OsStr, is_directory: bool, is_new: bool },
    /// The directory is no longer watched: it was removed, or nobody asks any more.
    Forgotten { watch: i32 },
    /// Notices were lost; everything may have changed.
    Overflow,
}

/// Where notices arrive.
#[derive(Debug)]
pub(super) struct Notices {
    queue: OwnedFd,
    closing: OwnedFd,
}

impl Notices {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self {
            queue: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            closing: eventfd(0, EventfdFlags::CLOEXEC)?,
        })
    }

    /// Watches a directory, never one that a link leads to. The same directory gives the same number.
    pub(super) fn add(&self, directory: &Path) -> io::Result<i32> {
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::EXCL_UNLINK
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::ONLYDIR;
        Ok(inotify::add_watch(&self.queue, directory, flags)?)
    }

    pub(super) fn remove(&self, watch: i32) {
        // A directory that was removed took its watch with it.
        let _ = inotify::remove_watch(&self.queue, watch);
    }

    /// Hands over notices as they come until `close` is called.
    pub(super) fn follow(&self, mut heard: impl FnMut(Notice<'_>)) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(self.queue.as_fd(), &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let (kind, watch) = (event.events(), event.wd());
                    if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                        heard(Notice::Overflow);
                    } else if kind.contains(ReadFlags::IGNORED) {
                        heard(Notice::Forgotten { watch });
                    } else if let Some(name) = event.file_name() {
                        let name = OsStr::from_bytes(name.to_bytes());
                        let is_directory = kind.contains(ReadFlags::ISDIR);
                        let is_new = kind.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
                        heard(Notice::Changed { watch, name, is_directory, is_new });
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut both =
                        [PollFd::new(&self.queue, PollFlags::IN), PollFd::new(&self.closing, PollFlags::IN)];
                    match poll(&mut both, None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                    if !both[1].revents().is_empty() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn close(&self) {
        // A counter of one cannot overflow, and there is no other way for this to fail.
        let _ = rustix::io::write(&self.closing, &1_u64.to_ne_bytes());
    }
}
