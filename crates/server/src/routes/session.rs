//! Exchanging the token in the page's address for a cookie that scripts cannot read.

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use crate::decode::{Fields, names};
use crate::envelope::NOTHING;
use crate::error::Problem;
use crate::state::App;

pub(super) fn router() -> Router<App> {
    Router::new().route("/api/session", post(open))
}

/// Takes a token and answers with the cookie that carries it from then on.
async fn open(State(app): State<App>, fields: Fields) -> Result<Response, Problem> {
    let token = fields.line(names::TOKEN)?;
    app.access.caller(&token).ok_or_else(|| app.access.wrong_token())?;
    Ok(([(header::SET_COOKIE, app.access.cookie(&token)?)], NOTHING).into_response())
}
