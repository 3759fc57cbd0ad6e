//! A backup that is put back, and a directory that is copied, beside the original: whatever the copy is asked for, the
//! original's agents and worktrees stay as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Signal, test_kill_process};
use serde_json::Value;

use crate::world::{Running, World, eventually};

/// An agent that works until somebody ends it, and has left a file that is not committed.
const AT_WORK: &str = "edit work.txt unsaved\nsay at work\nask which?";

/// An original with one agent at work.
struct Original {
    world: World,
    attempt: String,
    agent: u32,
    worktree: PathBuf,
}

impl Original {
    /// Returns it with its server, which was not stopped.
    fn new() -> (Self, Running) {
        Self::of(World::new())
    }

    /// The same with its worktrees outside of the data directory, where a copy has them too.
    fn with_worktrees_outside() -> (Self, Running) {
        let world = World::new();
        fs::create_dir(world.path("worktrees")).unwrap();
        Self::of(world)
    }

    fn of(world: World) -> (Self, Running) {
        let server = serve(&world, &world.home(), &[]);
        let attempt = world.attempt(AT_WORK);
        world.until_state(&attempt, "waiting");
        let agent = agent_in(&world.home());
        let home = world.home();
        let shown = get(&world, home.to_str().unwrap(), &format!("/api/task-attempts/{attempt}"));
        let worktree = PathBuf::from(shown["container_ref"].as_str().unwrap());
        assert!(worktree.join("work.txt").exists());
        (Self { world, attempt, agent, worktree }, server)
    }

    /// Unpacks a backup beside it.
    fn restored(&self) -> PathBuf {
        let file = self.world.path("backup.tar");
        assert_eq!(self.world.run(&["backup", file.to_str().unwrap()]).code, Some(0));
        let copy = self.world.path("copy");
        fs::create_dir(&copy).unwrap();
        assert!(Command::new("tar").arg("-xf").arg(file).arg("-C").arg(&copy).status().unwrap().success());
        copy
    }

    /// Copies all of it, as it is.
    fn copied(&self) -> PathBuf {
        let copy = self.world.path("copy");
        let copied = Command::new("cp").arg("-a").arg(self.world.home()).arg(&copy).status().unwrap();
        assert!(copied.success());
        copy
    }

    fn assert_unharmed(&self) {
        assert!(is_alive(self.agent), "the agent of the original was ended");
        assert_eq!(fs::read_to_string(self.worktree.join("work.txt")).unwrap().trim(), "unsaved");
        assert!(self.worktree.join(".git").is_file());
    }

    /// Answers what the agent asks, and waits until it ends as it should.
    fn assert_goes_on(&self) {
        assert_eq!(self.world.run(&["answer", &self.attempt, "this one"]).code, Some(0));
        self.world.until_state(&self.attempt, "finished");
    }
}

/// The process of the only agent in a data directory.
fn agent_in(home: &Path) -> u32 {
    let run = fs::read_dir(home.join("runs")).unwrap().next().unwrap().unwrap().path();
    let record: Value = serde_json::from_str(&fs::read_to_string(run.join("shim.json")).unwrap()).unwrap();
    u32::try_from(record["agent_pid"].as_u64().unwrap()).unwrap()
}

