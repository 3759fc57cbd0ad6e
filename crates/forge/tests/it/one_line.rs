//! One line of any length, and many who have it open and do not read: the server holds little of it, and what it shows
//! says that it was cut.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};
use tungstenite::Message;

use crate::board::{connect, frame};
use crate::map_streams::{address, call};
use crate::world::{World, eventually};

const PLAIN: usize = 120 << 20;
const MESSAGE: usize = 80 << 20;

/// How much of an entry there is at most, as JSON.
const LONGEST: usize = 300 * 1024;

/// The most memory that a process has had, in MB.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Lets the scripted agent be a script that prints two lines of many megabytes, once it is given the sign.
fn long_winded(world: &World) {
    let script = format!(
        "echo '{{\"scripted\":\"session\",\"id\":\"one\"}}'\n\
         while ! test -e {go}; do sleep 0.05; done\n\
         head -c {PLAIN} /dev/zero | tr '\\0' x; echo\n\
         printf '{{\"scripted\":\"say\",\"text\":\"'; head -c {MESSAGE} /dev/zero | tr '\\0' y; echo '\"}}'\n\
         echo '{{\"scripted\":\"done\"}}'\n\
         cat > {null}\n",
        go = world.path("go").display(),
        null = "/dev/null",
    );
    fs::write(world.path("agent.sh"), script).unwrap();
    let command = json!(["sh", world.path("agent.sh")]);
    let profile = json!({"SCRIPTED": {"base_command_override": command}});
    let profiles = json!({"executors": {"SCRIPTED": {"GENIE": profile}}});
    fs::write(world.home().join("profiles.json"), profiles.to_string()).unwrap();
}

#[test]
fn a_line_of_120_mb_with_50_unread_sockets_takes_less_than_160_mb_and_says_where_it_was_cut() {
    let world = World::new();
    let server = world.serve();
    long_winded(&world);
    let attempt = world.attempt("say it at length");
    let path = format!("/api/execution-processes?task_attempt_id={attempt}");
    let run = call(&world, "GET", &path, &json!({}))[0]["id"].as_str().unwrap().to_string();
    let at = address(&world.home()).unwrap();
    let entries = format!("/api/execution-processes/{run}/normalized-logs/ws");
    let unread: Vec<_> = (0..50)
        .map(|number| match number % 3 {
            0 => connect(at, &entries).unwrap(),
            1 => connect(at, &format!("/api/execution-processes/{run}/raw-logs/ws")).unwrap(),
            _ => {
                let mut socket = connect(at, "/api/live/ws").unwrap();
                for topic in ["entries", "log"] {
                    let request = json!({"subscribe": {"topic": format!("{topic}:{run}")}});
                    socket.send(Message::text(request.to_string())).unwrap();
                }
                socket
            }
        })
        .collect();
    fs::write(world.path("go"), "").unwrap();
    world.until_state(&attempt, "finished");
    // Whoever reads gets everything, whatever the others do.
    let mut shown = Vec::new();
    let mut socket = connect(at, &entries).unwrap();
    loop {
        let next = eventually("the next frame", || frame(&mut socket).unwrap());
        if next["finished"] == true {
            break;
        }
        shown.extend(next["JsonPatch"].as_array().unwrap().iter().map(|op| op["value"]["content"].clone()));
    }
    let long: Vec<&Value> =
        shown.iter().filter(|entry| entry["entry_type"]["type"] == "assistant_message").collect();
    assert_eq!(long.len(), 2, "{} entries", shown.len());
    for (entry, letter) in long.into_iter().zip(["x", "y"]) {
        let content = entry["content"].as_str().unwrap();
        assert!(content.starts_with(letter) && content.ends_with("the raw log has it]"));
        assert!(content.len() > 200 * 1024 && entry.to_string().len() < LONGEST, "{} bytes", content.len());
        assert_eq!(entry["metadata"]["cut"], true);
    }
    let begun = Instant::now();
    let url = format!("http://{at}/api/task-attempts/{attempt}/entries");
    let window: Value = ureq::get(&url).call().unwrap().body_mut().read_json().unwrap();
    assert_eq!(window["data"]["entries"].as_array().unwrap().len(), shown.len());
    let took = begun.elapsed();
    let peak = peak(server.pid());
    eprintln!("{peak} MB at most, the entries were given in {took:?}");
    // Some 60 of them are an unoptimised server that does nothing.
    assert!(peak < 160, "{peak} MB at most");
    drop(unread);
}

#[test]
fn a_map_of_10_mb_that_40_sockets_do_not_read_is_in_memory_once() {
    let world = World::new();
    let server = world.serve();
    let new = json!({"name": "demo", "git_repo_path": world.repository(), "use_existing_repo": true});
    let project = call(&world, "POST", "/api/projects", &new)["id"].as_str().unwrap().to_string();
    let text = "wanted at length ".repeat(30_000);
    for number in 0..20 {
        let task = json!({"project_id": project, "title": format!("Task {number}"), "description": text});
        call(&world, "POST", "/api/tasks", &task);
    }
    let before = peak(server.pid());
    let at = address(&world.home()).unwrap();
    let path = format!("/api/tasks/stream/ws?project_id={project}");
    let unread: Vec<_> = (0..40).map(|_| connect(at, &path).unwrap()).collect();
    // The last one reads, when all others have been told as much as they take.
    let mut socket = connect(at, &path).unwrap();
    let whole = eventually("the whole map", || frame(&mut socket).unwrap());
    assert_eq!(whole["JsonPatch"][0]["value"].as_object().unwrap().len(), 20);
    let after = peak(server.pid());
    eprintln!("{before} MB at most before, {after} MB at most with 40 sockets that do not read");
    assert!(after < before + 200, "{before} MB at most before, {after} MB at most after");
    drop(unread);
}
