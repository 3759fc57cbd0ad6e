//! The branches of a repository: which there are, where they point, and the deletion of one that has not moved.

use crate::call::line;
use crate::error::{Error, Failure, Result};
use crate::names::check_branch_name;
use crate::plain_refs;
use crate::repo::Repo;

/// A branch, local or remote-tracking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its short name: `main`, or `origin/main` when it is remote.
    pub name: String,
    pub is_current: bool,
    pub is_remote: bool,
    /// When its last commit was made, in seconds since 1970.
    pub last_commit_secs: i64,
}

impl Repo {
    /// Lists the branches: the current one first, then by newest commit.
    pub fn branches(&self) -> Result<Vec<Branch>> {
        let format = "--format=%(refname)%00%(symref)%00%(committerdate:unix)%00%(HEAD)";
        let answer = self.checkout.refs("for-each-ref").args([format, "refs/heads", "refs/remotes"]).run();
        let answer = answer.map_err(|failure| failure.during(self.listing()))?;
        let mut branches: Vec<Branch> =
            String::from_utf8_lossy(&answer).lines().filter_map(read_branch).collect();
        branches.sort_by(|a, b| {
            (b.is_current, b.last_commit_secs)
                .cmp(&(a.is_current, a.last_commit_secs))
                .then(a.name.cmp(&b.name))
        });
        Ok(branches)
    }

    /// Returns the branch that is checked out at the top, or nothing when HEAD is detached.
    pub fn current_branch(&self) -> Result<Option<String>> {
        self.checkout.branch()
    }

    /// Returns the commit that a local branch, or else a remote-tracking branch, points at.
    pub fn resolve_branch(&self, name: &str) -> Result<String> {
        check_branch_name(name)?;
        let (local, remote) = (format!("refs/heads/{name}"), format!("refs/remotes/{name}"));
        if let Some(oid) = plain_refs::one(self.common_dir(), &local) {
            return Ok(oid);
        }
        // Asked for by its name git reads one file; to search costs one for each branch that there is.
        let call = self.checkout.refs("show-ref").args(["--verify", "--hash", "--end-of-options", &local]);
        if let Ok(oid) = call.run() {
            return Ok(line(oid));
        }
        let found = self.references(&[&local, &remote])?;
        let oid = |wanted: &str| found.iter().find(|(name, _)| name == wanted).map(|(_, oid)| oid.clone());
        if let Some(oid) = oid(&local).or_else(|| oid(&remote)) {
            return Ok(oid);
        }
        let repo = self.top().to_path_buf();
        if self.has_commits()? {
            Err(Error::NoSuchBranch { branch: name.to_string(), repo })
        } else {
            Err(Error::NoCommits { repo })
        }
    }

    /// Deletes a branch that still points at `expected_oid` and is checked out nowhere.
    pub fn delete_branch_at(&self, branch: &str, expected_oid: &str) -> Result<()> {
        check_branch_name(branch)?;
        self.check_oid(expected_oid)?;
        self.queued(|| {
            let reference = format!("refs/heads/{branch}");
            let holder =
                self.worktrees()?.into_iter().find(|worktree| worktree.branch.as_deref() == Some(branch));
            if let Some(holder) = holder {
                return Err(Error::BranchInUse { branch: branch.to_string(), path: holder.path });
            }
            let Err(failure) = self.delete_reference(&reference, expected_oid) else {
                return Ok(());
            };
            match self.references(&[&reference])?.into_iter().find(|(name, _)| *name == reference) {
                None => {
                    Err(Error::NoSuchBranch { branch: branch.to_string(), repo: self.top().to_path_buf() })
                }
                Some((_, oid)) if oid != expected_oid => {
                    Err(Error::BranchMoved { branch: branch.to_string(), expected: expected_oid.to_string() })
                }
                Some(_) => Err(failure.during(format!("delete branch {branch}"))),
            }
        })
    }

    pub(crate) fn delete_reference(&self, reference: &str, expected: &str) -> Result<(), crate::Failure> {
        let call = self.checkout.refs("update-ref").args(["--no-deref", "-d", "--end-of-options"]);
        call.arg(reference).arg(expected).run().map(drop)
    }

    /// Finds references by name, with everything below them: `refs/heads/a` also finds `refs/heads/a/b`.
    pub(crate) fn references(&self, names: &[&str]) -> Result<Vec<(String, String)>> {
        let call = self
            .checkout
            .refs("for-each-ref")
            .args(["--format=%(refname) %(objectname)", "--end-of-options"]);
        let answer = names.iter().fold(call, |call, name| call.arg(name)).run();
        let answer = answer.map_err(|failure| failure.during(self.listing()))?;
        let pairs = String::from_utf8_lossy(&answer)
            .lines()
            .filter_map(|line| line.split_once(' ').map(|(name, oid)| (name.to_string(), oid.to_string())))
            .collect();
        Ok(pairs)
    }

    /// Does `work` while nobody else in this process writes refs or worktree entries of the same repository.
    pub(crate) fn queued<T, E: From<Failure>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.checkout.queued(work)
    }

    fn listing(&self) -> String {
        format!("list the branches of {}", self.top().display())
    }
}

fn read_branch(line: &str) -> Option<Branch> {
    let mut fields = line.split('\0');
    let (reference, target) = (fields.next()?, fields.next()?);
    let (date, mark) = (fields.next()?, fields.next()?);
    let (name, is_remote) = match reference.strip_prefix("refs/heads/") {
        Some(name) => (name, false),
        None => (reference.strip_prefix("refs/remotes/")?, true),
    };
    // `origin/HEAD` is another name for a branch that is listed anyway.
    if is_remote && (!target.is_empty() || name.ends_with("/HEAD")) {
        return None;
    }
    let last_commit_secs = date.parse().unwrap_or(0);
    Some(Branch { name: name.to_string(), is_current: mark == "*", is_remote, last_commit_secs })
}
