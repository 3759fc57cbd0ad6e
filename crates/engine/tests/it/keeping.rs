//! What a turn leaves behind is kept: beside a git that removes objects, on a full disk, over a broken chain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use forge_engine::{FollowUp, NewProject};
use forge_model::{AttemptId, AttemptState};

use crate::world::{World, eventually, git, make_repository};

/// A small disk with a repository on it.
struct SmallDisk {
    path: PathBuf,
    repository: PathBuf,
}

impl SmallDisk {
    fn mount(dir: &Path) -> Self {
        let path = dir.join("disk");
        std::fs::create_dir_all(&path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=200m", "tmpfs"]).arg(&path).output();
        let mounted = mounted.unwrap();
        let why = String::from_utf8_lossy(&mounted.stderr);
        assert!(mounted.status.success(), "this test must mount a filesystem, which takes root: {why}");
        let repository = make_repository(&path.join("repository"));
        Self { path, repository }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}

/// Starts a turn that changes a file and fills the disk of its repository.
fn fill(world: &World, disk: &SmallDisk) -> AttemptId {
    let new = NewProject { name: "small".into(), path: disk.repository.clone(), ..NewProject::default() };
    let project = world.run(world.engine().create_project(new)).unwrap().id;
    let filler = disk.path.join("filler");
    let script = format!(
        "run head -c 3M /dev/urandom > work.bin\nrun cat /dev/zero > {} 2>/dev/null; true",
        filler.display()
    );
    let mut wanted = world.wanted(&script);
    wanted.task.project = project;
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let id = started.attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    let reason = view.attempt.reason.unwrap_or_default();
    for words in ["No space left", "not committed", "Forge tries again when that is over"] {
        assert!(reason.contains(words), "{words:?} is not in {reason:?}");
    }
    let held = git(&disk.repository, &["ls-tree", "--name-only", &view.attempt.branch]);
    assert!(!held.contains("work.bin"));
    id
}

fn assert_kept(world: &World, disk: &SmallDisk, id: AttemptId) {
    let view = eventually("the turn is kept", || {
        Some(world.attempt(id)).filter(|view| view.attempt.reason.is_none())
    });
    let held = git(&disk.repository, &["ls-tree", "--name-only", &view.attempt.branch]);
    assert!(held.contains("work.bin"), "{held}");
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert!(runs.iter().all(|run| run.reason.is_none()), "{runs:?}");
    assert_eq!(world.run(world.engine().snapshots(id)).unwrap().len(), 1);
    git(&disk.repository, &["fsck", "--connectivity-only"]);
}

#[test]
fn a_turn_on_a_full_disk_is_kept_when_there_is_room_again() {
    let world = World::new();
    let disk = SmallDisk::mount(world.dir.path());
    let id = fill(&world, &disk);
    std::fs::remove_file(disk.path.join("filler")).unwrap();
    assert_kept(&world, &disk, id);
}

#[test]
fn what_a_full_disk_kept_back_outlives_the_server() {
    let mut world = World::new();
    let disk = SmallDisk::mount(world.dir.path());
    let id = fill(&world, &disk);
    world.crash();
    std::fs::remove_file(disk.path.join("filler")).unwrap();
    world.reopen();
    assert_kept(&world, &disk, id);
}

#[test]
fn a_turn_that_is_still_owed_is_kept_before_the_next_one() {
    let world = World::new();
    let disk = SmallDisk::mount(world.dir.path());
    let id = fill(&world, &disk);
    std::fs::remove_file(disk.path.join("filler")).unwrap();
    world.run(world.engine().follow_up(id, FollowUp::new("edit more.txt more"), None)).unwrap();
    let view = eventually("both turns are kept", || {
        Some(world.attempt(id)).filter(|view| {
            view.attempt.state == AttemptState::Finished
                && git(&disk.repository, &["ls-tree", "--name-only", &view.attempt.branch])
                    .contains("more.txt")
        })
    });
    let commits = git(&disk.repository, &["rev-list", "--count", &format!("main..{}", view.attempt.branch)]);
    assert_eq!(commits, "2", "each turn is a commit of its own");
}

#[test]
fn turns_that_end_beside_gc_and_prune_are_all_kept() {
    let world = World::new();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for arguments in [&["gc", "-q", "--prune=now"][..], &["prune", "--expire=now"]] {
            let (over, repository) = (&over, &world.repository);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    // One of them may find the other at work.
                    let _ended =
                        Command::new("git").arg("-C").arg(repository).args(arguments).output().unwrap();
                }
            });
        }
        let turns = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..8 {
                let started: Vec<_> = (0..3)
                    .map(|n| world.start(&format!("edit work.txt {round} {n}\nedit same.txt {round}")))
                    .collect();
                for began in started {
                    let view = world.wait_for(began.attempt.attempt.id, AttemptState::Finished);
                    assert_eq!(view.attempt.reason, None);
                    assert_eq!(world.run(world.engine().snapshots(view.attempt.id)).unwrap().len(), 1);
                }
            }
        }));
        over.store(true, Ordering::Relaxed);
        turns.unwrap();
    });
    world.git(&["fsck", "--connectivity-only"]);
    world.git(&["rev-list", "--objects", "--quiet", "--all"]);
    world.git(&["gc", "-q"]);
}

/// Lets the reference of an attempt's snapshots lead to something that is not there.
fn break_chain(world: &World, id: AttemptId) -> PathBuf {
    let reference = format!("refs/forge/snapshots/{id}");
    world.git(&["pack-refs", "--all"]);
    let file = world.repository.join(".git").join(&reference);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("{}\n", "1".repeat(40))).unwrap();
    let output = Command::new("git").arg("-C").arg(&world.repository).args(["gc", "-q"]).output().unwrap();
    assert!(!output.status.success(), "the chain is not broken, so the test proves nothing");
    file
}

#[test]
fn a_broken_chain_is_whole_after_a_restart() {
    let mut world = World::new();
    let id = world.start("edit work.txt one").attempt.attempt.id;
    world.wait_until_told(id);
    let [before] = &world.run(world.engine().snapshots(id)).unwrap()[..] else { panic!("one snapshot") };
    world.crash();
    break_chain(&world, id);
    world.reopen();
    eventually("git collects garbage again", || {
        let output =
            Command::new("git").arg("-C").arg(&world.repository).args(["gc", "-q"]).output().unwrap();
        output.status.success().then_some(())
    });
    let after = world.run(world.engine().snapshots(id)).unwrap();
    assert!(after.iter().any(|one| one.id == before.id), "what was whole is still there");
}

#[test]
fn a_broken_chain_stops_neither_the_next_turn_nor_the_end_of_its_task() {
    let world = World::new();
    let began = world.start("edit work.txt one");
    let id = began.attempt.attempt.id;
    world.wait_until_told(id);
    break_chain(&world, id);
    world.run(world.engine().follow_up(id, FollowUp::new("edit work.txt two"), None)).unwrap();
    eventually("the next turn is kept", || {
        let snapshots = world.run(world.engine().snapshots(id)).unwrap();
        (snapshots.len() == 2 && world.attempt(id).attempt.state == AttemptState::Finished).then_some(())
    });
    assert_eq!(world.attempt(id).attempt.reason, None);
    world.wait_until_told(id);
    break_chain(&world, id);
    world.run(world.engine().delete_task(began.task.task.id)).unwrap();
    world.git(&["gc", "-q"]);
}
