//! The id in a path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::error::Problem;

/// The last id in the path, so that a route and its longer alias share one handler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Id<T>
where
    T: FromStr,
    T::Err: std::fmt::Display,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::bad_request("the path holds bytes that are not UTF-8"))?;
        let text = params.iter().last().map(|(_, text)| text).unwrap_or_default();
        let id = text.parse().map_err(|error| Problem::bad_request(format!("in the path, {error}")))?;
        Ok(Id(id))
    }
}
