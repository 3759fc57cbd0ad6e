//! Notices of changes in directories, by one inotify instance.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::Notice;

/// Where notices arrive.
#[derive(Debug)]
pub(crate) struct Notices {
    queue: OwnedFd,
    closing: OwnedFd,
}

impl Notices {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self {
            queue: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            closing: eventfd(0, EventfdFlags::CLOEXEC)?,
        })
    }

    /// Watches a directory. The same directory gives the same number.
    pub(crate) fn add(&self, dir: &Path) -> io::Result<i32> {
        let flags = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ONLYDIR;
        Ok(inotify::add_watch(&self.queue, dir, flags)?)
    }

    pub(crate) fn remove(&self, watch: i32) {
        // A directory that was removed took its watch with it.
        let _ = inotify::remove_watch(&self.queue, watch);
    }

    /// Hands over notices as they come until `close` is called.
    pub(crate) fn follow(&self, mut heard: impl FnMut(Notice<'_>)) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(self.queue.as_fd(), &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let kind = event.events();
                    let watch = event.wd();
                    if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                        heard(Notice::Overflow);
                    } else if kind.contains(ReadFlags::IGNORED) {
                        heard(Notice::Forgotten { watch });
                    } else if let Some(name) = event.file_name().and_then(|name| name.to_str().ok()) {
                        heard(Notice::Changed { watch, name, closed: kind.contains(ReadFlags::CLOSE_WRITE) });
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

    pub(crate) fn close(&self) {
        // A counter of one cannot overflow, and there is no other way for this to fail.
        let _ = rustix::io::write(&self.closing, &1_u64.to_ne_bytes());
    }
}
