//! How git is started: whoever uses this crate may want to do something with each process at once.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;

static STARTED: OnceLock<fn(&Child)> = OnceLock::new();

/// Has this called with each process that is started from now on.
pub fn with_each_child(act: fn(&Child)) {
    // The limits of a process, which this is for, are those of all engines in it.
    let _first = STARTED.set(act);
}

pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let child = command.spawn()?;
    if let Some(act) = STARTED.get() {
        act(&child);
    }
    Ok(child)
}
