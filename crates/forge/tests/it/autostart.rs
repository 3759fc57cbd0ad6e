//! When a client command starts a server by itself, and when it does not.

use std::fs;
use std::io::Write;

use rustix::process::{Pid, getsid};
use serde_json::Value;

use crate::world::{Running, World, eventually, mode};

/// Runs forge without the `CI` that keeps servers from being started.
fn by_hand(world: &World, args: &[&str]) -> Running {
    let mut command = world.forge(args);
    command.env_remove("CI");
    Running::start(command)
}

#[test]
fn a_client_command_starts_a_server_in_a_session_of_its_own() {
    let world = World::new();
    let ended = by_hand(&world, &["list"]).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("started a Forge server on http://127.0.0.1:"), "{ended:?}");
    let file = world.server_file().unwrap();
    let pid = Pid::from_raw(file["pid"].as_i64().unwrap() as i32).unwrap();
    assert_eq!(getsid(Some(pid)).unwrap(), pid);
    assert_eq!(mode(&world.home().join("server.log")), 0o600);
    assert!(fs::read_to_string(world.home().join("server.log")).unwrap().contains("Forge 0.1.0 on"));

    let ended = by_hand(&world, &["list"]).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stderr.matches("started").count(), 0, "{ended:?}");
    assert_eq!(world.server_file().unwrap(), file);
}

#[test]
fn commands_that_start_together_share_one_server() {
    let world = World::new();
    let all: Vec<Running> = (0..3).map(|_| by_hand(&world, &["status", "--json"])).collect();
    let mut pids: Vec<Value> = Vec::new();
    for one in all {
        let ended = one.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        pids.push(serde_json::from_str::<Value>(&ended.stdout).unwrap()["pid"].clone());
    }
    assert!(pids[0].is_number());
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
}

#[test]
fn no_server_is_started_where_ci_is_set() {
    let world = World::new();
    let ended = world.run(&["list"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.contains("none is started because CI is set"), "{ended:?}");
    assert!(!world.home().exists());
}

#[test]
fn a_server_that_cannot_start_is_told_with_the_end_of_its_log() {
    let world = World::new();
    fs::create_dir_all(world.home()).unwrap();
    fs::write(world.home().join("forge.db"), "this is no database, and it is precious").unwrap();
    let ended = by_hand(&world, &["list"]).end();
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.contains("the server ended at once"), "{ended:?}");
    assert!(ended.stderr.contains("forge: "), "its last words are shown: {ended:?}");
    let kept = fs::read_to_string(world.home().join("forge.db")).unwrap();
    assert_eq!(kept, "this is no database, and it is precious");
    fs::remove_dir_all(world.home()).unwrap();
}

#[test]
fn the_log_of_a_server_is_put_aside_while_it_runs() {
    let world = World::new();
    let (log, older) = (world.home().join("server.log"), world.home().join("server.log.1"));
    let run = |text: &str| {
        let ended = by_hand(&world, &["run", "--agent", "SCRIPTED", text]).end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    run("say first");
    assert!(!older.exists());
    // As many lines as a server writes in weeks.
    let mut filling = fs::OpenOptions::new().append(true).open(&log).unwrap();
    filling.write_all(&vec![b'\n'; 10 * 1024 * 1024]).unwrap();
    run("say second");
    eventually("the log is put aside", || older.exists().then_some(()));
    run("say third");
    eventually("what comes later is in the new one", || {
        fs::read_to_string(&log).is_ok_and(|text| text.contains("run ")).then_some(())
    });
    assert!(fs::metadata(&log).unwrap().len() < 1024 * 1024);
    assert!(fs::read_to_string(&older).unwrap().starts_with("Forge 0.1.0 on"));
}
