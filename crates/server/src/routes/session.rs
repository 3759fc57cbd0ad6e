//! Exchanging the token in the page's address for a cookie that scripts cannot read, and that does not hold the token.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};

use crate::Peer;
use crate::access::Holder;
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
        op("openSession", "Exchanges a token for a cookie that lets its holder in from then on.")
            .takes(OPEN_SESSION),
    )
}

/// Takes a token and answers with the cookie that lets its holder in from then on.
async fn open(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    Extension(holder): Extension<Holder>,
    fields: Fields,
) -> Result<Response, Problem> {
    let token = fields.line(names::TOKEN)?;
    app.access.caller(Some(&token), peer.map(|Extension(peer)| peer))?;
    let cookies = app.access.cookies(&token, holder)?.map(|cookie| (header::SET_COOKIE, cookie));
    Ok((AppendHeaders(cookies), NOTHING).into_response())
}
