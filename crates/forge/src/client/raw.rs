//! Calls whose answers have no envelope, whose bodies are no JSON, or that never end. What they are answered is
//! given as it came.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::{Agent, Body};

use super::{Client, LARGEST_ANSWER, LONGEST_CALL, Trouble, refusal};
use crate::exit::{Failure, Result};
use crate::{private_file, token};

/// A body and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) kind: String,
    pub(crate) bytes: Vec<u8>,
}

impl Client {
    /// Calls with any method and body, and returns the answer whatever its status.
    pub(crate) fn exchange(
        &self,
        method: &str,
        path: &str,
        content: Option<&Content>,
        ends: bool,
    ) -> std::result::Result<Response<Body>, Trouble> {
        let response = self.exchange_as_is(method, path, content, ends)?;
        if response.status() != 401 || self.token.get().is_some() || !self.may_have_our_token() {
            return Ok(response);
        }
        let Some(token) = token::read(&self.home) else { return Ok(response) };
        // Another clone may have been quicker; then it has set the same token.
        let _ = self.token.set(token);
        self.exchange_as_is(method, path, content, ends)
    }

    /// Reads an answer that is JSON without an envelope.
    pub(crate) fn bare(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let content = body
            .map(|body| Content { kind: "application/json".into(), bytes: body.to_string().into_bytes() });
        let response = self.exchange(method, path, content.as_ref(), true)?;
        if !response.status().is_success() {
            return Err(refusal(response));
        }
        let text = response.into_body().into_with_config().limit(LARGEST_ANSWER).read_to_string();
        let text = text.map_err(|error| Failure::away(self.sentence(&error)))?;
        serde_json::from_str(&text).map_err(|error| {
            Failure::away(format!("{} answered {method} {path} with something else: {error}", self.base))
        })
    }

    /// Puts a text, as it is, in the place of what is there.
    pub(crate) fn put_text(&self, path: &str, text: &str) -> Result<Value> {
        let content = Content { kind: "application/json".into(), bytes: text.as_bytes().to_vec() };
        enveloped(self.exchange("PUT", path, Some(&content), true)?)
    }

    /// Sends a file as a part of a form.
    pub(crate) fn upload(&self, path: &str, name: &str, bytes: &[u8]) -> Result<Value> {
        let boundary = private_file::secret(16)
            .map_err(|error| Failure::away(format!("could not draw a random boundary: {error}")))?;
        let name: String =
            name.chars().filter(|one| !one.is_control() && !matches!(one, '"' | '\\')).collect();
        let mut form = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"image\"; filename=\"{name}\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        form.extend_from_slice(bytes);
        form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let content = Content { kind: format!("multipart/form-data; boundary={boundary}"), bytes: form };
        enveloped(self.exchange("POST", path, Some(&content), true)?)
    }

    /// Opens an answer that is read piece by piece.
    pub(crate) fn download(&self, path: &str) -> Result<impl Read + use<>> {
        let response = self.exchange("GET", path, None, false)?;
        if !response.status().is_success() {
            return Err(refusal(response));
        }
        Ok(response.into_body().into_with_config().limit(u64::MAX).reader())
    }

    /// Opens the stream of events after a position; without one, from now on.
    pub(crate) fn events_after(
        &self,
        position: Option<u64>,
    ) -> std::result::Result<impl BufRead + use<>, Trouble> {
        let path = match position {
            Some(position) => format!("/api/events?after={position}"),
            None => "/api/events".to_string(),
        };
        let response = self.exchange("GET", &path, None, false)?;
        if !response.status().is_success() {
            return Err(Trouble::Refused(refusal(response)));
        }
        Ok(BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader()))
    }

    fn exchange_as_is(
        &self,
        method: &str,
        path: &str,
        content: Option<&Content>,
        ends: bool,
    ) -> std::result::Result<Response<Body>, Trouble> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = self.token.get() {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let limit = ends.then_some(LONGEST_CALL);
        let agent: &Agent = &self.agent;
        let sent = match content {
            Some(content) => {
                let request = request.header("Content-Type", &content.kind).body(content.bytes.clone());
                request.map_err(ureq::Error::from).and_then(|request| {
                    agent.run(
                        agent
                            .configure_request(request)
                            .timeout_global(limit)
                            .allow_non_standard_methods(true)
                            .build(),
                    )
                })
            }
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| {
                agent.run(agent.configure_request(request).timeout_global(limit).build())
            }),
        };
        sent.map_err(|error| match error {
            ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
                Trouble::Refused(Failure::invalid(format!("{path:?} is not a path to call: {error}")))
            }
            error => Trouble::Away(self.sentence(&error)),
        })
    }
}

/// Reads what is in the envelope of an answer, or the sentence of a refusal.
fn enveloped(response: Response<Body>) -> Result<Value> {
    if !response.status().is_success() {
        return Err(refusal(response));
    }
    let mut answer: Value = response.into_body().read_json().unwrap_or_default();
    match answer["success"].as_bool() {
        Some(true) => Ok(answer["data"].take()),
        _ => Err(super::refused_with_200(&answer)),
    }
}
