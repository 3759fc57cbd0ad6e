//! How many descriptors a process may have open. The server needs many and raises its own soft limit; whatever it starts
//! gets back the one that the user gave it, because programs that count on a small one are theirs to surprise.

use std::io;
use std::process::Child;
use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit};

use crate::os;

/// As many as anything here could use; where the hard limit is a thousand million, the kernel need not hold a table for it.
const ENOUGH: u64 = 1 << 20;

/// The soft limit of this process before it was raised.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Raises the soft limit of this process to its hard one.
pub fn raise_descriptors() -> io::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.unwrap_or(ENOUGH).min(ENOUGH);
    let Some(before) = current.filter(|before| *before < most) else { return Ok(()) };
    os::limit_descriptors(None, Rlimit { current: Some(most), maximum })?;
    // Who raises it twice raised it from what it was the first time.
    let _first = BEFORE.set(before);
    Ok(())
}

/// Gives a child the soft limit that this process had before it raised its own.
pub fn give_back_descriptors(child: &Child) {
    let (Some(before), Some(pid)) = (former(), i32::try_from(child.id()).ok().and_then(Pid::from_raw)) else {
        return;
    };
    let limit = Rlimit { current: Some(before), maximum: getrlimit(Resource::Nofile).maximum };
    // It may have ended already; with more than it expects it works all the same.
    let _ended = os::limit_descriptors(Some(pid), limit);
}

/// The soft limit before it was raised; none when it was not.
pub(crate) fn former() -> Option<u64> {
    BEFORE.get().copied()
}

/// Lowers the soft limit of this process, and of all that it starts.
pub(crate) fn lower(soft: u64) -> io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    os::limit_descriptors(None, Rlimit { current: Some(soft), maximum })
}
