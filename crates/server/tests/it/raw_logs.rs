//! A run's output over a WebSocket.

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::world::{GRACE, Socket, World, eventually, id, least_of_three};

/// Everything that was read from a socket.
#[derive(Default)]
struct Heard {
    stdout: String,
    stderr: String,
    entries: u64,
    position: u64,
    finished: Option<Value>,
    close: Option<CloseCode>,
}

/// Reads until the condition holds or the server closes.
fn listen(socket: &mut Socket, enough: impl Fn(&Heard) -> bool) -> Heard {
    let mut heard = Heard::default();
    while heard.close.is_none() && !enough(&heard) {
        match socket.read().unwrap() {
            Message::Text(text) => hear(&mut heard, serde_json::from_str(&text).unwrap()),
            Message::Close(frame) => heard.close = Some(frame.unwrap().code),
            other => panic!("unexpected {other:?}"),
        }
    }
    heard
}

fn hear(heard: &mut Heard, frame: Value) {
    let Some(patch) = frame.get("JsonPatch") else {
        heard.finished = Some(frame);
        return;
    };
    for operation in patch.as_array().unwrap() {
        assert_eq!(operation["op"], "add");
        assert_eq!(operation["path"], format!("/entries/{}", heard.entries));
        heard.entries += 1;
        let content = operation["value"]["content"].as_str().unwrap();
        match operation["value"]["type"].as_str().unwrap() {
            "STDOUT" => heard.stdout.push_str(content),
            "STDERR" => heard.stderr.push_str(content),
            other => panic!("unexpected {other}"),
        }
    }
    heard.position = frame["position"].as_u64().unwrap();
}

fn path(run: &Value) -> String {
    format!("/api/execution-processes/{}/raw-logs/ws", id(run))
}

