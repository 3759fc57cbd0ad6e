//! `forge serve` and `forge serve --stop`: what is written down, who is refused, and how it ends.

use std::fs;
use std::net::TcpListener;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::world::{Running, World, eventually, mode};

#[test]
fn a_server_writes_down_where_it_is_and_takes_it_away_at_the_end() {
    let world = World::new();
    let mut server = world.start(&["serve", "--port", "0"]);
    let line = server.line_with("Forge 0.1.0 on http://127.0.0.1:");
    let file = world.server_file().unwrap();
    let url = file["url"].as_str().unwrap().to_string();
    assert_eq!(line, format!("Forge 0.1.0 on {url} (data in {})", world.home().display()));
    assert_eq!((&file["pid"], &file["version"]), (&json!(server.pid()), &json!("0.1.0")));
    assert_eq!(mode(&world.home()), 0o700);
    assert_eq!(mode(&world.home().join("server.json")), 0o600);
    assert_eq!(mode(&world.home().join("token")), 0o600);
    let port_file = world.path("temporary/automagik-forge/automagik-forge.port");
    assert_eq!(fs::read_to_string(&port_file).unwrap(), url.rsplit(':').next().unwrap());

    server.signal(Signal::TERM);
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("Forge stopped serving; no agent is running"), "{ended:?}");
    assert!(world.server_file().is_none());
    assert!(!port_file.exists());
}

#[test]
fn the_token_stays_the_same_from_server_to_server() {
    let world = World::new();
    drop(world.serve());
    let token = fs::read_to_string(world.home().join("token")).unwrap();
    assert_eq!(token.trim().len(), 64);
    drop(world.serve());
    assert_eq!(fs::read_to_string(world.home().join("token")).unwrap(), token);
}

#[test]
fn a_server_as_json_is_one_object() {
    let world = World::new();
    let mut server = world.start(&["serve", "--port", "0", "--json"]);
    let told: Value = serde_json::from_str(&server.line_with("url")).unwrap();
    assert_eq!(told["pid"], json!(server.pid()));
    assert_eq!(told["data"], json!(world.home()));
}

#[test]
fn the_port_comes_from_the_flag_then_backend_port_then_port() {
    let world = World::new();
    let port = |command: &mut std::process::Command| {
        let mut copy = world.forge(&[]);
        copy.args(command.get_args());
        copy.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut server = Running::start(copy);
        let line = server.line_with("Forge 0.1.0 on http://127.0.0.1:");
        server.signal(Signal::INT);
        assert_eq!(server.end().code, Some(0));
        line.split([':', ' ']).nth(5).unwrap().parse::<u16>().unwrap()
    };
    let (one, two) = (crate::world::free_port(), crate::world::free_port());
    let coloured = format!("\u{1b}[32m{one}\u{1b}[0m");
    assert_eq!(port(world.forge(&["serve"]).env("PORT", &coloured)), one);
    assert_eq!(port(world.forge(&["serve"]).env("PORT", "1").env("BACKEND_PORT", one.to_string())), one);
    let flag = two.to_string();
    assert_eq!(port(world.forge(&["serve", "--port", &flag]).env("BACKEND_PORT", "1")), two);
}

