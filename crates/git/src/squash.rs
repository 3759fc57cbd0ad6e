//! Making one commit of everything that a worktree's branch has on top of another, as the person would: with their
//! hooks, their identity, their signature.

use crate::checkout::{Worktree, linked_git_dir};
use crate::commit::{CommitRequest, Committed, make};
use crate::drivers::Drivers;
use crate::error::{Error, Result};
use crate::own_branch::refuse_indirect;

impl Worktree {
    /// Makes one commit on `onto` of all that is checked out, and moves the branch to it. The caller has committed
    /// what was left and knows the tip; when a hook refuses, the branch is at that tip again.
    pub fn squash(&self, onto: &str, tip: &str, request: &CommitRequest) -> Result<Committed> {
        let checkout = &self.checkout;
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
        if checkout.head()?.as_deref() != Some(tip) {
            let branch = checkout.branch()?.unwrap_or_else(|| "HEAD".into());
            return Err(Error::BranchMoved { branch, expected: tip.to_string() });
        }
        refuse_indirect(checkout)?;
        let drivers = Drivers::of(checkout)?;
        self.move_branch_only(onto)?;
        let made = make(checkout, &drivers, request, Some(onto), None, &[tip]);
        if !matches!(made, Ok(Committed::Commit { .. })) {
            self.move_branch_only(tip)?;
        }
        made
    }
}
