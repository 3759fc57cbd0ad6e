//! Asking GitHub, now and then, what became of the pull requests that are open.
//!
//! What is asked about is in the store, so a restart goes on with it. While GitHub is away or wants to be left alone, it
//! is asked less and less often.

use std::sync::Arc;
use std::time::Duration;

use forge_git::{Remote, Repo};
use forge_hosts::Secret;
use forge_hosts::github::{self as host, PullState};
use forge_model::{AttemptId, Merge, MergeKind, PullRequest, PullRequestStatus};

use crate::background::blocking;
use crate::error::whole;
use crate::pull_request::checks_of;
use crate::store::merges;
use crate::{Engine, Result};

/// The longest pause between two questions.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// How long the fetch of a branch that somebody pushed to may take.
const FETCH_TIME: Duration = Duration::from_secs(60);

/// What may keep going wrong here, as the log calls it.
const LOOK: &str = "the look at pull requests";
const GITHUB: &str = "the way to GitHub";

/// What a round of questions came to.
#[derive(Debug, PartialEq, Eq)]
enum Round {
    Done,
    /// GitHub is away, or does not take the token; it may have said how long to wait.
    Broken(Option<Duration>),
}

impl Engine {
    /// Asks for as long as the engine lives.
    pub(crate) fn keep_polling(&self) {
        let inner = Arc::downgrade(&self.inner);
        let every = self.inner.github.options.poll;
        self.aside(async move {
            let mut pause = every;
            loop {
                tokio::time::sleep(pause).await;
                let Some(inner) = inner.upgrade() else { return };
                let engine = Engine { inner };
                let round = match engine.poll_pull_requests().await {
                    Ok(round) => {
                        engine.inner.troubles.is_over(LOOK);
                        round
                    }
                    Err(error) => {
                        let trouble = format!("pull requests could not be looked at: {error}");
                        engine.inner.troubles.meet(LOOK, &trouble);
                        Round::Broken(None)
                    }
                };
                pause = next(pause, every, &round);
            }
        });
    }

    /// Counts how far an attempt's branch is ahead of and behind its namesake at the remote, while a pull request of it
    /// is open, as far as we know from the last push or poll: nobody is asked now.
    pub async fn remote_counts(&self, id: AttemptId) -> Result<Option<(u64, u64)>> {
        let known = self.inner.store.read(move |conn| merges::of_attempt(conn, id)).await?;
        if !known.iter().any(is_open) {
            return Ok(None);
        }
        let attempt = self.attempt(id).await?.attempt;
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        blocking(move || {
            let repo = engine.repo(&project.path)?;
            let Some(remote) = repo.push_remote(&attempt.target_branch)? else { return Ok(None) };
            let Some(theirs) = repo.known_remote_branch(&remote.name, &attempt.branch)? else {
                return Ok(None);
            };
            let ours = repo.resolve_branch(&attempt.branch)?;
            Ok(Some(repo.ahead_behind(&ours, &theirs)?))
        })
        .await?
    }

    /// Asks once about every pull request that is open.
    async fn poll_pull_requests(&self) -> Result<Round> {
        let open = self.inner.store.read(merges::open_requests).await?;
        if open.is_empty() {
            return Ok(Round::Done);
        }
        // A person who logs out is not told every minute that they did.
        let Some(token) = self.host_token().await? else { return Ok(Round::Broken(None)) };
        let mut round = Round::Done;
        for merge in open {
            let of = format!("the pull request of attempt {}", merge.attempt);
            match self.poll_one(&merge, &token).await? {
                Ok(()) => {
                    self.inner.troubles.is_over(GITHUB);
                    self.inner.troubles.is_over(&of);
                }
                // Of this one only; another may be in another repository.
                Err(error @ (host::Error::NotFound { .. } | host::Error::NotAllowed { .. })) => {
                    tracing::debug!(attempt.id = %merge.attempt, "{}", whole(&error));
                }
                Err(host::Error::TooMany { wait, .. }) => return Ok(Round::Broken(wait)),
                Err(error @ (host::Error::Unreachable { .. } | host::Error::TokenInvalid { .. })) => {
                    self.inner.troubles.meet(GITHUB, &whole(&error));
                    return Ok(Round::Broken(None));
                }
                // It may be the answer about this one, and must not keep the others from being asked about.
                Err(error) => {
                    self.inner.troubles.meet(&of, &format!("{of}: {}", whole(&error)));
                    round = Round::Broken(None);
                }
            }
        }
        Ok(round)
    }

