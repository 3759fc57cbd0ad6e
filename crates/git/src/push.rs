//! Pushing one branch, as the person would: with their pre-push hook and their credentials, and never with force.

use std::time::Duration;

use crate::call::Call;
use crate::checkout::{Checkout, Worktree, linked_git_dir};
use crate::error::Result;
use crate::names::check_branch_name;
use crate::repo::Repo;
use crate::transport::{Credential, Refusal, speak};

/// A branch to be pushed, under its own name.
#[derive(Debug, Clone)]
pub struct PushRequest {
    pub remote: String,
    pub branch: String,
    /// Sent along to its own server only. Without one, git finds the person's.
    pub credential: Option<Credential>,
    /// How long git and the hook may take.
    pub time_limit: Duration,
}

/// What came of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote's branch is where ours is now.
    Done { oid: String },
    /// It was there already.
    UpToDate { oid: String },
    /// Nothing has changed there.
    Refused(Refusal),
}

impl Repo {
    /// Pushes a branch. The hook runs in `from`, or in the person's checkout when that is none.
    pub fn push(&self, from: Option<&Worktree>, request: &PushRequest) -> Result<Pushed> {
        check_branch_name(&request.branch)?;
        check_branch_name(&request.remote)?;
        let oid = self.resolve_branch(&request.branch)?;
        let checkout = from.map_or(&self.checkout, |worktree| &worktree.checkout);
        let call = pushing(checkout, from.is_some())?;
        let reference = format!("refs/heads/{}", request.branch);
        let call = call
            .args(["--porcelain", "--no-follow-tags", "--recurse-submodules=no"])
            // The config may name another program, and for a remote on this machine it would run here.
            .args(["--receive-pack=git-receive-pack", "--end-of-options"])
            .arg(&request.remote)
            .arg(format!("{reference}:{reference}"));
        let act = format!("push {} to {}", request.branch, request.remote);
        let spoken = speak(checkout, call, request.credential.as_ref(), request.time_limit, &act)?;
        if let Some(refusal) = spoken.refusal {
            return Ok(Pushed::Refused(refusal));
        }
        self.keep_remote_branch(&request.remote, &request.branch, &oid)?;
        let was_there = spoken.stdout.lines().any(|line| line.starts_with("=\t"));
        Ok(if was_there { Pushed::UpToDate { oid } } else { Pushed::Done { oid } })
    }
}

/// Makes a call that finds the repository by itself, so that hooks find the environment they are used to.
fn pushing(checkout: &Checkout, is_linked: bool) -> Result<Call> {
    if is_linked {
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
    }
    let call = Call::new(&checkout.git, "push").from(&checkout.top).with_hooks();
    Ok(match checkout.top.parent() {
        Some(parent) => call.env("GIT_CEILING_DIRECTORIES", parent),
        None => call,
    })
}
