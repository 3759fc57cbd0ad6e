//! Pull requests of an attempt: opening one, or taking up one that is there.
//!
//! One at a time for each attempt, and what is there already is looked for first, here and at GitHub: two clicks, or a
//! crash between the opening and its record, make one pull request.

use std::sync::atomic::Ordering;

use forge_git::{Remote, Repo};
use forge_hosts::Secret;
use forge_hosts::github::{self as host, PullState, Repository};
use forge_model::state::TaskHappened;
use forge_model::{
    AttemptId, Checks, Merge, MergeId, MergeKind, Noun, Op, PullRequest, PullRequestStatus, Time,
};

use crate::background::{blocking, detached};
use crate::error::whole;
use crate::github::trouble;
use crate::in_place::refuse_in_place;
use crate::push::no_remote;
use crate::store::{Error as StoreError, Tx, attempts, merges};
use crate::{AttemptView, Engine, Error, Result, moves};

/// A pull request to be opened.
#[derive(Debug, Clone)]
pub struct NewPullRequest {
    pub title: String,
    pub body: Option<String>,
    /// The branch it goes into; none means the attempt's target.
    pub target_branch: Option<String>,
}

/// What came of looking for a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedPullRequest(pub Option<PullRequest>);

/// Where a pull request goes, and from where.
#[derive(Debug, Clone)]
struct Places {
    /// The repository that it is opened in.
    base: Repository,
    /// The branch it goes into.
    base_branch: String,
    /// The owner of the repository that the branch is pushed to.
    head_owner: String,
}

impl Engine {
    /// Pushes an attempt's branch and opens a pull request for it; one that is open already is the answer as well.
    pub async fn create_pull_request(&self, id: AttemptId, new: NewPullRequest) -> Result<PullRequest> {
        let engine = self.clone();
        detached(async move { engine.open_request(id, new).await }).await
    }

    /// Takes up the pull request of an attempt's branch, or the one with a number.
    pub async fn attach_pull_request(
        &self,
        id: AttemptId,
        number: Option<u64>,
    ) -> Result<AttachedPullRequest> {
        let engine = self.clone();
        detached(async move { engine.attach_request(id, number).await }).await
    }

    async fn open_request(&self, id: AttemptId, new: NewPullRequest) -> Result<PullRequest> {
        let _turn = self.inner.github.turns.take(id).await;
        let view = self.attempt(id).await?;
        refuse_in_place(&view.attempt, "open a pull request for")?;
        let target = new.target_branch.unwrap_or_else(|| view.attempt.target_branch.clone());
        let places = self.places(&view, target).await?;
        let token = self.token_or_page(&places, &view).await?;
        let sent = self.push_branch(id).await;
        sent.map_err(|error| error.after("Failed to push branch to GitHub"))?;
        let known = self.inner.store.read(move |conn| merges::of_attempt(conn, id)).await?;
        if let Some(open) = known.into_iter().find_map(open_one) {
            return Ok(open);
        }
        let branch = view.attempt.branch.clone();
        let head = format!("{}:{branch}", places.head_owner);
        let (client, there) = (self.inner.github.client.clone(), places.clone());
        let opened = blocking(move || {
            let find = || {
                let found = client.pull_requests_of(&token, &there.base, &head)?;
                Ok(found
                    .into_iter()
                    .find(|pull| pull.state == PullState::Open && pull.base == there.base_branch))
            };
            if let Some(found) = find()? {
                return Ok(found);
            }
            let head = if there.head_owner == there.base.owner { branch } else { head.clone() };
            let new = host::NewPullRequest {
                title: new.title,
                body: new.body,
                head,
                base: there.base_branch.clone(),
            };
            match client.open_pull_request(&token, &there.base, &new) {
                // Somebody else was quicker.
                Err(host::Error::Impossible { told, .. }) if told.contains("already exists") => find()?
                    .ok_or_else(|| host::Error::Impossible {
                        act: "open a pull request",
                        host: there.base.owner.clone(),
                        told,
                    }),
                other => other,
            }
        });
        let opened = opened.await?.map_err(|error| coded(error).after("Failed to create PR"))?;
        self.keep_request(id, &opened, None, self.pushes()).await
    }

