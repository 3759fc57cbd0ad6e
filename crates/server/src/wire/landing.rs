//! What landing an attempt takes and gives on the wire: merges, the standing of its branch, commits.

use forge_engine::{
    BranchStatus as Status, CommitComparison, CommitInfo as Info, Land, Operation, RebaseRequest, Rebased,
};
use forge_model::{AttemptId, Checks, Merge as Merged, MergeId, MergeKind, PullRequestStatus, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;

pub(crate) const MERGE: Body = Body::new("MergeTaskAttempt", &[may(names::SKIP_HOOKS)]);
pub(crate) const REBASE: Body = Body::new(
    "RebaseTaskAttempt",
    &[may(names::OLD_BASE_BRANCH), may(names::NEW_BASE_BRANCH), may(names::SKIP_HOOKS)],
);
pub(crate) const CHANGE_TARGET: Body = Body::new("ChangeTargetBranch", &[need(names::NEW_TARGET_BRANCH)]);

/// How the work of an attempt went to its target.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Merge {
    Direct {
        id: MergeId,
        task_attempt_id: AttemptId,
        merge_commit: String,
        target_branch_name: String,
        created_at: Time,
    },
    Pr {
        id: MergeId,
        task_attempt_id: AttemptId,
        created_at: Time,
        target_branch_name: String,
        pr_info: PullRequestInfo,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PullRequestInfo {
    number: i64,
    url: String,
    status: PullRequestStatus,
    merged_at: Option<Time>,
    merge_commit_sha: Option<String>,
    /// Null until the host was asked.
    checks: Option<PullRequestChecks>,
}

/// How many checks of a pull request ended well, ended badly, and have not ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PullRequestChecks {
    passed: u32,
    failed: u32,
    waiting: u32,
}

impl From<Checks> for PullRequestChecks {
    fn from(Checks { passed, failed, waiting }: Checks) -> Self {
        Self { passed, failed, waiting }
    }
}

/// What a merge or a push did besides: there was something uncommitted, and it is a commit now. Without anything,
/// nothing is answered, as ever.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Leftovers {
    leftovers_commit: String,
}

impl Leftovers {
    pub(crate) fn of(commit: Option<String>) -> Option<Self> {
        commit.map(|leftovers_commit| Self { leftovers_commit })
    }
}

/// An operation of git that waits for its conflicts to be resolved.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConflictOp {
    Rebase,
    Merge,
    CherryPick,
    Revert,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BranchStatus {
    commits_behind: Option<u64>,
    commits_ahead: Option<u64>,
    has_uncommitted_changes: Option<bool>,
    head_oid: Option<String>,
    uncommitted_count: Option<u64>,
    untracked_count: Option<u64>,
    target_branch_name: String,
    remote_commits_behind: Option<u64>,
    remote_commits_ahead: Option<u64>,
    merges: Vec<Merge>,
    is_rebase_in_progress: bool,
    conflict_op: Option<ConflictOp>,
    conflicted_files: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommitInfo {
    sha: String,
    subject: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommitCompare {
    head_oid: String,
    target_oid: String,
    ahead_from_head: u64,
    behind_from_head: u64,
    is_linear: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedTargetBranch {
    pub(crate) new_target_branch: String,
    /// Commits that the attempt is ahead of its new target, and behind.
    pub(crate) status: (u64, u64),
}

impl From<Merged> for Merge {
    fn from(merge: Merged) -> Self {
        let (id, task_attempt_id, created_at) = (merge.id, merge.attempt, merge.created_at);
        let target_branch_name = merge.target_branch;
        match merge.how {
            MergeKind::Direct { commit, .. } => {
                Merge::Direct { id, task_attempt_id, merge_commit: commit, target_branch_name, created_at }
            }
            MergeKind::PullRequest(request) => {
                let pr_info = PullRequestInfo {
                    number: request.number,
                    url: request.url,
                    status: request.status,
                    merged_at: request.merged_at,
                    merge_commit_sha: request.commit,
                    checks: request.checks.map(Into::into),
                };
                Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info }
            }
        }
    }
}

impl From<Status> for BranchStatus {
    fn from(status: Status) -> Self {
        let operation = status.operation();
        let standing = status.standing.as_ref();
        let conflicted_files: Vec<String> = standing
            .map(|standing| {
                standing.conflicted.iter().map(|path| path.to_string_lossy().into_owned()).collect()
            })
            .unwrap_or_default();
        Self {
            commits_behind: status.counts.map(|(_, behind)| behind),
            commits_ahead: status.counts.map(|(ahead, _)| ahead),
            has_uncommitted_changes: standing.map(|standing| standing.uncommitted + standing.untracked > 0),
            head_oid: status.head,
            uncommitted_count: standing.map(|standing| standing.uncommitted),
            untracked_count: standing.map(|standing| standing.untracked),
            target_branch_name: status.target_branch,
            remote_commits_behind: status.remote_counts.map(|(_, behind)| behind),
            remote_commits_ahead: status.remote_counts.map(|(ahead, _)| ahead),
            merges: super::list(status.merges),
            is_rebase_in_progress: operation == Some(Operation::Rebase),
            conflict_op: operation.map(|operation| match operation {
                Operation::Rebase => ConflictOp::Rebase,
                Operation::Merge => ConflictOp::Merge,
                Operation::CherryPick => ConflictOp::CherryPick,
                Operation::Revert => ConflictOp::Revert,
            }),
            conflicted_files,
        }
    }
}

impl From<Info> for CommitInfo {
    fn from(info: Info) -> Self {
        Self { sha: info.oid, subject: info.subject }
    }
}

impl From<CommitComparison> for CommitCompare {
    fn from(compared: CommitComparison) -> Self {
        Self {
            head_oid: compared.head,
            target_oid: compared.commit,
            ahead_from_head: compared.ahead,
            behind_from_head: compared.behind,
            is_linear: compared.behind == 0,
        }
    }
}

impl TryFrom<Fields> for Land {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(Self { skip_hooks: fields.flag(names::SKIP_HOOKS)?.unwrap_or_default() })
    }
}

impl TryFrom<Fields> for RebaseRequest {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(Self {
            old_base: fields.filled_text(names::OLD_BASE_BRANCH)?,
            new_base: fields.filled_text(names::NEW_BASE_BRANCH)?,
            skip_hooks: fields.flag(names::SKIP_HOOKS)?.unwrap_or_default(),
        })
    }
}

/// Tells a rebase that waits for its conflicts as clients look for it: a refusal with 200 that holds the kind.
pub(crate) fn rebased(rebased: Result<Rebased, forge_engine::Error>) -> Reply<()> {
    match rebased {
        Ok(Rebased::Done) => Ok(NOTHING),
        Ok(Rebased::Conflicts { files, message }) => {
            let told = json!({"type": "merge_conflicts", "message": message, "op": "rebase", "files": files});
            Err(Problem::told_with_200(forge_engine::Error::conflict(message)).with_error_data(told))
        }
        Err(error) => Err(branch_problem(error)),
    }
}

/// Tells with 200 what clients read the message of.
pub(crate) fn branch_problem(error: forge_engine::Error) -> Problem {
    match error.code() {
        Some("no_such_branch" | "rebase_in_progress") => Problem::told_with_200(error),
        _ => error.into(),
    }
}

/// Encodes a changed target.
pub(crate) fn changed_target(branch: String, counts: (u64, u64)) -> Envelope<ChangedTargetBranch> {
    Envelope(ChangedTargetBranch { new_target_branch: branch, status: counts })
}
