//! A body that is text, whatever its content type says.

use axum::extract::{FromRequest, Request};

use super::body::read;
use crate::error::Problem;

/// The text of a body.
#[derive(Debug)]
pub(crate) struct Text(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for Text {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let body = read(request).await?;
        let text = String::from_utf8(body);
        Ok(Text(text.map_err(|_| Problem::bad_request("the body must be text in UTF-8"))?))
    }
}