#[tokio::test(flavor = "multi_thread")]
async fn history_comes_first_then_what_happens_then_a_clean_close() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "say first\nask go on?\nsay second");
    let run = world.run_of(started["attempt_id"].as_str().unwrap());
    let mut socket = world.socket(&path(&run));
    let history = listen(&mut socket, |heard| heard.stdout.contains("first\n"));
    assert!(!history.stdout.contains("second"));
    // What a client says is read and ignored.
    socket.send(Message::text("hello?")).unwrap();

    let ask = eventually(|| world.get("/api/approvals/pending").data().get(0).cloned());
    let respond = format!("/api/approvals/{}/respond", ask["approval_id"].as_str().unwrap());
    world.post(&respond, &json!({"approved": true})).json();
    let mut rest = Heard { entries: history.entries, ..Heard::default() };
    while rest.close.is_none() {
        match socket.read().unwrap() {
            Message::Text(text) => hear(&mut rest, serde_json::from_str(&text).unwrap()),
            Message::Close(frame) => rest.close = Some(frame.unwrap().code),
            other => panic!("unexpected {other:?}"),
        }
    }
    assert!(rest.stdout.contains("second\n"), "{}", rest.stdout);
    assert_eq!(rest.finished, Some(json!({"finished": true, "type": "finished"})));
    assert_eq!(rest.close, Some(CloseCode::Normal));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_back_misses_nothing_and_hears_nothing_twice() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Count", "lines 20000 0");
    let attempt = started["attempt_id"].as_str().unwrap();
    let run = world.run_of(attempt);
    let whole = listen(&mut world.socket(&path(&run)), |_| false);
    assert!(whole.stdout.lines().count() >= 20_000);

    let mut pieces = String::new();
    let mut position = 0;
    loop {
        let mut socket = world.socket(&format!("{}?from={position}", path(&run)));
        let before = pieces.len();
        let heard = listen(&mut socket, |heard| heard.entries > 0 && heard.stdout.len() > 200_000);
        pieces.push_str(&heard.stdout);
        if heard.close.is_some() {
            assert_eq!(heard.close, Some(CloseCode::Normal));
            break;
        }
        assert!(heard.position > position && pieces.len() > before);
        position = heard.position;
    }
    assert_eq!(pieces, whole.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_deleted_is_told_by_each_way_to_read_it_and_every_stream_ends() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "say hello");
    let attempt = started["attempt_id"].as_str().unwrap();
    let run = world.run_of(attempt);
    world.wait_for(attempt, "finished");
    assert!(run.get("logs_deleted_at").is_none());
    // One that takes more room than all logs may.
    let log = world.engine.home().join("runs").join(id(&run));
    std::fs::write(log.join("large"), vec![1; 2_000_000]).unwrap();
    world.put("/api/config", &json!({"runs": {"keep_mb": 1}})).data();
    world.put(&format!("/api/tasks/{}", id(&started)), &json!({"status": "done"})).data();
    let cleaned = eventually(|| {
        // Until everything of its turn is over, it is not closed.
        let cleaned = world.post("/api/gc", &json!({})).data();
        cleaned["swept"].as_array().unwrap().iter().find(|one| one["what"] == "log").cloned()
    });
    assert_eq!(cleaned["path"], log.to_str().unwrap());

    let run = world.run_of(attempt);
    let day = &run["logs_deleted_at"].as_str().unwrap()[..10];
    let sentence = format!("Forge deleted the log of this run on {day}");
    for from in ["", "?from=100000", "?follow=false"] {
        let heard = listen(&mut world.socket(&format!("{}{from}", path(&run))), |_| false);
        assert!(heard.stderr.starts_with(&sentence) && heard.stdout.is_empty(), "{}", heard.stderr);
        assert_eq!(heard.finished, Some(json!({"finished": true, "type": "finished"})));
        assert_eq!(heard.close, Some(CloseCode::Normal));
    }
    let mut socket = world.socket(&format!("/api/execution-processes/{}/normalized-logs/ws", id(&run)));
    let mut frames = Vec::new();
    let closed = loop {
        match socket.read().unwrap() {
            Message::Text(text) => frames.push(text.to_string()),
            Message::Close(frame) => break frame.unwrap().code,
            Message::Ping(_) => {}
            other => panic!("unexpected {other:?}"),
        }
    };
    assert_eq!(closed, CloseCode::Normal);
    assert!(frames[0].contains(&sentence) && frames[0].contains("say hello"), "{frames:?}");
    assert!(frames.last().unwrap().contains("\"finished\":true"), "{frames:?}");
    let window = world.get(&format!("/api/task-attempts/{attempt}/entries")).data();
    let texts: Vec<_> = window["entries"].as_array().unwrap().iter().map(|it| it.to_string()).collect();
    assert!(texts.len() == 2 && texts[1].contains(&sentence), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_gets_everything() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Count", "lines 100000 0");
    let run = world.run_of(started["attempt_id"].as_str().unwrap());
    let mut socket = world.socket(&path(&run));
    // The run ends while nothing is read: what the server cannot send stays in the log.
    world.wait_for(started["attempt_id"].as_str().unwrap(), "finished");
    let heard = listen(&mut socket, |_| false);
    assert!(heard.stdout.lines().count() >= 100_000);
    assert_eq!(heard.close, Some(CloseCode::Normal));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_upgrade_or_with_a_bad_position_the_refusal_is_enveloped() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "say hello");
    let run = world.run_of(started["attempt_id"].as_str().unwrap());
    assert!(world.get(&path(&run)).refusal(400).contains("WebSocket"));
    assert!(world.get(&format!("{}?from=x", path(&run))).refusal(400).contains("`from`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_the_server_ends_the_stream_and_is_not_held_up() {
    let took = least_of_three(async || {
        let mut world = World::new().await;
        let project = world.project();
        let started = world.start(&project, "Wait", "say hello\nhang");
        let run = world.run_of(started["attempt_id"].as_str().unwrap());
        let mut socket = world.socket(&path(&run));
        listen(&mut socket, |heard| heard.stdout.contains("hello"));
        // This thread cannot read while it waits, so the close waits in the socket for it.
        let took = world.stop().await;
        let heard = listen(&mut socket, |_| false);
        assert_eq!(heard.close, Some(CloseCode::Away));
        assert!(heard.finished.is_none(), "the run goes on, so the log is not finished");
        took
    });
    let took = took.await;
    assert!(took < GRACE, "the stop took {took:?}");
}
