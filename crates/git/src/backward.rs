//! Moving a branch back to an earlier commit of its own, together with the one checkout that has it.
//!
//! Where a file of the checkout was changed since, nothing moves. Edits of other files stay, staged ones too. Asked for
//! again after it broke off, it does what is missing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::checkout::Checkout;
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result};
use crate::forward::{moved, refuse_operation};
use crate::own_branch::refuse_another_name;
use crate::repo::Repo;

impl Repo {
    /// Moves a branch from one commit back to an earlier one. A branch that is checked out nowhere moves alone, if it
    /// is still where it was.
    pub fn set_branch_back(&self, branch: &str, from: &str, to: &str) -> Result<()> {
        self.check_oid(from)?;
        self.check_oid(to)?;
        refuse_another_name(&self.checkout, &format!("refs/heads/{branch}"))?;
        match self.holder(branch)? {
            Some(holder) => self.set_back_with_files(&holder, branch, from, to),
            None if self.local_branch(branch)?.as_deref() == Some(to) => Ok(()),
            None => self.queued(|| self.move_alone(branch, from, to, SET_BACK)),
        }
    }

    fn set_back_with_files(&self, holder: &Checkout, branch: &str, from: &str, to: &str) -> Result<()> {
        refuse_operation(holder)?;
        let head = holder.head()?;
        if ![Some(from), Some(to)].contains(&head.as_deref()) {
            return Err(moved(branch, from));
        }
        let drivers = Drivers::of(holder)?;
        drivers.refuse_in_commit(holder, to)?;
        let call = |verb| holder.files(verb).settings(&drivers.overrides).without_env("GIT_NO_LAZY_FETCH");
        let move_files = |how: &str| call("read-tree").args(["-m", how, from, to]).run();
        let refused = |failure| match failure {
            failure @ Failure::Exit { .. } => in_the_way(holder, branch, &failure),
            failure => failure.during(format!("move {branch} back in {}", holder.top.display())),
        };
        let covered = covered(holder, to)?;
        if !covered.is_empty() {
            let (branch, path) = (branch.to_string(), holder.top.clone());
            return Err(Error::InTheWay { branch, path, files: covered });
        }
        // A file that was only touched, or copied here, is not changed. That others are is told below.
        let _others_are = call("update-index").args(["-q", "--refresh"]).run();
        // The branch goes first: a commit that somebody makes in between is on it, and not on what it leaves.
        move_files("-nu").map_err(refused)?;
        if head.as_deref() == Some(from) {
            self.queued(|| self.move_alone(branch, from, to, SET_BACK))?;
        }
        if let Err(failure) = move_files("-u") {
            self.queued(|| self.move_alone(branch, to, from, "forge: not set back"))?;
            return Err(refused(failure));
        }
        Ok(())
    }

    /// Lists the branches, of remotes too, and the tags that have a commit.
    pub fn references_with(&self, commit: &str) -> Result<Vec<String>> {
        self.check_oid(commit)?;
        let call = self.checkout.refs("for-each-ref").args(["--format=%(refname)", "--contains", commit]);
        let answer = call.args(["refs/heads", "refs/remotes", "refs/tags"]).run();
        let answer = answer.map_err(|failure| failure.during(format!("look who has {commit}")))?;
        Ok(String::from_utf8_lossy(&answer).lines().map(str::to_string).collect())
    }
}

/// Lists the files that a commit would bring back over others that are in nobody's index. Git itself looks only for
/// those that are not ignored.
fn covered(holder: &Checkout, to: &str) -> Result<Vec<String>> {
    let call =
        holder.files("diff-index").args(["--cached", "--no-ext-diff", "--no-renames", "--diff-filter=D"]);
    let answer = call.args(["--name-only", "-z", "--end-of-options", to]).run();
    let answer = answer.map_err(|failure| failure.during(format!("list what {to} would bring back")))?;
    let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| Path::new(OsStr::from_bytes(path)));
    let is_covered = |path: &&Path| {
        let is_there = fs::symlink_metadata(holder.top.join(path)).is_ok();
        is_there || path.ancestors().skip(1).any(|above| is_no_directory(&holder.top.join(above)))
    };
    Ok(paths.filter(is_covered).map(|path| path.display().to_string()).collect())
}

fn is_no_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| !there.is_dir())
}

/// What the log of a branch says about it.
const SET_BACK: &str = "forge: set back";

/// Says which file stood in the way; git names the first one, in quotes.
fn in_the_way(holder: &Checkout, branch: &str, failure: &Failure) -> Error {
    let (told, path) = (failure.stderr(), holder.top.clone());
    if told.contains("index.lock") {
        return Error::UnderWay { path, what: "another git command".into() };
    }
    let named = told.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\''));
    match named {
        Some((file, _)) => {
            Error::InTheWay { branch: branch.to_string(), path, files: vec![file.to_string()] }
        }
        None => Error::Refused { branch: branch.to_string(), path, told: told.to_string() },
    }
}
