//! How an attempt's branch stands to its target, and what is open in its worktree.

use forge_git::{Operation, Repo, Standing};
use forge_model::{AttemptId, Merge};

use crate::background::blocking;
use crate::{Engine, Result};

/// How an attempt's branch stands.
#[derive(Debug, Clone)]
pub struct BranchStatus {
    /// Commits that the branch has and its target has not, and the other way round; none when one of them is gone.
    pub counts: Option<(u64, u64)>,
    pub target_branch: String,
    /// What its worktree looks like; none when that is gone.
    pub standing: Option<Standing>,
    /// The commit of the branch.
    pub head: Option<String>,
    /// Newest first.
    pub merges: Vec<Merge>,
    /// Commits that the branch has and its namesake at the remote has not, and the other way round, while a pull
    /// request is open.
    pub remote_counts: Option<(u64, u64)>,
}

/// What a commit is called, and what it says first.
#[derive(Debug, Clone)]
pub struct CommitInfo {
    pub oid: String,
    pub subject: String,
}

/// How a commit stands to what an attempt has checked out.
#[derive(Debug, Clone)]
pub struct CommitComparison {
    pub head: String,
    pub commit: String,
    /// Commits that are checked out and that the commit has not.
    pub ahead: u64,
    pub behind: u64,
}

impl Engine {
    /// Looks how an attempt's branch stands to its target, and what is open in its worktree.
    pub async fn branch_status(&self, id: AttemptId) -> Result<BranchStatus> {
        self.settle_rebase(id).await?;
        let attempt = self.attempt(id).await?.attempt;
        let merges = self.merges(id).await?;
        // What a remote is good for is not needed to land here, so its trouble hides nothing else.
        let remote_counts = self.remote_counts(id).await.unwrap_or_default();
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let head = repo.local_branch(&attempt.branch)?;
            let target = repo.resolve_branch(&attempt.target_branch).ok();
            let counts = match (&head, &target) {
                (Some(head), Some(target)) => Some(repo.ahead_behind(head, target)?),
                _ => None,
            };
            let standing = match attempt.in_place {
                true => Some(repo.standing()?),
                false => repo.worktree(&attempt.worktree).and_then(|worktree| worktree.standing()).ok(),
            };
            let head = standing.as_ref().and_then(|standing| standing.head.clone()).or(head);
            let target_branch = attempt.target_branch;
            Ok(BranchStatus { counts, target_branch, standing, head, merges, remote_counts })
        })
        .await?
    }

    /// Finds a commit of an attempt's repository by its name.
    pub async fn commit_info(&self, id: AttemptId, name: String) -> Result<CommitInfo> {
        self.with_repo(id, move |repo, _| {
            let oid = repo.find_commit(&name)?;
            Ok(CommitInfo { subject: repo.commit_subject(&oid)?, oid })
        })
        .await
    }

    /// Compares a commit with what an attempt has checked out.
    pub async fn compare_commit(&self, id: AttemptId, name: String) -> Result<CommitComparison> {
        self.with_repo(id, move |repo, head| {
            let commit = repo.find_commit(&name)?;
            let (ahead, behind) = repo.ahead_behind(&head, &commit)?;
            Ok(CommitComparison { head, commit, ahead, behind })
        })
        .await
    }

    /// Does something with an attempt's repository and the commit that the attempt has checked out.
    async fn with_repo<T: Send + 'static>(
        &self,
        id: AttemptId,
        look: impl FnOnce(Repo, String) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let attempt = self.attempt(id).await?.attempt;
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let head = match attempt.in_place {
                true => None,
                false => repo.worktree(&attempt.worktree).and_then(|worktree| worktree.head()).ok(),
            };
            let head = match head {
                Some(head) => head,
                None => repo.resolve_branch(&attempt.branch)?,
            };
            look(repo, head)
        })
        .await?
    }
}

impl BranchStatus {
    /// The operation of git that waits in the worktree.
    pub fn operation(&self) -> Option<Operation> {
        self.standing.as_ref()?.operation
    }
}