fn is_alive(pid: u32) -> bool {
    rustix::process::Pid::from_raw(pid as i32).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Asks a copy for everything that could harm its original, and expects a sentence each time.
fn assert_harmless(original: &Original, copy: &Path) {
    let (world, id, home) = (&original.world, &original.attempt, copy.to_str().unwrap());
    let listed = world.json(&["--data", home, "list"]);
    let shown = listed.as_array().unwrap().iter().find(|one| one["id"] == **id).unwrap();
    assert_eq!(shown["state"], "waiting", "it is not counted as lost: {shown}");
    let one = get(world, home, &format!("/api/task-attempts/{id}"));
    let reason = one["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("belongs to another data directory"), "{one}");
    assert!(reason.contains(world.home().to_str().unwrap()), "{one}");
    let task = one["task_id"].as_str().unwrap();
    for (verb, path) in [
        ("DELETE", format!("/api/tasks/{task}")),
        ("DELETE", format!("/api/task-attempts/{id}")),
        ("POST", format!("/api/task-attempts/{id}/stop")),
        ("POST", format!("/api/task-attempts/{id}/merge")),
        ("POST", format!("/api/task-attempts/{id}/follow-up")),
        ("POST", "/api/gc".to_string()),
    ] {
        let refused = world.run(&["--data", home, "api", "-X", verb, &path]);
        assert_eq!(refused.code, Some(4), "{verb} {path}: {refused:?}");
        assert!(refused.stderr.contains("forge serve --adopt"), "{verb} {path}: {refused:?}");
    }
    let info = get(world, home, "/api/info");
    assert!(info["warnings"][0].as_str().unwrap().contains("is a copy of"), "{info}");
    let doctor = world.run(&["--data", home, "doctor"]);
    assert!(doctor.stdout.contains("is a copy of"), "{doctor:?}");
    original.assert_unharmed();
}

/// What a route answers with.
fn get(world: &World, home: &str, path: &str) -> Value {
    let told = world.json(&["--data", home, "api", path]);
    told.get("data").cloned().unwrap_or(told)
}

fn serve(world: &World, home: &Path, more: &[&str]) -> Running {
    let mut command = world.forge(&["serve", "--port", "0", "--data", home.to_str().unwrap()]);
    command.args(more);
    let worktrees = world.path("worktrees");
    if worktrees.exists() {
        command.env("FORGE_WORKTREES", worktrees);
    }
    let mut server = Running::start(command);
    server.line_with("Forge 0.1.0 on http://");
    server
}

fn refs(world: &World) -> String {
    world.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/forge", "refs/heads"])
}

#[test]
fn a_backup_that_is_served_beside_its_running_original_harms_nothing() {
    let (original, _server) = Original::new();
    let before = refs(&original.world);
    let copy = original.restored();
    let _second = serve(&original.world, &copy, &[]);
    assert_harmless(&original, &copy);
    assert_eq!(refs(&original.world), before, "a copy writes no reference");
    original.assert_goes_on();
}

#[test]
fn a_backup_that_is_served_while_the_original_is_stopped_leaves_its_agents_alone() {
    let (original, server) = Original::new();
    let copy = original.restored();
    assert_eq!(original.world.run(&["serve", "--stop"]).code, Some(0));
    drop(server);
    let second = serve(&original.world, &copy, &[]);
    assert_harmless(&original, &copy);
    drop(second);
    let refused = original.world.run(&["serve", "--port", "0", "--adopt", "--data", copy.to_str().unwrap()]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("while agents of its original run"), "{refused:?}");
    let _server = original.world.serve();
    original.assert_unharmed();
    original.assert_goes_on();
}

#[test]
fn a_copy_with_the_description_of_the_originals_server_is_served_and_stops_none_but_its_own() {
    let (original, _server) = Original::new();
    let copy = original.copied();
    let home = copy.to_str().unwrap();
    assert!(copy.join("server.json").exists());
    let none = original.world.run(&["serve", "--stop", "--data", home]);
    assert!(none.stdout.contains("no server runs on"), "{none:?}");
    let _second = serve(&original.world, &copy, &[]);
    assert_harmless(&original, &copy);
    let stopped = original.world.run(&["serve", "--stop", "--all", "--data", home]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    original.assert_unharmed();
    original.assert_goes_on();
}

#[test]
fn a_copy_without_the_description_of_a_server_harms_nothing_after_the_server_was_killed() {
    let (original, server) = Original::new();
    server.signal(Signal::KILL);
    drop(server);
    let copy = original.copied();
    fs::remove_file(copy.join("server.json")).unwrap();
    let second = serve(&original.world, &copy, &[]);
    assert_harmless(&original, &copy);
    drop(second);
    let _server = original.world.serve();
    original.assert_unharmed();
    original.assert_goes_on();
}

#[test]
fn a_copy_whose_original_is_gone_is_adopted_in_one_step_and_goes_on_with_its_attempts() {
    let (original, server) = Original::with_worktrees_outside();
    let copy = original.restored();
    let home = copy.to_str().unwrap();
    let world = &original.world;
    assert_eq!(world.run(&["serve", "--stop", "--all"]).code, Some(0));
    drop(server);
    let refused = world.run(&["serve", "--port", "0", "--adopt", "--data", home]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("while its original is at"), "{refused:?}");
    let gone = world.path("gone");
    fs::rename(world.home(), &gone).unwrap();
    let attempt = format!("/api/task-attempts/{}", original.attempt);
    let is_refused = |home: &Path| {
        let told =
            world.run(&["--data", home.to_str().unwrap(), "api", "-X", "POST", &format!("{attempt}/stop")]);
        told.code == Some(4) && told.stderr.contains("forge serve --adopt")
    };
    let reader = serve(world, &copy, &[]);
    assert!(is_refused(&copy), "it is not adopted by itself");
    drop(reader);

    let second = serve(world, &copy, &["--adopt"]);
    eventually("the run that was lost has ended", || {
        (get(world, home, &attempt)["state"] == "failed").then_some(())
    });
    let one = get(world, home, &attempt);
    assert!(!one["reason"].as_str().unwrap_or_default().contains("belongs to another"), "{one}");
    let info = get(world, home, "/api/info");
    assert_eq!(info["warnings"], serde_json::json!([]), "{info}");
    assert_eq!(fs::read_to_string(original.worktree.join("work.txt")).unwrap().trim(), "unsaved");
    let more = world.run(&["--data", home, "follow-up", &original.attempt, "say gone on"]);
    assert_eq!(more.code, Some(0), "{more:?}");
    eventually("it goes on", || (get(world, home, &attempt)["state"] == "finished").then_some(()));
    drop(second);
    let again = serve(world, &copy, &[]);
    assert!(!is_refused(&copy), "it stays adopted");
    drop(again);

    // The original that comes back finds its worktrees taken over.
    let _third = serve(world, &gone, &[]);
    assert!(is_refused(&gone));
}

#[test]
fn a_directory_that_was_renamed_is_itself_and_its_worktrees_go_with_it() {
    let (original, server) = Original::new();
    let world = &original.world;
    assert_eq!(world.run(&["serve", "--stop"]).code, Some(0));
    drop(server);
    let moved = world.path("moved");
    fs::rename(world.home(), &moved).unwrap();
    let home = moved.to_str().unwrap();
    let _server = serve(world, &moved, &[]);
    let info = get(world, home, "/api/info");
    assert_eq!(info["warnings"], serde_json::json!([]), "{info}");
    assert!(is_alive(original.agent));
    let one = get(world, home, &format!("/api/task-attempts/{}", original.attempt));
    let worktree = PathBuf::from(one["container_ref"].as_str().unwrap());
    assert!(worktree.starts_with(&moved), "{one}");
    assert_eq!(fs::read_to_string(worktree.join("work.txt")).unwrap().trim(), "unsaved");
    let listed = world.git(&["worktree", "list", "--porcelain"]);
    assert!(listed.contains(&format!("worktree {}", worktree.display())), "{listed}");
    assert!(listed.contains(&format!("locked forge {home}")), "{listed}");
    assert_eq!(world.run(&["--data", home, "serve", "--stop", "--all"]).code, Some(0));
}
