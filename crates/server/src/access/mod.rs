//! Who may call, settled before any route is reached, on HTTP, WebSocket, SSE and the page alike.
//!
//! First the wall against web pages: the `Host` must be ours, and neither `Origin` nor `Sec-Fetch-Site` may
//! tell of another site. Then the caller: a token decides, and always narrows; without one, a connection
//! over loopback from the user who runs the server is the owner. Against the owner's own agents this
//! prevents accidents; only a sandbox is a boundary.

mod answerer;
mod copy;
mod failures;
mod host;
mod origin;
mod peer;
mod proxy;
mod scope;
mod session;
mod token;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use forge_model::AttemptId;

use crate::error::Problem;
use crate::shell;

pub(crate) use answerer::Answerer;
pub(crate) use copy::keep_to_reading;
use failures::{Failure, Failures};
pub use peer::Peer;
pub(crate) use scope::keep_to_scope;
pub(crate) use session::Holder;
pub use token::attempt_token;

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
    /// The server speaks TLS, so its cookie goes no other way.
    is_secure: bool,
}

struct Rules {
    port: u16,
    host_names: Vec<String>,
    token: String,
    token_file: PathBuf,
    require_token: bool,
    failures: Failures,
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
        let failures = Failures::default();
        let rules = Rules { port, host_names, token, token_file, require_token, failures };
        Self { rules: Arc::new(rules), is_secure: false }
    }

    /// Makes these the rules of a server that speaks TLS.
    pub fn over_tls(self) -> Self {
        Self { is_secure: true, ..self }
    }

    /// Puts these rules around a router. Every request that gets inside carries its [`Caller`].
    pub fn guard(&self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(self.clone(), admit))
    }

    /// Says whether even a caller on this machine needs a token.
    pub(crate) fn requires_token(&self) -> bool {
        self.rules.require_token
    }

    /// Returns the cookies to set for a caller who has brought a token: the one that lets its holder in from then on, and
    /// the end of one that another service of this machine may have put before it.
    pub(crate) fn cookies(&self, token: &str, holder: Holder) -> Result<[HeaderValue; 2], Problem> {
        let rules = &self.rules;
        let value = match token::caller(&rules.token, token) {
            Some(Caller::Owner) => session::key(&rules.token, holder),
            _ => token.to_string(),
        };
        let kept = session::set_cookie(rules.port, &value, "/", session::YEAR, self.is_secure);
        let ended = session::set_cookie(rules.port, "", "/api", 0, self.is_secure);
        kept.zip(ended)
            .map(<[HeaderValue; 2]>::from)
            .ok_or_else(|| Problem::invalid("`token` must be a token of this server"))
    }

    /// Returns whose token a peer has brought, or why it may not come in.
    pub(crate) fn caller(&self, token: Option<&str>, peer: Option<Peer>) -> Result<Caller, Problem> {
        let (rules, now) = (&self.rules, Instant::now());
        // Elsewhere a peer that guessed too often is not even told when it is right.
        if let Some(peer) = peer.filter(|peer| !peer.is_here())
            && let Some(wait) = rules.failures.wait(peer, Failure::WrongToken, now)
        {
            return Err(Problem::too_often(wait));
        }
        token.and_then(|token| token::caller(&rules.token, token)).ok_or_else(|| {
            let place = self.place_of_token(peer);
            self.refusal(
                peer,
                Failure::WrongToken,
                format!("this is not the token of this server; the right one is in {place}"),
            )
        })
    }

    fn identify(&self, request: &Request, holder: Holder) -> Result<Caller, Problem> {
        let rules = &self.rules;
        let peer = request.extensions().get::<Peer>().copied();
        if let Some(token) = token::given(request.headers()) {
            return self.caller(token, peer);
        }
        // Every service of this machine may set a cookie for the name the page is under, so a cookie only ever lets in:
        // whoever needs none is not kept out by one.
        if peer == Some(Peer::SameUser) && !rules.require_token {
            return Ok(Caller::Owner);
        }
        let place = self.place_of_token(peer);
        let message = format!("send the token in {place} as `Authorization: Bearer <token>`");
        match self.of_cookies(request, peer, holder) {
            Cookies::Of(caller) => Ok(caller),
            Cookies::None => Err(self.refusal(peer, Failure::NoToken, message)),
            Cookies::Wrong => Err(self.refusal(peer, Failure::WrongCookie, message)),
        }
    }

    /// Finds out who a request's cookies let in. All of this server's name are looked at, because a browser sends
    /// another service's before ours when their path is longer.
    fn of_cookies(&self, request: &Request, peer: Option<Peer>, holder: Holder) -> Cookies {
        let rules = &self.rules;
        let guessed = peer
            .filter(|peer| !peer.is_here())
            .and_then(|peer| rules.failures.wait(peer, Failure::WrongCookie, Instant::now()));
        let mut given = session::given(request.headers(), rules.port).peekable();
        if given.peek().is_none() {
            return Cookies::None;
        }
        let found = given.find_map(|cookie| session::caller(&rules.token, cookie, holder));
        found.filter(|_| guessed.is_none()).map_or(Cookies::Wrong, Cookies::Of)
    }

    /// Returns the cookie that a page sets in place of what it was sent: none for one that is good, the end of one that
    /// lets nobody in, and for one of an older Forge, which held the token itself, a key in its place.
    fn mended(&self, request: &Request, holder: Holder) -> Option<HeaderValue> {
        let (rules, peer) = (&self.rules, request.extensions().get::<Peer>().copied());
        match self.of_cookies(request, peer, holder) {
            Cookies::None => None,
            Cookies::Wrong => session::set_cookie(rules.port, "", "/", 0, self.is_secure),
            Cookies::Of(_) => {
                let held = session::given(request.headers(), rules.port)
                    .any(|cookie| token::caller(&rules.token, cookie) == Some(Caller::Owner));
                let key = held.then(|| session::key(&rules.token, holder))?;
                session::set_cookie(rules.port, &key, "/", session::YEAR, self.is_secure)
            }
        }
    }

    fn refusal(&self, peer: Option<Peer>, failure: Failure, message: String) -> Problem {
        match peer.and_then(|peer| self.rules.failures.count(peer, failure, Instant::now())) {
            Some(wait) => Problem::too_often(wait),
            None => Problem::new(StatusCode::UNAUTHORIZED, message),
        }
    }

    /// Where the token is: its path for those who may read it, and no word about the person's directories for others.
    fn place_of_token(&self, peer: Option<Peer>) -> String {
        match peer {
            Some(Peer::SameUser) => self.rules.token_file.display().to_string(),
            _ => "the file `token` of the server's data directory".to_string(),
        }
    }
}

/// What the cookies of a request say.
enum Cookies {
    None,
    /// There are some, and none lets anybody in.
    Wrong,
    Of(Caller),
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
    // Asked of the kernel, and whatever a header says: a key that was handed on must not be good from elsewhere.
    let holder = Holder::of(request.extensions().get::<Peer>().copied());
    request.extensions_mut().insert(holder);
    if proxy::has_left_its_mark(request.headers())
        && let Some(peer) = request.extensions_mut().get_mut::<Peer>()
    {
        *peer = peer.seen_through_a_proxy();
    }
    if is_open(&request) {
        let mended = shell::is_page(request.uri().path()).then(|| access.mended(&request, holder)).flatten();
        let mut response = next.run(request).await;
        if let Some(cookie) = mended {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        return response;
    }
    match access.identify(&request, holder) {
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

/// Says whether a request needs no token: the board's page and files hold nothing of the person's, and the page is
/// what exchanges the token in its address for a cookie; `/health` tells that a server is there, which a connection told already.
fn is_open(request: &Request) -> bool {
    let read = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        "/docs" | "/health" | "/site.webmanifest" => read,
        "/api/session" => *request.method() == Method::POST,
        path => read && shell::is_of_board(path),
    }
}

#[cfg(test)]
mod tests;
