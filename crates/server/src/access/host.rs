//! The `Host` allow-list, which keeps out pages that point a name of their own at this machine.

use axum::extract::Request;
use axum::http::{StatusCode, header};

use crate::error::Problem;

/// The names every server has.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns the host the request is for, in lower case, when it is one of ours.
pub(super) fn check(request: &Request, port: u16, names: &[String]) -> Result<String, Problem> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default().to_ascii_lowercase(),
        _ => return Err(misdirected("the request must name one `Host`")),
    };
    // A request line may hold a whole address, which then counts more than the header.
    let line = request.uri().authority().map(|authority| authority.as_str().to_ascii_lowercase());
    for named in line.iter().chain([&host]) {
        if !is_own(named, port) && !is_configured(named, port, names) {
            return Err(misdirected(&format!("this server is not {named:?}; call it localhost:{port}")));
        }
    }
    Ok(host)
}

/// Says whether a host is one of the names every server has, with its port or none.
fn is_own(host: &str, port: u16) -> bool {
    OWN.iter().any(|own| matches(host, own, port))
}

/// Says whether a host is one of the configured names: with our port or none, or with the port configured.
pub(super) fn is_configured(host: &str, port: u16, names: &[String]) -> bool {
    names.iter().any(|name| matches(host, &name.to_ascii_lowercase(), port))
}

fn matches(host: &str, name: &str, port: u16) -> bool {
    match host.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(|given| given == port.to_string()),
        None => false,
    }
}

fn misdirected(message: &str) -> Problem {
    Problem::new(StatusCode::MISDIRECTED_REQUEST, message)
}
