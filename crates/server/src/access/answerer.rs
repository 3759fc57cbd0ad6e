//! Who gives an answer, for the record: the caller, and by which way. It is told by the client itself, and decides
//! nothing.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use super::Caller;

/// Who gives an answer, in words.
#[derive(Debug, Clone)]
pub(crate) struct Answerer(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Answerer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let who = match parts.extensions.get::<Caller>() {
            Some(Caller::Attempt(id)) => format!("attempt {id}"),
            Some(Caller::Owner) | None => "owner".to_string(),
        };
        let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let way = match agent.unwrap_or_default() {
            agent if agent.starts_with("forge/") => "command line",
            agent if agent.starts_with("Mozilla/") => "browser",
            _ => "API",
        };
        Ok(Self(format!("{who} ({way})")))
    }
}
