//! Ending what a run left behind: politely first, then for certain.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::layout::{MARKER, OWNER, SHIM};
use crate::os::{self, Process};
use crate::{Error, Result, lock};

/// How long a leftover may take to end by itself.
const POLITE: Duration = Duration::from_millis(500);
/// A process that survives KILL so long hangs in the kernel, and nobody can help it.
const GIVE_UP: Duration = Duration::from_secs(10);
/// Holding a process costs a descriptor, of which there may be only 1024.
const AT_ONCE: usize = 256;

/// `shim.json`: hints about the processes of a run, good only in the world they were written in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShimRecord {
    pub(crate) layout: u8,
    pub(crate) protocol: (u32, u32),
    pub(crate) shim_pid: u32,
    pub(crate) agent_pid: u32,
    /// When the shim started, in clock ticks since boot.
    pub(crate) start: u64,
    /// The boot and the pid namespace.
    pub(crate) world: String,
}

/// How long a shim that let go of its lock may take to be gone.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Kills what is left of a run whose shim is gone, and returns how many processes that were.
///
/// These are the processes of this user that have the run's marker in their environment, and those
/// in the dead shim's session. A process that names an owner which is not among `owners` belongs to another data
/// directory and is spared. Refused while a shim holds the run, here or in the directory of which this one is a copy.
pub fn sweep(run: &str, dir: &Path, owners: &[String]) -> Result<u32> {
    let _held = lock::shared(dir)?;
    sweep_held(run, dir, owners)
}

/// Does the same for a caller who holds the lock.
pub(crate) fn sweep_held(run: &str, dir: &Path, owners: &[String]) -> Result<u32> {
    let record = shim_record(dir)?;
    let world = os::pid_world().map_err(|source| Error::io("identify", "/proc", source))?;
    let record = record.filter(|record| record.world == world);
    if let Some(record) = &record
        && let Some(shim) = living_shim(record)
    {
        // Its lock is free here. So it is about to end, or holds the lock in another directory.
        let is_gone = wait_for_end(&shim).map_err(|source| Error::io("sweep the run in", dir, source))?;
        if !is_gone {
            return Err(Error::Elsewhere { dir: dir.to_owned(), shim: shim.pid });
        }
    }
    let is_foreign =
        |owner: Option<String>| !owners.is_empty() && owner.is_some_and(|owner| !owners.contains(&owner));
    let is_marked = |process: &&Process| {
        let environment = process.environment();
        environment.get(MARKER).is_some_and(|marker| marker == run) && !is_foreign(environment.get(OWNER))
    };
    let left_behind = || {
        let processes: Vec<Process> = os::own_processes()?.filter(|process| !process.zombie).collect();
        let marked: HashSet<u32> = processes.iter().filter(is_marked).map(|process| process.pid).collect();
        let session = record.as_ref().filter(|record| is_still_its_session(record, &processes, &marked));
        Ok(processes
            .into_iter()
            .filter(|process| {
                let is_in_session = session.is_some_and(|record| process.session == record.shim_pid);
                marked.contains(&process.pid)
                    || is_in_session && !is_foreign(process.environment().get(OWNER))
            })
            .collect())
    };
    end_all(left_behind).map_err(|source| Error::io("sweep the run in", dir, source))
}

/// Returns the shim of a run when it lives and holds its lock in another directory: this one is a copy of that.
pub fn held_elsewhere(dir: &Path) -> Result<Option<u32>> {
    let Some(record) = shim_record(dir)? else { return Ok(None) };
    let world = os::pid_world().map_err(|source| Error::io("identify", "/proc", source))?;
    if record.world != world || matches!(lock::shared(dir), Err(Error::Alive { .. })) {
        return Ok(None);
    }
    let Some(shim) = living_shim(&record) else { return Ok(None) };
    let is_gone = wait_for_end(&shim).map_err(|source| Error::io("look after the run in", dir, source))?;
    Ok((!is_gone).then_some(shim.pid))
}

/// A shim of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    pub pid: u32,
    /// The name of the run's directory.
    pub run: String,
}

