//! Calls the server over HTTP, like any other client. Nothing in here touches the data directory but to find
//! the server and its token.

mod raw;

pub(crate) use raw::Content;

use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::{Agent, Body};

use crate::environment;
use crate::exit::{Exit, Failure, Result};
use crate::{server_file, token};

/// How long a server that somebody named may take to answer that it is there.
const FIRST_ANSWER: Duration = Duration::from_millis(1500);
/// How long a server whose process is known to live may take: it may be busy.
const KNOWN_ANSWER: Duration = Duration::from_secs(10);
/// How long any other call may take; a cold start on a large repository is the slowest.
const LONGEST_CALL: Duration = Duration::from_secs(600);
/// How long a call that may be repeated safely waits for a server that restarts.
const RESTART: Duration = Duration::from_secs(10);
/// How long to wait before each further try of a call that failed in passing.
const TRIES: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(200), Duration::from_millis(400)];
/// The largest answer that is read.
const LARGEST_ANSWER: u64 = 1 << 30;

/// Where the server is looked for.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// At a URL that somebody named.
    Url(String),
    /// At the URL that the server of the data directory wrote down.
    Home,
}

/// A client of one server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
    target: Target,
    home: PathBuf,
    base: String,
    /// The token, once the server has asked for one; shared by all clones.
    token: Arc<OnceLock<String>>,
}

/// Why a call got no answer: the server went away, or it said no.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The connection could not be made or broke; the server may be restarting.
    Away(String),
    /// An answer, and it was no.
    Refused(Failure),
}

/// A request that got no answer.
struct Lost {
    trouble: Trouble,
    /// It failed so quickly that another try may well fare better.
    passing: bool,
}

/// Why a message of a conversation got no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// It never arrived, and may be sent again.
    Unsent(String),
    /// It may have arrived.
    Broken(String),
    /// The server knows nothing of the conversation any more.
    NoSession,
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unanswered::Unsent(message) | Unanswered::Broken(message) => f.write_str(message),
            Unanswered::NoSession => f.write_str("the server does not know this session any more"),
        }
    }
}

