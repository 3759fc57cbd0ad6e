//! Listing, resolving and deleting branches, with names that git's own rules decide on.

use std::fs;

use forge_git::{Error, check_branch_name};

use crate::world::World;

#[test]
fn the_current_branch_comes_first_and_then_the_newest() {
    let world = World::new();
    let directory = world.path("repo");
    for (name, date) in [("old", "2001-01-01T00:00:00Z"), ("new", "2031-01-01T00:00:00Z")] {
        world.run(&directory, ["switch", "-q", "-c", name]);
        let tree = world.run(&directory, ["rev-parse", "HEAD^{tree}"]);
        let ident = format!("Person <p@example.com> {date}");
        let text = format!("tree {tree}\nauthor {0}\ncommitter {0}\n\n{name}\n", stamp(&ident));
        fs::write(world.path("commit"), text).unwrap();
        let file = world.path("commit");
        let oid = world.run(&directory, ["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
        world.run(&directory, ["update-ref", &format!("refs/heads/{name}"), &oid]);
    }
    world.run(&directory, ["symbolic-ref", "HEAD", "refs/heads/old"]);
    world.run(&directory, ["update-ref", "refs/remotes/origin/main", "refs/heads/main"]);
    world.run(&directory, ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);

    let branches = world.repo().branches().unwrap();
    let names: Vec<_> = branches.iter().map(|branch| (branch.name.as_str(), branch.is_remote)).collect();
    assert_eq!(names, [("old", false), ("new", false), ("main", false), ("origin/main", true)]);
    assert!(branches[0].is_current && !branches[1].is_current);
    assert_eq!(branches[0].last_commit_secs, 978_307_200);
}

#[test]
fn a_detached_head_has_no_branch() {
    let world = World::new();
    world.run(&world.path("repo"), ["checkout", "-q", "--detach"]);
    assert_eq!(world.repo().current_branch().unwrap(), None);
    assert!(world.repo().branches().unwrap().iter().all(|branch| !branch.is_current));
}

#[test]
fn a_local_branch_is_preferred_to_a_remote_one_of_the_same_name() {
    let world = World::new();
    let directory = world.path("repo");
    let first = world.repo().resolve_branch("main").unwrap();
    let second = world.commit(&directory, "second");
    world.run(&directory, ["update-ref", "refs/remotes/origin/x", &first]);
    assert_eq!(world.repo().resolve_branch("origin/x").unwrap(), first);
    world.run(&directory, ["update-ref", "refs/heads/origin/x", &second]);
    assert_eq!(world.repo().resolve_branch("origin/x").unwrap(), second);
}

#[test]
fn a_branch_that_is_not_there_is_named_with_its_repository() {
    let world = World::new();
    // A branch below the name is not the branch.
    world.run(&world.path("repo"), ["branch", "dir/leaf"]);
    for name in ["nope", "dir"] {
        let error = world.repo().resolve_branch(name).unwrap_err();
        assert!(matches!(&error, Error::NoSuchBranch { branch, .. } if branch == name), "{error}");
    }
}

#[test]
fn names_are_judged_as_git_judges_them() {
    let world = World::new();
    let names = [
        "main",
        "a/b",
        "forge/1a2b-fix",
        "ümlaut",
        "a-b",
        "a@b",
        "a{b",
        "x.y",
        "1",
        "-x",
        "--force",
        "",
        "/a",
        "a/",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a..b",
        "a b",
        "a\tb",
        "a\nb",
        "a~b",
        "a^b",
        "a:b",
        "a?b",
        "a*b",
        "a[b",
        "a\\b",
        "a@{b",
        "@{-1}",
        "a.",
        "HEAD",
        "a\u{7f}b",
        "HEAD/x",
        "@/x",
    ];
    for name in names {
        let (theirs, _) = world.attempt(&world.path("repo"), ["check-ref-format", "--branch", name]);
        assert_eq!(check_branch_name(name).is_ok(), theirs, "{name:?}");
    }
    // Git takes this one for a branch in one place and for HEAD in the others.
    assert!(check_branch_name("@").is_err());
}

#[test]
fn a_name_that_looks_like_an_option_is_refused_even_if_such_a_branch_exists() {
    let world = World::new();
    world.run(&world.path("repo"), ["update-ref", "refs/heads/--force", "HEAD"]);
    let error = world.repo().resolve_branch("--force").unwrap_err();
    assert!(matches!(error, Error::BadName { .. }));
    assert!(world.repo().branches().unwrap().iter().any(|branch| branch.name == "--force"));
}

#[test]
fn a_branch_is_deleted_only_where_it_was_last_seen() {
    let world = World::new();
    let (repo, directory) = (world.repo(), world.path("repo"));
    let first = repo.resolve_branch("main").unwrap();
    world.run(&directory, ["branch", "side"]);
    let second = world.commit(&directory, "second");

    assert!(matches!(repo.delete_branch_at("side", &second), Err(Error::BranchMoved { .. })));
    assert_eq!(repo.resolve_branch("side").unwrap(), first);
    repo.delete_branch_at("side", &first).unwrap();
    assert!(matches!(repo.delete_branch_at("side", &first), Err(Error::NoSuchBranch { .. })));
    assert!(matches!(repo.delete_branch_at("main", &second), Err(Error::BranchInUse { .. })));
    assert!(matches!(repo.delete_branch_at("-d", &first), Err(Error::BadName { .. })));
}

/// Writes a date as git stores it.
fn stamp(ident: &str) -> String {
    ident
        .replace("2001-01-01T00:00:00Z", "978307200 +0000")
        .replace("2031-01-01T00:00:00Z", "1924992000 +0000")
}
