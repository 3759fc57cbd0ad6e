//! Adding worktrees: all or nothing, and many at once.

use std::fs;
use std::thread;

use forge_git::{Error, NewWorktree};

use crate::world::World;

#[test]
fn a_worktree_has_its_files_its_branch_and_its_lock() {
    let world = World::new();
    let worktree = world.worktree("one");
    assert_eq!(fs::read_to_string(worktree.path().join("sub/b.txt")).unwrap(), "two\n");
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert_eq!(worktree.head().unwrap(), world.repo().resolve_branch("main").unwrap());
    assert!(worktree.is_clean().unwrap());
    assert_eq!(world.run(worktree.path(), ["status", "--porcelain"]), "");

    let listed = world.repo().worktrees().unwrap();
    assert!(listed[0].is_main && listed[0].path == world.path("repo") && listed[0].locked.is_none());
    assert_eq!(listed[1].path, worktree.path());
    assert_eq!(listed[1].branch.as_deref(), Some("forge/one"));
    assert_eq!(listed[1].locked.as_deref(), Some("in use by forge"));
    assert!(!listed[1].is_prunable);
}

#[test]
fn a_worktree_is_opened_again_and_a_stranger_is_not() {
    let world = World::new();
    let worktree = world.worktree("one");
    let repo = world.repo();
    assert_eq!(repo.worktree(worktree.path()).unwrap().git_dir(), worktree.git_dir());
    for stranger in ["repo", "home"] {
        assert!(matches!(repo.worktree(&world.path(stranger)), Err(Error::NotOurWorktree { .. })));
    }
    assert!(matches!(repo.worktree(&world.path("nowhere")), Err(Error::NoSuchPath { .. })));

    world.run(&world.path(""), ["clone", "-q", "repo", "other"]);
    world.run(&world.path("other"), ["worktree", "add", "-q", "../foreign"]);
    assert!(matches!(repo.worktree(&world.path("foreign")), Err(Error::NotOurWorktree { .. })));

    // A copy of a worktree has a `.git` file that leads to the original's entry, which does not lead back.
    fs::create_dir(world.path("copy")).unwrap();
    fs::copy(worktree.path().join(".git"), world.path("copy/.git")).unwrap();
    assert!(matches!(repo.worktree(&world.path("copy")), Err(Error::NotOurWorktree { .. })));
}

#[test]
fn an_existing_branch_is_never_taken_over() {
    let world = World::new();
    let repo = world.repo();
    world.run(&world.path("repo"), ["branch", "forge/one"]);
    let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
    assert!(matches!(error, Error::BranchTaken { .. }));
    assert!(repo.resolve_branch("forge/one").is_ok());
    assert_nothing_is_left(&world, "one");
}

#[test]
fn a_branch_called_like_the_prefix_is_named_in_the_refusal() {
    let world = World::new();
    let repo = world.repo();
    world.run(&world.path("repo"), ["branch", "forge"]);
    let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
    assert!(matches!(&error, Error::BranchClash { existing, .. } if existing == "forge"), "{error}");
    world.run(&world.path("repo"), ["branch", "-q", "-m", "forge", "forge/one/deeper"]);
    let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
    assert!(
        matches!(&error, Error::BranchClash { existing, .. } if existing == "forge/one/deeper"),
        "{error}"
    );
    assert_nothing_is_left(&world, "one");
}

#[test]
fn a_base_that_is_not_there_is_refused() {
    let world = World::new();
    let repo = world.repo();
    let tree = world.run(&world.path("repo"), ["rev-parse", "HEAD^{tree}"]);
    for base_oid in ["1".repeat(40), "HEAD".into(), "--detach".into(), tree] {
        let new = NewWorktree { base_oid, ..world.new_worktree(&repo, "one") };
        assert!(matches!(repo.add_worktree(&new), Err(Error::NoSuchCommit { .. })), "{new:?}");
    }
    assert_nothing_is_left(&world, "one");
    assert!(matches!(repo.resolve_branch("forge/one"), Err(Error::NoSuchBranch { .. })));
}

