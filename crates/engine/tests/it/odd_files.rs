//! Files that git cannot take or should not: each ends the turn soon, is named, and does not get into the repository.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use forge_engine::Land;
use forge_model::AttemptState;

use crate::world::World;

/// Ten times what a turn may take on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// How much a repository may grow by a turn that changed a line.
const LITTLE: u64 = 1 << 20;

fn size_of(directory: &Path) -> u64 {
    let output = Command::new("du").args(["-sb"]).arg(directory).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

/// Plays a turn that leaves a file, and says what its reason says.
fn turn(world: &World, command: &str, name: &str) -> forge_model::AttemptId {
    let objects = world.repository.join(".git/objects");
    let before = size_of(&objects);
    let script = format!("run {command}\nedit work.txt done\nrun touch over");
    let started = world.start(&script);
    let id = started.attempt.attempt.id;
    let over = started.attempt.attempt.worktree.join("over");
    crate::world::eventually("the agent has done everything", || over.exists().then_some(()));
    let begun = Instant::now();
    let view = world.wait_for(id, AttemptState::Finished);
    assert!(begun.elapsed() < SOON, "the turn took {:?} to end", begun.elapsed());
    let reason = view.attempt.reason.clone().unwrap_or_default();
    assert!(reason.contains(name), "{name} is not in {reason:?}");
    assert!(!reason.contains("not committed"), "{reason}");
    let held = world.git(&["show", "--format=", "--name-only", &view.attempt.branch]);
    assert!(held.contains("work.txt") && !held.contains(name), "{held}");
    let snapshots = world.run(world.engine().snapshots(id)).unwrap();
    assert_eq!(snapshots.len(), 1);
    assert!(size_of(&objects) < before + LITTLE, "{before} to {}", size_of(&objects));
    id
}

#[test]
fn a_sparse_file_of_400_gb_stalls_nothing() {
    let world = World::new();
    let id = turn(&world, "truncate -s 400G sparse.img", "sparse.img (429496729600 bytes");
    let begun = Instant::now();
    world.run(world.engine().branch_status(id)).unwrap();
    world.run(world.engine().stop_attempt(id)).unwrap();
    world.run(world.engine().land(id, Land::default())).unwrap();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(world.attempt(id).attempt.worktree.join("sparse.img").exists(), "it stays where it is");
}

#[test]
fn a_tracked_file_that_grew_beyond_the_limit_stays_as_it_was_committed() {
    let world = World::new();
    let file = world.repository.join("grown.bin");
    std::fs::write(&file, "small").unwrap();
    world.git(&["add", "grown.bin"]);
    world.git(&["commit", "-qm", "small"]);
    let id = turn(&world, "truncate -s 60M grown.bin", "grown.bin (62914560 bytes");
    let branch = world.attempt(id).attempt.branch;
    assert_eq!(world.git(&["show", &format!("{branch}:grown.bin")]), "small");
}

#[test]
fn a_random_file_of_2_gb_stays_out_of_the_repository() {
    let world = World::new();
    let make =
        "head -c 128M /dev/urandom > part; for i in $(seq 16); do cat part; done > random.bin; rm part";
    turn(&world, make, "random.bin (2147483648 bytes");
}

#[test]
fn a_pipe_is_named() {
    turn(&World::new(), "mkfifo pipe", "pipe (it is neither a file nor a link)");
}

#[test]
fn a_pipe_in_the_place_of_a_tracked_file_is_named() {
    turn(&World::new(), "rm README.md && mkfifo README.md", "README.md (it is neither a file nor a link)");
}

#[test]
fn a_socket_is_named() {
    let python = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"";
    turn(&World::new(), python, "socket (it is neither a file nor a link)");
}

#[test]
fn a_device_is_named() {
    turn(&World::new(), "mknod device c 1 3", "device (it is neither a file nor a link)");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let world = World::new();
    // Not even root may read this one.
    let command = "touch closed && mount --bind /proc/sys/vm/compact_memory closed";
    let id = turn(&world, command, "closed (it cannot be read)");
    let closed = world.attempt(id).attempt.worktree.join("closed");
    assert!(Command::new("umount").arg("--lazy").arg(closed).status().unwrap().success());
}

#[test]
fn a_larger_limit_lets_a_larger_file_in() {
    let world = World::new();
    let wider = serde_json::json!({"snapshots": {"file_mb": 100}}).as_object().unwrap().clone();
    world.run(world.engine().change_config(forge_engine::ConfigChange::new(wider).unwrap())).unwrap();
    let id = world.start("run truncate -s 60M large.bin").attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    assert_eq!(view.attempt.reason, None);
    let held = world.git(&["ls-tree", "--name-only", &view.attempt.branch]);
    assert!(held.contains("large.bin"), "{held}");
}
