//! A merge: an attempt's work that reached its target, or is on its way there in a pull request.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

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
    /// What its checks came to when the host was last asked; none until then.
    pub checks: Option<Checks>,
}

/// How many checks of a pull request ended well, ended badly, and have not ended. As a text: `3/1/0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    pub passed: u32,
    pub failed: u32,
    pub waiting: u32,
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.passed, self.failed, self.waiting)
    }
}

impl FromStr for Checks {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().unwrap_or_default().parse();
        Ok(Self { passed: next()?, failed: next()?, waiting: next()? })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_read_as_they_are_written_and_nothing_else_is_read() {
        let checks = Checks { passed: 12, failed: 1, waiting: 0 };
        assert_eq!((checks.to_string().as_str(), "12/1/0".parse()), ("12/1/0", Ok(checks)));
        for wrong in ["", "-", "1", "1/2", "1/2/3/4", "1/-2/3", "a/b/c"] {
            assert!(wrong.parse::<Checks>().is_err(), "{wrong}");
        }
    }
}
