//! Pull requests, pushes and pulls on the wire.

use forge_engine::{AttachedPullRequest, ErrorKind, NewPullRequest, ProjectBranch, Pulled};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

pub(crate) const CREATE_PULL_REQUEST: Body = Body::new(
    "CreateGitHubPrRequest",
    &[need(names::TITLE), may(names::PULL_REQUEST_BODY), may(names::TARGET_BRANCH)],
);

pub(crate) const ATTACH_PULL_REQUEST: Body =
    Body::new("AttachExistingPrRequest", &[may(names::PULL_REQUEST_NUMBER)]);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttachPrResponse {
    pr_attached: bool,
    pr_url: Option<String>,
    pr_number: Option<i64>,
    /// `open`, `merged`, `closed` or `unknown`.
    pr_status: Option<&'static str>,
}

/// How a project's checkout stands to its remote, in the shape of an attempt's branch status.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectBranchStatus {
    /// Null when the remote could not be asked.
    commits_behind: Option<u64>,
    commits_ahead: Option<u64>,
    has_uncommitted_changes: Option<bool>,
    head_oid: Option<String>,
    uncommitted_count: Option<u64>,
    untracked_count: Option<u64>,
    target_branch_name: String,
    /// The same counts again: what the checkout is compared with is the remote's.
    remote_commits_behind: Option<u64>,
    remote_commits_ahead: Option<u64>,
    /// Always empty: a project is merged nowhere.
    merges: Vec<String>,
    is_rebase_in_progress: bool,
    conflict_op: Option<String>,
    conflicted_files: Vec<String>,
}

/// What came of a pull. It has no envelope.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PullResponse {
    success: bool,
    message: String,
    /// Why nothing was pulled.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
}

impl TryFrom<Fields> for NewPullRequest {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(Self {
            title: fields.line(names::TITLE)?,
            body: fields.filled_text(names::PULL_REQUEST_BODY)?,
            target_branch: fields.filled_text(names::TARGET_BRANCH)?,
        })
    }
}

/// Reads which pull request is meant; none means that of the attempt's branch.
pub(crate) fn pull_request_number(fields: &Fields) -> Result<Option<u64>, Problem> {
    let name = names::PULL_REQUEST_NUMBER;
    let number = fields.number(name)?.map(|number| {
        let number = u64::try_from(number).ok().filter(|number| *number > 0);
        number.ok_or_else(|| fields.refuse(name, "must be the number of a pull request, from 1"))
    });
    number.transpose()
}

/// Refuses as clients know it: with 200, and one of three words that they act on where GitHub said no.
pub(crate) fn no_pull_request(error: forge_engine::Error) -> Problem {
    match error.code() {
        Some(word @ ("TOKEN_INVALID" | "INSUFFICIENT_PERMISSIONS" | "REPO_NOT_FOUND_OR_NO_ACCESS")) => {
            Problem::told_with_200(error).with_word(word)
        }
        _ if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Internal) => error.into(),
        _ => Problem::told_with_200(error),
    }
}

impl From<AttachedPullRequest> for AttachPrResponse {
    fn from(AttachedPullRequest(found): AttachedPullRequest) -> Self {
        Self {
            pr_attached: found.is_some(),
            pr_number: found.as_ref().map(|request| request.number),
            pr_status: found.as_ref().map(|request| request.status.as_str()),
            pr_url: found.map(|request| request.url),
        }
    }
}

impl From<ProjectBranch> for ProjectBranchStatus {
    fn from(branch: ProjectBranch) -> Self {
        let (ahead, behind) = branch.ahead_behind.unzip();
        let standing = branch.standing.as_ref();
        Self {
            commits_behind: behind,
            commits_ahead: ahead,
            has_uncommitted_changes: standing.map(|standing| standing.uncommitted > 0),
            head_oid: standing.and_then(|standing| standing.head.clone()),
            uncommitted_count: standing.map(|standing| standing.uncommitted),
            untracked_count: standing.map(|standing| standing.untracked),
            target_branch_name: branch.base,
            remote_commits_behind: behind,
            remote_commits_ahead: ahead,
            merges: Vec::new(),
            is_rebase_in_progress: false,
            conflict_op: None,
            conflicted_files: Vec::new(),
        }
    }
}

impl From<Pulled> for PullResponse {
    fn from(pulled: Pulled) -> Self {
        let done = |message: String| Self { success: true, message, details: None };
        match pulled {
            Pulled::UpToDate { branch } => done(format!("{branch} is up to date")),
            Pulled::Forward { branch, commits: 1 } => done(format!("{branch} moved forward by 1 commit")),
            Pulled::Forward { branch, commits } => {
                done(format!("{branch} moved forward by {commits} commits"))
            }
            Pulled::Refused { message, details } => Self { success: false, message, details: Some(details) },
        }
    }
}