    async fn attach_request(&self, id: AttemptId, number: Option<u64>) -> Result<AttachedPullRequest> {
        let _turn = self.inner.github.turns.take(id).await;
        let view = self.attempt(id).await?;
        let places = self.places(&view, view.attempt.target_branch.clone()).await?;
        let token = self.host_token().await?.ok_or_else(|| self.no_token())?;
        let head = format!("{}:{}", places.head_owner, view.attempt.branch);
        let (client, pushes) = (self.inner.github.client.clone(), self.pushes());
        let found = blocking(move || {
            let found = match number {
                Some(number) => match client.pull_request(&token, &places.base, number) {
                    Err(host::Error::NotFound { .. }) => None,
                    found => Some(found?),
                },
                None => {
                    let mut found = client.pull_requests_of(&token, &places.base, &head)?;
                    // The newest of the best: one that is open, or else one that was merged.
                    found.sort_by_key(|pull| match pull.state {
                        PullState::Open => 0,
                        PullState::Merged { .. } => 1,
                        PullState::Closed => 2,
                    });
                    found.into_iter().next()
                }
            };
            // Checks that are not told now are told by the next poll.
            Ok(found.map(|found| {
                let checks = checks_of(&client, &token, &places.base, &found).unwrap_or(None);
                (found, checks)
            }))
        });
        match found.await?.map_err(coded)? {
            Some((found, checks)) => {
                Ok(AttachedPullRequest(Some(self.keep_request(id, &found, checks, pushes).await?)))
            }
            None => Ok(AttachedPullRequest(None)),
        }
    }

    /// Counts the pushes so far.
    pub(crate) fn pushes(&self) -> u64 {
        self.inner.github.pushes.load(Ordering::Relaxed)
    }

    /// Writes down a pull request of an attempt, and what it means for the task. Without checks, or with some that were
    /// asked for when there had been fewer pushes than now, those that are known stay.
    pub(crate) async fn keep_request(
        &self,
        attempt: AttemptId,
        found: &host::PullRequest,
        checks: Option<Checks>,
        pushes: u64,
    ) -> Result<PullRequest> {
        let request = PullRequest { checks, ..read(found) };
        let (engine, target) = (self.clone(), found.base.clone());
        let written = self.inner.store.write(move |tx| {
            let checks = request.checks.filter(|_| engine.pushes() == pushes);
            let request = PullRequest { checks, ..request };
            keep(tx, attempt, &request, &target)?;
            Ok(request)
        });
        Ok(written.await?)
    }

    /// Finds where a pull request of an attempt goes, or says why there can be none.
    async fn places(&self, view: &AttemptView, target: String) -> Result<Places> {
        let project = self.project(view.attempt.project).await?;
        let (engine, address) = (self.clone(), self.inner.github.options.address.clone());
        blocking(move || {
            let repo = engine.repo(&project.path)?;
            let (remote, base_branch) = base(&repo, &target)?;
            let Some(base) = address.repository(&remote.fetch_url) else {
                return Err(Error::conflict(format!(
                    "{} is {}, which is no repository at {}, so Forge can open no pull request there; push the branch \
                     and open one at that host",
                    remote.name,
                    forge_git::redact(&remote.fetch_url),
                    address.pages(),
                ))
                .with_code("no_host"));
            };
            let pushed = repo.push_remote(&base_branch)?.unwrap_or(remote);
            let head = address.repository(&pushed.push_url).or_else(|| address.repository(&pushed.fetch_url));
            let head_owner = head.map_or_else(|| base.owner.clone(), |head| head.owner);
            Ok(Places { base, base_branch, head_owner })
        })
        .await?
    }

    /// Returns the token, or says where a person opens the pull request without one.
    async fn token_or_page(&self, places: &Places, view: &AttemptView) -> Result<Secret> {
        if let Some(token) = self.host_token().await? {
            return Ok(token);
        }
        let head = format!("{}:{}", places.head_owner, view.attempt.branch);
        let page = self.inner.github.options.address.compare_page(&places.base, &places.base_branch, &head);
        let message = format!("{}; without one, push the branch and open it at {page}", self.no_token());
        Err(Error::conflict(message).with_code("TOKEN_INVALID"))
    }
}

