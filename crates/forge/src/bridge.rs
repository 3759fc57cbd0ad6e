//! A bridge between MCP on standard input and output, one message a line, and MCP over HTTP at the server.
//!
//! It outlives the server: when that restarts, the bridge says hello again by itself with what the client said first,
//! and the client does not notice. A call that was under way then is answered with an error and never made twice,
//! unless it is certain that it never arrived.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use forge_model::AttemptId;
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::client::{Client, Unanswered};
use crate::exit::{Failure, Result};
use crate::output::Output;
use crate::{autostart, environment, home, repository, token};

/// How long a server that restarts is waited for.
const RESTART: Duration = Duration::from_secs(15);
/// How long calls under way may take to end when standard input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// How soon the stream of news is opened again when it broke.
const NEWS_AGAIN: Duration = Duration::from_secs(1);
/// The longest line of a stream that is read.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// The error that a client is told when the server cannot be reached.
const INTERNAL: i64 = -32603;

/// Carries messages until standard input ends.
pub(crate) fn run(globals: &Globals, output: Output, attempt: Option<AttemptId>) -> Result<()> {
    let client = connect(globals, &output, attempt)?;
    let bridge = Arc::new(Bridge {
        globals: globals.clone(),
        output,
        attempt,
        line: Mutex::new(Line { client, session: None, version: None, round: 0 }),
        hello: Mutex::new(None),
        subscribed: Mutex::new(BTreeSet::new()),
        under_way: Mutex::new(0),
        ended: Condvar::new(),
        directory: directory(),
    });
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line) {
            // Older versions of the protocol send several messages at once.
            Ok(Value::Array(messages)) => messages.into_iter().for_each(|message| bridge.take(message)),
            Ok(message) => bridge.take(message),
            Err(error) => bridge.say(&failure(&Value::Null, -32700, &format!("this is not JSON: {error}"))),
        }
    }
    bridge.finish();
    Ok(())
}

/// Finds the server. For an agent none is started, and its token is made here where it cannot be lost on the way.
fn connect(globals: &Globals, output: &Output, attempt: Option<AttemptId>) -> Result<Client> {
    let Some(attempt) = attempt else { return autostart::connect(globals, output) };
    let home = home::locate(globals.data.as_deref())?;
    let token = match token::read(&home) {
        Some(token) => forge_server::attempt_token(&token, attempt),
        None => environment::text(environment::FORGE_TOKEN).ok_or_else(|| {
            Failure::away(format!(
                "the token of attempt {attempt} cannot be made: there is none in {}",
                home.display()
            ))
        })?,
    };
    let data = home.display();
    let client = autostart::running(&home);
    let client = client.ok_or_else(|| Failure::away(format!("no Forge server runs on {data}")))?;
    let client = client.with_token(token);
    client.health()?;
    Ok(client)
}

struct Bridge {
    globals: Globals,
    output: Output,
    /// The attempt whose agent is on the other side, if one is.
    attempt: Option<AttemptId>,
    line: Mutex<Line>,
    /// What the client said first.
    hello: Mutex<Option<Value>>,
    /// The resources whose changes the client wants to hear of.
    subscribed: Mutex<BTreeSet<String>>,
    /// How many calls are under way.
    under_way: Mutex<usize>,
    ended: Condvar,
    /// Where the client works, which says which project it means.
    directory: Option<String>,
}

/// The way to the server as it is now.
#[derive(Clone)]
struct Line {
    client: Client,
    session: Option<String>,
    version: Option<String>,
    /// Counts the times that it was made anew.
    round: u64,
}

impl Bridge {
    /// Takes one message of the client's. Calls are made side by side; what sets up the session is waited for.
    fn take(self: &Arc<Self>, message: Value) {
        let method = message["method"].as_str().unwrap_or_default();
        if method == "initialize" {
            *lock(&self.hello) = Some(message.clone());
        }
        self.note_subscription(method, &message["params"]["uri"]);
        if message.get("id").is_none() || method.is_empty() || method == "initialize" {
            self.carry(&message);
            return;
        }
        *lock(&self.under_way) += 1;
        let bridge = self.clone();
        thread::spawn(move || {
            bridge.carry(&message);
            *lock(&bridge.under_way) -= 1;
            bridge.ended.notify_all();
        });
    }

    fn note_subscription(&self, method: &str, uri: &Value) {
        let Some(uri) = uri.as_str() else { return };
        match method {
            "resources/subscribe" => drop(lock(&self.subscribed).insert(uri.to_string())),
            "resources/unsubscribe" => drop(lock(&self.subscribed).remove(uri)),
            _ => {}
        }
    }

