//! How a worktree stands: what is not committed, what is in conflict, and which operation of git waits to be finished.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::{Checkout, Worktree};
use crate::drivers::Drivers;
use crate::error::{Failure, Result};
use crate::repo::Repo;

/// How a worktree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The branch that is checked out; none while HEAD is detached, as it is during a rebase.
    pub branch: Option<String>,
    pub operation: Option<Operation>,
    /// Tracked files that differ from the commit.
    pub uncommitted: u64,
    pub untracked: u64,
    /// Files with a conflict that nobody has resolved.
    pub conflicted: Vec<PathBuf>,
}

/// An operation of git that stopped half-way and waits for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Rebase,
    Merge,
    CherryPick,
    Revert,
}

impl Worktree {
    /// Looks how the worktree stands. Its index is read and never refreshed.
    pub fn standing(&self) -> Result<Standing> {
        standing(&self.checkout)
    }

    /// Returns the operation of git that waits to be finished, when there is one.
    pub fn operation(&self) -> Option<Operation> {
        operation(&self.checkout.git_dir)
    }
}

impl Repo {
    /// Looks how the person's checkout stands. Its index is read and never refreshed.
    pub fn standing(&self) -> Result<Standing> {
        standing(&self.checkout)
    }
}

fn standing(checkout: &Checkout) -> Result<Standing> {
    let drivers = Drivers::of(checkout)?;
    let call = checkout.files("status").settings(&drivers.overrides);
    let call = call.args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"]);
    let answer = call.args(["--ignore-submodules=dirty", "--untracked-files=normal"]).run();
    let act = || format!("look for changes in {}", checkout.top.display());
    let answer = answer.map_err(|failure| failure.during(act()))?;
    let mut standing = read(&answer)
        .ok_or_else(|| Failure::answer("status", &String::from_utf8_lossy(&answer)).during(act()))?;
    standing.operation = operation(&checkout.git_dir);
    Ok(standing)
}

/// Finds the operation that waits in a git directory. Bisecting changes nothing and is none.
pub(crate) fn operation(git_dir: &Path) -> Option<Operation> {
    let is_there = |name: &str| git_dir.join(name).symlink_metadata().is_ok();
    if is_there("rebase-merge") || is_there("rebase-apply") {
        Some(Operation::Rebase)
    } else if is_there("MERGE_HEAD") {
        Some(Operation::Merge)
    } else if is_there("CHERRY_PICK_HEAD") {
        Some(Operation::CherryPick)
    } else if is_there("REVERT_HEAD") {
        Some(Operation::Revert)
    } else {
        None
    }
}

fn read(answer: &[u8]) -> Option<Standing> {
    let mut standing = Standing {
        head: None,
        branch: None,
        operation: None,
        uncommitted: 0,
        untracked: 0,
        conflicted: Vec::new(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for record in answer.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        match record {
            [b'#', ..] => {
                if let Some(oid) = record.strip_prefix(b"# branch.oid ") {
                    standing.head = (oid != b"(initial)").then(|| text(oid));
                } else if let Some(branch) = record.strip_prefix(b"# branch.head ") {
                    standing.branch = (branch != b"(detached)").then(|| text(branch));
                }
            }
            [b'1', ..] => standing.uncommitted += 1,
            [b'u', ..] => {
                standing.uncommitted += 1;
                let path = record.splitn(11, |byte| *byte == b' ').nth(10)?;
                standing.conflicted.push(PathBuf::from(OsStr::from_bytes(path)));
            }
            [b'?', ..] => standing.untracked += 1,
            _ => return None,
        }
    }
    Some(standing)
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Rebase => "a rebase",
            Operation::Merge => "a merge",
            Operation::CherryPick => "a cherry-pick",
            Operation::Revert => "a revert",
        })
    }
}