/// Returns the remote that a target is on and its name there: `origin/main` means `main` of `origin`.
pub(crate) fn base(repo: &Repo, target: &str) -> Result<(Remote, String)> {
    let is_local = repo.branches()?.iter().any(|branch| !branch.is_remote && branch.name == target);
    if !is_local {
        for name in repo.remotes()? {
            if let Some(branch) = target.strip_prefix(&format!("{name}/")) {
                return Ok((repo.remote(&name)?, branch.to_string()));
            }
        }
    }
    let remote = repo.remote_of(target)?.ok_or_else(|| no_remote(repo))?;
    Ok((remote, target.to_string()))
}

/// A pull request as it is kept.
fn read(found: &host::PullRequest) -> PullRequest {
    let (status, merged_at, commit) = match &found.state {
        PullState::Open => (PullRequestStatus::Open, None, None),
        PullState::Closed => (PullRequestStatus::Closed, None, None),
        PullState::Merged { at, commit } => {
            let at = serde_json::from_value::<Time>(at.as_str().into()).ok();
            (PullRequestStatus::Merged, at, commit.clone())
        }
    };
    let number = i64::try_from(found.number).unwrap_or(i64::MAX);
    PullRequest { number, url: found.url.clone(), status, merged_at, commit, checks: None }
}

/// Counts the checks of a pull request that is open. A token that may not see them, a commit that has just gone, or an
/// answer too long to be read is no failure: then nothing new is known.
pub(crate) fn checks_of(
    client: &host::GitHub,
    token: &Secret,
    repository: &Repository,
    found: &host::PullRequest,
) -> std::result::Result<Option<Checks>, host::Error> {
    if found.state != PullState::Open {
        return Ok(None);
    }
    match client.checks(token, repository, &found.head_commit) {
        Ok(host::Checks { passed, failed, waiting }) => Ok(Some(Checks { passed, failed, waiting })),
        Err(
            host::Error::NotFound { .. }
            | host::Error::NotAllowed { .. }
            | host::Error::Impossible { .. }
            | host::Error::Nonsense { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds a pull request to an attempt, or changes the one it has. Merged, it moves the task, once.
fn keep(
    tx: &mut Tx<'_>,
    id: AttemptId,
    request: &PullRequest,
    target: &str,
) -> std::result::Result<(), StoreError> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(()) };
    let known = merges::of_attempt(tx.conn(), id)?.into_iter().find(|merge| match &merge.how {
        MergeKind::PullRequest(known) => known.number == request.number && known.url == request.url,
        MergeKind::Direct { .. } => false,
    });
    let checks = known.as_ref().and_then(|merge| match &merge.how {
        MergeKind::PullRequest(known) => known.checks,
        MergeKind::Direct { .. } => None,
    });
    let request = &PullRequest { checks: request.checks.or(checks), ..request.clone() };
    let changed = match known {
        Some(Merge { how: MergeKind::PullRequest(known), .. }) if known == *request => false,
        Some(known) => merges::settle(tx.conn(), known.id, target, request, tx.now())?,
        None => {
            let how = MergeKind::PullRequest(request.clone());
            let (target_branch, created_at) = (target.to_string(), tx.now());
            let merge = Merge { id: MergeId::random(), attempt: id, target_branch, how, created_at };
            merges::insert(tx.conn(), &merge)?;
            true
        }
    };
    if !changed {
        return Ok(());
    }
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    match (&view.task, request.status) {
        (Some(task), PullRequestStatus::Merged) => moves::task(tx, task, TaskHappened::Landed),
        _ => Ok(()),
    }
}

fn open_one(merge: Merge) -> Option<PullRequest> {
    match merge.how {
        MergeKind::PullRequest(request) if request.status == PullRequestStatus::Open => Some(request),
        _ => None,
    }
}

/// Gives GitHub's refusals the codes that clients know.
pub(crate) fn coded(error: host::Error) -> Error {
    let conflict = |code| Error::conflict(whole(&error)).with_code(code);
    match &error {
        host::Error::TokenInvalid { .. } => conflict("TOKEN_INVALID"),
        host::Error::NotAllowed { .. } => conflict("INSUFFICIENT_PERMISSIONS"),
        host::Error::NotFound { .. } => conflict("REPO_NOT_FOUND_OR_NO_ACCESS"),
        host::Error::Impossible { .. } => Error::conflict(whole(&error)),
        _ => trouble(error),
    }
}
