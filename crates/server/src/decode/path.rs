//! The ids in a path.

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
        Ok(Id(nth_last(&params(parts, state).await?, 0)?))
    }
}

/// The last two ids in the path: of a thing, and of what lies in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids<A, B>(pub(crate) A, pub(crate) B);

impl<A, B, S> FromRequestParts<S> for Ids<A, B>
where
    A: FromStr,
    A::Err: std::fmt::Display,
    B: FromStr,
    B::Err: std::fmt::Display,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = params(parts, state).await?;
        Ok(Ids(nth_last(&params, 1)?, nth_last(&params, 0)?))
    }
}

async fn params<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Vec<String>, Problem> {
    let params = RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|_| Problem::bad_request("the path holds bytes that are not UTF-8"))?;
    Ok(params.iter().map(|(_, text)| text.to_string()).collect())
}

fn nth_last<T>(params: &[String], n: usize) -> Result<T, Problem>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    let text = params.iter().nth_back(n).map(String::as_str).unwrap_or_default();
    text.parse().map_err(|error| Problem::bad_request(format!("in the path, {error}")))
}