#[test]
fn a_port_that_a_stranger_holds_is_one_sentence() {
    let world = World::new();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    let ended = world.run(&["serve", "--port", &port.to_string()]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    let expected =
        format!("forge: port {port} on 127.0.0.1 is taken by another program; choose another with --port\n");
    assert_eq!(ended.stderr, expected);
}

#[test]
fn a_port_that_another_forge_holds_says_so() {
    let (world, other) = (World::new(), World::new());
    let _server = other.serve();
    let url = other.server_file().unwrap()["url"].as_str().unwrap().to_string();
    let ended = world.run(&["serve", "--port", url.rsplit(':').next().unwrap()]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.contains("taken by another Forge server"), "{ended:?}");
    assert!(ended.stderr.contains("forge serve --stop"), "{ended:?}");
}

#[test]
fn a_second_server_on_the_same_data_names_the_first() {
    let world = World::new();
    let server = world.serve();
    let url = world.server_file().unwrap()["url"].as_str().unwrap().to_string();
    let ended = world.run(&["serve", "--port", "0"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let first = format!("on {url} (process {})", server.pid());
    assert!(ended.stderr.contains(&first), "{ended:?}");
}

#[test]
fn a_second_server_is_refused_even_when_the_first_is_not_written_down() {
    let world = World::new();
    let _server = world.serve();
    fs::remove_file(world.home().join("server.json")).unwrap();
    let ended = world.run(&["serve", "--port", "0"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
}

#[test]
fn a_server_that_was_killed_is_followed_by_another() {
    let world = World::new();
    let server = world.serve();
    server.signal(Signal::KILL);
    server.end();
    assert!(world.server_file().is_some(), "nobody took the file away");
    let ended = world.run(&["list"]);
    assert_eq!(ended.code, Some(5), "a dead server is not called: {ended:?}");
    let _server = world.serve();
    assert_eq!(world.run(&["list"]).code, Some(0));
}

#[test]
fn a_server_is_stopped_from_outside() {
    let world = World::new();
    let server = world.serve();
    let pid = server.pid();
    let stop = world.start(&["serve", "--stop"]);
    // The server is a child of this test, so it is gone only when the test has waited for it.
    assert_eq!(server.end().code, Some(0));
    let ended = stop.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains(&format!("(process {pid})")), "{ended:?}");
    assert!(world.server_file().is_none());
}

#[test]
fn stopping_where_nothing_runs_is_fine() {
    let world = World::new();
    for args in [&["serve", "--stop"][..], &["serve", "--stop", "--all"]] {
        let ended = world.run(args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stdout, format!("no server runs on {}\n", world.home().display()));
    }
    assert!(!world.home().exists());
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    let world = World::new();
    fs::write(world.path("data"), "a file is in the way").unwrap();
    let ended = world.run(&["serve", "--port", "0"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.contains(&format!("could not make the data directory {}", world.home().display())));
    fs::remove_file(world.path("data")).unwrap();
}

#[test]
fn the_port_file_of_a_stranger_is_left_alone_and_serving_goes_on() {
    let world = World::new();
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.path("temporary/automagik-forge")).unwrap();
    let mut server = world.start(&["serve", "--port", "0"]);
    server.line_with("older tools will not find this server");
    server.line_with("Forge 0.1.0 on http://");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn the_demo_shows_every_state_and_is_made_once() {
    let world = World::new();
    let server = world.serve_with(&["--port", "0", "--demo"]);
    let states = || {
        let mut states: Vec<String> = world
            .json(&["list"])
            .as_array()?
            .iter()
            .map(|one| one["state"].as_str().unwrap().to_string())
            .collect();
        states.sort();
        Some(states)
    };
    let expected = ["finished", "finished", "finished", "running", "waiting"];
    eventually("the demo is in every state", || states().filter(|states| *states == expected));
    server.signal(Signal::TERM);
    let ended = server.end();
    assert!(ended.stderr.contains("2 agents run on"), "{ended:?}");

    let mut server = world.serve_with(&["--port", "0", "--demo"]);
    server.line_with("the demo is there already");
    assert_eq!(world.json(&["list"]).as_array().unwrap().len(), 5);
}

#[test]
fn the_port_of_a_dead_server_is_waited_for_and_that_of_a_stranger_is_not() {
    let world = World::new();
    // Somebody else has the port for now, as the child of a dead server has until its exec.
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port();
    let stranger = world.run(&["serve", "--port", &port.to_string()]);
    assert_eq!(stranger.code, Some(5), "{stranger:?}");
    let dead = json!({"pid": 1, "url": format!("http://127.0.0.1:{port}"), "version": "0", "started": 0});
    fs::write(world.home().join("server.json"), dead.to_string()).unwrap();
    let mut server = world.start(&["serve", "--port", &port.to_string()]);
    // It goes to sleep between its tries, and the kernel counts how often.
    eventually("the server waits for its port", || {
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).ok()?;
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().last()?.parse::<u32>().ok().filter(|count| *count >= 10)
    });
    drop(held);
    server.line_with("Forge 0.1.0 on http://");
}
