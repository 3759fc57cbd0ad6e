//! What a browser says about where a request comes from, which keeps other sites' pages out.
//!
//! A page on another port of this machine is another site too: it may belong to another user.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{Method, StatusCode, header};

use super::host::is_configured;
use crate::error::Problem;
use crate::shell;

/// Refuses a request that a page of another site made.
pub(super) fn check(request: &Request, host: &str, port: u16, names: &[String]) -> Result<(), Problem> {
    let headers = request.headers();
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !from.is_some_and(|from| from == host || is_proxied(from, port, names)) {
            return Err(foreign());
        }
    }
    for site in headers.get_all("sec-fetch-site") {
        let own = matches!(site.as_bytes(), b"same-origin" | b"none");
        if !own && !follows_a_link(request) {
            return Err(foreign());
        }
    }
    Ok(())
}

/// Says whether a page's origin is a configured name: behind a proxy it is, while the `Host` is ours. A bare
/// address is no such name: it means what listens on port 80 there, which may be another user's.
fn is_proxied(from: &str, port: u16, names: &[String]) -> bool {
    let is_bare_address = from.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    !is_bare_address && is_configured(from, port, names)
}

/// Says whether a person followed a link to a page of the board. The answer holds nothing of theirs, cannot be framed,
/// and the other site cannot read it, so this one thing is allowed.
fn follows_a_link(request: &Request) -> bool {
    let is = |name: &str, value: &str| request.headers().get(name).is_some_and(|given| given == value);
    *request.method() == Method::GET
        && shell::is_page(request.uri().path())
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

fn foreign() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "a page of another site may not call this server")
}
