//! Omni, a gateway to messengers: which of its instances there are, and sending a text through one.
//!
//! It follows no redirect and uses no proxy, so that the key reaches the host it was given for and no other.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

/// How long a call may take, all in all.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much of an answer is read.
const LARGEST: u64 = 1024 * 1024;

/// How much of a refusal is told, in characters.
const LONGEST_DETAIL: usize = 200;

/// A gateway, and the key for it.
#[derive(Clone)]
pub struct Omni {
    host: String,
    key: String,
}

/// A messenger account that the gateway speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    pub name: String,
    pub channel: String,
    pub display_name: String,
    pub status: String,
    pub healthy: bool,
}

/// Who a text is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    Phone(String),
    User(String),
}

/// Why the gateway did not do it.
#[derive(Debug, thiserror::Error)]
pub enum OmniError {
    #[error("the key for {host} has characters that no header can carry")]
    Key { host: String },
    #[error("could not reach {host}: {why}")]
    Unreachable { host: String, why: String },
    #[error("{host} answered {status}{detail}")]
    Refused { host: String, status: u16, detail: String },
    #[error("{host} answered what is no list of instances: {why}")]
    Nonsense { host: String, why: String },
}

impl OmniError {
    /// Says whether it may pass: the gateway was away or busy, and asking again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            OmniError::Unreachable { .. } => true,
            OmniError::Refused { status, .. } => *status >= 500 || *status == 408 || *status == 429,
            OmniError::Key { .. } | OmniError::Nonsense { .. } => false,
        }
    }
}

impl fmt::Debug for Omni {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key stays out, so that no log line ever holds it.
        f.debug_struct("Omni").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Omni {
    /// Names a gateway by its address, such as `https://omni.example.org`, and the key for it.
    pub fn new(host: &str, key: &str) -> Self {
        Self { host: host.trim_end_matches('/').to_string(), key: key.to_string() }
    }

    /// Lists the instances. Blocks for at most five seconds.
    pub fn instances(&self) -> Result<Vec<Instance>, OmniError> {
        let url = format!("{}/api/v1/instances/", self.host);
        let answer = agent().get(url).header("X-API-Key", self.header()?).call();
        let text = self.checked(answer)?;
        let nonsense = |why: String| OmniError::Nonsense { host: self.host.clone(), why };
        let answer: Value = serde_json::from_str(&text).map_err(|error| nonsense(error.to_string()))?;
        let list = answer.as_array().or_else(|| answer.get("instances")?.as_array());
        let list = list.ok_or_else(|| nonsense("there is no list in it".to_string()))?;
        Ok(list.iter().filter_map(instance).collect())
    }

    /// Sends a text through an instance. Blocks for at most five seconds.
    pub fn send_text(&self, instance: &str, to: &Recipient, text: &str) -> Result<(), OmniError> {
        let url = format!("{}/api/v1/instance/{}/send-text", self.host, encoded(instance));
        let body = match to {
            Recipient::Phone(number) => json!({ "phone_number": number, "text": text }),
            Recipient::User(id) => json!({ "user_id": id, "text": text }),
        };
        let answer = agent().post(url).header("X-API-Key", self.header()?).send_json(&body);
        self.checked(answer).map(drop)
    }

    fn header(&self) -> Result<&str, OmniError> {
        let fits = !self.key.is_empty() && self.key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if fits { Ok(&self.key) } else { Err(OmniError::Key { host: self.host.clone() }) }
    }

    /// Returns the text of a good answer.
    fn checked(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<String, OmniError> {
        let unreachable =
            |error: ureq::Error| OmniError::Unreachable { host: self.host.clone(), why: error.to_string() };
        let mut answer = answer.map_err(unreachable)?;
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(LARGEST).read_to_string();
        if !status.is_success() {
            // What stands in the body only makes the sentence better.
            let detail = self.told(&text.unwrap_or_default());
            return Err(OmniError::Refused { host: self.host.clone(), status: status.as_u16(), detail });
        }
        let text = text.map_err(unreachable)?;
        let refused = serde_json::from_str(&text).is_ok_and(|answer: Value| answer["success"] == false);
        if refused {
            let detail = self.told(&text);
            return Err(OmniError::Refused { host: self.host.clone(), status: status.as_u16(), detail });
        }
        Ok(text)
    }

    /// Makes what the gateway said fit for a sentence: short, and without the key.
    fn told(&self, text: &str) -> String {
        let text = text.replace(&self.key, "********");
        let cut: String = text.trim().chars().filter(|c| !c.is_control()).take(LONGEST_DETAIL).collect();
        if cut.is_empty() { cut } else { format!(": {cut}") }
    }
}

fn agent() -> Agent {
    Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent("forge")
        .build()
        .new_agent()
}

/// Reads one instance; what has no name is none.
fn instance(value: &Value) -> Option<Instance> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_string);
    let name = text(&["instance_name", "name"])?;
    let status = text(&["status", "state"]).unwrap_or_else(|| "unknown".to_string());
    let said = ["is_healthy", "is_active"].iter().find_map(|key| value.get(*key)?.as_bool());
    let looks = ["connected", "open", "active", "healthy", "ok"].contains(&status.to_lowercase().as_str());
    Some(Instance {
        channel: text(&["channel_type", "channel"]).unwrap_or_default(),
        display_name: text(&["display_name"]).unwrap_or_else(|| name.clone()),
        healthy: said.unwrap_or(looks),
        name,
        status,
    })
}

