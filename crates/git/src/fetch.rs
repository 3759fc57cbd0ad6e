//! Fetching one branch of a remote into a reference of our own: the person's branches, tags, tracking branches and
//! FETCH_HEAD stay as they are.

use std::time::Duration;

use crate::error::Result;
use crate::names::check_branch_name;
use crate::remotes::known_reference;
use crate::repo::Repo;
use crate::transport::{Credential, Refusal, speak};

/// A branch to be fetched.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub remote: String,
    pub branch: String,
    /// Sent along to its own server only. Without one, git finds the person's.
    pub credential: Option<Credential>,
    pub time_limit: Duration,
    /// Whether the person's own tracking branch moves too, as after a fetch of theirs.
    pub track: bool,
}

/// What came of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The remote's branch is at this commit, which is here now.
    At(String),
    /// The remote has no such branch.
    Missing,
    Refused(Refusal),
}

impl Repo {
    /// Fetches a branch of a remote, and nothing else.
    pub fn fetch(&self, request: &FetchRequest) -> Result<Fetched> {
        let (remote, branch) = (&request.remote, &request.branch);
        check_branch_name(remote)?;
        check_branch_name(branch)?;
        let reference = known_reference(remote, branch)?;
        // The last one says what the config's own list of branches would: nothing.
        let call = self.checkout.refs("fetch").args(["--quiet", "--no-tags", "--no-prune", "--refmap="]);
        let call = call
            // The config may name another program, and for a remote on this machine it would run here.
            .arg("--upload-pack=git-upload-pack")
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--atomic"])
            .setting(format!("remote.{remote}.followRemoteHEAD"), "never")
            .setting("fetch.writeCommitGraph", "false")
            .args(["--end-of-options", remote])
            .arg(format!("+refs/heads/{branch}:{reference}"));
        let call = match request.track {
            true => call.arg(format!("+refs/heads/{branch}:refs/remotes/{remote}/{branch}")),
            false => call,
        };
        let act = format!("fetch {branch} from {remote}");
        let spoken = speak(&self.checkout, call, request.credential.as_ref(), request.time_limit, &act)?;
        match spoken.refusal {
            Some(Refusal::Failed(told)) if told.contains("couldn't find remote ref") => Ok(Fetched::Missing),
            Some(refusal) => Ok(Fetched::Refused(refusal)),
            None => Ok(self.known_remote_branch(remote, branch)?.map_or(Fetched::Missing, Fetched::At)),
        }
    }
}