#[test]
fn a_path_that_is_taken_or_cannot_be_made_leaves_nothing_behind() {
    let world = World::new();
    let repo = world.repo();
    let new = NewWorktree { path: world.path("repo/sub"), ..world.new_worktree(&repo, "one") };
    assert!(matches!(repo.add_worktree(&new), Err(Error::PathTaken { .. })));
    let new = NewWorktree { path: world.path("repo/a.txt/one"), ..new };
    assert!(matches!(repo.add_worktree(&new), Err(Error::Io { .. })));
    // A directory that nobody can write to, not even root.
    let new = NewWorktree { path: "/proc/self/one".into(), ..new };
    let error = repo.add_worktree(&new).unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
    assert!(matches!(repo.resolve_branch("forge/one"), Err(Error::NoSuchBranch { .. })));
    assert_eq!(repo.worktrees().unwrap().len(), 1);
}

#[test]
fn a_checkout_that_fails_half_way_is_undone() {
    let world = World::new();
    let directory = world.path("repo");
    // The person's own filter may run, is required, and fails.
    world.run(&directory, ["config", "--global", "filter.broken.clean", "cat"]);
    world.run(&directory, ["config", "--global", "filter.broken.smudge", "false"]);
    world.run(&directory, ["config", "--global", "filter.broken.required", "true"]);
    fs::write(directory.join(".gitattributes"), "sub/* filter=broken\n").unwrap();
    world.commit(&directory, "attributes");
    let repo = world.repo();
    let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
    assert_nothing_is_left(&world, "one");
    assert!(matches!(repo.resolve_branch("forge/one"), Err(Error::NoSuchBranch { .. })));
}

#[test]
fn fifty_worktrees_at_once_all_come_to_be() {
    let world = World::new();
    let repo = world.repo();
    thread::scope(|scope| {
        for number in 0..50 {
            // Half of them ask through a repository that was opened anew; the queue is the same.
            let repo = if number % 2 == 0 { repo.clone() } else { world.repo() };
            let new = world.new_worktree(&repo, &format!("w{number}"));
            scope.spawn(move || assert!(repo.add_worktree(&new).unwrap().is_clean().unwrap()));
        }
    });
    assert_eq!(repo.worktrees().unwrap().len(), 51);
    world.run(&world.path("repo"), ["fsck", "--strict"]);
}

#[test]
fn a_thousand_files_are_written_by_workers_and_come_out_the_same() {
    let world = World::new();
    for number in 0..1100 {
        fs::write(world.path(&format!("repo/f{number}")), format!("{number}\n")).unwrap();
    }
    world.commit(&world.path("repo"), "many");
    let worktree = world.worktree("one");
    assert!(worktree.is_clean().unwrap());
    assert_eq!(fs::read_to_string(worktree.path().join("f1099")).unwrap(), "1099\n");
}

#[test]
fn a_reftable_repository_works_like_any_other() {
    let world = World::empty();
    let (is_known, _) = world.attempt(&world.path(""), ["init", "-q", "--ref-format=reftable", "repo"]);
    if !is_known {
        return;
    }
    fs::write(world.path("repo/a.txt"), "one\n").unwrap();
    world.commit(&world.path("repo"), "first");
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new"), "new\n").unwrap();
    let snapshot = worktree.snapshot(&crate::world::snapshot_request()).unwrap();
    assert_eq!(world.run(&world.path("repo"), ["show", &format!("{}:new", snapshot.oid)]), "new");
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    let repo = world.repo();
    repo.remove_worktree_to_trash(worktree.path(), &world.path("trash"), &world.path("worktrees")).unwrap();
    repo.delete_branch_at("forge/one", &repo.resolve_branch("main").unwrap()).unwrap();
}

#[test]
fn a_sha256_repository_works_like_any_other() {
    let world = World::empty();
    world.run(&world.path(""), ["init", "-q", "--object-format=sha256", "repo"]);
    fs::write(world.path("repo/a.txt"), "one\n").unwrap();
    world.commit(&world.path("repo"), "first");
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new"), "new\n").unwrap();
    let snapshot = worktree.snapshot(&crate::world::snapshot_request()).unwrap();
    assert_eq!(world.run(&world.path("repo"), ["show", &format!("{}:new", snapshot.oid)]), "new");
}

fn assert_nothing_is_left(world: &World, name: &str) {
    assert!(!world.path("worktrees").join(name).exists());
    assert_eq!(world.repo().worktrees().unwrap().len(), 1);
}
