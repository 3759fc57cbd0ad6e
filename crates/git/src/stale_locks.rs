//! Lock files that a git which was killed has left behind.
//!
//! Those in the git directory of one worktree can be told to be nobody's by whoever knows that nobody is at work there.
//! Those in the directory that all checkouts share are never removed here: a git of the person may hold them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::Worktree;
use crate::error::{Result, io_error};
use crate::names::check_branch_name;
use crate::repo::Repo;

impl Worktree {
    /// Finds the locks in the worktree's own git directory: on its index, its HEAD and other files of its own.
    pub fn own_locks(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.checkout.git_dir).into_iter().flatten().flatten();
        let mut locks: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| is_lock(path)).collect();
        locks.sort();
        locks
    }

    /// Removes a lock of the worktree's own. Whoever calls knows that nobody holds it.
    pub fn remove_own_lock(&self, lock: &Path) -> Result<()> {
        debug_assert_eq!(lock.parent(), Some(self.checkout.git_dir.as_path()));
        match fs::remove_file(lock) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io_error("remove", lock)(error))
            }
            _ => Ok(()),
        }
    }
}

impl Repo {
    /// Finds the locks in the directory that all checkouts share which keep a branch from being moved.
    pub fn shared_locks(&self, branch: &str) -> Vec<PathBuf> {
        let mut locks =
            vec![self.common_dir().join("packed-refs.lock"), self.common_dir().join("config.lock")];
        if check_branch_name(branch).is_ok() {
            locks.push(self.common_dir().join("refs/heads").join(format!("{branch}.lock")));
        }
        locks.retain(|path| is_lock(path));
        locks
    }
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lock")
        && fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}
