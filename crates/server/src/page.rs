//! The pages that are not the board: the API to read and to try at `/docs`, and the one that stands where a build has
//! no board.
//!
//! They hold nothing of the person's when they are sent; their scripts ask the API for everything, under the
//! same rules as any caller. Nothing is loaded from elsewhere.

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use uuid::Uuid;

/// Sends the page at `/docs`.
pub(crate) async fn docs() -> Response {
    page(include_str!("docs.html"))
}

/// The page that says how a build gets its board.
pub(crate) fn no_board() -> Response {
    page(include_str!("no_board.html"))
}

/// Sends a page, whose own script and style are the only ones that may run.
fn page(text: &str) -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    );
    let page = text.replace("{{nonce}}", &nonce).replace("{{version}}", env!("CARGO_PKG_VERSION"));
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}
