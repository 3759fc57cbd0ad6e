//! How a project's checkout stands to its remote, and bringing it forward.
//!
//! Looking fetches into a reference of our own, so that nothing of the person's moves. A pull only ever moves forward:
//! where both sides have commits, or a file is in the way, it says so and nothing has moved.

use std::time::Duration;

use forge_git::{FetchRequest, Fetched, Refusal, Remote, Repo, Standing, redact};
use forge_model::ProjectId;

use crate::background::{blocking, detached};
use crate::error::whole;
use crate::pull_request::base;
use crate::{Engine, Result};

/// How long somebody who looks waits for the remote.
const LOOK_TIME: Duration = Duration::from_secs(30);
/// How long a pull waits for it.
const PULL_TIME: Duration = Duration::from_secs(300);

/// How a project's checkout stands.
#[derive(Debug, Clone)]
pub struct ProjectBranch {
    /// The branch of the remote that it is compared with.
    pub base: String,
    /// Commits of the checkout that the remote has not, and the other way round; none when that is not known.
    pub ahead_behind: Option<(u64, u64)>,
    /// How the files stand; none when git cannot say.
    pub standing: Option<Standing>,
}

/// What came of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pulled {
    /// There was nothing to bring.
    UpToDate { branch: String },
    /// The branch and its files moved forward by so many commits.
    Forward { branch: String, commits: u64 },
    /// Nothing has moved: why, and what stands in the way.
    Refused { message: String, details: String },
}

impl Engine {
    /// Fetches the base branch from the remote and compares the checkout with it.
    pub async fn project_branch(&self, id: ProjectId, base: String) -> Result<ProjectBranch> {
        let project = self.project(id).await?;
        // Two fetches of one branch at once would be in each other's way.
        let turn = self.inner.github.turns.take(id).await;
        let engine = self.clone();
        blocking(move || {
            let _turn = turn;
            let repo = engine.repo(&project.path)?;
            let ahead_behind = engine.compared(&repo, &base).unwrap_or_else(|error| {
                tracing::info!("{} cannot be compared with its remote: {error}", project.path.display());
                None
            });
            let standing = repo.standing().ok();
            Ok(ProjectBranch { base, ahead_behind, standing })
        })
        .await?
    }

    /// Brings the branch that is checked out in a project forward to where its remote has it.
    pub async fn pull_project(&self, id: ProjectId) -> Result<Pulled> {
        let project = self.project(id).await?;
        let engine = self.clone();
        detached(async move {
            let turn = engine.inner.github.turns.take(id).await;
            blocking(move || {
                let _turn = turn;
                let repo = engine.repo(&project.path)?;
                engine.pull(&repo)
            })
            .await?
        })
        .await
    }

    fn compared(&self, repo: &Repo, name: &str) -> Result<Option<(u64, u64)>> {
        let (remote, branch) = base(repo, name)?;
        let Fetched::At(theirs) = self.fetch_by(repo, &remote, &branch, LOOK_TIME, false)? else {
            return Ok(None);
        };
        match repo.head()? {
            Some(ours) => Ok(Some(repo.ahead_behind(&ours, &theirs)?)),
            None => Ok(None),
        }
    }

    fn pull(&self, repo: &Repo) -> Result<Pulled> {
        let top = repo.top().display();
        let Some(branch) = repo.current_branch()? else {
            return Ok(refused("No branch is checked out", format!("{top} is at a commit and on no branch")));
        };
        let Some(remote) = repo.remote_of(&branch)? else {
            return Ok(refused("There is nothing to pull from", format!("{top} has no remote for {branch}")));
        };
        let at = format!("{} ({})", remote.name, redact(&remote.fetch_url));
        let theirs = match self.fetch_by(repo, &remote, &branch, PULL_TIME, true)? {
            Fetched::At(theirs) => theirs,
            Fetched::Missing => {
                return Ok(refused("There is nothing to pull", format!("{at} has no branch {branch}")));
            }
            Fetched::Refused(refusal) => {
                return Ok(refused(&format!("Could not fetch from {at}"), refusal.to_string()));
            }
        };
        let Some(ours) = repo.head()? else {
            return Ok(refused("There is no commit yet", format!("{branch} in {top} has no commits")));
        };
        match repo.ahead_behind(&ours, &theirs)? {
            (_, 0) => Ok(Pulled::UpToDate { branch }),
            (0, commits) => match repo.forward_branch(&branch, &ours, &theirs) {
                Ok(()) => Ok(Pulled::Forward { branch, commits }),
                Err(error) => Ok(refused("Nothing was pulled", whole(&error))),
            },
            (ahead, behind) => Ok(refused(
                "Nothing was pulled: the branches have diverged",
                format!(
                    "{branch} has {ahead} commits that {at} has not, and {at} has {behind} that are not here; Forge \
                     only moves forward: run `git pull --rebase` or `git merge` in {top} yourself"
                ),
            )),
        }
    }

    /// Fetches as the person would, and with the token when the server does not let them in. Blocks.
    pub(crate) fn fetch_by(
        &self,
        repo: &Repo,
        remote: &Remote,
        branch: &str,
        time_limit: Duration,
        track: bool,
    ) -> Result<Fetched> {
        let (remote, branch) = (remote.name.clone(), branch.to_string());
        let mut request = FetchRequest { remote, branch, credential: None, time_limit, track };
        let fetched = repo.fetch(&request)?;
        if let Fetched::Refused(Refusal::Login(_)) = &fetched
            && let Some(token) = self.host_token_now()?
        {
            request.credential = Some(self.credential(&token));
            return Ok(repo.fetch(&request)?);
        }
        Ok(fetched)
    }
}

fn refused(message: &str, details: String) -> Pulled {
    Pulled::Refused { message: message.to_string(), details }
}
