//! The Genie workflow: agents by name, sessions that are attempts, one source of truth.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{DEADLINE, Ended, Running, World, free_port};

const EXPLORER: &str = "**Last Updated:** today\n\n---\nname: explorer\ndescription: Looks around\ngenie:\n  executor: [scripted]\n---\nsay I am the explorer\n";

fn write(world: &World, path: &str, text: &str) {
    let path = world.repository().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn genie(world: &World, args: &[&str]) -> Ended {
    world.run(&[&["genie"], args].concat())
}

fn started(world: &World, agent: &str, words: &[&str]) -> String {
    let ended = genie(world, &[&["run", "--raw", agent], words].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.stdout.trim().to_string()
}

/// A world with an agent file and a server.
fn world() -> (World, Running) {
    let world = World::new();
    write(&world, ".genie/agents/explore.md", EXPLORER);
    let server = world.serve();
    (world, server)
}

#[test]
fn another_agent_plays_a_file_and_what_cannot_be_is_refused_before_anything_starts() {
    let (world, _server) = world();
    let greeter = EXPLORER.replace("explorer", "greeter").replace("[scripted]", "claude\n  model: opus");
    write(&world, ".genie/agents/greet.md", &greeter);
    let ended = genie(&world, &["run", "--raw", "-x", "scripted", "greet", "say", "hello"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let id = ended.stdout.trim();
    world.until_state(id, "finished");
    let profile = world.json(&["list"])[0]["executor_profile_id"].clone();
    assert_eq!(profile, serde_json::json!({"executor": "SCRIPTED", "variant": "GREET"}));
    let shown = world.run(&["view", id, "--full"]);
    assert!(shown.stdout.contains("I am the greeter"), "{shown:?}");
    for (args, why) in [
        (["-x", "nobody", "greet", "hello"], "--executor: no agent of Forge is called nobody"),
        (["-x", "codex:high", "greet", "hello"], ".genie/agents/greet.md"),
        (["-m", "gpt-1", "greet", "hello"], "--model: nothing gives greet"),
        (["-m", "gpt-1", "scripted", "hello"], "--model: nothing gives scripted"),
        (["-m", "gpt-5", "copilot:plan", "hello"], "--model: nothing gives copilot:plan"),
    ] {
        let ended = genie(&world, &[&["run"], &args[..]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(why), "{args:?}: {ended:?}");
    }
    assert_eq!(world.json(&["list"]).as_array().unwrap().len(), 1);
    let mut profiles = world.json(&["agents", "profiles", "show"]);
    profiles["executors"]["SCRIPTED"]["FAST"]["SCRIPTED"]["model"] = "quick".into();
    let set = world.run(&["agents", "profiles", "set", &profiles.to_string()]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let told = genie(&world, &["task", "-m", "quick", "scripted", "say", "x"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!((&told["executor"], &told["model"]), (&"SCRIPTED:FAST".into(), &"quick".into()));
}

#[test]
fn run_prints_the_id_of_an_attempt_and_three_hints_and_returns_at_once() {
    let (world, _server) = world();
    let ended = genie(&world, &["run", "explore", "say", "hello", "from", "words"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let id = lines[0].strip_prefix("Session ID: ").unwrap();
    for (line, verb) in lines[1..].iter().zip(["view", "resume", "stop"]) {
        assert!(line.contains(&format!("genie {verb} {id}")), "{line}");
    }
    assert_eq!(lines.len(), 4, "{lines:?}");
    world.until_state(id, "finished");
    let attempts = world.json(&["list"]);
    assert_eq!(attempts[0]["id"], id);
    assert_eq!(attempts[0]["executor_profile_id"]["variant"], "EXPLORE");
    assert_eq!(attempts[0]["task"]["title"], "[🧞] say-hello-words");
    let shown = world.run(&["view", id, "--full"]);
    assert!(
        shown.stdout.contains("hello from words") && shown.stdout.contains("I am the explorer"),
        "{shown:?}"
    );
}

#[test]
fn run_resume_list_view_and_stop_all_work_against_the_server() {
    let (world, _server) = world();
    let id = started(&world, "explore", &["hang"]);
    for args in [&["list"][..], &["list", "sessions"], &["view", &id], &["status"], &["list", "agents"]] {
        let ended = genie(&world, args);
        assert_eq!(ended.code, Some(0), "{args:?} {ended:?}");
    }
    assert!(genie(&world, &["list"]).stdout.contains(&id[..8]));
    let agents = genie(&world, &["list", "agents"]).stdout;
    assert!(
        agents.contains("explore") && agents.contains("Looks around") && agents.contains("CLAUDE_CODE"),
        "{agents}"
    );
    let ended = genie(&world, &["stop", &id]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    world.until_state(&id, "stopped");
    let ended = genie(&world, &["resume", &id, "say", "again"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    world.until_state(&id, "finished");
    let shown = genie(&world, &["view", &id]);
    assert!(
        shown.stdout.contains(&format!("Session ID: {id}")) && shown.stdout.contains("again"),
        "{shown:?}"
    );
}

#[test]
fn a_session_is_found_by_the_name_of_its_task() {
    let (world, _server) = world();
    let ended = genie(&world, &["run", "--raw", "--name", "my-session", "explore", "say x"]);
    let id = ended.stdout.trim().to_string();
    world.until_state(&id, "finished");
    let shown = genie(&world, &["view", "my-session"]);
    assert!(shown.stdout.contains(&id), "{shown:?}");
}

#[test]
fn an_agent_of_a_file_is_started_by_two_words_and_an_unknown_one_is_answered_with_those_like_it() {
    let (world, _server) = world();
    let ended = world.run(&["run", "explore", "say hello"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("I am the explorer"), "{ended:?}");
    let ended = world.run(&["run", "exploer", "say hello"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("no agent is called exploer; did you mean explore?"), "{ended:?}");
    write(&world, ".genie/agents/broken.md", "no head at all\n");
    let ended = world.run(&["run", "broken", "say hello"]);
    assert!(ended.stderr.contains(".genie/agents/broken.md: it has no head"), "{ended:?}");
    let ended = world.run(&["list", "agents"]);
    assert!(ended.stderr.contains(".genie/agents/broken.md: it has no head"), "{ended:?}");
}

#[test]
fn task_prints_the_newer_json_and_its_errors_are_json_too() {
    let (world, _server) = world();
    let ended = genie(&world, &["task", "explore", "say", "done"]);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    let id = told["task_id"].as_str().unwrap();
    assert_eq!(
        (told["status"].as_str(), told["executor"].as_str()),
        (Some("started"), Some("SCRIPTED:EXPLORE"))
    );
    assert!(told["task_url"].as_str().unwrap().ends_with(&format!("/attempts/{id}?view=diffs")), "{told}");
    let ended = genie(&world, &["task", "monitor", id]);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((told["status"].as_str(), told["attempt_id"].as_str()), (Some("completed"), Some(id)));
    let ended = genie(&world, &["task", "nobody", "x"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert!(told["error"].as_str().unwrap().contains("no agent is called nobody"), "{told}");
}

#[test]
fn the_command_line_writes_no_state_of_its_own_and_a_second_run_adds_no_project() {
    let (world, _server) = world();
    let before = files(&world);
    let first = started(&world, "explore", &["say one"]);
    let second = started(&world, "explore", &["say two"]);
    for id in [first, second] {
        world.until_state(&id, "finished");
        genie(&world, &["view", &id]);
    }
    genie(&world, &["list"]);
    assert_eq!(files(&world), before);
    assert_eq!(world.json(&["status"])["projects"], 1);
}

/// Every file of the repository and of the person, git's own left out.
fn files(world: &World) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![world.repository(), world.path("person")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if !path.ends_with(".git") => folders.push(path),
                true => {}
                false => drop(found.insert(path)),
            }
        }
    }
    found
}

#[test]
fn list_is_what_the_api_lists_and_no_other_file_counts() {
    let (world, _server) = world();
    let id = started(&world, "explore", &["say x"]);
    world.until_state(&id, "finished");
    let url = world.json(&["status"])["url"].as_str().unwrap().to_string();
    let listed = genie(&world, &["--json", "list"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let answer = ask(&url, "/api/task-attempts");
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&listed), ids(&answer["data"]));
    let plain = genie(&world, &["list"]).stdout;
    write(&world, ".genie/state/agents/sessions.json", r#"{"version": 2, "sessions": {}}"#);
    assert_eq!(genie(&world, &["list"]).stdout, plain);
    fs::remove_file(world.repository().join(".genie/state/agents/sessions.json")).unwrap();
    assert_eq!(genie(&world, &["list"]).stdout, plain);
}

fn ask(url: &str, path: &str) -> Value {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let start = answer.find("\r\n\r\n").unwrap();
    serde_json::from_str(&answer[start + 4..]).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn list_shows_an_execution_run_beside_the_attempts_and_it_can_be_viewed_and_stopped() {
    let (world, _server) = world();
    let with_task = started(&world, "explore", &["say x"]);
    let status = world.json(&["status"]);
    let project = world.json(&["list"])[0]["project_id"].as_str().unwrap().to_string();
    let body = format!(
        r#"{{"project_id": "{project}", "prompt": "hang", "executor_profile_id": {{"executor": "SCRIPTED"}}}}"#
    );
    let address = status["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    let head = format!(
        "POST /api/execution-runs HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let listed = world.json(&["list"]);
    let loose = listed.as_array().unwrap().iter().find(|one| one["prompt"] == "hang").unwrap();
    let loose = loose["id"].as_str().unwrap().to_string();
    assert!(listed.as_array().unwrap().iter().any(|one| one["id"] == *with_task));
    assert_eq!(world.run(&["view", &loose, "--full"]).code, Some(0));
    let ended = world.run(&["stop", &loose]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    world.until_state(&loose, "stopped");
}

#[test]
fn a_start_that_fails_in_passing_is_repeated_with_its_key_and_happens_once() {
    let (world, _server) = world();
    let real = world.json(&["status"])["url"].as_str().unwrap().to_string();
    let (proxy, seen) = proxy(real.strip_prefix("http://").unwrap(), 2);
    let ended = genie(&world, &["--url", &proxy, "run", "--raw", "explore", "say once"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let starts = |seen: &Mutex<Vec<String>>| -> Vec<String> {
        let seen = seen.lock().unwrap();
        seen.iter().filter(|head| head.starts_with("POST /api/tasks/create-and-start")).cloned().collect()
    };
    let key = |head: &String| {
        head.lines().find(|line| line.to_ascii_lowercase().starts_with("idempotency-key")).map(str::to_string)
    };
    let heads = starts(&seen);
    assert_eq!(heads.len(), 3, "{heads:?}");
    assert!(key(&heads[0]).is_some() && heads.iter().all(|head| key(head) == key(&heads[0])), "{heads:?}");
    assert_eq!(world.json(&["list"]).as_array().unwrap().len(), 1);

    let ended = genie(&world, &["--url", &proxy, "run", "--raw", "SCRIPTED:NOBODY", "say no"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(starts(&seen).len(), 4, "a 4xx is asked once");
}

/// Passes connections on, except the first starts, which it answers with 503; remembers the head of each request.
fn proxy(real: &str, failing: usize) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let own = listener.local_addr().unwrap().to_string();
    let (seen, real) = (Arc::new(Mutex::new(Vec::new())), real.to_string());
    let remembered = Arc::clone(&seen);
    std::thread::spawn(move || {
        let mut failing = failing;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = Vec::new();
            let mut piece = [0; 4096];
            while !head.windows(4).any(|at| at == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => head.extend_from_slice(&piece[..count]),
                }
            }
            // The server answers to its own address only.
            let text = String::from_utf8_lossy(&head).replace(&own, &real);
            head = text.clone().into_bytes();
            let is_start = text.starts_with("POST /api/tasks/create-and-start");
            remembered.lock().unwrap().push(text);
            if is_start && failing > 0 {
                failing -= 1;
                let _ = stream.write_all(
                    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                );
                continue;
            }
            let mut onward = TcpStream::connect(&real).unwrap();
            onward.write_all(&head).unwrap();
            let (mut from, mut to) = (stream.try_clone().unwrap(), onward.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
            });
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut onward, &mut stream);
                let _ = stream.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    (url, seen)
}

#[test]
fn a_server_that_was_named_and_is_away_is_told_within_two_seconds() {
    let world = World::new();
    write(&world, ".genie/agents/explore.md", EXPLORER);
    let url = format!("http://127.0.0.1:{}", free_port());
    // What a process takes to start on this machine now is not the wait. A busy machine may need several tries; who always
    // waits longer waits longer each time.
    let mut waits: Vec<Duration> = Vec::new();
    let first = Instant::now();
    while first.elapsed() < DEADLINE && !waits.iter().any(|wait| *wait < Duration::from_secs(2)) {
        let began = Instant::now();
        genie(&world, &["--version"]);
        let alone = began.elapsed();
        let began = Instant::now();
        let ended = genie(&world, &["--url", &url, "run", "explore", "say x"]);
        waits.push(began.elapsed().saturating_sub(alone));
        assert_eq!(ended.code, Some(5), "{ended:?}");
        assert!(ended.stderr.contains("no Forge server answers at"), "{ended:?}");
    }
    assert!(waits.iter().any(|wait| *wait < Duration::from_secs(2)), "{waits:?}");
}

#[test]
fn a_server_that_nobody_named_and_is_away_is_started() {
    let world = World::new();
    write(&world, ".genie/agents/explore.md", EXPLORER);
    let mut command = world.forge(&["genie", "run", "--raw", "explore", "say x"]);
    command.env_remove("CI");
    let ended = Running::start(command).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("started a Forge server"), "{ended:?}");
    world.until_state(ended.stdout.trim(), "finished");
}

#[test]
fn the_program_is_genie_under_that_name() {
    let (world, _server) = world();
    let link = world.path("genie");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_forge"), &link).unwrap();
    let mut command = world.program(link.to_str().unwrap());
    command.args(["explore", "say", "by", "its", "name"]);
    let ended = Running::start(command).end();
    assert!(ended.stdout.starts_with("Session ID: "), "{ended:?}");
}

#[test]
fn session_state_is_made_from_the_api_and_the_same_when_nothing_changed() {
    let (world, _server) = world();
    let id = started(&world, "explore", &["hang"]);
    world.until_state(&id, "running");
    let file = world.repository().join(".genie/SESSION-STATE.md");
    fs::write(&file, "# My own heading\n\nmy words\n").unwrap();
    assert_eq!(world.run(&["state", "--check"]).code, Some(4));
    assert_eq!(world.run(&["state"]).code, Some(0));
    let first = fs::read_to_string(&file).unwrap();
    assert!(first.starts_with("# My own heading\n\nmy words\n"), "{first}");
    for wanted in [
        &format!("Task #1: {id} (SCRIPTED:EXPLORE)"),
        &format!("/task-attempts/{id}"),
        "Generated from Forge API, not authoritative",
    ] {
        assert!(first.contains(wanted), "{wanted}: {first}");
    }
    world.run(&["state"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), first);
    assert_eq!(world.run(&["state", "--check"]).code, Some(0));
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), "", "nothing is staged");
    fs::write(&file, first.replace("my words", "other words").replace("SCRIPTED:EXPLORE", "SOMEBODY"))
        .unwrap();
    world.run(&["state"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), first.replace("my words", "other words"));
    let protocol = world.run(&["state", "--print", "--form", "protocol"]).stdout;
    assert!(
        protocol.contains(&format!("**Session ID:** {id}")) && protocol.contains("**Status:** active"),
        "{protocol}"
    );
    world.run(&["stop", &id]);
}

#[test]
fn the_page_about_genie_has_a_guide_for_moving_and_the_version_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/genie.md")).unwrap();
    for heading in ["## Moving from the older Genie", "## When something does not work"] {
        assert!(page.contains(heading), "{heading}");
    }
    let changes = fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    assert!(changes.contains(&format!("## {}", env!("CARGO_PKG_VERSION"))));
}
