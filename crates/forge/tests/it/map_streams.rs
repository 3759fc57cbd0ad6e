//! The older streams and the live socket through the death of the server.

use std::net::SocketAddr;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use tungstenite::Message;

use crate::board::{Dice, Follower, connect, frame, seed, whole};
use crate::world::{World, eventually};

/// Where the server of a data directory serves; none while there is none.
pub(crate) fn address(home: &Path) -> Option<SocketAddr> {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(home.join("server.json")).ok()?).ok()?;
    file["url"].as_str()?.strip_prefix("http://")?.parse().ok()
}

pub(crate) fn call(world: &World, method: &str, path: &str, body: &Value) -> Value {
    answer(world, method, path, body).1["data"].clone()
}

/// Makes a call and returns its status and the whole answer.
pub(crate) fn answer(world: &World, method: &str, path: &str, body: &Value) -> (u16, Value) {
    answer_if_any(world, method, path, body).unwrap()
}

/// Makes a call of a server that may die over it.
pub(crate) fn answer_if_any(world: &World, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
    let url = format!("http://{}{path}", address(&world.home())?);
    let agent =
        ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build());
    let request = ureq::http::Request::builder().method(method).uri(url);
    let request = request.header("content-type", "application/json").body(body.to_string()).unwrap();
    let mut answer = agent.run(request).ok()?;
    Some((answer.status().as_u16(), answer.body_mut().read_json::<Value>().ok()?))
}

#[test]
fn patches_applied_to_a_snapshot_give_a_fresh_snapshot_through_kills_of_the_server() {
    let mut dice = Dice::new(seed());
    let world = World::new();
    let mut server = world.serve();
    let attempt = world.attempt("lines 300 10");
    let project = call(&world, "GET", "/api/projects", &json!({}))[0]["id"].as_str().unwrap().to_string();
    let streams = [
        ("tasks", format!("/api/tasks/stream/ws?project_id={project}")),
        ("drafts", format!("/api/drafts/stream/ws?project_id={project}")),
        ("execution_processes", format!("/api/execution-processes/stream/ws?task_attempt_id={attempt}")),
    ];
    let followers: Vec<Follower> = streams
        .iter()
        .map(|(map, path)| {
            let home = world.home();
            Follower::start(map, path, move || address(&home))
        })
        .collect();
    let mut tasks: Vec<String> = Vec::new();
    for _ in 0..3 {
        for _ in 0..12 {
            let one = tasks.get(dice.roll(tasks.len())).cloned();
            match (dice.roll(5), one) {
                (0..=1, _) | (_, None) => {
                    let body = json!({"project_id": project, "title": format!("task {}", dice.roll(1000))});
                    tasks.push(call(&world, "POST", "/api/tasks", &body)["id"].as_str().unwrap().to_string());
                }
                (2, Some(task)) => {
                    let status = ["done", "archived", "agent", "todo"][dice.roll(4)];
                    call(&world, "PUT", &format!("/api/tasks/{task}"), &json!({ "status": status }));
                }
                (3, Some(task)) => {
                    call(&world, "DELETE", &format!("/api/tasks/{task}"), &json!({}));
                    tasks.retain(|other| *other != task);
                }
                (_, Some(_)) => drop(world.attempt("say hi")),
            }
        }
        let stalled = &followers[dice.roll(followers.len())];
        stalled.pause();
        // In the middle of what an agent does and of what readers are told.
        server.signal(Signal::KILL);
        server.end();
        server = world.serve();
        stalled.go_on();
    }
    world.until_state(&attempt, "finished");
    for ((map, path), follower) in streams.iter().zip(&followers) {
        eventually(&format!("{path} agrees"), || {
            let now = whole(map, address(&world.home()).unwrap(), path);
            (*follower.board().document() == now).then_some(())
        });
    }
}

#[test]
fn entries_go_on_where_a_killed_server_left_them_and_none_is_missed_or_told_wrong() {
    let world = World::new();
    let mut server = world.serve();
    // Some of it is folded at full speed, some word by word.
    let attempt = world.attempt("lines 60000 0\nlines 150 10\nrun echo hi");
    let path = format!("/api/execution-processes?task_attempt_id={attempt}");
    let run = call(&world, "GET", &path, &json!({}))[0]["id"].as_str().unwrap().to_string();
    let topic = format!("entries:{run}");
    let (mut entries, mut after, mut finished) = (std::collections::BTreeMap::new(), Value::Null, false);
    let mut kills = 0;
    while !finished {
        let mut socket = connect(address(&world.home()).unwrap(), "/api/live/ws").unwrap();
        let request = json!({"subscribe": {"topic": topic, "after": after}});
        socket.send(Message::text(request.to_string())).unwrap();
        let mut messages = 0;
        while let Ok(told) = frame(&mut socket) {
            let Some(told) = told else { continue };
            assert!(told["error"].is_null() && told["resync"].is_null(), "{told}");
            for one in told["value"].as_array().unwrap() {
                entries.insert(one["index"].as_u64().unwrap(), one["entry"].clone());
            }
            after = told["position"].clone();
            finished = told["finished"] == true;
            messages += 1;
            if finished {
                break;
            }
            if messages == 40 && kills < 6 {
                server.signal(Signal::KILL);
                server.end();
                server = world.serve();
                kills += 1;
                break;
            }
        }
    }
    assert!(kills >= 3, "the server was killed {kills} times");
    let told: Vec<&str> = entries.values().map(|entry| entry["content"].as_str().unwrap()).collect();
    assert!(entries.keys().copied().eq(0..entries.len() as u64), "entries are missing");
    let lines: Vec<_> = told.iter().filter(|text| text.starts_with("T=")).collect();
    assert_eq!(lines.len(), 60_150);
    assert_eq!(entries.values().last().unwrap()["entry_type"]["status"]["status"], "success");
}

#[test]
fn a_live_socket_that_comes_back_to_a_restarted_server_misses_and_repeats_nothing() {
    let world = World::new();
    let mut server = world.serve();
    let attempt = world.attempt("lines 200 10");
    let path = format!("/api/execution-processes?task_attempt_id={attempt}");
    let run = call(&world, "GET", &path, &json!({}))[0]["id"].as_str().unwrap().to_string();
    let topic = format!("log:{run}");
    let (mut text, mut after, mut finished) = (String::new(), Value::Null, false);
    while !finished {
        let mut socket = connect(address(&world.home()).unwrap(), "/api/live/ws").unwrap();
        let request = json!({"subscribe": {"topic": topic, "after": after}});
        socket.send(Message::text(request.to_string())).unwrap();
        let mut messages = 0;
        // The server dies now and then while it tells.
        while let Ok(told) = frame(&mut socket) {
            let Some(told) = told else { continue };
            assert!(told["error"].is_null() && told["resync"].is_null(), "{told}");
            text.extend(
                told["value"].as_array().unwrap().iter().map(|piece| piece["content"].as_str().unwrap()),
            );
            after = told["position"].clone();
            finished = told["finished"] == true;
            messages += 1;
            if finished {
                break;
            }
            if messages == 20 {
                server.signal(Signal::KILL);
                server.end();
                server = world.serve();
                break;
            }
        }
    }
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" line ")).collect();
    assert_eq!(lines.len(), 200, "{text}");
    for (number, line) in lines.iter().enumerate() {
        let (first, second) = (format!(" line {number}"), format!(" line {}", number + 1));
        assert!(line.ends_with(&first) || line.ends_with(&second), "{line} at {number}");
    }
}
