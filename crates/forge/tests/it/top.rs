//! `forge top` and `forge events`: what changes is told, not asked for.

use serde_json::Value;

use crate::recorder::Recorder;
use crate::world::{Running, World};

#[test]
fn top_asks_once_and_is_told_the_rest() {
    let world = World::new();
    let mut recorder = Recorder::new();
    let name = format!("127.0.0.1:{}", recorder.port);
    let _server = world.serve_with(&["--port", "0", "--allow-host", &name]);
    recorder.pass_to(world.server_file().unwrap()["url"].as_str().unwrap());
    let first = world.attempt("ask which colour?");
    world.until_state(&first, "waiting");
    let once = world.run(&["top"]);
    assert_eq!(once.code, Some(0), "{once:?}");
    assert!(once.stdout.contains(&first[..8]) && once.stdout.contains("asks"), "{once:?}");
    assert_eq!(world.json(&["top"])[0]["id"], first.as_str());

    let mut follow = world.forge(&["top", "--follow"]);
    follow.env("FORGE_BASE_URL", format!("http://{name}"));
    let mut top = Running::start(follow);
    top.line_with(&first[..8]);
    let second = world.attempt("say hello\nask which size?");
    let row = top.line_with(&second[..8]);
    assert!(row.contains("SCRIPTED") && row.contains("say hello"), "{row}");
    world.run(&["answer", &first, "blue"]);
    world.until_state(&first, "finished");
    world.run(&["stop", &second]);
    world.until_state(&second, "stopped");
    let third = world.attempt("ask anything else?");
    // A table that has the third alone: the others are at rest.
    top.line_with(&third[..8]);
    let calls = recorder.all();
    let count = |path: &str| calls.iter().filter(|call| call.as_str() == path).count();
    assert_eq!((count("GET /api/board"), count("GET /api/events")), (1, 1), "{calls:?}");
    assert_eq!(calls.len(), 3, "only whether the server is there besides: {calls:?}");
    world.run(&["stop", &third]);
}

#[test]
fn events_go_on_from_a_position_over_a_restart_of_the_server() {
    let world = World::new();
    let server = world.serve();
    world.run(&["project", "add"]);
    let first = world.run(&["events", "--after", "0", "--count", "1"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let first: Value = serde_json::from_str(first.stdout.trim()).unwrap();
    assert!(first["data"][0]["path"].as_str().unwrap().starts_with("/projects/"), "{first}");
    let position = first["position"].to_string();

    let mut events = world.start(&["events", "--after", &position]);
    world.run(&["task", "add", "before the restart"]);
    events.line_with("before the restart");
    world.run(&["serve", "--stop"]);
    drop(server);
    events.line_with("server is away");
    let _server = world.serve();
    events.line_with("server is back");
    world.run(&["task", "add", "after the restart"]);
    let line = events.line_with("after the restart");
    let event: Value = serde_json::from_str(&line).unwrap();
    assert!(event["position"].as_u64() > first["position"].as_u64(), "{event}");
}
