//! Exchanging the token in the page's address for a cookie that scripts cannot read.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::Peer;
use crate::api::{Api, Body, need, op};
use crate::decode::{Fields, names};
use crate::envelope::NOTHING;
use crate::error::Problem;
use crate::state::App;

const OPEN_SESSION: Body = Body::new("OpenSession", &[need(names::TOKEN)]);

pub(super) fn api() -> Api {
    Api::new().post(
        "/api/session",
        open,
        op("openSession", "Exchanges a token for the cookie that carries it from then on.")
            .takes(OPEN_SESSION),
    )
}

/// Takes a token and answers with the cookie that carries it from then on.
async fn open(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    fields: Fields,
) -> Result<Response, Problem> {
    let token = fields.line(names::TOKEN)?;
    app.access.caller(Some(&token), peer.map(|Extension(peer)| peer))?;
    Ok(([(header::SET_COOKIE, app.access.cookie(&token)?)], NOTHING).into_response())
}
