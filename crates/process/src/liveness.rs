//! Whether a run lives. Its directory is the only witness: the lock and the exit record.

use std::path::Path;

use crate::{Error, Exit, Result, lock};

/// What a run directory says about its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// A shim holds the lock.
    Alive,
    Exited(Exit),
    /// No shim, and no exit record: the shim was killed, or never came so far.
    Gone,
}

/// Asks the directory. An empty, incomplete or absent one is `Gone`.
pub fn liveness(dir: &Path) -> Result<Liveness> {
    if let Some(exit) = Exit::read(dir)? {
        return Ok(Liveness::Exited(exit));
    }
    match lock::shared(dir) {
        // The record may have been written between the first look and the lock.
        Ok(_) => Ok(Exit::read(dir)?.map_or(Liveness::Gone, Liveness::Exited)),
        Err(Error::Alive { .. }) => Ok(Liveness::Alive),
        Err(error) => Err(error),
    }
}
