//! Who may call, settled before any route is reached, on HTTP, WebSocket, SSE and the page alike.
//!
//! First the wall against web pages: the `Host` must be ours, and neither `Origin` nor `Sec-Fetch-Site` may
//! tell of another site. Then the caller: a token decides, and always narrows; without one, a connection
//! over loopback from the user who runs the server is the owner. Against the owner's own agents this
//! prevents accidents; only a sandbox is a boundary.

mod host;
mod origin;
mod peer;
mod scope;
mod token;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use forge_model::AttemptId;

use crate::error::Problem;

pub use peer::Peer;
pub(crate) use scope::keep_to_scope;
pub use token::attempt_token;

/// The marks of a proxy. Its connection is the person's own, but the caller behind it may be anyone.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// Whose request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The person; may do everything.
    Owner,
    /// An agent; may read its own attempt and nothing else.
    Attempt(AttemptId),
}

/// The rules of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Access {
    rules: Arc<Rules>,
}

struct Rules {
    port: u16,
    host_names: Vec<String>,
    token: String,
    token_file: PathBuf,
    require_token: bool,
}

impl Access {
    /// Makes the rules of a server on a port.
    ///
    /// `host_names` are further names it is called by, each alone or with a port; `token_file` is only told to
    /// callers who lack the token; `require_token` turns the same-user rule off.
    pub fn new(
        port: u16,
        host_names: Vec<String>,
        token: String,
        token_file: PathBuf,
        require_token: bool,
    ) -> Self {
        Self { rules: Arc::new(Rules { port, host_names, token, token_file, require_token }) }
    }

    /// Puts these rules around a router. Every request that gets inside carries its [`Caller`].
    pub fn guard(&self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(self.clone(), admit))
    }

    /// Returns whose token this is.
    pub(crate) fn caller(&self, token: &str) -> Option<Caller> {
        token::caller(&self.rules.token, token)
    }

    /// Returns the cookie that carries a token for this server's page.
    pub(crate) fn cookie(&self, token: &str) -> Result<HeaderValue, Problem> {
        let year = 365 * 24 * 60 * 60;
        token::set_cookie(self.rules.port, token, year)
            .ok_or_else(|| Problem::invalid("`token` must be a token of this server"))
    }

    /// The refusal of a caller whose token is wrong.
    pub(crate) fn wrong_token(&self) -> Problem {
        let file = self.rules.token_file.display();
        let message = format!("this is not the token of this server; the right one is in {file}");
        Problem::new(StatusCode::UNAUTHORIZED, message)
    }

    fn identify(&self, request: &Request) -> Result<Caller, Problem> {
        let rules = &self.rules;
        if let Some(token) = token::given(request.headers(), rules.port) {
            return token.and_then(|token| self.caller(token)).ok_or_else(|| self.wrong_token());
        }
        let peer = request.extensions().get::<ConnectInfo<Peer>>().map(|info| info.0);
        let forwarded = FORWARDED.iter().any(|name| request.headers().contains_key(*name));
        if peer == Some(Peer::SameUser) && !rules.require_token && !forwarded {
            return Ok(Caller::Owner);
        }
        let file = rules.token_file.display();
        let message = format!("send the token in {file} as `Authorization: Bearer <token>`");
        Err(Problem::new(StatusCode::UNAUTHORIZED, message))
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token stays out, so that no log line ever holds it.
        f.debug_struct("Rules").field("port", &self.port).field("host_names", &self.host_names).finish()
    }
}

async fn admit(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    let rules = &access.rules;
    if let Err(problem) = host::check(&request, rules.port, &rules.host_names)
        .and_then(|host| origin::check(&request, &host, rules.port, &rules.host_names))
    {
        return problem.into_response();
    }
    if is_open(&request) {
        // A cookie that outlived its token would shut the owner out of their own page, so the page drops it.
        let stale = request.uri().path() == "/"
            && token::given(request.headers(), rules.port).is_some()
            && access.identify(&request).is_err();
        let mut response = next.run(request).await;
        if stale && let Some(cookie) = token::set_cookie(rules.port, "", 0) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        return response;
    }
    match access.identify(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => {
            let mut response = problem.into_response();
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        }
    }
}

/// Says whether a request needs no token: the page holds nothing of the person's, and it is what exchanges
/// the token in its address for a cookie; `/health` tells that a server is there, which a connection told already.
fn is_open(request: &Request) -> bool {
    let read = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        "/" | "/docs" | "/health" => read,
        "/api/session" => *request.method() == Method::POST,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
