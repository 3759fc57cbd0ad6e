//! Pushing an attempt's branch to the project's remote: what is left is committed first, the person's own way to log in
//! goes first, and nothing is ever forced.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forge_git::{PushRequest, Pushed, Refusal, Repo, Worktree, redact};
use forge_model::{AttemptId, Noun, Op};

use crate::background::{blocking, detached};
use crate::in_place::refuse_in_place;
use crate::store::merges;
use crate::{Engine, Error, Result};

/// How long git, the network and the person's pre-push hook may take together.
const PUSH_TIME: Duration = Duration::from_secs(600);

/// What was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedAttempt {
    pub remote: String,
    /// The commit that the remote's branch is at now.
    pub commit: String,
    /// The commit that was made of what was left uncommitted, if anything was.
    pub committed: Option<String>,
}

impl Engine {
    /// Pushes an attempt's branch under its own name.
    pub async fn push_attempt(&self, id: AttemptId) -> Result<PushedAttempt> {
        let engine = self.clone();
        detached(async move { engine.push_branch(id).await }).await
    }

    pub(crate) async fn push_branch(&self, id: AttemptId) -> Result<PushedAttempt> {
        let view = self.attempt(id).await?;
        refuse_in_place(&view.attempt, "push")?;
        let committed = self.commit_before_push(id).await?;
        let path = self.ensure_worktree(id).await?;
        let project = self.project(view.attempt.project).await?;
        let (engine, project_id) = (self.clone(), project.id);
        let pushed = blocking(move || {
            let attempt = view.attempt;
            let repo = engine.repo(&project.path)?;
            let worktree = repo.worktree(&path)?;
            let remote = repo.push_remote(&attempt.target_branch)?.ok_or_else(|| no_remote(&repo))?;
            let pushed = engine.push_by(&repo, &worktree, &remote.name, &attempt.branch)?;
            let (commit, is_news) = match pushed {
                Pushed::Done { oid } => (oid, true),
                Pushed::UpToDate { oid } => (oid, false),
                Pushed::Refused(refusal) => {
                    return Err(told(&refusal, &attempt.branch, &remote.name, &remote.push_url));
                }
            };
            tracing::info!(attempt.id = %id, "branch {} is at {commit} on {}", attempt.branch, remote.name);
            Ok((PushedAttempt { remote: remote.name, commit, committed }, is_news))
        });
        let (pushed, is_news) = pushed.await??;
        if is_news {
            // What checks said is of the commit before, also what somebody is just being told.
            let engine = self.clone();
            let forgotten = self.inner.store.write(move |tx| {
                engine.inner.github.pushes.fetch_add(1, Ordering::Relaxed);
                if merges::forget_checks(tx.conn(), id)? {
                    tx.changed(Noun::Attempt, id, Op::Change, Some(project_id), Some(id));
                }
                Ok(())
            });
            forgotten.await?;
        }
        Ok(pushed)
    }

    /// Pushes as the person would, and with the token when the server does not let them in. Blocks.
    ///
    /// Nobody is let in before the hook runs, so a second try runs it for the first time.
    fn push_by(&self, repo: &Repo, worktree: &Worktree, remote: &str, branch: &str) -> Result<Pushed> {
        let (remote, branch) = (remote.to_string(), branch.to_string());
        let mut request = PushRequest { remote, branch, credential: None, time_limit: PUSH_TIME };
        let pushed = repo.push(Some(worktree), &request)?;
        if let Pushed::Refused(Refusal::Login(_)) = &pushed
            && let Some(token) = self.host_token_now()?
        {
            request.credential = Some(self.credential(&token));
            return Ok(repo.push(Some(worktree), &request)?);
        }
        Ok(pushed)
    }
}

/// What to say to a person whose repository has no remote, or several and none that is meant.
pub(crate) fn no_remote(repo: &Repo) -> Error {
    let top = repo.top().display();
    Error::conflict(format!(
        "{top} has no remote to push to; add one with `git remote add origin <address>`, or choose among several with \
         `git config remote.pushDefault <name>`"
    ))
    .with_code("no_remote")
}

/// Says why a push did not happen, in git's words, and what can be done.
fn told(refusal: &Refusal, branch: &str, remote: &str, url: &str) -> Error {
    let at = format!("{branch} was not pushed to {remote} ({})", redact(url));
    match refusal {
        Refusal::NonFastForward(words) => Error::conflict(format!(
            "{at}: {words}; Forge never forces a push: bring those commits into {branch}, or remove the remote's branch"
        ))
        .with_code("non_fast_forward"),
        Refusal::Rejected(words) => Error::conflict(format!("{at}: {words}")).with_code("remote_rejected"),
        Refusal::Hook { .. } => Error::conflict(format!("{at}: {refusal}")).with_code("hook_failed"),
        Refusal::Login(words) => Error::conflict(format!(
            "{at}: {words}; `git push` must work there without asking: set up a credential helper or an ssh key in your \
             global git config, or for GitHub a token in the settings"
        ))
        .with_code("login_required"),
        Refusal::Failed(_) | Refusal::TimedOut { .. } => Error::unavailable(format!("{at}: {refusal}")),
    }
}
