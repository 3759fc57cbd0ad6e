//! Commits and snapshots beside a git that removes whatever no reference leads to.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use forge_git::{CommitRequest, Committed, Limits, SnapshotRequest};

use crate::world::{World, snapshot_request};

const WORKTREES: usize = 4;
const TURNS: usize = 125;

fn commit_request(message: String) -> CommitRequest {
    CommitRequest {
        message,
        time_limit: Duration::from_secs(120),
        run_hooks: true,
        limits: Limits::default(),
    }
}

/// Checks that every object is there that a reference, an index or a log leads to.
fn assert_whole(world: &World, directory: &Path) {
    world.run(directory, ["rev-list", "--objects", "--quiet", "--all", "--reflog", "--indexed-objects"]);
    world.run(directory, ["fsck", "--connectivity-only", "--no-dangling"]);
    world.run(directory, ["gc", "-q"]);
}

#[test]
fn five_hundred_turn_ends_beside_gc_and_prune_lose_nothing() {
    let world = World::new();
    let repo = world.path("repo");
    let over = AtomicBool::new(false);
    let prunes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let beside = |arguments: &'static [&'static str]| {
            let (world, over, prunes, repo) = (&world, &over, &prunes, &repo);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    // It may fail beside another of its kind; what counts is what it removes.
                    let _ended = world.attempt(repo, arguments);
                    prunes.fetch_add(1, Ordering::Relaxed);
                }
            });
        };
        beside(&["gc", "-q", "--prune=now"]);
        beside(&["prune", "--expire=now"]);
        let turns: Vec<_> = (0..WORKTREES)
            .map(|number| {
                let world = &world;
                scope.spawn(move || {
                    let worktree = world.worktree(&format!("w{number}"));
                    let reference = format!("refs/forge/snapshots/w{number}");
                    for turn in 0..TURNS {
                        let top = worktree.path();
                        fs::write(top.join("own.txt"), format!("{number} {turn}\n")).unwrap();
                        fs::create_dir_all(top.join(format!("deep/{turn}"))).unwrap();
                        // What another worktree writes too: git finds it in the store, and it is held by nothing.
                        fs::write(top.join(format!("deep/{turn}/same.txt")), format!("{turn}\n")).unwrap();
                        let commit = worktree.commit_all(&commit_request(format!("turn {turn}"))).unwrap();
                        let Committed::Commit { oid } = &commit.committed else {
                            panic!("{number} {turn}: {commit:?}")
                        };
                        // A git that looks while another replaces packs may miss an object that is there.
                        let seen = (0..100).any(|_| worktree.head().is_ok_and(|head| head == *oid));
                        assert!(seen, "{number} {turn}");
                        // What a turn that failed leaves behind.
                        fs::write(top.join("left.txt"), format!("{}\n", turn % 7)).unwrap();
                        fs::write(top.join("a.txt"), format!("{number} {turn} again\n")).unwrap();
                        let request = SnapshotRequest { reference: reference.clone(), ..snapshot_request() };
                        let snapshot = worktree.snapshot(&request).unwrap();
                        assert!(!snapshot.unchanged && snapshot.left_out.is_empty());
                    }
                })
            })
            .collect();
        let ended: Vec<_> = turns.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        for turn in ended {
            turn.unwrap();
        }
    });
    assert!(prunes.into_inner() > TURNS, "too little was pruned for this to say anything");
    assert_whole(&world, &repo);
    for number in 0..WORKTREES {
        let count =
            |reference: String| world.run(&repo, ["rev-list", "--count", "--first-parent", &reference]);
        assert_eq!(count(format!("refs/heads/forge/w{number}")), (TURNS + 1).to_string());
        // Every snapshot, and under the first of them every commit until then.
        assert_eq!(count(format!("refs/forge/snapshots/w{number}")), (TURNS + 2).to_string());
    }
    // Nothing is left of what kept them, and there are not more packs than git bears.
    let packs = fs::read_dir(repo.join(".git/objects/pack")).unwrap();
    let names: Vec<String> = packs.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.ends_with(".keep")), "{names:?}");
}
