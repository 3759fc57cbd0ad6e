//! The two older TypeScript clients, replayed: every request as each of them sends it, every answer read as
//! it reads it.
//!
//! The requests are in `tests/fixtures/clients`. Only a route that is not served yet is exempt, and it must
//! say so.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tungstenite::Message;

use crate::world::{Answer, Socket, World, eventually};

const SEED: &str = include_str!("../fixtures/clients/seed.json");
const GENIE: &str = include_str!("../fixtures/clients/genie.json");
const ENTITIES: &str = include_str!("../fixtures/clients/entities.json");

/// The smallest picture: one transparent dot.
const DOT: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\
\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";

#[tokio::test(flavor = "multi_thread")]
async fn the_seed_client_works_unmodified() {
    Replay::new(SEED).await.run();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_genie_client_works_unmodified() {
    Replay::new(GENIE).await.run();
}

#[test]
fn every_method_of_both_clients_has_its_request() {
    for (text, count) in [(SEED, 77), (GENIE, 79)] {
        let names: BTreeSet<String> = methods(text).iter().map(|method| text_of(method, "method")).collect();
        assert_eq!((names.len(), methods(text).len()), (count, count));
    }
}

/// A client under way: what it has learnt so far, and what it is not held to yet.
struct Replay {
    world: World,
    client: Value,
    entities: Value,
    /// The table of routes, and whether each is served.
    routes: Vec<(String, String, bool)>,
    known: BTreeMap<String, Value>,
}

impl Replay {
    async fn new(text: &str) -> Self {
        let world = World::new().await;
        let told = world.get("/api/routes").json();
        let routes = told["routes"].as_array().unwrap().iter().map(|route| {
            (text_of(route, "method"), text_of(route, "path"), route["served"].as_bool().unwrap())
        });
        let routes = routes.collect();
        let repository = json!(world.repository("repository"));
        let known = BTreeMap::from([("repository".to_string(), repository)]);
        let client = serde_json::from_str(text).unwrap();
        Self { world, client, entities: serde_json::from_str(ENTITIES).unwrap(), routes, known }
    }

    fn run(mut self) {
        for method in self.client["methods"].as_array().unwrap().clone() {
            if self.served(&method) {
                self.prepare(&method);
                self.call(&method);
            } else {
                let path = self.filled(&text_of(&method, "path"), "unknown");
                let answer = self.world.send(&text_of(&method, "http"), &path, &[], b"");
                assert_eq!(answer.status, 501, "{method} is exempt, so it must say that it is not served");
            }
        }
    }

    /// Finds the method's route in the table, the most literal one where several fit.
    fn served(&self, method: &Value) -> bool {
        let (http, path) = (text_of(method, "http"), text_of(method, "path"));
        let asked: Vec<&str> = path.split('/').collect();
        let fits = |route: &str| {
            let parts: Vec<&str> = route.split('/').collect();
            let same = |(part, asked): (&&str, &&str)| part.starts_with('{') || part == asked;
            let literal = parts.iter().filter(|part| !part.starts_with('{')).count();
            (parts.len() == asked.len() && parts.iter().zip(&asked).all(same)).then_some(literal)
        };
        let fitting = self.routes.iter().filter(|(method, ..)| *method == http);
        let fitting = fitting.filter_map(|(_, route, served)| Some((fits(route)?, *served)));
        fitting.max().unwrap_or_else(|| panic!("{http} {path} is not in the table of routes")).1
    }

    /// Sees to what a method needs before it can do anything.
    fn prepare(&self, method: &Value) {
        match method["before"].as_str() {
            None => {}
            Some("an idle agent") => {
                let attempt = self.known["attempt_id"].as_str().unwrap();
                let over = ["finished", "failed", "stopped"];
                eventually(|| {
                    over.contains(&self.world.attempt(attempt)["state"].as_str().unwrap()).then_some(())
                });
            }
            Some("a dev script") => {
                let project = self.known["project_id"].as_str().unwrap();
                let path = format!("/api/projects/{project}");
                self.world.put(&path, &json!({"dev_script": "exec sleep 600"})).data();
            }
            Some(other) => panic!("nobody knows how to see to {other:?}"),
        }
    }

    fn call(&mut self, method: &Value) {
        match text_of(method, "returns").as_str() {
            "socket" => self.follow(method),
            "events" => self.subscribe(method),
            "bytes" => {
                let answer = self.send(method);
                assert!(answer.status == 200 && !answer.text.is_empty(), "{method}: {answer:?}");
            }
            returns => {
                let data = match method.get("until") {
                    None => self.answer(method, returns),
                    Some(until) => {
                        let until = self.substitute(until);
                        eventually(|| {
                            let data = self.answer(method, returns)?;
                            let met = |(at, values): (&String, &Value)| {
                                data.pointer(&format!("/{at}"))
                                    .is_some_and(|value| values.as_array().unwrap().contains(value))
                            };
                            until.as_object().unwrap().iter().all(met).then_some(Some(data))
                        })
                    }
                };
                if let Some(data) = data {
                    self.read(method, &data);
                }
            }
        }
    }

    /// Calls once and reads the answer as both clients do: anything but 2xx throws, and so does anything but
    /// `success: true`; the caller gets `data`. None where the world outside is missing and that was said.
    fn answer(&self, method: &Value, returns: &str) -> Option<Value> {
        let answer = self.send(method);
        let json = answer.json();
        if method.get("outside").is_some() && json["success"] == false {
            assert!(answer.status != 501 && answer.status != 500, "{method}: {answer:?}");
            assert!(json["message"].is_string() || !json["error_data"].is_null(), "{method}: {answer:?}");
            return None;
        }
        assert!((200..300).contains(&answer.status), "{method} throws: {answer:?}");
        if returns == "bare" {
            return Some(json);
        }
        assert_eq!(json["success"], true, "{method} throws: {answer:?}");
        Some(json["data"].clone())
    }

    /// Checks that everything is there that a caller looks for, and keeps what later requests need.
    fn read(&mut self, method: &Value, data: &Value) {
        let returns = text_of(method, "returns");
        match returns.as_str() {
            "any" | "bare" => {}
            "text" => assert!(data.is_string(), "{method}: {data}"),
            entity => {
                let (name, many) = match entity.strip_suffix("[]") {
                    Some(name) => (name, true),
                    None => (entity, false),
                };
                let keys = self.entities[name].as_array().unwrap_or_else(|| panic!("no entity {name}"));
                let one = [data.clone()];
                let all = if many { data.as_array().map(Vec::as_slice) } else { Some(one.as_slice()) };
                for item in all.unwrap_or_else(|| panic!("{method}: not a list: {data}")) {
                    for key in keys {
                        assert!(item.get(key.as_str().unwrap()).is_some(), "{method}: no {key} in {item}");
                    }
                }
            }
        }
        for at in method["reads"].as_array().into_iter().flatten() {
            let value = data.pointer(&format!("/{}", at.as_str().unwrap()));
            assert!(value.is_some_and(|value| !value.is_null()), "{method}: nothing at {at} in {data}");
        }
        for (name, at) in method["keeps"].as_object().into_iter().flatten() {
            let value = data.pointer(&format!("/{}", at.as_str().unwrap()));
            let value = value.unwrap_or_else(|| panic!("{method}: nothing at {at} in {data}"));
            self.known.insert(name.clone(), value.clone());
        }
    }

    /// Opens the socket that the method gives the URL of, and reads its first operation; where the stream
    /// ends by itself, reads until the frame that says so in the words of all clients.
    fn follow(&self, method: &Value) {
        let mut socket = self.world.socket(&self.url(method));
        let first = method["first"].as_str().unwrap();
        let patch = eventually(|| frame(&mut socket).get("JsonPatch").cloned());
        assert_eq!(patch[0]["path"], first, "{method}: {patch}");
        if method["ends"] == true {
            let end =
                eventually(|| Some(frame(&mut socket)).filter(|frame| frame.get("JsonPatch").is_none()));
            assert_eq!(end, json!({"finished": true, "type": "finished"}), "{method}");
        }
    }

    /// Listens to everything that changes, and changes something.
    fn subscribe(&self, method: &Value) {
        let mut events = self.world.events(&[], "");
        let task = self.filled("/api/tasks/{task_id}", "");
        self.world.put(&task, &json!({"title": "Speak up now"})).data();
        let patch = eventually(|| events.next().filter(|event| event.name == "json_patch"));
        assert!(patch.operations().iter().all(|operation| operation.contains('/')), "{method}: {patch:?}");
    }

    /// Sends a request exactly as the client does.
    fn send(&self, method: &Value) -> Answer {
        let (http, path) = (text_of(method, "http"), self.url(method));
        if let Some(part) = method.get("multipart") {
            let (kind, body) = multipart(&text_of(part, "name"), &text_of(part, "filename"));
            return self.world.send(&http, &path, &[("Content-Type", &kind)], &body);
        }
        let headers = self.client["headers"].as_object().unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
        let body = method.get("body").map(|body| self.substitute(body).to_string()).unwrap_or_default();
        self.world.send(&http, &path, &headers, body.as_bytes())
    }

    fn url(&self, method: &Value) -> String {
        let path = self.filled(&text_of(method, "path"), "");
        let query = self.substitute(method.get("query").unwrap_or(&Value::Null));
        let pair = |(key, value): (&String, &Value)| format!("{key}={}", encoded(value.as_str().unwrap()));
        match query.as_object() {
            Some(query) => format!("{path}?{}", query.iter().map(pair).collect::<Vec<_>>().join("&")),
            None => path,
        }
    }

    /// Fills the names in braces of a path; `missing` stands where a name is not known, if it is not empty.
    fn filled(&self, path: &str, missing: &str) -> String {
        let fill = |part: &str| match name_in_braces(part) {
            Some(name) if !missing.is_empty() && !self.known.contains_key(name) => missing.to_string(),
            Some(name) => self.known(name).as_str().unwrap().to_string(),
            None => part.to_string(),
        };
        path.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    /// Puts what is known in the place of every text that is a name in braces.
    fn substitute(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                name_in_braces(text).map_or_else(|| value.clone(), |name| self.known(name))
            }
            Value::Array(items) => items.iter().map(|item| self.substitute(item)).collect(),
            Value::Object(map) => {
                let pairs = map.iter().map(|(key, value)| (key.clone(), self.substitute(value)));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn known(&self, name: &str) -> Value {
        self.known.get(name).unwrap_or_else(|| panic!("no answer told {name}")).clone()
    }
}

fn methods(text: &str) -> Vec<Value> {
    let client: Value = serde_json::from_str(text).unwrap();
    client["methods"].as_array().unwrap().clone()
}

fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}")).to_string()
}

fn name_in_braces(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

/// Encodes a query value as `URLSearchParams` does, as far as our values need it.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte);
    text.bytes().map(|b| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") }).collect()
}

fn multipart(name: &str, filename: &str) -> (String, Vec<u8>) {
    let mark = "----older-client";
    let head = format!(
        "--{mark}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{filename}\"\r\n\
         Content-Type: image/png\r\n\r\n"
    );
    let body = [head.as_bytes(), DOT, format!("\r\n--{mark}--\r\n").as_bytes()].concat();
    (format!("multipart/form-data; boundary={mark}"), body)
}

/// Reads the next frame of text.
fn frame(socket: &mut Socket) -> Value {
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("unexpected {other:?}"),
        }
    }
}