impl Client {
    /// Makes a client of the server at `base`, without calling it.
    pub(crate) fn new(target: Target, home: PathBuf, base: String) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A proxy is for the world outside; the server is here.
            .proxy(None)
            .max_redirects(0)
            // A connection kept from before a restart would fail the first call after it.
            .max_idle_connections(0)
            .timeout_connect(Some(FIRST_ANSWER))
            .user_agent(concat!("forge/", env!("CARGO_PKG_VERSION")))
            .build();
        let token = Arc::new(OnceLock::new());
        if let Some(given) = environment::text(environment::FORGE_TOKEN) {
            // The lock is new, so it is empty.
            let _ = token.set(given);
        }
        Self { agent: config.into(), target, home, base, token }
    }

    /// Makes this a client that sends a token of its own choice.
    pub(crate) fn with_token(self, token: String) -> Self {
        Self { token: Arc::new(OnceLock::from(token)), ..self }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// Returns the data directory this client looks into.
    pub(crate) fn home(&self) -> &PathBuf {
        &self.home
    }

    /// Checks that a Forge server answers, and returns what it says about itself.
    pub(crate) fn health(&self) -> std::result::Result<Value, Trouble> {
        let limit = match self.target {
            Target::Url(_) => FIRST_ANSWER,
            Target::Home => KNOWN_ANSWER,
        };
        let mut response = self.send("GET", "/health", None, None, limit)?;
        let health: Option<Value> = response.body_mut().read_json().ok();
        health.filter(|health| health["status"] == "ok").ok_or_else(|| {
            Trouble::Refused(Failure::away(format!("what answers at {} is not a Forge server", self.base)))
        })
    }

    /// Looks again where the server is: after a restart it may have another port.
    pub(crate) fn relocate(&mut self) {
        if let (Target::Home, Some(found)) = (&self.target, server_file::find(&self.home)) {
            self.base = found.url;
        }
    }

    /// Reads something.
    pub(crate) fn get(&self, path: &str) -> std::result::Result<Value, Trouble> {
        self.call("GET", path, None, None)
    }

    /// Does something that is fine to do twice, or whose second time the server refuses.
    pub(crate) fn post(&self, path: &str, body: Option<&Value>) -> std::result::Result<Value, Trouble> {
        self.call("POST", path, body, None)
    }

    /// Puts something in the place of what is there.
    pub(crate) fn put(&self, path: &str, body: &Value) -> std::result::Result<Value, Trouble> {
        self.call("PUT", path, Some(body), None)
    }

    /// Takes something away.
    pub(crate) fn delete(&self, path: &str) -> std::result::Result<Value, Trouble> {
        self.call("DELETE", path, None, None)
    }

    /// Starts something exactly once: the call carries a key, so it is repeated when the server restarts
    /// under it, and the server repeats the first answer instead of the act.
    pub(crate) fn post_once(&mut self, path: &str, body: &Value) -> Result<Value> {
        let key = crate::private_file::secret(16)
            .map_err(|error| Failure::away(format!("could not draw a random key: {error}")))?;
        let deadline = Instant::now() + RESTART;
        loop {
            match self.call("POST", path, Some(body), Some(&key)) {
                Err(Trouble::Away(_)) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(100));
                    self.relocate();
                }
                answer => return answer.map_err(Failure::from),
            }
        }
    }

    /// Opens the stream of events. What changes after this returns is on the stream.
    pub(crate) fn events(&self) -> std::result::Result<impl std::io::BufRead + use<>, Trouble> {
        // The stream never ends by itself, so only its beginning has a limit.
        let response = self.send("GET", "/api/events", None, None, Duration::ZERO)?;
        if !response.status().is_success() {
            return Err(Trouble::Refused(refusal(response)));
        }
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        Ok(BufReader::new(body))
    }

    /// Sends one message of a conversation, with heads of its own and no limit of time, and returns what comes back,
    /// good or not.
    pub(crate) fn converse(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, String)],
    ) -> std::result::Result<Response<Body>, Unanswered> {
        let response = self.converse_as_is(method, path, body, headers)?;
        if response.status() != 401 || self.token.get().is_some() || !self.may_have_our_token() {
            return Ok(response);
        }
        let Some(token) = token::read(&self.home) else { return Ok(response) };
        // Another clone may have been quicker; then it has set the same token.
        let _ = self.token.set(token);
        self.converse_as_is(method, path, body, headers)
    }

    fn converse_as_is(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, String)],
    ) -> std::result::Result<Response<Body>, Unanswered> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = self.token.get() {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let sent = match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json").body(body.to_string());
                request.map_err(ureq::Error::from).and_then(|request| self.agent.run(request))
            }
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| self.agent.run(request)),
        };
        sent.map_err(|error| match &error {
            ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => {
                Unanswered::Unsent(self.sentence(&error))
            }
            ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => {
                Unanswered::Unsent(self.sentence(&error))
            }
            ureq::Error::Timeout(ureq::Timeout::Connect) => Unanswered::Unsent(self.sentence(&error)),
            _ => Unanswered::Broken(self.sentence(&error)),
        })
    }

    /// Returns the token to send, when the server has asked for one.
    pub(crate) fn token_in_use(&self) -> Option<&str> {
        self.token.get().map(String::as_str)
    }

    fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> std::result::Result<Value, Trouble> {
        let mut response = self.send(method, path, body, key, LONGEST_CALL)?;
        if !response.status().is_success() {
            return Err(Trouble::Refused(refusal(response)));
        }
        let text = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string();
        let mut answer: Value = match text.map(|text| serde_json::from_str(&text)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                let message = format!("{} answered {method} {path} with something else: {error}", self.base);
                return Err(Trouble::Refused(Failure::away(message)));
            }
            Err(error) => return Err(Trouble::Away(self.sentence(&error))),
        };
        if answer["success"] == Value::Bool(false) {
            return Err(Trouble::Refused(refused_with_200(&answer)));
        }
        Ok(answer["data"].take())
    }

    /// Sends a request, and sends it again after a while when it failed in passing: the connection was refused or
    /// broken off before there was an answer, or what stands before the server answered 502, 503 or 504. A call that
    /// starts something carries its key each time, so that it happens once. Every other answer is taken as it is.
    fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
        limit: Duration,
    ) -> std::result::Result<Response<Body>, Trouble> {
        for pause in TRIES {
            match self.send_known(method, path, body, key, limit) {
                Ok(response) if matches!(response.status().as_u16(), 502..=504) => {}
                Err(Lost { passing: true, .. }) => {}
                answer => return answer.map_err(|lost| lost.trouble),
            }
            std::thread::sleep(pause);
        }
        self.send_known(method, path, body, key, limit).map_err(|lost| lost.trouble)
    }

    /// Sends a request; one that is refused for want of a token is sent again with the token of the data
    /// directory. A limit of zero means none beyond the connection.
    fn send_known(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
        limit: Duration,
    ) -> std::result::Result<Response<Body>, Lost> {
        let response = self.send_as_is(method, path, body, key, limit)?;
        if response.status() != 401 || self.token.get().is_some() || !self.may_have_our_token() {
            return Ok(response);
        }
        let Some(token) = token::read(&self.home) else { return Ok(response) };
        // Another clone may have been quicker; then it has set the same token.
        let _ = self.token.set(token);
        self.send_as_is(method, path, body, key, limit)
    }

    fn send_as_is(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
        limit: Duration,
    ) -> std::result::Result<Response<Body>, Lost> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = self.token.get() {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let limit = Some(limit).filter(|limit| !limit.is_zero());
        let sent = match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json").body(body.to_string());
                request.map_err(ureq::Error::from).and_then(|request| {
                    let request = self.agent.configure_request(request).timeout_global(limit).build();
                    self.agent.run(request)
                })
            }
            None => request.body(()).map_err(ureq::Error::from).and_then(|request| {
                let request = self.agent.configure_request(request).timeout_global(limit).build();
                self.agent.run(request)
            }),
        };
        sent.map_err(|error| {
            let trouble = match &error {
                ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
                    Trouble::Refused(Failure::invalid(format!("{} is not a URL to call: {error}", self.base)))
                }
                error => Trouble::Away(self.sentence(error)),
            };
            Lost { trouble, passing: passes(&error) }
        })
    }

    /// The token of this data directory is for a server of this user on this machine, and nobody else.
    fn may_have_our_token(&self) -> bool {
        match &self.target {
            Target::Home => true,
            Target::Url(url) => {
                let host = url.strip_prefix("http://").unwrap_or(url);
                let host = host.rsplit_once(':').map_or(host, |(host, _)| host).trim_matches(['[', ']']);
                host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
        }
    }

    /// Returns the failure to end with when the server is not there.
    pub(crate) fn is_away(&self) -> Failure {
        Failure::away(format!("no Forge server answers at {}; start one with `forge serve`", self.base))
    }

    fn sentence(&self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::Timeout(_) => format!("the server at {} does not answer in time", self.base),
            _ => self.is_away().message,
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Away(message) => Failure::away(message),
            Trouble::Refused(failure) => failure,
        }
    }
}

