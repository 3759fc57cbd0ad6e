//! A hermetic world: a data directory, a repository with one commit, and a server on a free port.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use forge_engine::{AgentEnvironment, Engine, GitHubOptions, Options, Seam};
use forge_server::{ServeOptions, serve};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tungstenite::client::IntoClientRequest;

use crate::patient::Patient;
pub(crate) use crate::patient::Socket;

/// How long to wait for something that should come at once, on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// How long a stop waits for a stream that does not end.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

pub(crate) const TOKEN: &str = "it-is-a-secret";

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<std::io::Result<()>>>,
    pub(crate) dir: tempfile::TempDir,
}

/// An answer, its body as text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl World {
    /// Opens an engine in an empty directory and serves it.
    pub(crate) async fn new() -> Self {
        Self::with_github(GitHubOptions::default()).await
    }

    /// A world with a GitHub of its own.
    pub(crate) async fn with_github(github: GitHubOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("person")).unwrap();
        let options = Options {
            home: dir.path().join("home"),
            worktrees: None,
            older_place: None,
            forge: forge_binary(),
            seam: Seam::default(),
            agents: AgentEnvironment::default(),
            public_url: None,
            github,
            user_home: Some(dir.path().join("person")),
            agent_dirs: Default::default(),
            clean_strays: true,
            adopt: false,
        };
        let engine = Engine::open(options).await.unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let options = ServeOptions {
            listener,
            host_names: Vec::new(),
            token: TOKEN.to_string(),
            require_token: false,
            certificate: None,
        };
        let shutdown = async move { stopped.await.unwrap_or_default() };
        let served = tokio::spawn(serve(engine.clone(), options, shutdown));
        Self { engine, address, stop: Some(stop), served: Some(served), dir }
    }

    /// Makes a repository with one commit.
    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
        git(&path, &["config", "user.name", "Ada"]);
        git(&path, &["config", "user.email", "ada@example.org"]);
        std::fs::write(path.join("README.md"), "hello\n").unwrap();
        git(&path, &["add", "README.md"]);
        git(&path, &["commit", "--quiet", "--message=first"]);
        path.canonicalize().unwrap()
    }

    /// Registers a new repository and returns the id of its project.
    pub(crate) fn project(&self) -> String {
        let path = self.repository("repository");
        let body = json!({"name": "demo", "git_repo_path": path, "use_existing_repo": true});
        id(&self.post("/api/projects", &body).data())
    }

    /// Creates a task and starts the scripted agent on it.
    pub(crate) fn start(&self, project: &str, title: &str, script: &str) -> Value {
        self.post("/api/tasks/create-and-start", &start_body(project, title, script)).data()
    }

    /// Returns the newest run of an attempt.
    pub(crate) fn run_of(&self, attempt: &str) -> Value {
        let runs = self.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).data();
        runs.as_array().unwrap().last().unwrap().clone()
    }

    pub(crate) fn attempt(&self, id: &str) -> Value {
        self.get(&format!("/api/task-attempts/{id}")).data()
    }

    /// Waits until an attempt is in a state, and returns it.
    pub(crate) fn wait_for(&self, attempt: &str, state: &str) -> Value {
        eventually(|| Some(self.attempt(attempt)).filter(|attempt| attempt["state"] == state))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, &[], Some(body))
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.call("PUT", path, &[], Some(body))
    }

    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        let body = body.map(Value::to_string);
        let mut headers = headers.to_vec();
        if body.is_some() {
            headers.push(("Content-Type", "application/json"));
        }
        self.send(method, path, &headers, body.unwrap_or_default().as_bytes())
    }

    /// Sends a request as it is given, on a connection of its own.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = self.open(method, path, "1.1", headers, Some(body.len()));
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        // Pictures and sounds are not text; their tests ask only that something came.
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Answer { status, head: head.to_ascii_lowercase(), text: text.to_string() }
    }

    /// Opens an event stream, past its head. The older protocol version keeps chunk sizes out of the body.
    pub(crate) fn events(&self, headers: &[(&str, &str)], query: &str) -> Events {
        let stream = self.open("GET", &format!("/api/events{query}"), "1.0", headers, None);
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(lines.read_line(&mut head).unwrap(), 0, "the stream ended in its head: {head}");
        }
        assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
        Events { lines, told: Vec::new() }
    }

    /// Opens a WebSocket.
    pub(crate) fn socket(&self, path: &str) -> Socket {
        let stream = Patient(self.connect());
        let request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => socket,
            Err(error) => panic!("no WebSocket at {path}: {error}"),
        }
    }

    /// Stops the server and waits until it has ended; returns how long that took.
    pub(crate) async fn stop(&mut self) -> Duration {
        let begun = Instant::now();
        self.stop.take().unwrap().send(()).unwrap();
        self.served.take().unwrap().await.unwrap().unwrap();
        begun.elapsed()
    }

    fn open(
        &self,
        method: &str,
        path: &str,
        version: &str,
        headers: &[(&str, &str)],
        length: Option<usize>,
    ) -> TcpStream {
        let mut head =
            format!("{method} {path} HTTP/{version}\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(length) = length {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        let mut stream = self.connect();
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        stream
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Agents outlive their server by design, so a test ends its own.
        let engine = self.engine.clone();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let stopped = runtime.block_on(engine.stop_all()).map_err(|error| error.to_string());
            // The directory goes next, and nothing may be written into it any more.
            runtime.block_on(engine.close());
            stopped
        });
        if let Ok(Err(error)) = ended.join() {
            eprintln!("could not stop what a test started: {error}");
        }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Returns the payload of a good answer.
    pub(crate) fn data(&self) -> Value {
        let json = self.json();
        assert!(self.status < 300 && json["success"] == true, "{self:?}");
        assert!(json["message"].is_null() && json["error_data"].is_null(), "{self:?}");
        json["data"].clone()
    }

    /// Checks that this is a refusal in the envelope, and returns its sentence.
    pub(crate) fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let json = self.json();
        assert_eq!(json.as_object().unwrap().len(), 4, "{self:?}");
        assert!(json["success"] == false && json["data"].is_null(), "{self:?}");
        json["message"].as_str().unwrap_or_else(|| panic!("no message: {self:?}")).to_string()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// One event of a stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<i64>,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl Event {
    /// Returns the operations of a patch as `op path`.
    pub(crate) fn operations(&self) -> Vec<String> {
        let patch: Vec<Value> = serde_json::from_str(&self.data).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        patch.iter().map(|op| format!("{} {}", text(&op["op"]), text(&op["path"]))).collect()
    }
}

pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    /// What came so far, for the failure of a wait.
    told: Vec<String>,
}

impl Events {
    /// Returns the next block that is more than a comment; none when the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line);
            let read = read.unwrap_or_else(|error| panic!("no event came ({error}) after {:#?}", self.told));
            if read == 0 {
                return None;
            }
            match line.trim_end().split_once(':') {
                Some(("id", id)) => event.id = id.trim().parse().ok(),
                Some(("event", name)) => event.name = name.trim().to_string(),
                Some(("data", data)) => event.data.push_str(data.trim_start()),
                _ => {}
            }
            if line.trim_end().is_empty() && event != Event::default() {
                self.told.push(format!("{} {:.200}", event.name, event.data));
                return Some(event);
            }
        }
    }
}

pub(crate) fn start_body(project: &str, title: &str, script: &str) -> Value {
    json!({
        "task": {"project_id": project, "title": title, "description": script},
        "executor_profile_id": {"executor": "SCRIPTED"},
        "base_branch": "main",
    })
}

pub(crate) fn id(value: &Value) -> String {
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {value}")).to_string()
}

/// Does something until it took less than [`GRACE`], three times at most, and returns the least it took: what is held up
/// takes too long each time, what only a busy machine delays does not.
pub(crate) async fn least_of_three(mut once: impl AsyncFnMut() -> Duration) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..3 {
        least = least.min(once().await);
        if least < GRACE {
            break;
        }
    }
    least
}

/// Waits for a condition, with a deadline.
pub(crate) fn eventually<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(met) = condition() {
            return met;
        }
        assert!(begun.elapsed() < SOON, "the condition was not met in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn git(path: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(path).args(args).output().expect("tests need git");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

/// Finds the forge binary beside the tests, where cargo puts it.
fn forge_binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("forge");
    assert!(path.is_file(), "{} is missing: run `cargo build -p forge` first", path.display());
    path
}