/// Finds the living shims of runs that any of these data directories has started.
pub fn shims(owners: &[String]) -> io::Result<Vec<Supervisor>> {
    let living = os::own_processes()?.filter(|process| !process.zombie);
    let shims = living.filter_map(|process| {
        // A shim carries the owner, and what it supervises carries the run as well.
        let environment = process.environment();
        if !owners.contains(&environment.get(OWNER)?) || environment.get(MARKER).is_some() {
            return None;
        }
        let arguments = process.arguments();
        let [.., run, dir] = arguments.as_slice() else { return None };
        let name = Path::new(dir).file_name().filter(|_| run == "run")?;
        Some(Supervisor { pid: process.pid, run: name.to_string_lossy().into_owned() })
    });
    Ok(shims.collect())
}

fn living_shim(record: &ShimRecord) -> Option<Process> {
    Process::find(record.shim_pid).filter(|found| found.start == record.start && !found.zombie)
}

/// Waits for a moment, and says whether a process has ended.
fn wait_for_end(process: &Process) -> io::Result<bool> {
    if let Some(held) = process.hold()? {
        os::wait_for_all(vec![held], Instant::now() + LETTING_GO)?;
    }
    Ok(Process::find(process.pid).is_none_or(|now| now.start != process.start || now.zombie))
}

/// Signals what `find` finds until it finds nothing: TERM, and KILL for what has not ended in time.
pub(crate) fn end_all(mut find: impl FnMut() -> io::Result<Vec<Process>>) -> io::Result<u32> {
    let begun = Instant::now();
    let mut asked: HashSet<(u32, u64)> = HashSet::new();
    let mut beyond_reach: HashSet<(u32, u64)> = HashSet::new();
    loop {
        let mut found = find()?;
        found.retain(|process| !beyond_reach.contains(&(process.pid, process.start)));
        if found.is_empty() || begun.elapsed() > GIVE_UP {
            return Ok(asked.len() as u32);
        }
        let polite = begun.elapsed() < POLITE;
        let mut held = Vec::new();
        for process in found.iter().take(AT_ONCE) {
            let name = (process.pid, process.start);
            let Some(hold) = process.hold()? else { continue };
            let signal = if polite { Signal::TERM } else { Signal::KILL };
            if polite && asked.contains(&name) {
                held.push(hold);
                continue;
            }
            match hold.signal(signal) {
                Ok(()) => {
                    asked.insert(name);
                    held.push(hold);
                }
                // It became another user's, by sudo for example.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    beyond_reach.insert(name);
                }
                Err(error) => return Err(error),
            }
        }
        let deadline = if polite { begun + POLITE } else { Instant::now() + POLITE };
        os::wait_for_all(held, deadline)?;
    }
}

pub(crate) fn marker(run: &str) -> String {
    format!("{MARKER}={run}")
}

/// Every process of this user that carries the marker.
pub(crate) fn marked(marker: &str) -> io::Result<Vec<Process>> {
    Ok(os::own_processes()?.filter(|process| !process.zombie && process.has_variable(marker)).collect())
}

pub(crate) fn shim_record(dir: &Path) -> Result<Option<ShimRecord>> {
    let path = dir.join(SHIM);
    match fs::read(&path) {
        // A power cut may leave it empty: nothing it spoke of has outlived that, and the run must still end.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io("read", path, source)),
    }
}

/// Whether the session with the dead shim's number is the one it made.
///
/// A number is not given out again while its session has a member. So it is the old session if its
/// leader is still on the process table, or if one member is certainly of the run: by its marker,
/// or by standing in the agent's group as well. Anything less may be a stranger's session.
fn is_still_its_session(record: &ShimRecord, processes: &[Process], marked: &HashSet<u32>) -> bool {
    if let Some(leader) = Process::find(record.shim_pid) {
        return leader.start == record.start;
    }
    processes
        .iter()
        .filter(|process| process.session == record.shim_pid)
        .any(|process| process.group == record.agent_pid || marked.contains(&process.pid))
}
