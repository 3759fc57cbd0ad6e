//! Names of files: what is tracked, what is not, and what commits touched last.

use std::fs;

use crate::world::World;

#[test]
fn tracked_and_untracked_files_are_listed_once_and_ignored_ones_apart() {
    let world = World::new();
    let top = world.path("repo");
    fs::write(top.join("new \"one\"\n.txt"), "").unwrap();
    fs::write(top.join("ignored.env"), "").unwrap();
    fs::create_dir_all(top.join("ignored-dir/deep")).unwrap();
    fs::write(top.join("ignored-dir/deep/a"), "").unwrap();
    fs::create_dir(top.join("inner")).unwrap();
    world.run(&top.join("inner"), ["init", "-q"]);
    let listing = world.repo().files().unwrap();
    assert_eq!(listing.paths, [".gitignore", "a.txt", "inner/", "new \"one\"\n.txt", "sub/b.txt"]);
    assert!(!listing.is_cut);
    assert_eq!(world.repo().ignored_files().unwrap().paths, ["ignored-dir/", "ignored.env"]);
}

#[test]
fn what_a_newer_commit_touched_comes_first() {
    let world = World::new();
    let top = world.path("repo");
    let repo = world.repo();
    let first = repo.head().unwrap().unwrap();
    fs::write(top.join("sub/b.txt"), "again\n").unwrap();
    world.commit(&top, "second");
    let head = repo.head().unwrap().unwrap();
    assert_ne!(first, head);
    assert_eq!(
        repo.touched_files(&head, 10).unwrap(),
        ["sub/b.txt", ".gitignore", "a.txt", "sub/b.txt"],
        "every commit is read"
    );
    assert_eq!(repo.touched_files(&head, 1).unwrap(), ["sub/b.txt"]);
    assert_eq!(repo.touched_files(&first, 10).unwrap(), [".gitignore", "a.txt", "sub/b.txt"]);
    assert!(repo.touched_files("--output=/tmp/x", 1).is_err());
}

#[test]
fn a_repository_without_commits_has_files_and_no_head() {
    let world = World::empty();
    let top = world.path("repo");
    world.run(&world.path(""), ["init", "-q", "repo"]);
    fs::write(top.join("a"), "").unwrap();
    assert_eq!(world.repo().files().unwrap().paths, ["a"]);
    assert_eq!(world.repo().head().unwrap(), None);
}

#[test]
fn listing_runs_nothing_that_the_repository_names() {
    let world = World::new();
    let top = world.path("repo");
    let witness = world.path("witness");
    let program = world.path("program");
    fs::write(&program, format!("#!/bin/sh\necho ran >> {}\nexit 1\n", witness.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let program = program.to_str().unwrap();
    for key in ["core.fsmonitor", "diff.external", "gpg.program", "core.pager", "diff.evil.textconv"] {
        world.run(&top, ["config", key, program]);
    }
    world.run(&top, ["config", "log.showSignature", "true"]);
    fs::write(top.join(".gitattributes"), "* diff=evil\n").unwrap();
    let repo = world.repo();
    repo.files().unwrap();
    repo.ignored_files().unwrap();
    repo.touched_files(&repo.head().unwrap().unwrap(), 10).unwrap();
    assert!(!witness.exists());
}
