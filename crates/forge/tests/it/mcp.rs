//! `forge mcp`: the bridge between standard streams and the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::world::{DEADLINE, Running, World, eventually};

/// A client on the other side of the bridge.
struct Client {
    bridge: Running,
    next: u64,
}

impl Client {
    fn new(world: &World) -> Self {
        let mut command = world.forge(&["mcp"]);
        command.stdin(Stdio::piped());
        Self::on(Running::start(command))
    }

    fn on(bridge: Running) -> Self {
        let mut client = Self { bridge, next: 0 };
        let hello = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "forge", "{hello}");
        client
            .bridge
            .type_line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.bridge.type_line(&message.to_string());
        let line = self.bridge.line_with(&format!("\"id\":{},", self.next));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"]["isError"] != true, "{tool}: {answer}");
        answer["result"]["structuredContent"].clone()
    }
}

#[test]
fn an_agent_is_started_waited_for_and_read_through_the_bridge() {
    let world = World::new();
    let _server = world.serve();
    let mut client = Client::new(&world);
    let made = client.call("create_project", json!({"name": "demo", "git_repo_path": world.repository()}));
    // The bridge tells where it was started, so that the project need not be named.
    let ran = client.call("run", json!({"agent": "SCRIPTED", "prompt": "say over the bridge"}));
    let waited = client.call("wait_for_attempt", json!({"attempt_id": ran["attempt_id"]}));
    assert_eq!(waited["last_message"], "over the bridge", "{waited}");
    let listed = client.call("list_task_attempts", json!({"project_id": made["project_id"]}));
    assert_eq!(listed["count"], 1, "{listed}");
}

#[test]
fn standard_output_is_the_protocol_alone_and_the_bridge_ends_with_its_input() {
    let world = World::new();
    let _server = world.serve();
    let mut client = Client::new(&world);
    client.bridge.type_line("this is no JSON");
    client.request("tools/list", json!({}));
    let ended = client.bridge.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in ended.stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert_eq!(ended.stdout.matches("-32700").count(), 1, "{ended:?}");
}

#[test]
fn the_bridge_starts_a_server_when_there_is_none_and_takes_no_port_of_one() {
    let world = World::new();
    let by_hand = || {
        let mut command = world.forge(&["mcp"]);
        command.env_remove("CI").stdin(Stdio::piped());
        Client::on(Running::start(command))
    };
    let mut first = by_hand();
    let file = world.server_file().unwrap();
    let mut second = by_hand();
    for client in [&mut first, &mut second] {
        assert_eq!(client.call("list_projects", json!({}))["count"], 0);
    }
    assert_eq!(world.server_file().unwrap(), file, "the second one uses the server that is there");
}

#[test]
fn a_server_that_was_named_and_is_away_is_told_at_once() {
    let world = World::new();
    let ended = world.run(&["mcp", "--port", "1"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stdout.is_empty() && ended.stderr.contains("no Forge server answers"), "{ended:?}");
}

#[test]
fn a_session_outlives_a_restart_of_the_server() {
    let world = World::new();
    let server = world.serve();
    let mut client = Client::new(&world);
    client.call("create_project", json!({"name": "demo", "git_repo_path": world.repository()}));
    server.signal(Signal::KILL);
    eventually("the server is gone", || server_is_gone(server.pid()).then_some(()));
    drop(server);
    let _server = world.serve();
    // No hello is said again by the client, and no call is lost.
    assert_eq!(client.call("list_projects", json!({}))["count"], 1);
    assert_eq!(client.call("list_projects", json!({}))["count"], 1);
}

fn server_is_gone(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

/// What a call leaves behind in the server must not add up.
#[test]
fn a_thousand_calls_in_one_session_keep_the_servers_memory_flat() {
    let world = World::new();
    let server = world.serve();
    let mut client = Client::new(&world);
    let made = client.call("create_project", json!({"name": "demo", "git_repo_path": world.repository()}));
    for number in 0..20 {
        let title = format!("Task {number}");
        client.call("create_task", json!({"project_id": made["project_id"], "title": title}));
    }
    let mut calls = |count: usize| {
        for number in 0..count {
            match number % 3 {
                0 => client.call("list_projects", json!({})),
                1 => client.call("list_tasks", json!({})),
                _ => client.call("list_sessions", json!({})),
            };
        }
    };
    calls(300);
    let before = resident(server.pid());
    calls(1000);
    let after = resident(server.pid());
    eprintln!("a thousand calls: {before} kB before, {after} kB after");
    assert!(after < before + 8 * 1024, "{before} kB before, {after} kB after");
}

/// The memory that a process holds, in kB.
fn resident(pid: u32) -> u64 {
    memory(pid, "VmRSS:")
}

fn memory(pid: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn five_thousand_sessions_that_nobody_ends_take_less_than_100_mb() {
    let world = World::new();
    let server = world.serve();
    let file = world.server_file().unwrap();
    let address = file["url"].as_str().unwrap().strip_prefix("http://").unwrap().trim_end_matches('/');
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x".repeat(15_000), "version": "1"},
    }})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Accept: application/json, text/event-stream\r\n\r\n",
        hello.len()
    );
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1250 {
                    let mut stream = TcpStream::connect(address).unwrap();
                    stream.set_read_timeout(Some(DEADLINE)).unwrap();
                    stream.write_all(format!("{head}{hello}").as_bytes()).unwrap();
                    let mut answer = String::new();
                    stream.read_to_string(&mut answer).unwrap();
                    assert!(
                        answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200"),
                        "{answer}"
                    );
                }
            });
        }
    });
    let peak = memory(server.pid(), "VmHWM:");
    eprintln!("5,000 sessions: {peak} kB at most");
    assert!(peak < 100 * 1024, "{peak} kB");
}
