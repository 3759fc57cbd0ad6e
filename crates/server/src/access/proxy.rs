//! The marks of a proxy. Its connection is the user's own, but the caller behind it may be anyone.
//!
//! A name too many costs a caller the token; a name too few makes a stranger the owner. So whole families count.

use axum::http::HeaderMap;

/// Headers that no client of ours sends, and a proxy or a tunnel does.
const NAMES: [&str; 12] = [
    "forwarded",
    "via",
    "client-ip",
    "true-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-remote-addr",
    "x-remote-ip",
    "x-remote-user",
    "x-rewrite-url",
    "cdn-loop",
    "wl-proxy-client-ip",
];

/// How the names of such headers begin.
const FAMILIES: [&str; 23] = [
    "x-forward",
    "x-original-",
    "x-real-",
    "x-proxy",
    "proxy-",
    "x-envoy-",
    "x-nginx-",
    "x-traefik-",
    "x-haproxy-",
    "x-auth-request-",
    "x-pomerium-",
    "x-authentik-",
    "cf-",
    "fastly-",
    "akamai-",
    "x-akamai-",
    "x-azure-",
    "x-ms-client-",
    "x-amz-cf-",
    "x-amzn-",
    "x-goog-",
    "fly-",
    "tailscale-",
];

/// Says whether a request has come through a proxy that tells so.
pub(super) fn has_left_its_mark(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        NAMES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
    })
}
