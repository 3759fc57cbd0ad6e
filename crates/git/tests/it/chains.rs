//! Chains of snapshots made shorter, and worktrees moved to another commit.

use std::fs;

use forge_git::{Error, Tally};

use crate::world::{World, snapshot_request};

const REFERENCE: &str = "refs/forge/snapshots/x";

#[test]
fn a_chain_made_anew_keeps_files_and_commits_of_what_is_kept() {
    let world = World::new();
    let worktree = world.worktree("one");
    let (repo, top) = (world.repo(), worktree.path());
    let mut oids = Vec::new();
    for text in ["one", "two", "three", "four"] {
        fs::write(top.join("a.txt"), text).unwrap();
        if text == "three" {
            world.commit(top, "work");
        }
        oids.push(worktree.snapshot(&snapshot_request()).unwrap().oid);
    }
    let pairs: Vec<_> = oids.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let one = Some(Tally { changed: 1, ..Tally::default() });
    assert_eq!(repo.count_changes(&pairs).unwrap(), [one; 3]);

    let keep = [false, true, false, true];
    let chain: Vec<_> = oids.iter().cloned().zip(keep).collect();
    let made = repo.rechain(&chain).unwrap();
    assert_eq!(repo.rechain(&chain).unwrap(), made, "whoever is broken off makes the same again");
    let show = |what: &str, oid: &str| world.run(top, ["log", "-1", &format!("--format={what}"), oid]);
    assert_eq!(made.len(), 2);
    for (old, new) in [(1, 0), (3, 1)] {
        assert_eq!(show("%T %an %ad %s", &made[new]), show("%T %an %ad %s", &oids[old]));
    }
    let base = world.run(top, ["rev-parse", "main"]);
    assert_eq!(show("%P", &made[0]), base);
    assert_eq!(show("%P", &made[1]), format!("{} {}", made[0], worktree.head().unwrap()));
    assert!(repo.move_snapshots(REFERENCE, &oids[3], &made[1]).unwrap());
    assert!(!repo.move_snapshots(REFERENCE, &oids[3], &made[1]).unwrap(), "it has moved");
    assert_eq!(repo.newest_snapshot(REFERENCE).unwrap().as_ref(), made.last());
    let bytes = repo.snapshot_bytes(&[REFERENCE.to_string()]).unwrap();
    assert!(bytes > 0 && bytes < 5000, "{bytes}");
    let next = worktree.snapshot(&snapshot_request()).unwrap();
    assert!(next.unchanged, "the newest is the same state as before");
    world.run(top, ["fsck", "--strict"]);
}

#[test]
fn a_worktree_moves_with_its_branch_and_ignored_files_stand_in_the_way() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    let base = worktree.head().unwrap();
    fs::write(top.join("kept.txt"), "kept\n").unwrap();
    let with = world.commit(top, "with");
    fs::write(top.join("a.txt"), "dirty\n").unwrap();
    assert!(
        worktree.reset_to(&world.run(top, ["rev-parse", "main"]), false).is_ok(),
        "a.txt does not differ"
    );
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "dirty\n");
    assert_eq!((worktree.head().unwrap(), top.join("kept.txt").exists()), (base.clone(), false));
    worktree.reset_to(&with, true).unwrap();
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "one\n");
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    worktree.reset_to(&base, false).unwrap();
    fs::write(top.join(".git-exclude"), "").unwrap();
    fs::write(world.path("repo/.git/info/exclude"), "kept.txt\n").unwrap();
    fs::write(top.join("kept.txt"), "ignored here, and only here\n").unwrap();
    assert!(matches!(worktree.reset_to(&with, true), Err(Error::Unsaved { .. })));
    assert_eq!(fs::read_to_string(top.join("kept.txt")).unwrap(), "ignored here, and only here\n");
}
