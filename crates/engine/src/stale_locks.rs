//! Locks that keep an attempt's git from working, although nobody holds them any more.
//!
//! A git that is killed leaves its lock files behind. In the attempt's own git directory they are removed once no process
//! is at work there. In the directory that all checkouts share, a git of the person may hold them: they are named.

use std::path::{Path, PathBuf};

use forge_git::{Repo, Worktree};
use forge_model::{Finding, FindingId, FindingKind, FindingState, Run, Side, Time};

use crate::occupants::occupants;
use crate::{Engine, Result};

impl Engine {
    /// Removes the locks in a worktree's own git directory that nobody holds. Returns their names. Blocks.
    pub(crate) fn drop_stale_locks(&self, worktree: &Worktree) -> Vec<String> {
        let locks = worktree.own_locks();
        if locks.is_empty() {
            return Vec::new();
        }
        match is_somebody_at_work(worktree) {
            Ok(false) => {}
            Ok(true) => return Vec::new(),
            Err(error) => {
                tracing::warn!("the locks in {} stay: {error}", worktree.git_dir().display());
                return Vec::new();
            }
        }
        let mut dropped = Vec::new();
        for lock in locks {
            match worktree.remove_own_lock(&lock) {
                Ok(()) => dropped.extend(lock.file_name().map(|name| name.to_string_lossy().into_owned())),
                Err(error) => tracing::warn!("a lock that nobody holds stays: {error}"),
            }
        }
        if !dropped.is_empty() {
            let place = worktree.git_dir().display();
            tracing::warn!(
                "{} in {place} was left by a git that was killed, and is removed",
                dropped.join(", ")
            );
        }
        dropped
    }
}

/// What is told of a lock that was removed when a run ended.
pub(crate) fn finding(run: &Run, lock: &str, now: Time) -> Finding {
    let shown = "left behind by a git that was killed, and removed".to_string();
    Finding {
        id: FindingId::random(),
        attempt: run.attempt,
        run: Some(run.id),
        kind: FindingKind::Own,
        subject: lock.to_string(),
        before: None,
        after: Some(Side { shown, ..Side::default() }),
        state: FindingState::Restored,
        created_at: now,
        settled_at: Some(now),
    }
}

/// Says which locks of the shared directory are in an attempt's way, and what to do about them. Blocks.
pub(crate) fn shared_locks(repo: &Repo, branch: &str) -> Option<String> {
    let locks = repo.shared_locks(branch);
    let named: Vec<String> = locks.iter().map(|lock| lock.display().to_string()).collect();
    (!named.is_empty()).then(|| {
        format!(
            "{} is in the way, which a git that was killed may have left: when no git is at work in {}, delete it and \
             try again",
            named.join(", "),
            repo.top().display()
        )
    })
}

/// Says whether a process may hold a lock of a worktree: one that is in its git directory or has a file open there, or a
/// git that works on its files. Anything else inside, a dev server for one, holds no lock.
fn is_somebody_at_work(worktree: &Worktree) -> Result<bool> {
    let git_dir = worktree.git_dir().to_path_buf();
    Ok(!occupants(&[git_dir])?.is_empty() || is_git_inside(worktree.path()))
}

fn is_git_inside(top: &Path) -> bool {
    let link = |process: &Path, name: &str| std::fs::read_link(process.join(name)).ok();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes.into_iter().any(|process: PathBuf| {
        let is_git = link(&process, "exe")
            .and_then(|exe| Some(exe.file_name()?.to_string_lossy().starts_with("git")))
            .unwrap_or_default();
        is_git && link(&process, "cwd").is_some_and(|cwd| cwd.starts_with(top))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_works_on_the_files_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        assert!(!is_git_inside(&top));
        std::process::Command::new("git").args(["init", "--quiet"]).current_dir(&top).status().unwrap();
        // Waits for its input.
        let mut git = std::process::Command::new("git")
            .args(["hash-object", "--stdin"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .current_dir(&top)
            .spawn()
            .unwrap();
        let seen = is_git_inside(&top);
        drop(git.stdin.take());
        git.wait().unwrap();
        assert!(seen);
        assert!(!is_git_inside(&top));
    }
}
