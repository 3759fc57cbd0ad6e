//! Taking away the directory of a run that is over.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result, lock};

/// The directory of a run that is over. No shim holds it, and none can begin in it as long as this lives.
#[derive(Debug)]
pub struct Unheld {
    dir: PathBuf,
    _lock: lock::Shared,
}

/// Takes hold of a run's directory; refused while a shim holds it.
pub fn unheld(dir: &Path) -> Result<Unheld> {
    Ok(Unheld { dir: dir.to_owned(), _lock: lock::shared(dir)? })
}

impl Unheld {
    /// Moves the directory to a place on the same file system, in one step.
    pub fn move_to(self, place: &Path) -> Result<()> {
        fs::rename(&self.dir, place).map_err(|source| Error::io("move", &self.dir, source))
    }
}
