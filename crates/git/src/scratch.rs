//! A directory of our own for the length of one act, inside a checkout's git directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, io_error};

/// A directory that goes when it is dropped. One that a crash leaves behind goes with the worktree.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Scratch {
    pub(crate) fn make(git_dir: &Path) -> Result<Scratch> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = git_dir.join("forge-scratch").join(format!("{}-{number}", process::id()));
        // A directory of this name was left by a dead process that had our id.
        if path.exists() {
            fs::remove_dir_all(&path).map_err(io_error("empty", &path))?;
        }
        fs::create_dir_all(&path).map_err(io_error("make", &path))?;
        Ok(Scratch(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.0.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        }
        fs::write(&path, content).map_err(io_error("write", &path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is small and in the way of nothing.
        let _left = fs::remove_dir_all(&self.0);
    }
}
