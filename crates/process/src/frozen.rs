//! A shim that does not answer: it is told to go on, and ended when that does not help.
//!
//! Somebody may have stopped it (STOP), or a debugger holds it. Its agent is ended with it by the kernel, whatever state
//! both are in. Signals go to the very process that the run's directory names, and only while a shim holds the run.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::os::{self, Held, Process};
use crate::sweep::shim_record;
use crate::{Error, Liveness, Result, liveness};

/// How long a killed process takes to let go of what it held, on a machine that is busy.
const LETS_GO: Duration = Duration::from_secs(10);

/// Lets the shim of a run go on, in case that somebody has stopped it; one that runs does not notice.
pub fn thaw(dir: &Path) -> Result<()> {
    signal(dir, Signal::CONT).map(drop)
}

/// Kills the shim of a run, and with it the agent. Returns when nobody holds the run any more.
///
/// The run has no exit record then: it is lost, and whoever finds that out sweeps what is left.
pub fn kill_shim(dir: &Path) -> Result<()> {
    let Some(held) = signal(dir, Signal::KILL)? else { return Ok(()) };
    let deadline = Instant::now() + LETS_GO;
    os::wait_for_all(vec![held], deadline)
        .map_err(|source| Error::io("wait for the shim in", dir, source))?;
    Ok(())
}

fn signal(dir: &Path, signal: Signal) -> Result<Option<Held>> {
    if !matches!(liveness(dir)?, Liveness::Alive) {
        return Ok(None);
    }
    let failed = |source| Error::io("signal the shim in", dir, source);
    let world = os::pid_world().map_err(|source| Error::io("identify", "/proc", source))?;
    let record = shim_record(dir)?.filter(|record| record.world == world);
    let process = record.and_then(|record| {
        Process::find(record.shim_pid).filter(|process| process.start == record.start && !process.zombie)
    });
    let Some(held) = process.map(|process| process.hold()).transpose().map_err(failed)?.flatten() else {
        return Ok(None);
    };
    held.signal(signal).map_err(failed)?;
    Ok(Some(held))
}
