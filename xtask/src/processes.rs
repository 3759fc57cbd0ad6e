//! Finding processes by what is in their environment, and ending exactly those.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

/// A process that was found alive.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) command: String,
}

impl Process {
    /// Kills it; one that is gone already is fine.
    pub(crate) fn kill(&self) {
        kill(self.pid);
    }
}

/// Sends KILL to a process; one that is gone already is fine.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Says whether a process is there, be it only as a zombie.
pub(crate) fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Says whether a process has a variable in its environment.
pub(crate) fn has_variable(pid: u32, name: &str, value: &Path) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    let wanted = [name.as_bytes(), b"=", value.as_os_str().as_bytes()].concat();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
}

/// Finds the living processes that have a variable in their environment.
pub(crate) fn with_variable(name: &str, value: &Path) -> anyhow::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("could not list /proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if has_variable(pid, name, value) {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            found.push(Process { pid, command: String::from_utf8_lossy(&command).replace('\0', " ") });
        }
    }
    Ok(found)
}
