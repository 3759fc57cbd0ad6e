//! Descriptors: the server takes as many as it may have, gives back what it was given to whatever it starts, and keeps
//! enough of them for itself, whoever connects.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};

use crate::world::{Running, World};

/// Starts a server that may have so many descriptors: as it is started, and at most.
fn serve_within(world: &World, soft: u32, hard: u32) -> Running {
    let forge = env!("CARGO_BIN_EXE_forge");
    let script = format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec {forge} serve --port 0");
    let mut command = world.program("sh");
    command.args(["-c", &script]);
    let mut server = Running::start(command);
    server.line_with("Forge 0.1.0 on http://");
    server
}

#[test]
fn the_server_takes_all_descriptors_it_may_have_and_what_it_starts_gets_back_what_it_was_given() {
    let world = World::new();
    let told = |name: &str| fs::read_to_string(world.path(name)).unwrap().trim().to_string();
    let tell = |name: &str| format!("ulimit -S -n > {0} && ulimit -H -n >> {0}", world.path(name).display());
    let hook = world.repository().join(".git/hooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\n{}\n", tell("hook"))).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let server = serve_within(&world, 400, 2000);
    let attempt = world.attempt(&format!("run {}\nedit new.txt hello", tell("agent")));
    world.until_state(&attempt, "finished");
    assert_eq!(told("agent"), "400\n2000");
    assert_eq!(told("hook"), "400\n2000");
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let files: Vec<&str> = files.split_whitespace().collect();
    assert_eq!(files[3..5], ["2000", "2000"], "{limits}");
}

/// Another user's process, with everything that it has open.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens connections as another user, who has no token and says nothing on them.
fn idle_connections(port: &str, count: usize) -> Other {
    let script = format!(
        "ulimit -S -n $(ulimit -H -n); for i in $(seq {count}); do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; done; \
         echo open; exec sleep 600"
    );
    let mut command = Command::new("setpriv");
    command.args(["--reuid=4321", "--clear-groups", "bash", "-c", &script]).current_dir("/");
    let mut child =
        command.stdout(Stdio::piped()).spawn().expect("this test needs `setpriv` (util-linux) and bash");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let other = Other(child);
    assert_eq!(line, "open\n");
    other
}

#[test]
fn idle_connections_of_another_user_stop_neither_commits_nor_the_owners_calls() {
    // Only root can be somebody else.
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let world = World::new();
    let _server = serve_within(&world, 300, 300);
    // The first attempt makes what later ones find.
    let first = world.attempt("edit first.txt hello");
    world.until_state(&first, "finished");
    let url = world.server_file().unwrap()["url"].as_str().unwrap().to_string();
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap().to_string();
    let _other = idle_connections(&port, 600);
    for _ in 0..5 {
        let ended = world.run(&["list"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let attempts: Vec<String> = (0..4).map(|n| world.attempt(&format!("edit {n}.txt hello"))).collect();
    for (n, attempt) in attempts.iter().enumerate() {
        world.until_state(attempt, "finished");
        let listed = world.json(&["list"]);
        let listed = listed.as_array().unwrap().iter().find(|one| one["id"] == **attempt).unwrap();
        assert!(listed["reason"].is_null(), "{listed}");
        let branch = listed["branch"].as_str().unwrap();
        assert_eq!(world.git(&["show", &format!("{branch}:{n}.txt")]).trim(), "hello");
        let snapshots = world.git(&["for-each-ref", &format!("refs/forge/snapshots/{attempt}")]);
        assert!(!snapshots.is_empty(), "{attempt} has no snapshot");
    }
}
