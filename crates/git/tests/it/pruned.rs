//! Commits and snapshots beside a git that removes whatever no reference leads to.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use forge_git::{CommitRequest, Committed, Error, Limits, SnapshotRequest};

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

/// Has the repository's hook remove the first commit that it sees, after git has written it into its commit graph.
fn remove_the_first_commit(world: &World) {
    let body = "[ -e ../removed ] && exit 0; touch ../removed\n\
        oid=$(git rev-parse HEAD); store=$(git rev-parse --git-common-dir)/objects\n\
        git commit-graph write --reachable\n\
        rm -f $store/$(echo $oid | cut -c1-2)/$(echo $oid | cut -c3-)";
    world.script(&world.path("repo/.git/hooks/post-commit"), body);
    // What is made again is another commit, as it is when a second has passed.
    let other = "[ ! -e ../removed ] || echo again >> \"$1\"";
    world.script(&world.path("repo/.git/hooks/prepare-commit-msg"), other);
}

#[test]
fn a_commit_that_only_the_commit_graph_names_is_made_again() {
    let world = World::new();
    let worktree = world.worktree("one");
    let before = worktree.head().unwrap();
    remove_the_first_commit(&world);
    fs::write(worktree.path().join("a.txt"), "changed\n").unwrap();
    let commit = worktree.commit_all(&commit_request("turn".into())).unwrap();
    assert!(world.path("worktrees/removed").exists(), "the hook did not run, so the test proves nothing");
    let Committed::Commit { oid } = commit.committed else { panic!("{commit:?}") };
    assert_eq!(worktree.head().unwrap(), oid);
    assert_eq!(world.run(worktree.path(), ["rev-parse", "HEAD^"]), before);
    assert_eq!(
        world.run(worktree.path(), ["reflog", "show", "--format=%gs", "forge/one"]).lines().count(),
        2
    );
    // The commit graph names the lost commit until git writes it anew.
    world.run(&world.path("repo"), ["gc", "-q"]);
    assert_whole(&world, &world.path("repo"));
}

#[test]
fn a_branch_whose_only_commit_is_removed_is_not_deleted() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["checkout", "-q", "--orphan", "unborn"]);
    remove_the_first_commit(&world);
    let error = worktree.commit_all(&commit_request("turn".into())).unwrap_err();
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(world.path("repo/.git/refs/heads/unborn").exists());
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("unborn"));
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
