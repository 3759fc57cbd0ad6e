//! Limits on what runs at once, with servers that die.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::map_streams::call;
use crate::world::{Running, World, eventually};

fn limited(world: &World, limits: &str) {
    fs::create_dir_all(world.home()).unwrap();
    fs::write(world.home().join("config.json"), format!("{{\"limits\": {limits}}}")).unwrap();
}

/// Starts a server that dies where a seam says.
fn serve_until(world: &World, seam: &str) -> Running {
    let mut command = world.forge(&["serve", "--port", "0"]);
    command.env("FORGE_SEAM", seam);
    Running::start(command)
}

fn kill(server: Running) {
    server.signal(Signal::KILL);
    server.end();
}

#[test]
fn with_a_limit_of_three_ten_starts_run_once_each_in_order_however_often_the_server_is_killed() {
    let world = World::new();
    limited(&world, "{\"max_running\": 3}");
    let (witness, gate) = (world.path("witness"), world.path("gate"));
    let (told, open) = (witness.display().to_string(), gate.display().to_string());
    let mut server = world.serve();
    let mut ids = Vec::new();
    for number in 0..10 {
        if number == 2 || number == 6 {
            kill(server);
            server = world.serve();
        }
        let wait = format!("until [ -e {open} ]; do sleep 0.05; done");
        let begin = format!("run echo begin {number} >> {told}; {wait}");
        ids.push(world.attempt(&format!("{begin}\nsleep 100\nrun echo end {number} >> {told}")));
    }
    let begun = || -> Vec<usize> {
        let told = fs::read_to_string(&witness).unwrap_or_default();
        told.lines().filter_map(|line| line.strip_prefix("begin ")?.parse().ok()).collect()
    };
    // An agent that had room may take long to its first command, and the gate must not open before it.
    eventually("the first three have begun", || (begun().len() == 3).then_some(()));
    let attempts = world.json(&["list"]);
    let place = |id: &String| {
        let mut attempts = attempts.as_array().unwrap().iter();
        attempts.find(|one| one["id"] == **id).unwrap()["queue_place"].as_i64()
    };
    let places: Vec<_> = ids.iter().map(place).collect();
    assert_eq!(places[..3], [None; 3]);
    assert_eq!(places[3..], [1, 2, 3, 4, 5, 6, 7].map(Some));
    assert!(world.run(&["list"]).stdout.contains("queued 7"));
    kill(server);

    fs::write(&gate, "").unwrap();
    for seam in ["held.admitted", "start.worktree", "start.spawned", "start.recorded", "finish.recorded"] {
        // It dies by itself as soon as it gets there.
        serve_until(&world, &format!("{seam}=kill")).end();
    }
    let _server = world.serve();
    let mut most = 0;
    eventually("all ten have finished", || {
        let attempts = world.json(&["list"]);
        let attempts = attempts.as_array()?;
        let count = |state: &str| attempts.iter().filter(|one| one["state"] == *state).count();
        most = most.max(count("running"));
        (count("finished") == 10).then_some(())
    });
    assert!(most <= 3, "{most} ran at once");
    let told = fs::read_to_string(&witness).unwrap();
    let (mut running, mut most) = (0, 0);
    for line in told.lines() {
        running += if line.starts_with("begin ") { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!((most, running), (3, 0), "three at most ran at once: {told}");
    let mut once = begun();
    once.sort();
    assert_eq!(once, (0..10).collect::<Vec<_>>(), "each ran once: {told}");
    // When each was let in, not when its agent came to its first command: two of them may overtake each other there.
    let let_in = |id: &String| {
        let runs = call(&world, "GET", &format!("/api/execution-processes?task_attempt_id={id}"), &json!({}));
        runs[0]["started_at"].as_str().unwrap().to_string()
    };
    let times: Vec<_> = ids[3..].iter().map(let_in).collect();
    assert!(times.is_sorted(), "those that waited came in their order: {times:?}");
}

#[test]
fn run_says_that_an_attempt_is_queued_and_waits_for_it() {
    let world = World::new();
    limited(&world, "{\"max_running_per_project\": 1}");
    let _server = world.serve();
    let busy = world.attempt("hang");
    let mut waits = world.start(&["run", "--agent", "SCRIPTED", "say its turn has come"]);
    waits.line_with("is queued, place 1");
    let second = world.json(&["run", "--agent", "SCRIPTED", "--detach", "say never"]);
    assert_eq!((&second["state"], &second["queue_place"]), (&"queued".into(), &2.into()));
    assert!(second["worktree_path"].is_null() && second["container_ref"].is_null());
    let given_up = world.run(&["stop", second["id"].as_str().unwrap()]);
    assert_eq!(given_up.code, Some(0), "{given_up:?}");
    world.until_state(second["id"].as_str().unwrap(), "stopped");
    world.run(&["stop", &busy]);
    waits.line_with("its turn has come");
    assert_eq!(waits.end().code, Some(0));
}

#[test]
fn disk_says_what_is_taken_and_what_is_free() {
    let world = World::new();
    let _server = world.serve();
    let attempt = world.attempt("say hi");
    world.until_state(&attempt, "finished");
    let told = world.run(&["disk"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    for words in ["repository", &attempt[..8], "trash", "free for worktrees; below 1.0 GB nothing is started"]
    {
        assert!(told.stdout.contains(words), "{words:?} is not in {}", told.stdout);
    }
    assert_eq!(world.json(&["disk"])["projects"][0]["attempts"][0]["attempt_id"], attempt);
}
