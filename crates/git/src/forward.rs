//! Moving a branch forward to a commit that is built on it, together with the one checkout that has it.
//!
//! Where a file is in the way, tracked, untracked or ignored, nothing moves. Edits of other files stay.

use std::fs;
use std::path::Path;

use crate::checkout::{Checkout, Worktree, read_path};
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result};
use crate::names::check_branch_name;
use crate::own_branch::{refuse_another_name, refuse_indirect};
use crate::repo::Repo;
use crate::standing::operation;

impl Repo {
    /// Moves a branch from one commit to a later one. The files, the index and the branch of a checkout that has it
    /// move together; a branch that is checked out nowhere moves alone, if it is still where it was.
    pub fn forward_branch(&self, branch: &str, from: &str, to: &str) -> Result<()> {
        self.check_oid(from)?;
        self.check_oid(to)?;
        refuse_another_name(&self.checkout, &format!("refs/heads/{branch}"))?;
        match self.holder(branch)? {
            None => self.queued(|| self.move_alone(branch, from, to, "forge: fast-forward")),
            Some(holder) => move_with_files(&holder, branch, from, to),
        }
    }

    /// Finds the one checkout that has a branch.
    pub(crate) fn holder(&self, branch: &str) -> Result<Option<Checkout>> {
        let mut holders = self.holders(branch)?.into_iter();
        match (holders.next(), holders.next()) {
            (Some(one), Some(other)) => {
                Err(Error::HeldTwice { branch: branch.to_string(), paths: [one.top, other.top] })
            }
            (holder, _) => Ok(holder),
        }
    }

    /// Refuses when a branch cannot be moved now, whatever to: a checkout that has it is in the middle of something.
    pub fn check_movable(&self, branch: &str) -> Result<()> {
        for holder in self.holders(branch)? {
            refuse_operation(&holder)?;
        }
        Ok(())
    }

    /// Finds the checkouts that have a branch, and refuses when one is to come back to it after a rebase or a bisect.
    fn holders(&self, branch: &str) -> Result<Vec<Checkout>> {
        check_branch_name(branch)?;
        let mut git_dirs = vec![self.common_dir().to_path_buf()];
        let linked = fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten();
        git_dirs.extend(linked.flatten().map(|entry| entry.path()));
        for git_dir in git_dirs {
            if let Some(what) = comes_back(&git_dir, branch) {
                let top = read_path(&git_dir.join("gitdir"), "")
                    .and_then(|file| Some(file.parent()?.to_path_buf()));
                let path = top.or_else(|| Some(self.common_dir().parent()?.to_path_buf())).unwrap_or(git_dir);
                return Err(Error::UnderWay { path, what: format!("{what} of {branch}") });
            }
        }
        let mut holders = Vec::new();
        for info in self.worktrees()? {
            let is_ours = info.is_main && self.checkout.git_dir == self.checkout.common_dir;
            if is_ours {
                // Git calls the main checkout bare, and without a branch, when its config says so by mistake.
                if self.checkout.branch()?.as_deref() == Some(branch) {
                    holders.push(self.checkout.clone());
                }
            } else if info.branch.as_deref() != Some(branch) || !info.path.exists() {
                // Another branch; or a directory that is gone, and shows nothing to anybody.
            } else if info.is_main {
                let git_dir = self.common_dir().to_path_buf();
                holders.push(Checkout { top: info.path, git_dir, ..self.checkout.clone() });
            } else {
                holders.push(Worktree::open(&self.checkout, &info.path)?.checkout);
            }
        }
        Ok(holders)
    }

    /// Moves a branch if it is still where it was; `why` is for its log.
    pub(crate) fn move_alone(&self, branch: &str, from: &str, to: &str, why: &str) -> Result<()> {
        let reference = format!("refs/heads/{branch}");
        let call = self.checkout.refs("update-ref").args(["-m", why, "--no-deref"]);
        let Err(failure) = call.args(["--end-of-options", &reference, to, from]).run() else {
            return Ok(());
        };
        match self.local_branch(branch)? {
            None => Err(Error::NoSuchBranch { branch: branch.into(), repo: self.top().to_path_buf() }),
            Some(oid) if oid != from => Err(moved(branch, from)),
            Some(_) => Err(failure.during(format!("move branch {branch}"))),
        }
    }
}

fn move_with_files(holder: &Checkout, branch: &str, from: &str, to: &str) -> Result<()> {
    refuse_operation(holder)?;
    refuse_indirect(holder)?;
    if holder.head()?.as_deref() != Some(from) {
        return Err(moved(branch, from));
    }
    let drivers = Drivers::of(holder)?;
    drivers.refuse_in_commit(holder, to)?;
    // Each of these options stands against a setting that would do more than move forward: stash the person's edits,
    // stop before the commit, make a merge commit.
    let call = holder.files("merge").settings(&drivers.overrides).without_env("GIT_NO_LAZY_FETCH");
    let call = call.args(["--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-squash", "--commit"]);
    let call =
        call.args(["--no-verify-signatures", "--no-stat", "--quiet", to]).env("GIT_REFLOG_ACTION", "forge");
    let act = || format!("move {branch} forward in {}", holder.top.display());
    match call.run() {
        Ok(_) => {}
        Err(failure @ Failure::Exit { .. }) => return Err(refusal(holder, branch, from, &failure)),
        Err(failure) => return Err(failure.during(act())),
    }
    if holder.head()?.as_deref() == Some(to) { Ok(()) } else { Err(moved(branch, from)) }
}

/// Says what stood in the way of a checkout that git refused to move. Nothing has moved then.
pub(crate) fn refusal(checkout: &Checkout, branch: &str, from: &str, failure: &Failure) -> Error {
    let told = failure.stderr();
    let files: Vec<String> =
        told.lines().filter_map(|line| line.strip_prefix('\t')).map(str::to_string).collect();
    let path = checkout.top.clone();
    if !files.is_empty() {
        Error::InTheWay { branch: branch.to_string(), path, files }
    } else if told.contains("Not possible to fast-forward") || told.contains("Diverging") {
        moved(branch, from)
    } else if told.contains("index.lock") {
        Error::UnderWay { path, what: "another git command".into() }
    } else {
        Error::Refused { branch: branch.to_string(), path, told: told.to_string() }
    }
}

pub(crate) fn moved(branch: &str, from: &str) -> Error {
    Error::BranchMoved { branch: branch.to_string(), expected: from.to_string() }
}

pub(crate) fn refuse_operation(checkout: &Checkout) -> Result<()> {
    match operation(&checkout.git_dir) {
        Some(operation) => Err(Error::UnderWay { path: checkout.top.clone(), what: operation.to_string() }),
        None => Ok(()),
    }
}

/// Says what will set a branch when it ends, although HEAD is not on it meanwhile.
fn comes_back(git_dir: &Path, branch: &str) -> Option<&'static str> {
    let holds = |file: &str, name: &str| {
        fs::read_to_string(git_dir.join(file)).is_ok_and(|text| text.trim_end() == name)
    };
    let reference = format!("refs/heads/{branch}");
    if holds("rebase-merge/head-name", &reference) || holds("rebase-apply/head-name", &reference) {
        Some("a rebase")
    } else if holds("BISECT_START", branch) {
        Some("a bisect")
    } else {
        None
    }
}