/// Says whether a connection was refused or broken off, which a server that restarts does.
fn passes(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, UnexpectedEof,
    };
    match error {
        ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | UnexpectedEof
        ),
        _ => false,
    }
}

/// Turns a refusal into the sentence the server gave and the exit code that fits.
fn refusal(mut response: Response<Body>) -> Failure {
    let status = response.status();
    let exit = match status.as_u16() {
        404 => Exit::NotFound,
        409 => Exit::Conflict,
        400..=499 if !matches!(status.as_u16(), 401 | 403 | 421) => Exit::Invalid,
        _ => Exit::Away,
    };
    let answer: Value = response.body_mut().read_json().unwrap_or_default();
    let message = match message_of(&answer) {
        // The server speaks of bodies; a person here knows of prompts.
        _ if status == 413 => "that is more text than the server takes at once; put it into a file of the \
                               repository, and name the file in the prompt"
            .to_string(),
        message if message.is_empty() => format!("the server answered {status}"),
        message => message,
    };
    Failure { exit, message }
}

/// Turns a refusal that came with 200, as older clients expect some, into a sentence and a code.
fn refused_with_200(answer: &Value) -> Failure {
    let data = &answer["error_data"];
    let kind = data["type"].as_str().or(data.as_str()).unwrap_or_default();
    let message = match message_of(answer) {
        message if !message.is_empty() => message,
        _ => data["message"].as_str().unwrap_or(kind).to_string(),
    };
    match kind {
        // Nothing is wrong with the call: the repository is not ready for it.
        "merge_conflicts" | "rebase_in_progress" => Failure::conflict(message),
        _ => Failure::invalid(message),
    }
}

