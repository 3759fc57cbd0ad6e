//! Calls over HTTP, like any client's.

use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

/// The longest a call may take; stopping a stubborn agent is the slowest.
const LONGEST: Duration = Duration::from_secs(60);

/// A client of one server.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    agent: Agent,
    base: String,
    pub(crate) port: u16,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// The call got no answer: nobody knows whether it happened.
#[derive(Debug)]
pub(crate) struct Away(String);

impl std::fmt::Display for Away {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the server did not answer: {}", self.0)
    }
}

impl std::error::Error for Away {}

impl Answer {
    /// Takes the data of an answer that says yes.
    pub(crate) fn data(mut self) -> anyhow::Result<Value> {
        if self.status != 200 || self.body["success"] != Value::Bool(true) {
            bail!("the server answered {}: {}", self.status, self.body);
        }
        Ok(self.body["data"].take())
    }
}

impl Api {
    /// Makes a client that opens a connection for each call: one that was kept would fail after a restart.
    pub(crate) fn new(port: u16) -> Self {
        Self::with_connections(port, 0)
    }

    /// Makes a client that keeps its connection.
    pub(crate) fn keeping(port: u16) -> Self {
        Self::with_connections(port, 1)
    }

    fn with_connections(port: u16, kept: usize) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_idle_connections(kept)
            .timeout_global(Some(LONGEST))
            .build();
        Self { agent: config.into(), base: format!("http://127.0.0.1:{port}"), port }
    }

    pub(crate) fn get(&self, path: &str) -> Result<Answer, Away> {
        self.call("GET", path, None, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value, key: Option<&str>) -> Result<Answer, Away> {
        self.call("POST", path, Some(body), key)
    }

    /// Reads something that must be there.
    pub(crate) fn read(&self, path: &str) -> anyhow::Result<Value> {
        self.get(path)?.data().with_context(|| format!("could not read {path}"))
    }

    /// Reads something that must be there without looking at it, and returns how many bytes it has.
    pub(crate) fn size(&self, path: &str) -> anyhow::Result<usize> {
        let request = Request::builder().uri(format!("{}{path}", self.base)).body(())?;
        let mut response = self.agent.run(request).with_context(|| format!("could not read {path}"))?;
        anyhow::ensure!(response.status() == 200, "{path} answers {}", response.status());
        Ok(response.body_mut().with_config().limit(1 << 30).read_to_vec()?.len())
    }

    /// Reads a list that must be there.
    pub(crate) fn list(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        match self.read(path)? {
            Value::Array(items) => Ok(items),
            other => bail!("{path} is no list but {other}"),
        }
    }

    fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Answer, Away> {
        let away = |error: ureq::Error| Away(error.to_string());
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let response = match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json").body(body.to_string());
                self.agent.run(request.map_err(|error| away(error.into()))?)
            }
            None => self.agent.run(request.body(()).map_err(|error| away(error.into()))?),
        };
        let mut response = response.map_err(away)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(1 << 30).read_to_string().map_err(away)?;
        // A body that is no JSON shows up as what it is where the answer is looked at.
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, body })
    }
}

/// Reads a text that an object of the API must have.
pub(crate) fn text(value: &Value, key: &str) -> anyhow::Result<String> {
    let text = value[key].as_str().with_context(|| format!("no text {key:?} in {value}"))?;
    Ok(text.to_string())
}
