//! One queue per repository, so that refs and worktree entries are written one at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The queues of all repositories of this process, found by their common directory.
#[derive(Default)]
pub(crate) struct Queues(Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>);

impl Queues {
    /// Does `work` while nobody else in this process does other queued work on the same repository.
    pub(crate) fn wait<T>(&self, common_dir: &Path, work: impl FnOnce() -> T) -> T {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            queues.entry(common_dir.to_path_buf()).or_default().clone()
        };
        // The queue guards nothing but order, so work that panicked leaves nothing half-written behind in it.
        let _turn = queue.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }
}
