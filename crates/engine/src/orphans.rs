//! The git calls of a server that died: they run on without it.
//!
//! What such a call still makes could not be taken back, and what it holds locked could not be finished, so
//! nothing is touched before they have ended. One that does not end by itself is asked to, by which git removes its
//! locks, and killed when it does not do that either.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use forge_git::Git;
use rustix::process::{Pid, Signal};

use crate::Result;

/// Marks every git call of a server, by its data directory.
const MARKER: &str = "FORGE_DATA";

/// Enough for the checkout of a large repository. A hook may take longer, but nobody waits that long for a
/// server.
const LONGEST: Duration = Duration::from_secs(10);

/// How long a call may take to end after it was asked to, and after it was killed.
const GRACE: Duration = Duration::from_secs(5);

/// Finds git, and marks whatever it is called for.
pub(crate) fn marked_git(home: &Path) -> Result<Git> {
    let marker = (OsString::from(MARKER), home.as_os_str().to_owned());
    Ok(Git::find_in(std::env::vars_os().filter(|(name, _)| name != MARKER).chain([marker]))?)
}

/// Waits until no git call of an earlier server is under way, and ends those that go on for too long. Blocks.
pub(crate) fn wait(home: &Path) {
    wait_within(home, LONGEST);
}

fn wait_within(home: &Path, longest: Duration) {
    if are_over(home, longest) {
        return;
    }
    tracing::warn!("a git call of an earlier server does not end; it is ended");
    for signal in [Signal::TERM, Signal::KILL] {
        for pid in under_way(home) {
            end(pid, signal);
        }
        if are_over(home, GRACE) {
            return;
        }
    }
    tracing::warn!("a git call of an earlier server cannot be ended; going on without waiting for it");
}

fn are_over(home: &Path, longest: Duration) -> bool {
    let deadline = Instant::now() + longest;
    while !under_way(home).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Ends a call with all that it started: it leads a group of its own.
fn end(pid: Pid, signal: Signal) {
    // One that has just ended is as good.
    let _gone = match rustix::process::getpgid(Some(pid)) == Ok(pid) {
        true => rustix::process::kill_process_group(pid, signal),
        // A call of an older Forge is in the group of its server, or of whoever started that.
        false => rustix::process::kill_process(pid, signal),
    };
}

/// Looks through the processes; where there is no `/proc`, there is nothing to see.
fn under_way(home: &Path) -> Vec<Pid> {
    let marker = [MARKER.as_bytes(), b"=", home.as_os_str().as_bytes()].concat();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_one = |process: &std::fs::DirEntry| {
        // Hooks have the marker too, and what they leave running is not git's.
        let is_git = std::fs::read(process.path().join("comm")).is_ok_and(|name| name.starts_with(b"git"));
        is_git
            && std::fs::read(process.path().join("environ"))
                .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == marker))
    };
    let pid = |process: std::fs::DirEntry| process.file_name().to_str()?.parse().ok().and_then(Pid::from_raw);
    processes.flatten().filter(is_one).filter_map(pid).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_call_of_a_dead_server_that_does_not_end_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let (program, helper) = (home.join("git-hangs"), home.join("helper"));
        let script = format!("#!/bin/sh\nsleep 1000 & echo $! > '{}'; wait\n", helper.display());
        // Written by another process: one that is open for writing anywhere cannot be executed.
        let mut write = Command::new("/bin/sh");
        write.args(["-c", "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(&program).arg(script);
        assert!(write.status().unwrap().success());
        let mut call = Command::new(&program).env(MARKER, home).process_group(0).spawn().unwrap();
        let written = || std::fs::read_to_string(&helper).ok()?.trim().parse().ok().and_then(Pid::from_raw);
        let deadline = Instant::now() + Duration::from_secs(60);
        let helper = loop {
            match written() {
                Some(pid) => break pid,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(Instant::now() < deadline, "the helper did not say its pid");
        };
        let leader = i32::try_from(call.id()).ok().and_then(Pid::from_raw).unwrap();
        // A child of it that has not become another program yet is called like it.
        assert!(under_way(home).contains(&leader));
        let reaped = std::thread::spawn(move || call.wait());
        wait_within(home, Duration::from_millis(50));
        assert!(under_way(home).is_empty());
        assert!(!reaped.join().unwrap().unwrap().success());
        // A signal that was sent takes a moment to end it. It may be a zombie that nobody collects here, and a zombie can
        // be signalled.
        let stat =
            || std::fs::read_to_string(format!("/proc/{}/stat", helper.as_raw_nonzero())).unwrap_or_default();
        while !stat().is_empty() && !stat().contains(") Z ") {
            assert!(Instant::now() < deadline, "{}", stat());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
