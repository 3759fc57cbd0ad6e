//! The lock by which a run is known to be supervised.
//!
//! The shim holds it exclusively; everybody who only asks takes it shared for a moment, on a
//! descriptor opened for reading, so that closing it does not look like the shim's own end to a
//! watcher.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::layout::LOCK;
use crate::{Error, Result};

/// Held until dropped: no shim can begin in this directory meanwhile. `None` when it has no lock file.
#[derive(Debug)]
pub(crate) struct Shared {
    _file: Option<File>,
}

/// Takes the lock for asking; refused while a shim holds it.
pub(crate) fn shared(dir: &Path) -> Result<Shared> {
    let path = dir.join(LOCK);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Shared { _file: None }),
        Err(source) => return Err(Error::io("open", path, source)),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(Shared { _file: Some(file) }),
        Err(Errno::WOULDBLOCK) => Err(Error::Alive { dir: dir.to_owned() }),
        Err(source) => Err(Error::io("lock", path, source)),
    }
}

/// Takes the lock for a shim's life; refused when another shim has it.
pub(crate) fn exclusive(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK);
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = opened.map_err(|source| Error::io("open", &path, source))?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => {}
            Err(source) => return Err(Error::io("lock", path, source)),
        }
        // Somebody has it. If it can be shared, they only asked and are about to let go; waiting
        // for the exclusive lock would also wait for another shim, so it is tried again instead.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(Error::Alive { dir: dir.to_owned() }),
            Err(source) => return Err(Error::io("lock", path, source)),
        }
        std::thread::yield_now();
    }
}
