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
    let (made, _kept) = repo.rechain(&chain).unwrap();
    assert_eq!(repo.rechain(&chain).unwrap().0, made, "whoever is broken off makes the same again");
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

/// Takes snapshots whose objects lie open in the store, as an older Forge left them.
fn open_snapshots(world: &World, texts: &[&str]) -> (forge_git::Worktree, Vec<String>) {
    let worktree = world.worktree("one");
    let oids = texts.iter().map(|text| {
        fs::write(worktree.path().join("a.txt"), text).unwrap();
        worktree.snapshot(&snapshot_request()).unwrap().oid
    });
    let oids = oids.collect();
    let packs = world.path("repo/.git/objects/pack");
    for entry in fs::read_dir(&packs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "pack") {
            let moved = world.path("moved.pack");
            fs::rename(&path, &moved).unwrap();
            fs::remove_file(path.with_extension("idx")).unwrap();
            let unpack = format!("git unpack-objects -q < {}", moved.display());
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &unpack]).current_dir(world.path("repo"));
            assert!(shell.status().unwrap().success());
        }
    }
    (worktree, oids)
}

fn remove_object(world: &World, oid: &str) {
    fs::remove_file(world.path("repo/.git/objects").join(&oid[..2]).join(&oid[2..])).unwrap();
}

#[test]
fn a_link_that_only_the_commit_graph_names_is_missed() {
    let world = World::new();
    let (worktree, oids) = open_snapshots(&world, &["one", "two", "three"]);
    let (repo, base) = (world.repo(), worktree.head().unwrap());
    world.run(&world.path("repo"), ["commit-graph", "write", "--reachable"]);
    let chains = [(REFERENCE.to_string(), base.clone())];
    assert_eq!(repo.broken_chains(&chains).unwrap(), Vec::<String>::new());
    remove_object(&world, &oids[1]);
    assert_eq!(repo.broken_chains(&chains).unwrap(), [REFERENCE]);
    assert_eq!(repo.mend_chain(REFERENCE, &oids, &base).unwrap().lost, [oids[1].clone()]);
}

#[test]
fn a_chain_without_a_link_is_found_and_made_whole_of_the_others() {
    // A commit in the middle, one at the tip, and a file.
    for lost in ["two", "three", "one's file"] {
        let world = World::new();
        let (worktree, oids) = open_snapshots(&world, &["one", "two", "three"]);
        let (repo, top) = (world.repo(), world.path("repo"));
        let base = worktree.head().unwrap();
        let chains = [(REFERENCE.to_string(), base.clone())];
        assert_eq!(repo.broken_chains(&chains).unwrap(), Vec::<String>::new());
        let gone = match lost {
            "two" => 1,
            "three" => 2,
            _ => 0,
        };
        let object = if gone == 0 {
            world.run(&top, ["rev-parse", &format!("{}:a.txt", oids[0])])
        } else {
            oids[gone].clone()
        };
        remove_object(&world, &object);
        assert!(!world.attempt(&top, ["gc", "-q"]).0, "{lost}: nothing is broken, so this proves nothing");

        assert_eq!(repo.broken_chains(&chains).unwrap(), [REFERENCE], "{lost}");
        let mended = repo.mend_chain(REFERENCE, &oids, &base).unwrap();
        assert_eq!(mended.lost, [oids[gone].clone()], "{lost}");
        let whole: Vec<&String> = oids.iter().filter(|oid| **oid != oids[gone]).collect();
        assert_eq!(mended.becomes.iter().map(|(old, _)| old).collect::<Vec<_>>(), whole);
        let again = repo.mend_chain(REFERENCE, &oids, &base).unwrap();
        assert_eq!(again.becomes, mended.becomes, "whoever is broken off makes the same again");
        assert!(mended.put(&repo).unwrap());
        drop(again);
        assert_eq!(repo.broken_chains(&chains).unwrap(), Vec::<String>::new());
        world.run(&top, ["gc", "-q"]);
        let next = worktree.snapshot(&snapshot_request()).unwrap();
        assert_eq!(next.unchanged, lost != "three", "{lost}");
    }
}

#[test]
fn a_chain_of_which_nothing_is_left_goes() {
    let world = World::new();
    let (worktree, oids) = open_snapshots(&world, &["one"]);
    let repo = world.repo();
    remove_object(&world, &oids[0]);
    fs::write(worktree.path().join("a.txt"), "other").unwrap();
    let error = worktree.snapshot(&snapshot_request()).unwrap_err();
    assert!(matches!(&error, Error::BrokenChain { tip, .. } if *tip == oids[0]), "{error:?}");
    let mended = repo.mend_chain(REFERENCE, &oids, &worktree.head().unwrap()).unwrap();
    assert!(mended.becomes.is_empty() && mended.put(&repo).unwrap());
    assert_eq!(repo.newest_snapshot(REFERENCE).unwrap(), None);
    assert!(worktree.snapshot(&snapshot_request()).unwrap().parent.is_none());
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
