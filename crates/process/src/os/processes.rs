//! The processes of this machine, by `/proc`, and a hold on one of them that no reuse of its pid
//! can loosen.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One process; pid and start time together name it for as long as the machine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// In clock ticks since boot.
    pub(crate) start: u64,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    pub(crate) zombie: bool,
}

impl Process {
    pub(crate) fn find(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may hold anything, also a parenthesis.
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = std::str::from_utf8(&stat[after_name..]).ok()?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: number(1)? as u32,
            group: number(2)? as u32,
            session: number(3)? as u32,
            start: number(19)?,
        })
    }

    /// Whether its environment, as it was at exec, has this `NAME=value`.
    pub(crate) fn has_variable(&self, variable: &str) -> bool {
        fs::read(format!("/proc/{}/environ", self.pid))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes()))
    }

    /// Its environment, as it was at exec. Nothing of it is left when it is about to end, so what belongs together is
    /// looked up in one of these.
    pub(crate) fn environment(&self) -> Environment {
        Environment(fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default())
    }

    /// What it was called with.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let line = line.strip_suffix(b"\0").unwrap_or(&line);
        line.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
    }

    /// Takes hold of it; `None` when it is gone.
    pub(crate) fn hold(&self) -> io::Result<Option<Held>> {
        let Some(pid) = Pid::from_raw(self.pid as i32) else { return Ok(None) };
        let fd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(Errno::SRCH | Errno::INVAL) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // The pid may have changed hands before it was held. It cannot any more.
        Ok(Self::find(self.pid).is_some_and(|now| now.start == self.start).then_some(Held(fd)))
    }
}

/// The environment of a process at one moment.
#[derive(Debug)]
pub(crate) struct Environment(Vec<u8>);

impl Environment {
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let mut values = self.0.split(|byte| *byte == 0).filter_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        });
        values.next()
    }
}

/// Every process of this user but this one.
pub(crate) fn own_processes() -> io::Result<impl Iterator<Item = Process>> {
    let uid = rustix::process::geteuid().as_raw();
    let this = std::process::id();
    Ok(fs::read_dir("/proc")?.filter_map(move |entry| {
        let entry = entry.ok()?;
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (pid != this && entry.metadata().ok()?.uid() == uid).then(|| Process::find(pid))?
    }))
}

/// The living descendants of this process.
pub(crate) fn descendants() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    let mut parents = vec![std::process::id()];
    while let Some(parent) = parents.pop() {
        for child in children(parent)? {
            if let Some(process) = Process::find(child) {
                parents.push(child);
                if !process.zombie {
                    found.push(process);
                }
            }
        }
    }
    Ok(found)
}

/// The children of a process. The kernel lists them by thread, so all threads are asked.
fn children(parent: u32) -> io::Result<Vec<u32>> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Ok(Vec::new()) };
    let mut children = Vec::new();
    for thread in threads.filter_map(Result::ok) {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(pids) => {
                children.extend(pids.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            }
            // A kernel without these lists still tells everybody's parent. A thread may also just have ended.
            Err(_) if !thread.path().join("children").exists() && thread.path().exists() => {
                return Ok(own_processes()?
                    .filter(|child| child.parent == parent)
                    .map(|child| child.pid)
                    .collect());
            }
            Err(_) => {}
        }
    }
    Ok(children)
}

/// A hold on one process.
#[derive(Debug)]
pub(crate) struct Held(OwnedFd);

impl Held {
    /// Signals it. That it is gone already is as good.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.0, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits until all of them have ended, at most until `deadline`.
pub(crate) fn wait_for_all(mut held: Vec<Held>, deadline: Instant) -> io::Result<()> {
    while !held.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let mut polled: Vec<_> = held.iter().map(|held| PollFd::new(&held.0, PollFlags::IN)).collect();
        match poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut ended =
            polled.iter().map(|polled| !polled.revents().is_empty()).collect::<Vec<_>>().into_iter();
        held.retain(|_| !ended.next().unwrap_or(false));
    }
    Ok(())
}
