//! Moving a worktree, and the branch it is on, to another commit.

use std::fs;
use std::path::PathBuf;

use crate::checkout::{Worktree, linked_git_dir};
use crate::drivers::{Drivers, joined};
use crate::error::{Error, Result};
use crate::names::is_oid;
use crate::own_branch::refuse_indirect;
use crate::tree_diff::between;

impl Worktree {
    /// Makes branch and files those of a commit. Changes that are not committed are refused, or thrown away when
    /// the caller says so, which has saved them before; ignored files in the way are refused in every case.
    pub fn reset_to(&self, oid: &str, discard: bool) -> Result<()> {
        let checkout = &self.checkout;
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
        if !is_oid(oid) {
            return Err(Error::NoSuchCommit { commit: oid.to_string(), repo: checkout.top.clone() });
        }
        refuse_indirect(checkout)?;
        let drivers = Drivers::of(checkout)?;
        drivers.refuse_in_commit(checkout, oid)?;
        let act = || format!("move {} to {oid}", checkout.top.display());
        let head = self.head()?;
        let changes = between(checkout.refs("diff-tree"), &head, oid, None);
        let new: Vec<PathBuf> = changes
            .map_err(|failure| failure.during(act()))?
            .into_iter()
            .filter(|change| change.old.is_none())
            .map(|change| change.path)
            .filter(|path| fs::symlink_metadata(checkout.top.join(path)).is_ok_and(|kind| !kind.is_dir()))
            .collect();
        if !new.is_empty() {
            let ignored = checkout.files("check-ignore").args(["-z", "--stdin"]).input(joined(&new)).ask();
            let ignored = ignored.map_err(|failure| failure.during(act()))?.unwrap_or_default();
            let paths: Vec<PathBuf> = new
                .into_iter()
                .filter(|path| {
                    let name = path.as_os_str().as_encoded_bytes();
                    ignored.split(|byte| *byte == 0).any(|other| other == name)
                })
                .collect();
            if !paths.is_empty() {
                return Err(Error::Unsaved { paths });
            }
        }
        let how = if discard { "--hard" } else { "--keep" };
        let call = checkout.files("reset").settings(&drivers.overrides).args(["--quiet", how, oid]);
        checkout.queued(|| call.run()).map(drop).map_err(|failure| failure.during(act()))
    }
}
