//! `server.json`: which process serves a data directory, and where. A file left behind by a dead server is
//! told apart by the process's start time, so a recycled process id is never taken for a server.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use crate::private_file;

/// A server that serves a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerFile {
    pub(crate) pid: u32,
    pub(crate) url: String,
    pub(crate) version: String,
    /// When the process started, in the kernel's own count; none where the kernel does not tell.
    #[serde(default)]
    pub(crate) started: Option<u64>,
    /// The data directory that the process serves, as the file system knows it: in a copy of the directory the
    /// description is not true. None of a server that did not write it down.
    #[serde(default)]
    pub(crate) data: Option<(u64, u64)>,
}

impl ServerFile {
    /// Describes this process, serving the data directory at `url`.
    pub(crate) fn of_this_process(url: &str, home: &Path) -> Self {
        let pid = std::process::id();
        let version = env!("CARGO_PKG_VERSION").to_string();
        Self { pid, url: url.to_string(), version, started: start_time(pid), data: directory(home) }
    }

    /// Puts the description where clients look for it, all at once.
    pub(crate) fn write(&self, home: &Path) -> io::Result<()> {
        private_file::replace(&path(home), serde_json::to_string(self)?.as_bytes())
    }

    /// Takes the description away, unless another server has put its own there.
    pub(crate) fn remove(&self, home: &Path) -> io::Result<()> {
        match read(home) {
            Some(found) if found == *self => fs::remove_file(path(home)),
            _ => Ok(()),
        }
    }

    /// Says whether the process that wrote the description still runs.
    pub(crate) fn is_alive(&self) -> bool {
        if cfg!(target_os = "linux") {
            return self.started.is_some() && start_time(self.pid) == self.started;
        }
        self.process().is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }

    /// Asks the server to end.
    pub(crate) fn terminate(&self) -> io::Result<()> {
        match self.process() {
            Some(pid) => Ok(rustix::process::kill_process(pid, Signal::TERM)?),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn process(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }
}

/// Finds the server that serves a data directory right now.
pub(crate) fn find(home: &Path) -> Option<ServerFile> {
    read(home)
        .filter(|found| found.data.is_none() || found.data == directory(home))
        .filter(ServerFile::is_alive)
}

/// The device and the number of a directory; none when it is not there.
fn directory(home: &Path) -> Option<(u64, u64)> {
    fs::metadata(home).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns the port that a server had which died without taking its description away.
pub(crate) fn port_left_behind(home: &Path) -> Option<u16> {
    let dead = read(home).filter(|found| !found.is_alive())?;
    dead.url.rsplit_once(':')?.1.trim_end_matches('/').parse().ok()
}

fn read(home: &Path) -> Option<ServerFile> {
    serde_json::from_str(&fs::read_to_string(path(home)).ok()?).ok()
}

fn path(home: &Path) -> PathBuf {
    home.join("server.json")
}

/// Returns when a process started, in clock ticks since boot; none when it is gone, or dead and not yet reaped.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, so the fields are counted after the last one.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recycled_process_id_is_not_taken_for_the_server() {
        let ours = ServerFile::of_this_process("http://127.0.0.1:1", Path::new("/"));
        assert!(ours.is_alive());
        let earlier = ServerFile { started: ours.started.map(|ticks| ticks - 1), ..ours };
        assert!(!earlier.is_alive());
    }

    #[test]
    fn a_description_is_removed_only_by_the_server_that_wrote_it() {
        let home = tempfile::tempdir().unwrap();
        let ours = ServerFile::of_this_process("http://127.0.0.1:1", home.path());
        let other = ServerFile { url: "http://127.0.0.1:2".into(), ..ours.clone() };
        other.write(home.path()).unwrap();
        ours.remove(home.path()).unwrap();
        assert_eq!(find(home.path()), Some(other.clone()));
        other.remove(home.path()).unwrap();
        assert_eq!(find(home.path()), None);
    }

    #[test]
    fn a_description_that_was_copied_with_its_directory_means_no_server() {
        let (home, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        ServerFile::of_this_process("http://127.0.0.1:1", home.path()).write(home.path()).unwrap();
        fs::copy(path(home.path()), path(copy.path())).unwrap();
        assert!(find(home.path()).is_some());
        assert_eq!(find(copy.path()), None);
    }

    #[test]
    fn a_damaged_description_means_no_server() {
        let home = tempfile::tempdir().unwrap();
        fs::write(path(home.path()), "{\"pid\":").unwrap();
        assert_eq!(find(home.path()), None);
    }
}
