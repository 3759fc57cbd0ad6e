//! Where things are kept inside the data directory.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use forge_model::{AttemptId, RunId};
use sha2::{Digest, Sha256};

use crate::desk;

/// The places of a data directory.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) home: PathBuf,
    /// Where new worktrees go.
    pub(crate) worktrees: PathBuf,
    /// Every place where worktrees have gone, that one first.
    pub(crate) roots: Vec<PathBuf>,
}

impl Paths {
    /// Everything about a run's process.
    pub(crate) fn run(&self, id: RunId) -> PathBuf {
        self.runs().join(id.to_string())
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.home.join("runs")
    }

    pub(crate) fn trash(&self) -> PathBuf {
        self.home.join("trash")
    }

    /// What of an attempt's snapshots must not reach the repository's object store.
    pub(crate) fn private(&self, id: AttemptId) -> PathBuf {
        self.home.join("private").join(id.to_string())
    }

    /// Private indexes of worktrees that somebody looks at.
    pub(crate) fn diffs(&self) -> PathBuf {
        self.home.join("diffs")
    }

    /// Where the runs of an attempt put temporary files.
    pub(crate) fn tmp(&self, id: AttemptId) -> PathBuf {
        self.home.join("tmp").join(desk::short(id))
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.home.join("bin")
    }

    pub(crate) fn images(&self) -> PathBuf {
        self.home.join("images")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.home.join("config.json")
    }

    pub(crate) fn profiles(&self) -> PathBuf {
        self.home.join("profiles.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.home.join("lock")
    }

    /// Where worktrees wait for their attempts. The data directory has its part in the name: another one may have
    /// its worktrees at the same place.
    pub(crate) fn pool(&self) -> PathBuf {
        let home = Sha256::digest(self.home.as_os_str().as_bytes());
        self.worktrees.join(".pool").join(&format!("{home:x}")[..8])
    }

    /// A worktree's directory, from the attempt's name.
    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        self.worktrees.join(name)
    }
}

/// Returns the free bytes of the disk that holds a path.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns how many files can still be made on the disk that holds a path; none where they are not counted.
pub(crate) fn free_files(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    (stat.f_files > 0).then_some(stat.f_favail)
}
