//! A client of the protocol that hides nothing: each message is a request of its own.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::world::World;

pub(crate) struct Mcp<'w> {
    world: &'w World,
    session: Option<String>,
    token: Option<String>,
    next: u64,
}

impl<'w> Mcp<'w> {
    /// Says hello as the person who runs the server.
    pub(crate) fn new(world: &'w World) -> Self {
        Self::greeted(world, None)
    }

    /// Says hello with a token.
    pub(crate) fn with_token(world: &'w World, token: &str) -> Self {
        Self::greeted(world, Some(token.to_string()))
    }

    fn greeted(world: &'w World, token: Option<String>) -> Self {
        let mut client = Self { world, session: None, token, next: 0 };
        let hello = client.hello("2025-06-18");
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
        client.notify("notifications/initialized");
        client
    }

    /// A client that has not said hello.
    pub(crate) fn silent(world: &'w World) -> Self {
        Self { world, session: None, token: None, next: 0 }
    }

    /// A client with a token that has not said hello.
    pub(crate) fn bearing(world: &'w World, token: &str) -> Self {
        Self { world, session: None, token: Some(token.to_string()), next: 0 }
    }

    /// The same client at another task of its own: its requests have numbers of their own.
    pub(crate) fn beside(&self, number: u64) -> Self {
        let Self { world, session, token, next } = self;
        Self { world, session: session.clone(), token: token.clone(), next: next + 1000 * number }
    }

    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().unwrap()
    }

    pub(crate) fn hello(&mut self, version: &str) -> Value {
        self.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        )
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let messages = self.exchange(method, params);
        let id = json!(self.next);
        let answer =
            messages.into_iter().find(|message| message["id"] == id && message.get("method").is_none());
        answer.unwrap_or_else(|| panic!("{method} was not answered"))
    }

    /// Sends a request and returns every message that came back, the answer last.
    pub(crate) fn exchange(&mut self, method: &str, params: Value) -> Vec<Value> {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let (head, body) = self.post(&message);
        assert!(
            head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"),
            "{method}: {head}\n{body}"
        );
        if method == "initialize" {
            self.session = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_string())
            });
        }
        messages(&body)
    }

    pub(crate) fn notify(&mut self, method: &str) {
        let (head, body) = self.post(&json!({"jsonrpc": "2.0", "method": method}));
        assert!(head.contains(" 202 "), "{head}\n{body}");
    }

    /// Calls a tool and returns its answer, or what it refuses with.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        let told: Value = serde_json::from_str(text).unwrap();
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{answer}");
        if result["isError"] == true {
            assert_eq!(told["success"], false, "{tool}: {told}");
            assert!(told["error"].is_string(), "{tool}: {told}");
            return Err(told);
        }
        if let Some(structured) = result.get("structuredContent") {
            assert_eq!(structured, &told, "{tool} tells two things");
        }
        Ok(told)
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let answer = self.request("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Sends one message; the older version of HTTP keeps the sizes of chunks out of the body.
    pub(crate) fn post(&self, message: &Value) -> (String, String) {
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.world.address,
            body.len()
        );
        if let Some(session) = &self.session {
            head.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
        }
        if let Some(token) = &self.token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        let mut stream = self.world.connect();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer.as_str(), ""));
        (head.to_string(), body.to_string())
    }
}

/// A hello, whose client has a name.
pub(crate) fn hello_of(name: &str) -> Value {
    let client = json!({"name": name, "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// The messages of a body, be it one of JSON or a stream of events.
fn messages(body: &str) -> Vec<Value> {
    match serde_json::from_str(body) {
        Ok(message) => vec![message],
        Err(_) => {
            let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
            data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
        }
    }
}