    /// Carries a message to the server and its answers back, across a restart of the server if need be.
    fn carry(self: &Arc<Self>, message: &Value) {
        let deadline = Instant::now() + RESTART;
        loop {
            let line = lock(&self.line).clone();
            let lost = match self.post(&line, message) {
                Ok(()) => return,
                Err(lost) => lost,
            };
            // A hello is not said again before it is said.
            let again =
                matches!(lost, Unanswered::Unsent(_) | Unanswered::NoSession) && Instant::now() < deadline;
            if !again || !self.say_hello_again(line.round, deadline, message["method"] != "initialize") {
                let id = &message["id"];
                if message.get("method").is_some() && !id.is_null() {
                    self.say(&failure(id, INTERNAL, &lost.to_string()));
                }
                return;
            }
        }
    }

    /// Sends one message and says what comes back.
    fn post(self: &Arc<Self>, line: &Line, message: &Value) -> std::result::Result<(), Unanswered> {
        let mut response =
            line.client.converse("POST", "/mcp", Some(message), &self.headers(line, message))?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_string)
        };
        let (kind, session) = (header("content-type").unwrap_or_default(), header("mcp-session-id"));
        if response.status() == 202 {
            return Ok(());
        }
        if response.status() == 404 && line.session.is_some() {
            return Err(Unanswered::NoSession);
        }
        let is_hello = message["method"] == "initialize";
        let mut answered = false;
        let mut heard = |answer: Value| {
            answered |= answer["id"] == message["id"];
            if is_hello {
                self.begin(session.clone(), &answer);
            }
            self.say(&answer);
        };
        let id = &message["id"];
        if kind.starts_with("text/event-stream") {
            let lines = BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader());
            let ended = read_events(lines, &mut heard);
            if !answered && !id.is_null() {
                let why = ended.err().map_or_else(String::new, |error| format!(": {error}"));
                let message = format!("the server went away while it worked on this{why}");
                self.say(&failure(id, INTERNAL, &message));
            }
            return Ok(());
        }
        let status = response.status();
        let text = response.body_mut().with_config().limit(LONGEST_LINE).read_to_string().unwrap_or_default();
        match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer.get("jsonrpc").is_some() => heard(answer),
            // The server's own refusals come in its envelope.
            Ok(answer) if answer["message"].is_string() => {
                self.refuse(id, answer["message"].as_str().unwrap_or_default());
            }
            _ => self.refuse(id, &format!("the server answered {status}: {text}")),
        }
        Ok(())
    }

    fn refuse(&self, id: &Value, why: &str) {
        match id.is_null() {
            true => self.output.remark(why),
            false => self.say(&failure(id, INTERNAL, why)),
        }
    }

    fn headers(&self, line: &Line, message: &Value) -> Vec<(&'static str, String)> {
        let mut headers = vec![("Accept", "application/json, text/event-stream".to_string())];
        headers.extend(self.directory.clone().map(|directory| ("X-Forge-Directory", directory)));
        // The newest version of the protocol has no sessions, and says everything in each message and its head.
        let meta = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if let Some(version) = meta.as_str() {
            headers.push(("MCP-Protocol-Version", version.to_string()));
            headers.extend(message["method"].as_str().map(|method| ("Mcp-Method", method.to_string())));
            let params = &message["params"];
            let name = params["name"].as_str().or(params["uri"].as_str());
            headers.extend(name.map(|name| ("Mcp-Name", name.to_string())));
            return headers;
        }
        if message["method"] != "initialize" {
            headers.extend(line.session.clone().map(|session| ("Mcp-Session-Id", session)));
            headers.extend(line.version.clone().map(|version| ("MCP-Protocol-Version", version)));
        }
        headers
    }

    /// Keeps what the server answered to the hello, and begins to listen to its news.
    fn begin(self: &Arc<Self>, session: Option<String>, answer: &Value) {
        let Some(version) = answer["result"]["protocolVersion"].as_str() else { return };
        let mut line = lock(&self.line);
        (line.session, line.version) = (session, Some(version.to_string()));
        if line.session.is_some() {
            let (bridge, line) = (self.clone(), line.clone());
            thread::spawn(move || bridge.listen(&line));
        }
    }

    /// Says what the server tells of its own accord, for as long as the session is this one.
    fn listen(&self, line: &Line) {
        let mut headers = self.headers(line, &json!({}));
        headers[0].1 = "text/event-stream".to_string();
        while lock(&self.line).session == line.session {
            match line.client.converse("GET", "/mcp", None, &headers) {
                Ok(response) if response.status().is_success() => {
                    let lines =
                        BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader());
                    // How it ended is nothing to tell: it is opened again, or the session is over.
                    let _ = read_events(lines, &mut |news| self.say(&news));
                }
                Ok(_) => return,
                Err(_) => {}
            }
            thread::sleep(NEWS_AGAIN);
        }
    }

    /// Finds the server again and says hello to it as the client did. Returns false when there is none to be found.
    fn say_hello_again(self: &Arc<Self>, round: u64, deadline: Instant, with_hello: bool) -> bool {
        let mut line = lock(&self.line);
        // Another call was quicker.
        if line.round != round {
            return true;
        }
        let client = loop {
            match connect(&self.globals, &self.output, self.attempt) {
                Ok(client) => break client,
                Err(failure) if Instant::now() > deadline => {
                    self.output.remark(format_args!("forge: {}", failure.message));
                    return false;
                }
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        };
        let hello = lock(&self.hello).clone().filter(|_| with_hello);
        let mut fresh = Line { client, session: None, version: line.version.clone(), round: round + 1 };
        if let Some(mut hello) = hello {
            hello["id"] = json!(format!("forge-mcp-{round}"));
            let Some((session, version)) = self.greet(&fresh, &hello) else { return false };
            (fresh.session, fresh.version) = (session, Some(version));
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let said = fresh.client.converse("POST", "/mcp", Some(&ready), &self.headers(&fresh, &ready));
            if said.is_err() {
                return false;
            }
            self.subscribe_again(&fresh);
        }
        *line = fresh.clone();
        drop(line);
        if fresh.session.is_some() {
            let bridge = self.clone();
            thread::spawn(move || bridge.listen(&fresh));
        }
        true
    }

    /// Says hello and returns the session and the version of the protocol; what else is answered, the client knows.
    fn greet(&self, line: &Line, hello: &Value) -> Option<(Option<String>, String)> {
        let mut response =
            line.client.converse("POST", "/mcp", Some(hello), &self.headers(line, hello)).ok()?;
        let session = response.headers().get("mcp-session-id").and_then(|value| value.to_str().ok());
        let session = session.map(str::to_string);
        let text = response.body_mut().with_config().limit(LONGEST_LINE).read_to_string().ok()?;
        let mut version = None;
        let mut heard = |answer: Value| {
            version = version.take().or(answer["result"]["protocolVersion"].as_str().map(str::to_string));
        };
        match serde_json::from_str(&text) {
            Ok(answer) => heard(answer),
            Err(_) => read_events(text.as_bytes(), &mut heard).ok()?,
        }
        version.map(|version| (session, version))
    }

    fn subscribe_again(&self, line: &Line) {
        for (count, uri) in lock(&self.subscribed).iter().enumerate() {
            let message = json!({
                "jsonrpc": "2.0",
                "id": format!("forge-mcp-{}-{count}", line.round),
                "method": "resources/subscribe",
                "params": {"uri": uri},
            });
            if let Err(lost) =
                line.client.converse("POST", "/mcp", Some(&message), &self.headers(line, &message))
            {
                self.output.remark(format_args!("forge: changes of {uri} are not told any more: {lost}"));
            }
        }
    }

    /// Says a message to the client. One that is gone ends its side, and this with it.
    fn say(&self, message: &Value) {
        if self.output.value(message).is_err() {
            std::process::exit(0);
        }
    }

    /// Lets calls that are under way end, and the session with them.
    fn finish(&self) {
        let under_way = lock(&self.under_way);
        let waited = self.ended.wait_timeout_while(under_way, LAST_ANSWERS, |count| *count > 0);
        drop(waited);
        let line = lock(&self.line).clone();
        if line.session.is_some() {
            let headers = self.headers(&line, &json!({}));
            // A server that is gone has no session to end.
            let _ = line.client.converse("DELETE", "/mcp", None, &headers);
        }
    }
}