/// Writes a name as one segment of a path.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    /// Answers one request, and returns it: its head and its body.
    fn gateway(answer: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut asked = String::new();
            while !asked.ends_with("\r\n\r\n") {
                assert_ne!(reader.read_line(&mut asked).unwrap(), 0, "{asked}");
            }
            let length = asked.to_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
            });
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            asked + &String::from_utf8(body).unwrap()
        });
        (host, served)
    }

    #[test]
    fn instances_are_listed_with_the_key_in_its_header() {
        let (host, served) = gateway(
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[{\"name\": \"main\", \"channel_type\": \"whatsapp\", \
             \"status\": \"connected\"}, {\"instance_name\": \"b\", \"is_healthy\": false}, {}]",
        );
        let found = Omni::new(&format!("{host}/"), "hush").instances().unwrap();
        let names: Vec<_> = found.iter().map(|i| (i.name.as_str(), i.channel.as_str(), i.healthy)).collect();
        assert_eq!(names, [("main", "whatsapp", true), ("b", "", false)]);
        let asked = served.join().unwrap();
        assert!(asked.starts_with("GET /api/v1/instances/ HTTP/1.1\r\n"), "{asked}");
        assert!(asked.to_lowercase().contains("x-api-key: hush"), "{asked}");
    }

    #[test]
    fn a_text_goes_to_a_number_or_a_user_through_an_instance() {
        let (host, served) = gateway("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        let to = Recipient::Phone("+49 30".into());
        Omni::new(&host, "k").send_text("a/b c", &to, "hi").unwrap();
        let asked = served.join().unwrap();
        assert!(asked.starts_with("POST /api/v1/instance/a%2Fb%20c/send-text "), "{asked}");
        let body: Value = serde_json::from_str(asked.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body, json!({"phone_number": "+49 30", "text": "hi"}));
    }

    #[test]
    fn a_redirect_is_not_followed_and_carries_the_key_nowhere() {
        let (host, served) =
            gateway("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
        let error = Omni::new(&host, "hush").instances().unwrap_err();
        assert!(matches!(error, OmniError::Refused { status: 302, .. }), "{error}");
        served.join().unwrap();
    }

    #[test]
    fn a_refusal_is_told_without_the_key_and_says_whether_it_may_pass() {
        let (host, served) =
            gateway("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n{\"detail\": \"hush is wrong\"}");
        let omni = Omni::new(&host, "hush");
        let error = omni.send_text("main", &Recipient::User("ada".into()), "hi").unwrap_err();
        assert!(error.to_string().contains("answered 401: {\"detail\": \"******** is wrong\"}"), "{error}");
        assert!(!error.is_passing());
        served.join().unwrap();
        // Nobody listens there any more.
        let error = omni.instances().unwrap_err();
        assert!(error.is_passing() && !format!("{error:?} {omni:?}").contains("hush"), "{error:?}");
        assert!(matches!(Omni::new(&host, "a\nb").instances(), Err(OmniError::Key { .. })));
    }

    #[test]
    fn an_answer_that_is_no_list_is_said_to_be_none() {
        for answer in [
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<html>",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}",
        ] {
            let (host, served) = gateway(answer);
            let error = Omni::new(&host, "k").instances().unwrap_err();
            assert!(matches!(error, OmniError::Nonsense { .. }), "{error}");
            served.join().unwrap();
        }
    }
}
