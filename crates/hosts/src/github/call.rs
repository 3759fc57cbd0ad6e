//! One call of GitHub and its answer: bounded in time and size, never redirected.

use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, Proxy};

use super::{Address, Error, GitHub};
use crate::Secret;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// The largest answer that is read; a person's many addresses are the longest of those that are asked for.
const LARGEST: u64 = 1 << 20;

/// An answer that came, whatever its status.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    act: &'static str,
    host: String,
    body: Vec<u8>,
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
        let url = self.address.api(path);
        let sent = self
            .agent
            .get(&url)
            .header("Accept", "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .header("Authorization", format!("Bearer {}", token.reveal()))
            .call();
        receive(act, &url, sent)
    }
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

    pub(super) fn refused(&self) -> Error {
        Error::Refused { act: self.act, host: self.host.clone(), status: self.status.as_u16() }
    }

    pub(super) fn nonsense(&self, why: &str) -> Error {
        Error::Nonsense { act: self.act, host: self.host.clone(), why: why.to_string() }
    }
}

fn receive(act: &'static str, url: &str, sent: Result<Response<Body>, ureq::Error>) -> Result<Answer, Error> {
    let host = url.split('/').nth(2).unwrap_or(url).to_string();
    let unreachable = |error| Error::Unreachable { act, host: host.clone(), source: Box::new(error) };
    let mut response = sent.map_err(unreachable)?;
    let status = response.status();
    let body = match response.body_mut().with_config().limit(LARGEST).read_to_vec() {
        Ok(body) => body,
        Err(ureq::Error::BodyExceedsLimit(_)) => {
            return Err(Error::Nonsense { act, host, why: "it is too long".to_string() });
        }
        Err(error) => return Err(unreachable(error)),
    };
    Ok(Answer { status, act, host, body })
}
