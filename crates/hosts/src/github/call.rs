//! One call of GitHub and its answer: bounded in time and size, never redirected.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, Proxy, RequestBuilder};

use super::{Address, Error, GitHub};
use crate::Secret;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// The largest answer that is read; a list of pull requests, each with its repository, is the longest.
const LARGEST: u64 = 4 << 20;

/// The longest that GitHub may have us wait.
const LONGEST_WAIT: u64 = 60 * 60;

/// An answer that came, whatever its status.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    act: &'static str,
    host: String,
    body: Vec<u8>,
    /// How long to wait before asking again, where it says so.
    wait: Option<Duration>,
    /// It is about calling too often.
    too_many: bool,
}

/// The words in which GitHub refuses.
#[derive(Deserialize)]
struct Trouble {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<Value>,
}

pub(super) fn agent(address: &Address, patience: Duration) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .proxy(if address.is_local() { None } else { Proxy::try_from_env() })
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(patience))
        .user_agent(concat!("forge/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

impl GitHub {
    /// Sends a form to one of GitHub's pages.
    pub(super) fn submit(
        &self,
        act: &'static str,
        path: &str,
        form: &[(&str, &str)],
    ) -> Result<Answer, Error> {
        let url = self.address.page(path);
        let sent = self.agent.post(&url).header("Accept", "application/json").send_form(form.iter().copied());
        receive(act, &url, sent)
    }

    /// Asks the API something in the name of the person whose token it is.
    pub(super) fn ask(&self, act: &'static str, path: &str, token: &Secret) -> Result<Answer, Error> {
        self.ask_for(act, path, &[], token)
    }

    /// Asks the API something with a query.
    pub(super) fn ask_for(
        &self,
        act: &'static str,
        path: &str,
        query: &[(&str, &str)],
        token: &Secret,
    ) -> Result<Answer, Error> {
        let url = self.address.api(path);
        let asked = signed(self.agent.get(&url), token).query_pairs(query.iter().copied());
        receive(act, &url, asked.call())
    }

    /// Sends the API a JSON text in the name of the person whose token it is.
    pub(super) fn tell(
        &self,
        act: &'static str,
        path: &str,
        token: &Secret,
        body: &[u8],
    ) -> Result<Answer, Error> {
        let url = self.address.api(path);
        let told = signed(self.agent.post(&url), token).header("Content-Type", "application/json");
        receive(act, &url, told.send(body))
    }

    pub(super) fn nonsense(&self, act: &'static str, why: &str) -> Error {
        Error::Nonsense { act, host: host(&self.address.api("")), why: why.to_string() }
    }

    /// What was to be sent cannot be written down.
    pub(super) fn unspeakable(&self, act: &'static str, error: &serde_json::Error) -> Error {
        Error::Impossible { act, host: host(&self.address.api("")), told: error.to_string() }
    }
}

fn signed<B>(request: RequestBuilder<B>, token: &Secret) -> RequestBuilder<B> {
    request
        .header("Accept", "application/vnd.github+json")
        .header("X-GitHub-Api-Version", "2022-11-28")
        .header("Authorization", format!("Bearer {}", token.reveal()))
}

/// The server's name, from an address on it.
fn host(url: &str) -> String {
    url.split('/').nth(2).unwrap_or(url).to_string()
}

impl Answer {
    /// Reads the body of a good answer.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if !self.status.is_success() {
            return Err(self.refused());
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            // The error of the parser may quote the answer, which may hold a token: only its place is told.
            let why = format!("line {}, column {}", error.line(), error.column());
            Error::Nonsense { act: self.act, host: self.host.clone(), why }
        })
    }

    /// Reads the body of a good answer, and tells apart why there is none.
    pub(super) fn read_for<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let (act, host) = (self.act, self.host.clone());
        match self.status.as_u16() {
            401 => Err(Error::TokenInvalid { act, host }),
            403 | 429 if self.too_many => Err(Error::TooMany { act, host, wait: self.wait }),
            403 => {
                let told = self.told().map_or(String::new(), |told| format!(" ({told})"));
                Err(Error::NotAllowed { act, host, told })
            }
            404 => Err(Error::NotFound { act, host }),
            422 => {
                let told = self.told().unwrap_or_else(|| "no reason".to_string());
                Err(Error::Impossible { act, host, told })
            }
            _ => self.read(),
        }
    }

    /// Returns GitHub's own words about a refusal.
    fn told(&self) -> Option<String> {
        let trouble: Trouble = serde_json::from_slice(&self.body).ok()?;
        let details = trouble.errors.iter().filter_map(|error| {
            error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_string)
        });
        let words: Vec<String> =
            std::iter::once(trouble.message).chain(details).filter(|words| !words.is_empty()).collect();
        let told: String = words.join(": ").chars().filter(|c| !c.is_control()).take(500).collect();
        Some(told).filter(|told| !told.is_empty())
    }

    pub(super) fn refused(&self) -> Error {
        Error::Refused { act: self.act, host: self.host.clone(), status: self.status.as_u16() }
    }

    pub(super) fn nonsense(&self, why: &str) -> Error {
        Error::Nonsense { act: self.act, host: self.host.clone(), why: why.to_string() }
    }
}

fn receive(act: &'static str, url: &str, sent: Result<Response<Body>, ureq::Error>) -> Result<Answer, Error> {
    let host = host(url);
    let unreachable = |error| Error::Unreachable { act, host: host.clone(), source: Box::new(error) };
    let mut response = sent.map_err(unreachable)?;
    let status = response.status();
    let number = |name: &str| response.headers().get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let (after, left, reset) =
        (number("retry-after"), number("x-ratelimit-remaining"), number("x-ratelimit-reset"));
    let too_many = status == StatusCode::TOO_MANY_REQUESTS || after.is_some() || left == Some(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let wait = after.or_else(|| reset.map(|reset| reset.saturating_sub(now)));
    // No number from outside is trusted to be small.
    let wait = wait.map(|seconds| Duration::from_secs(seconds.min(LONGEST_WAIT)));
    let body = match response.body_mut().with_config().limit(LARGEST).read_to_vec() {
        Ok(body) => body,
        Err(ureq::Error::BodyExceedsLimit(_)) => {
            return Err(Error::Nonsense { act, host, why: "it is too long".to_string() });
        }
        Err(error) => return Err(unreachable(error)),
    };
    Ok(Answer { status, act, host, body, wait, too_many })
}