    async fn poll_one(&self, merge: &Merge, token: &Secret) -> Result<std::result::Result<(), host::Error>> {
        let MergeKind::PullRequest(PullRequest { url, number, .. }) = &merge.how else { return Ok(Ok(())) };
        let page = url.trim_end_matches(|last: char| last.is_ascii_digit()).trim_end_matches("/pull/");
        let (address, number) = (&self.inner.github.options.address, u64::try_from(*number).unwrap_or(0));
        // It was opened at another server, which this one does not speak to.
        let Some(repository) = address.repository(page) else { return Ok(Ok(())) };
        let (client, token, pushes) = (self.inner.github.client.clone(), token.clone(), self.pushes());
        let asked = move || {
            let found = client.pull_request(&token, &repository, number)?;
            let checks = checks_of(&client, &token, &repository, &found);
            Ok((found, checks))
        };
        let (found, checks) = match blocking(asked).await? {
            Ok(told) => told,
            Err(error) => return Ok(Err(error)),
        };
        // What became of the pull request counts, whatever there is to hear about its checks.
        let (checks, told) = match checks {
            Ok(_) if self.is_behind(merge, found.head_commit.clone()).await => (None, Ok(())),
            Ok(checks) => (checks, Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.keep_request(merge.attempt, &found, checks, pushes).await?;
        if found.state == PullState::Open
            && let Err(error) = self.follow_remote(merge, found.head_commit).await
        {
            // A repository that is away, or a remote, is no reason to leave the others out.
            tracing::debug!(attempt.id = %merge.attempt, "its branch was not fetched: {error}");
        }
        Ok(told)
    }

    /// Says whether a commit is one that a push has already gone beyond: GitHub has not heard of it yet. Of a
    /// repository that cannot be looked at nobody knows, and no checks are told.
    async fn is_behind(&self, merge: &Merge, head: String) -> bool {
        let looked = self.at_remote(merge, move |_, repo, remote, branch| {
            let known = repo.known_remote_branch(&remote.name, branch)?;
            // A commit that is not here was pushed by somebody else, and is newer.
            Ok(known.is_some_and(|known| known != head && repo.is_ancestor(&head, &known).unwrap_or(false)))
        });
        match looked.await {
            Ok(is_behind) => is_behind.unwrap_or(false),
            Err(error) => {
                tracing::debug!(attempt.id = %merge.attempt, "its branch cannot be looked at: {error}");
                true
            }
        }
    }

    /// Fetches a branch that is not where we know it to be, so that people can see by how much it differs.
    async fn follow_remote(&self, merge: &Merge, head: String) -> Result<()> {
        self.at_remote(merge, move |engine, repo, remote, branch| {
            if repo.known_remote_branch(&remote.name, branch)?.as_deref() != Some(head.as_str()) {
                engine.fetch_by(repo, remote, branch, FETCH_TIME, false)?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    /// Looks at an attempt's branch and the remote it is pushed to; nothing where there is none, or no attempt any more.
    async fn at_remote<T: Send + 'static>(
        &self,
        merge: &Merge,
        look: impl FnOnce(&Engine, &Repo, &Remote, &str) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let Ok(view) = self.attempt(merge.attempt).await else { return Ok(None) };
        let project = self.project(view.attempt.project).await?;
        let engine = self.clone();
        blocking(move || {
            let repo = engine.repo(&project.path)?;
            let Some(remote) = repo.push_remote(&view.attempt.target_branch)? else { return Ok(None) };
            look(&engine, &repo, &remote, &view.attempt.branch).map(Some)
        })
        .await?
    }
}

fn is_open(merge: &Merge) -> bool {
    matches!(&merge.how, MergeKind::PullRequest(request) if request.status == PullRequestStatus::Open)
}

/// How long to wait before the next round.
fn next(pause: Duration, every: Duration, round: &Round) -> Duration {
    match round {
        Round::Done => every,
        Round::Broken(Some(wait)) => (*wait).clamp(every, LONGEST.max(*wait)),
        Round::Broken(None) => (pause * 2).clamp(every, LONGEST.max(every)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_github_that_is_away_is_asked_less_and_less_often_and_then_again_as_before() {
        let minute = Duration::from_secs(60);
        let mut pauses = Vec::new();
        let mut pause = minute;
        for _ in 0..6 {
            pause = next(pause, minute, &Round::Broken(None));
            pauses.push(pause.as_secs());
        }
        assert_eq!(pauses, [120, 240, 480, 900, 900, 900]);
        assert_eq!(next(pause, minute, &Round::Done), minute);
        assert_eq!(next(minute, minute, &Round::Broken(Some(Duration::from_secs(3000)))).as_secs(), 3000);
        assert_eq!(next(minute, minute, &Round::Broken(Some(Duration::from_secs(1)))), minute);
    }
}