fn message_of(answer: &Value) -> String {
    answer["message"].as_str().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Answers as a server does that wants a token: 401 until it is told the right one.
    fn wants_token(token: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wanted = format!("authorization: bearer {token}\r\n");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = vec![0; 4096];
                let count = stream.read(&mut request).unwrap();
                let request = String::from_utf8_lossy(&request[..count]).to_ascii_lowercase();
                let (status, body) = match request.contains(&wanted) {
                    true => ("200 OK", r#"{"success":true,"data":["it"],"error_data":null,"message":null}"#),
                    false => ("401 Unauthorized", r#"{"success":false,"message":"the token is in a file"}"#),
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        url
    }

    #[test]
    fn the_token_is_sent_once_it_is_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let token = token::ensure(home.path()).unwrap();
        let url = wants_token(&token);
        let client = Client::new(Target::Home, home.path().to_path_buf(), url);
        assert_eq!(client.token_in_use(), None);
        assert_eq!(client.get("/api/projects").unwrap()[0], "it");
        assert_eq!(client.token_in_use(), Some(token.as_str()));
    }

    #[test]
    fn a_refused_token_is_the_servers_sentence_and_exit_5() {
        let home = tempfile::tempdir().unwrap();
        token::ensure(home.path()).unwrap();
        let url = wants_token("another");
        let client = Client::new(Target::Url(url.clone()), home.path().to_path_buf(), url);
        let failure = Failure::from(client.get("/api/projects").unwrap_err());
        assert_eq!((failure.exit, failure.message.as_str()), (Exit::Away, "the token is in a file"));
    }

    /// Answers these one after the other, each on a connection of its own, and tells what it was asked; nothing
    /// where the status is empty: the connection ends without an answer.
    fn answers(statuses: &[&'static str]) -> (String, std::sync::mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, told) = std::sync::mpsc::channel();
        let statuses = statuses.to_vec();
        std::thread::spawn(move || {
            for status in statuses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = vec![0; 8192];
                let count = stream.read(&mut request).unwrap();
                tell.send(String::from_utf8_lossy(&request[..count]).into_owned()).unwrap();
                let body = r#"{"success":true,"data":"done","message":"no"}"#;
                let head = format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
                if !status.is_empty() {
                    stream.write_all(format!("HTTP/1.1 {status}\r\n{head}").as_bytes()).unwrap();
                }
            }
        });
        (url, told)
    }

    #[test]
    fn what_fails_in_passing_is_tried_again_with_the_same_key_and_nothing_else_is() {
        let (url, told) = answers(&["503 Away", "", "200 OK"]);
        let mut client = Client::new(Target::Url(url.clone()), PathBuf::new(), url);
        assert_eq!(client.post_once("/api/x", &serde_json::json!({"a": 1})).unwrap(), "done");
        let asked: Vec<String> = told.iter().collect();
        let key = |text: &String| {
            text.lines()
                .find(|line| line.to_ascii_lowercase().starts_with("idempotency-key:"))
                .map(str::to_string)
        };
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert!(
            key(&asked[0]).is_some() && asked.iter().all(|text| key(text) == key(&asked[0])),
            "{asked:?}"
        );

        for refused in ["400 Bad", "404 Not Found", "409 Conflict", "500 Broken"] {
            let (url, told) = answers(&[refused, "200 OK"]);
            let mut client = Client::new(Target::Url(url.clone()), PathBuf::new(), url);
            client.post_once("/api/x", &serde_json::json!({})).unwrap_err();
            assert_eq!(told.try_iter().count(), 1, "{refused}");
        }
    }

    #[test]
    fn the_token_of_this_machine_is_not_for_others() {
        let of = |url: &str| Client::new(Target::Url(url.to_string()), PathBuf::new(), url.to_string());
        assert!(of("http://127.0.0.1:8887").may_have_our_token());
        assert!(of("http://[::1]:8887").may_have_our_token());
        assert!(of("http://localhost").may_have_our_token());
        assert!(!of("http://192.0.2.1:8887").may_have_our_token());
        assert!(!of("http://localhost.example.org:8887").may_have_our_token());
    }
}
