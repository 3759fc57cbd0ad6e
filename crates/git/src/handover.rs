//! What a hand-over that broke off leaves behind, found and mended: an entry that leads to where the worktree lay
//! before, and locks of a git that was killed.
//!
//! Only what is ours is touched: a worktree under the root that the caller owns, whose lock has the caller's reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::checkout::read_path;
use crate::error::{Error, Result, io_error};
use crate::names::check_branch_name;
use crate::ready::point;
use crate::repo::Repo;

/// No git of ours holds a reference locked for this long.
const STALE: Duration = Duration::from_secs(10);

impl Repo {
    /// Points the entry of a worktree that was renamed at its new place. Returns whether there was anything to mend.
    pub fn mend_handover(&self, path: &Path, lock_reason: &str) -> Result<bool> {
        let Some(git_dir) = self.named_by(path) else { return Ok(false) };
        if self.lock_reason(&git_dir).as_deref() != Some(lock_reason) {
            return Ok(false);
        }
        let listed = read_path(&git_dir.join("gitdir"), "").map(|target| git_dir.join(target));
        // An entry that leads to a directory is right, or somebody else's matter.
        if listed.is_none_or(|listed| listed.exists()) {
            return Ok(false);
        }
        let path = fs::canonicalize(path).map_err(io_error("resolve", path))?;
        self.queued(|| point(&git_dir, &path)).map(|()| true)
    }

    /// Tells whether the worktree at a path is one of this repository, locked for that reason.
    pub fn is_locked_for(&self, path: &Path, lock_reason: &str) -> bool {
        let reason = self.named_by(path).and_then(|git_dir| self.lock_reason(&git_dir));
        reason.as_deref() == Some(lock_reason)
    }

    /// Removes locks on HEAD and the index of a worktree of ours, and on its branch, that a git which was killed
    /// left behind.
    pub fn drop_stale_locks(&self, path: &Path, branch: &str, lock_reason: &str) -> Result<()> {
        check_branch_name(branch)?;
        let mut locks = vec![self.common_dir().join("refs/heads").join(format!("{branch}.lock"))];
        if let Some(git_dir) = self.named_by(path)
            && self.lock_reason(&git_dir).as_deref() == Some(lock_reason)
        {
            locks.extend([git_dir.join("HEAD.lock"), git_dir.join("index.lock")]);
        }
        for lock in locks {
            let Ok(kind) = fs::symlink_metadata(&lock) else { continue };
            let age = kind.modified().ok().and_then(|since| SystemTime::now().duration_since(since).ok());
            if kind.is_file() && age.is_some_and(|age| age > STALE) {
                fs::remove_file(&lock).map_err(io_error("remove", &lock))?;
            }
        }
        Ok(())
    }

    /// Opens the repository that a worktree belongs to from the worktree alone, for one whose repository nobody
    /// remembers.
    pub fn of_worktree(git: &crate::Git, path: &Path) -> Result<Repo> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let git_dir =
            read_path(&path.join(".git"), "gitdir: ").ok_or_else(|| refuse("it has no .git file"))?;
        let common_dir = git_dir.parent().and_then(Path::parent);
        let main = common_dir.and_then(Path::parent).ok_or_else(|| refuse("its .git file leads nowhere"))?;
        git.open(main)
    }

    /// Follows the `.git` file of a worktree to its entry in this repository.
    fn named_by(&self, path: &Path) -> Option<PathBuf> {
        let file = path.join(".git");
        if !fs::symlink_metadata(path).ok()?.is_dir() || !fs::symlink_metadata(&file).ok()?.is_file() {
            return None;
        }
        let git_dir = fs::canonicalize(path.join(read_path(&file, "gitdir: ")?)).ok()?;
        (git_dir.parent() == Some(&self.common_dir().join("worktrees"))).then_some(git_dir)
    }
}
