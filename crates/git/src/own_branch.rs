//! The branch that a commit of ours goes to, settled from files before git is called.
//!
//! A commit, a reset and a rebase move whatever HEAD leads to in the end: a branch that is another's name makes them
//! move that one. So HEAD has to name a branch, and the branch has to be a reference of its own. What a rebase that
//! waits will move when it ends stands in files too.

use std::fs;
use std::io::ErrorKind;

use crate::checkout::{Checkout, Worktree};
use crate::commit::{CommitRequest, Committed, Kept};
use crate::error::{Error, Result};

/// Lines of a rebase's plan that move other branches, or run something.
const FOREIGN_STEPS: [&str; 4] = ["exec", "x", "update-ref", "u"];

impl Worktree {
    /// Commits every change of a tracked or untracked file on this branch, or on none.
    pub fn commit_all_on(&self, branch: &str, request: &CommitRequest) -> Result<Kept> {
        match self.check_on(branch) {
            Ok(()) => self.commit_all(request),
            Err(_) if self.is_clean()? => Ok(Kept { committed: Committed::Nothing, left_out: Vec::new() }),
            Err(error) => Err(error),
        }
    }

    /// Refuses unless HEAD is on this branch, and the branch is a reference of its own.
    pub fn check_on(&self, branch: &str) -> Result<()> {
        let reference = format!("refs/heads/{branch}");
        match named(&self.checkout)? {
            Some(named) if named == reference => refuse_another_name(&self.checkout, &reference),
            Some(named) => Err(astray(&self.checkout, format!("its HEAD is on {named} and not on {branch}"))),
            None => Err(astray(&self.checkout, format!("its HEAD is on no branch, and not on {branch}"))),
        }
    }

    /// Refuses unless the rebase that waits is of this branch, and moves and runs nothing besides. No rebase is fine.
    pub fn check_rebase_of(&self, branch: &str) -> Result<()> {
        let reference = format!("refs/heads/{branch}");
        for state in ["rebase-merge", "rebase-apply"] {
            let state = self.checkout.git_dir.join(state);
            let Ok(name) = fs::read_to_string(state.join("head-name")) else { continue };
            let refuse = |why: String| Err(astray(&self.checkout, why));
            if name.trim_end() != reference {
                return refuse(format!("its rebase will move {} and not {branch}", name.trim_end()));
            }
            if fs::metadata(state.join("update-refs")).is_ok_and(|file| file.len() > 0) {
                return refuse("its rebase will move other branches".into());
            }
            let plan = fs::read_to_string(state.join("git-rebase-todo")).unwrap_or_default();
            let mut steps = plan.lines().filter_map(|line| line.split_whitespace().next());
            if let Some(step) = steps.find(|step| FOREIGN_STEPS.contains(step)) {
                return refuse(format!("the plan of its rebase has a step {step:?}"));
            }
            return refuse_another_name(&self.checkout, &reference);
        }
        Ok(())
    }
}

/// Refuses when what HEAD is on is another reference's name. A HEAD on no branch moves nothing but itself.
pub(crate) fn refuse_indirect(checkout: &Checkout) -> Result<()> {
    match named(checkout)? {
        Some(reference) => refuse_another_name(checkout, &reference),
        None => Ok(()),
    }
}

/// What HEAD names, unless it is a commit.
fn named(checkout: &Checkout) -> Result<Option<String>> {
    let file = checkout.git_dir.join("HEAD");
    let is_file = fs::symlink_metadata(&file).is_ok_and(|kind| kind.is_file());
    let text = is_file.then(|| fs::read_to_string(&file).ok()).flatten();
    let text = text.ok_or_else(|| astray(checkout, format!("{} cannot be read", file.display())))?;
    match text.strip_prefix("ref:").map(str::trim) {
        Some(name) if name.starts_with("refs/heads/") => Ok(Some(name.to_string())),
        Some(name) => Err(astray(checkout, format!("its HEAD is on {name}, which is no branch"))),
        None => Ok(None),
    }
}

pub(crate) fn refuse_another_name(checkout: &Checkout, reference: &str) -> Result<()> {
    if checkout.common_dir.join("reftable").exists() {
        let target = checkout.refs("symbolic-ref").args(["--quiet", reference]).ask();
        return match target.map_err(|failure| failure.during(format!("read {reference}")))? {
            Some(target) => Err(another_name(checkout, reference, &crate::call::line(target))),
            None => Ok(()),
        };
    }
    let file = checkout.common_dir.join(reference);
    match fs::symlink_metadata(&file) {
        Ok(kind) if kind.is_symlink() => {
            let target = fs::read_link(&file).unwrap_or_default();
            return Err(another_name(checkout, reference, &target.to_string_lossy()));
        }
        // It is packed, which no name for another ever is; or it has no commit yet.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        _ => {}
    }
    match fs::read_to_string(&file) {
        Ok(text) => match text.strip_prefix("ref:") {
            Some(target) => Err(another_name(checkout, reference, target.trim())),
            None => Ok(()),
        },
        // Git cannot read it either, and says so.
        Err(_) => Ok(()),
    }
}

fn another_name(checkout: &Checkout, reference: &str, target: &str) -> Error {
    let why = format!(
        "{reference} is only another name for {target}; use that one, or make it a branch of its own with \
         `git update-ref --no-deref {reference} <commit>`"
    );
    astray(checkout, why)
}

fn astray(checkout: &Checkout, why: String) -> Error {
    Error::Astray { path: checkout.top.clone(), why }
}
