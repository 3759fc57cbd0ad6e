//! The small live page at `/`: what runs, what waits, and where the API is.
//!
//! It holds nothing of the person's when it is sent; its script asks the API for everything, under the same
//! rules as any caller.

use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use uuid::Uuid;

const PAGE: &str = include_str!("page.html");

/// Sends the page, whose own script and style are the only ones that may run.
pub(crate) async fn show() -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    );
    let page = PAGE.replace("{{nonce}}", &nonce).replace("{{version}}", env!("CARGO_PKG_VERSION"));
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}
