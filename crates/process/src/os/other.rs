//! The same questions where nobody has answered them yet. Untested: a run is refused with a
//! sentence rather than supervised badly.

use std::fs::File;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Rlimit, Signal};

use super::Notice;

pub(crate) fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default()
}

pub(crate) fn sync_file_system(_file: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

pub(crate) fn inheritable_pipe() -> io::Result<(File, OwnedFd)> {
    Err(unsupported())
}

pub(crate) fn open_inherited(_fd: RawFd) -> io::Result<File> {
    Err(unsupported())
}

pub(crate) fn close_inherited(_keep: Option<RawFd>) -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn limit_descriptors(_pid: Option<Pid>, _limit: Rlimit) -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn die_with_parent(_parent: u32) -> io::Result<bool> {
    Err(unsupported())
}

pub(crate) fn offer_to_the_memory_killer() -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn pid_world() -> io::Result<String> {
    Err(unsupported())
}

pub(crate) fn peer_uid(_stream: &UnixStream) -> io::Result<u32> {
    Err(unsupported())
}

pub(crate) fn connect_control(_dir: &Path, _timeout: Duration) -> io::Result<UnixStream> {
    Err(unsupported())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) zombie: bool,
}

impl Process {
    pub(crate) fn find(_pid: u32) -> Option<Self> {
        None
    }

    pub(crate) fn has_variable(&self, _variable: &str) -> bool {
        false
    }

    pub(crate) fn environment(&self) -> Environment {
        Environment
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn hold(&self) -> io::Result<Option<Held>> {
        Err(unsupported())
    }
}

#[derive(Debug)]
pub(crate) struct Environment;

impl Environment {
    pub(crate) fn get(&self, _name: &str) -> Option<String> {
        None
    }
}

pub(crate) fn own_processes() -> io::Result<impl Iterator<Item = Process>> {
    Err::<std::iter::Empty<Process>, _>(unsupported())
}

pub(crate) fn descendants() -> io::Result<Vec<Process>> {
    Err(unsupported())
}

#[derive(Debug)]
pub(crate) struct Held;

impl Held {
    pub(crate) fn signal(&self, _signal: Signal) -> io::Result<()> {
        Err(unsupported())
    }
}

pub(crate) fn wait_for_all(_held: Vec<Held>, _deadline: Instant) -> io::Result<()> {
    Err(unsupported())
}

#[derive(Debug)]
pub(crate) struct Notices;

impl Notices {
    pub(crate) fn open() -> io::Result<Self> {
        Err(unsupported())
    }

    pub(crate) fn add(&self, _dir: &Path) -> io::Result<i32> {
        Err(unsupported())
    }

    pub(crate) fn remove(&self, _watch: i32) {}

    pub(crate) fn follow(&self, _heard: impl FnMut(Notice<'_>)) -> io::Result<()> {
        Err(unsupported())
    }

    pub(crate) fn close(&self) {}
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "supervising processes is written for Linux only so far")
}
