//! One socket for everything that a tab follows.

use serde_json::{Value, json};
use tungstenite::Message;

use crate::world::{Socket, World, id};

fn ask(socket: &mut Socket, request: Value) {
    socket.send(Message::text(request.to_string())).unwrap();
}

fn subscribe(socket: &mut Socket, topic: &str, after: Value) {
    ask(socket, json!({"subscribe": {"topic": topic, "after": after}}));
}

fn next(socket: &mut Socket) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

fn make_task(world: &World, project: &str, title: &str) -> String {
    id(&world.post("/api/tasks", &json!({"project_id": project, "title": title})).data())
}

/// Reads what a log topic tells until it is finished; returns the text and the last position.
fn read_log(socket: &mut Socket, topic: &str) -> (String, i64) {
    let mut text = String::new();
    loop {
        let told = next(socket);
        assert_eq!(told["topic"], topic, "{told}");
        let pieces = told["value"].as_array().unwrap_or_else(|| panic!("{told}"));
        text.extend(pieces.iter().map(|piece| piece["content"].as_str().unwrap()));
        if told["finished"] == true {
            return (text, told["position"].as_i64().unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_to_events_says_where_it_begins_and_tells_each_change() {
    let world = World::new().await;
    let project = world.project();
    let mut socket = world.socket("/api/live/ws");
    subscribe(&mut socket, "events", Value::Null);
    let first = next(&mut socket);
    assert!(first["position"].is_i64() && first["value"] == json!([]), "{first}");
    let task = make_task(&world, &project, "one");
    let told = next(&mut socket);
    assert_eq!(told["topic"], "events");
    assert!(told["position"].as_i64() > first["position"].as_i64());
    assert_eq!(told["value"][0]["path"], format!("/tasks/{task}"));
    assert_eq!(told["value"][0]["op"], "add");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_to_a_project_hears_of_that_project_only_and_ends_when_told() {
    let world = World::new().await;
    let project = world.project();
    let path = world.repository("elsewhere");
    let body = json!({"name": "elsewhere", "git_repo_path": path, "use_existing_repo": true});
    let elsewhere = id(&world.post("/api/projects", &body).data());
    let topic = format!("events:{project}");
    let mut socket = world.socket("/api/live/ws");
    subscribe(&mut socket, &topic, Value::Null);
    next(&mut socket);
    let foreign = make_task(&world, &elsewhere, "foreign");
    world.send("DELETE", &format!("/api/tasks/{foreign}"), &[], b"").data();
    let ours = make_task(&world, &project, "ours");
    assert_eq!(next(&mut socket)["value"][0]["path"], format!("/tasks/{ours}"));
    world.send("DELETE", &format!("/api/tasks/{ours}"), &[], b"").data();
    let gone = next(&mut socket);
    assert_eq!(gone["value"], json!([{"op": "remove", "path": format!("/tasks/{ours}")}]));

    ask(&mut socket, json!({"ping": {}}));
    assert_eq!(next(&mut socket), json!({"pong": true}));
    ask(&mut socket, json!({"unsubscribe": {"topic": topic}}));
    subscribe(&mut socket, "events", Value::Null);
    assert_eq!(next(&mut socket)["topic"], "events");
    make_task(&world, &project, "another");
    assert_eq!(next(&mut socket)["topic"], "events", "nothing comes of what was unsubscribed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_told_to_its_end_and_a_reader_that_comes_back_misses_and_repeats_nothing() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "hello", "lines 2000 0");
    let run = id(&world.run_of(started["attempt_id"].as_str().unwrap()));
    let topic = format!("log:{run}");
    let mut socket = world.socket("/api/live/ws");
    subscribe(&mut socket, &topic, Value::Null);
    let first = next(&mut socket);
    let mut text: String =
        first["value"].as_array().unwrap().iter().map(|piece| piece["content"].as_str().unwrap()).collect();
    drop(socket);

    let mut socket = world.socket("/api/live/ws");
    subscribe(&mut socket, &topic, first["position"].clone());
    let (rest, position) = read_log(&mut socket, &topic);
    text.push_str(&rest);
    assert_eq!(text.lines().filter(|line| line.starts_with("T=")).count(), 2000);

    // A place that the log does not have begins it anew, and says so.
    subscribe(&mut socket, &topic, json!(position + 1_000_000));
    let resync = next(&mut socket);
    assert_eq!(resync, json!({"topic": topic, "resync": true, "position": 0}));
    assert_eq!(read_log(&mut socket, &topic).0, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_log_keeps_no_event_waiting() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "hello", "lines 200000 0");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let run = id(&world.run_of(attempt));
    let mut socket = world.socket("/api/live/ws");
    subscribe(&mut socket, &format!("log:{run}"), Value::Null);
    next(&mut socket);
    subscribe(&mut socket, "events", Value::Null);
    let mut frames = 0;
    loop {
        let told = next(&mut socket);
        assert_ne!(told["finished"], true, "the whole log went ahead");
        if told["topic"] == "events" {
            break;
        }
        frames += 1;
    }
    println!("{frames} frames of the log went ahead");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_followed_is_told_in_a_sentence_and_the_socket_stays() {
    let world = World::new().await;
    let nobody = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    let mut socket = world.socket("/api/live/ws");
    for (topic, told) in [
        ("weather".to_string(), "a topic is"),
        (format!("log:{nobody}"), nobody),
        (format!("entries:{nobody}"), nobody),
        (format!("diff:{nobody}"), "there is no attempt"),
    ] {
        subscribe(&mut socket, &topic, Value::Null);
        let refused = next(&mut socket);
        assert_eq!(refused["topic"], topic.as_str());
        assert!(refused["error"].as_str().unwrap().contains(told), "{refused}");
    }
    for nonsense in [json!({}), json!([1]), json!({"subscribe": {}}), json!("hello")] {
        ask(&mut socket, nonsense);
        let refused = next(&mut socket);
        assert!(refused["topic"].is_null() && refused["error"].as_str().unwrap().contains("subscribe"));
    }
    subscribe(&mut socket, "events", json!(1_000_000));
    let resync = next(&mut socket);
    assert!(resync["resync"] == true && resync["position"].is_i64(), "{resync}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_follows_a_bounded_number_of_topics_and_takes_a_bounded_message() {
    let world = World::new().await;
    let mut socket = world.socket("/api/live/ws");
    for _ in 0..64 {
        subscribe(&mut socket, &format!("events:{}", forge_model::ProjectId::random()), Value::Null);
        assert!(next(&mut socket)["error"].is_null());
    }
    subscribe(&mut socket, "events", Value::Null);
    let refused = next(&mut socket);
    assert!(refused["error"].as_str().unwrap().contains("64"), "{refused}");
    ask(&mut socket, json!({"subscribe": {"topic": "x".repeat(100_000)}}));
    let ended = loop {
        match socket.read() {
            Ok(Message::Close(_)) | Err(_) => break true,
            Ok(Message::Text(_)) => break false,
            Ok(_) => {}
        }
    };
    assert!(ended, "a message that is too long ends the socket");
}
