//! Pull requests: opening one, finding those of a branch, and looking at what became of one.

use serde::{Deserialize, Serialize};

use super::{Error, GitHub, Repository};
use crate::Secret;

const CREATE: &str = "open a pull request";
const LIST: &str = "look for pull requests";
const LOOK: &str = "look at a pull request";

/// A pull request to be opened.
#[derive(Debug, Clone, Serialize)]
pub struct NewPullRequest {
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The branch to be merged; with its owner in front, `owner:branch`, when it is in a fork.
    pub head: String,
    /// The branch it goes into.
    pub base: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    /// Its page.
    pub url: String,
    pub state: PullState,
    /// The branch it goes into.
    pub base: String,
    /// The newest commit of the branch to be merged.
    pub head_commit: String,
}

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullState {
    Open,
    /// When, in the words of RFC 3339, and as which commit.
    Merged {
        at: String,
        commit: Option<String>,
    },
    Closed,
}

#[derive(Deserialize)]
struct Told {
    number: u64,
    html_url: String,
    state: String,
    merged_at: Option<String>,
    merge_commit_sha: Option<String>,
    base: Branch,
    head: Branch,
}

#[derive(Deserialize)]
struct Branch {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
}

impl GitHub {
    /// Opens a pull request.
    pub fn open_pull_request(
        &self,
        token: &Secret,
        repository: &Repository,
        new: &NewPullRequest,
    ) -> Result<PullRequest, Error> {
        let body = serde_json::to_vec(new).map_err(|error| self.unspeakable(CREATE, &error))?;
        self.tell(CREATE, &pulls(repository), token, &body)?.read_for::<Told>()?.checked(self, CREATE)
    }

    /// Lists the pull requests of a branch, `owner:branch`, newest first, whatever became of them.
    pub fn pull_requests_of(
        &self,
        token: &Secret,
        repository: &Repository,
        head: &str,
    ) -> Result<Vec<PullRequest>, Error> {
        let query = [("state", "all"), ("head", head), ("sort", "created"), ("direction", "desc")];
        let told: Vec<Told> = self.ask_for(LIST, &pulls(repository), &query, token)?.read_for()?;
        told.into_iter().map(|told| told.checked(self, LIST)).collect()
    }

    /// Looks at a pull request by its number.
    pub fn pull_request(
        &self,
        token: &Secret,
        repository: &Repository,
        number: u64,
    ) -> Result<PullRequest, Error> {
        let path = format!("{}/{number}", pulls(repository));
        self.ask_for(LOOK, &path, &[], token)?.read_for::<Told>()?.checked(self, LOOK)
    }
}

fn pulls(repository: &Repository) -> String {
    format!("/repos/{}/{}/pulls", repository.owner, repository.name)
}

impl Told {
    fn checked(self, github: &GitHub, act: &'static str) -> Result<PullRequest, Error> {
        // A page shows this as a link.
        if !self.html_url.starts_with("https://") && !self.html_url.starts_with("http://") {
            return Err(github.nonsense(act, "its page is no web page"));
        }
        let state = match (self.state.as_str(), self.merged_at) {
            (_, Some(at)) => PullState::Merged { at, commit: self.merge_commit_sha },
            ("open", None) => PullState::Open,
            _ => PullState::Closed,
        };
        let (base, head_commit) = (self.base.name, self.head.sha);
        Ok(PullRequest { number: self.number, url: self.html_url, state, base, head_commit })
    }
}