/// Reads server-sent events, and gives each that is a message.
fn read_events(lines: impl BufRead, heard: &mut impl FnMut(Value)) -> io::Result<()> {
    let mut data = String::new();
    for line in lines.lines() {
        let line = line?;
        match line.strip_prefix("data:") {
            Some(more) => data.push_str(more.strip_prefix(' ').unwrap_or(more)),
            None if line.is_empty() => {
                if let Ok(message) = serde_json::from_str(&data) {
                    heard(message);
                }
                data.clear();
            }
            None => {}
        }
    }
    Ok(())
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Returns the top of the repository that this was started in, so that it fits a header.
fn directory() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let top = repository::find(&here).map(|found| found.main.unwrap_or(found.top)).unwrap_or(here);
    let mut text = String::new();
    for byte in top.to_str()?.bytes() {
        match byte.is_ascii_graphic() && byte != b'%' {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(text)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_by_their_data_whatever_stands_around_it() {
        let stream =
            ": ping\r\nid: 1\r\ndata: {\"a\":1}\r\n\r\nevent: message\ndata: {\"b\":\ndata: 2}\n\ndata: \n\n";
        let mut heard = Vec::new();
        read_events(stream.as_bytes(), &mut |message| heard.push(message)).unwrap();
        assert_eq!(heard, [json!({"a": 1}), json!({"b": 2})]);
    }
}
