//! A merge: an attempt's work that reached its target, or is on its way there in a pull request.

use crate::state::named;
use crate::{AttemptId, MergeId, Time};

/// One way that the work of an attempt took to its target branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    pub id: MergeId,
    pub attempt: AttemptId,
    pub target_branch: String,
    pub how: MergeKind,
    pub created_at: Time,
}

/// How the work goes to its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeKind {
    /// Forge made one commit of it on the target.
    Direct {
        /// The commit on the target.
        commit: String,
        /// The attempt's tip before it became that one commit.
        tip: Option<String>,
    },
    PullRequest(PullRequest),
}

/// A pull request at a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: i64,
    pub url: String,
    pub status: PullRequestStatus,
    pub merged_at: Option<Time>,
    /// The commit on the target, once it is merged.
    pub commit: Option<String>,
}

named! {
    /// What has become of a pull request.
    PullRequestStatus {
        Open = "open",
        Merged = "merged",
        Closed = "closed",
        Unknown = "unknown",
    }
}

impl Merge {
    /// The commit on the target, when the work is there.
    pub fn commit(&self) -> Option<&str> {
        match &self.how {
            MergeKind::Direct { commit, .. } => Some(commit),
            MergeKind::PullRequest(request) if request.status == PullRequestStatus::Merged => {
                request.commit.as_deref()
            }
            MergeKind::PullRequest(_) => None,
        }
    }
}
