//! How the engine and its process are, in figures that cost nothing to read.

use forge_model::AttemptState;

use crate::background::blocking;
use crate::store::{attempts, events};
use crate::{Engine, Result};

/// How the engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vitals {
    /// How many attempts are in each state; every state is there.
    pub attempts: Vec<(AttemptState, i64)>,
    /// The newest event.
    pub seq: i64,
    /// Commits since the engine was opened.
    pub commits: u64,
    /// Acts that wait for the thread that writes.
    pub waiting_writes: u64,
    /// Worktrees that wait for an attempt.
    pub ready_worktrees: u64,
    /// Worktrees that were handed over since the engine was opened.
    pub handed_over: u64,
    /// Diffs of attempts that were computed, and directories that are watched for them.
    pub diffs_computed: u64,
    pub diff_watches: u64,
    /// Calls of git that were ended because they took too long.
    pub overdue_git_calls: u64,
    /// The memory of this process, where the system tells.
    pub resident_bytes: Option<u64>,
}

impl Engine {
    /// Reads how the engine is.
    pub async fn vitals(&self) -> Result<Vitals> {
        let store = &self.inner.store;
        let seen = store.read(|conn| Ok((attempts::by_state(conn)?, events::newest(conn)?)));
        let (attempts, seq) = seen.await?;
        let (commits, waiting_writes) = store.writes();
        let resident_bytes = blocking(resident_bytes).await?;
        let (ready_worktrees, handed_over) = self.inner.pool.counts();
        let (diffs_computed, diff_watches) = self.inner.diffs.counts();
        Ok(Vitals {
            attempts,
            seq,
            commits,
            waiting_writes,
            ready_worktrees,
            handed_over,
            diffs_computed,
            diff_watches,
            overdue_git_calls: self.inner.git.overdue_calls(),
            resident_bytes,
        })
    }
}

fn resident_bytes() -> Option<u64> {
    resident(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes_and_is_none_where_the_system_does_not_tell() {
        assert_eq!(resident("Name:\tforge\nVmRSS:\t   12 kB\n"), Some(12 * 1024));
        assert_eq!(resident("Name:\tforge\n"), None);
    }
}
