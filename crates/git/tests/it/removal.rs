//! Removing worktrees: nothing is deleted, and nothing that is not ours is touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use forge_git::{Error, Repo};

use crate::world::World;

#[test]
fn a_removed_worktree_lies_in_the_trash_with_every_file() {
    let world = World::new();
    let (repo, worktree) = (world.repo(), world.worktree("one"));
    fs::write(worktree.path().join("ignored.env"), "SECRET=1\n").unwrap();
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let trash = remove(&world, &repo, worktree.path()).unwrap().unwrap();
    assert!(trash.starts_with(world.path("trash")));
    assert_eq!(fs::read_to_string(trash.join("ignored.env")).unwrap(), "SECRET=1\n");
    assert_eq!(fs::read_to_string(trash.join("new.txt")).unwrap(), "new\n");
    assert!(!worktree.path().exists());
    assert_eq!(repo.worktrees().unwrap().len(), 1);
    assert!(repo.resolve_branch("forge/one").is_ok(), "the branch stays");
}

#[test]
fn two_worktrees_of_the_same_name_do_not_meet_in_the_trash() {
    let world = World::new();
    let (repo, mut places) = (world.repo(), Vec::new());
    for text in ["first", "second"] {
        let worktree = world.worktree("one");
        fs::write(worktree.path().join("new.txt"), text).unwrap();
        places.push(remove(&world, &repo, worktree.path()).unwrap().unwrap());
        repo.delete_branch_at("forge/one", &repo.resolve_branch("main").unwrap()).unwrap();
    }
    assert_eq!(fs::read_to_string(places[0].join("new.txt")).unwrap(), "first");
    assert_eq!(fs::read_to_string(places[1].join("new.txt")).unwrap(), "second");
}

#[test]
fn a_directory_that_is_gone_already_only_loses_its_entry() {
    let world = World::new();
    let (repo, one, two) = (world.repo(), world.worktree("one"), world.worktree("two"));
    fs::remove_dir_all(one.path()).unwrap();
    fs::remove_dir_all(two.path()).unwrap();
    assert_eq!(remove(&world, &repo, one.path()).unwrap(), None);
    let left: Vec<_> = repo.worktrees().unwrap().into_iter().map(|worktree| worktree.path).collect();
    assert_eq!(left, [world.path("repo"), two.path().to_path_buf()], "no other entry is pruned");
    assert_eq!(remove(&world, &repo, one.path()).unwrap(), None, "a second time changes nothing");
}

#[test]
fn the_persons_checkout_is_refused_whatever_the_root_says() {
    let world = World::new();
    let repo = world.repo();
    world.run(&world.path("repo"), ["worktree", "add", "-q", "-b", "side", "../side"]);
    for (path, root) in [("repo", ""), ("repo/sub", "repo"), ("home", ""), ("side", "worktrees")] {
        fs::create_dir_all(world.path("worktrees")).unwrap();
        let result =
            repo.remove_worktree_to_trash(&world.path(path), &world.path("trash"), &world.path(root));
        assert!(matches!(result, Err(Error::NotOurWorktree { .. })), "{path}: {result:?}");
        assert!(world.path(path).exists());
    }
    // A linked worktree is the person's checkout when that is what was opened.
    let side = world.git.open(&world.path("side")).unwrap();
    let result = side.remove_worktree_to_trash(&world.path("side"), &world.path("trash"), &world.path(""));
    assert!(matches!(result, Err(Error::NotOurWorktree { .. })), "{result:?}");
    assert!(world.path("side/a.txt").exists() && world.path("repo/a.txt").exists());
}

#[test]
fn what_only_looks_like_a_worktree_is_refused() {
    let world = World::new();
    let (repo, worktree) = (world.repo(), world.worktree("one"));
    let root = world.path("worktrees");

    fs::create_dir(root.join("plain")).unwrap();
    fs::create_dir(root.join("copy")).unwrap();
    fs::copy(worktree.path().join(".git"), root.join("copy/.git")).unwrap();
    symlink(world.path("repo"), root.join("link")).unwrap();
    world.run(&world.path(""), ["clone", "-q", "repo", "worktrees/clone"]);
    world.run(&root.join("clone"), ["worktree", "add", "-q", "-b", "theirs", "../foreign"]);
    for name in ["plain", "copy", "link", "clone", "foreign", "../repo", "."] {
        let result = remove(&world, &repo, &root.join(name));
        assert!(matches!(result, Err(Error::NotOurWorktree { .. })), "{name}: {result:?}");
        assert!(root.join(name).exists());
    }
    assert!(worktree.is_clean().unwrap());
}

#[test]
fn a_worktree_whose_git_file_was_taken_away_is_left_where_it_is() {
    let world = World::new();
    let (repo, worktree) = (world.repo(), world.worktree("one"));
    fs::remove_file(worktree.path().join(".git")).unwrap();
    assert!(matches!(remove(&world, &repo, worktree.path()), Err(Error::NotOurWorktree { .. })));
    assert!(worktree.path().join("a.txt").exists());
    assert_eq!(repo.worktrees().unwrap().len(), 2);
}

#[test]
fn commits_inside_a_submodule_go_into_the_trash_too() {
    let world = World::new();
    world.run(&world.path(""), ["init", "-q", "library"]);
    fs::write(world.path("library/l.txt"), "library\n").unwrap();
    world.commit(&world.path("library"), "library");
    let allow = ["-c", "protocol.file.allow=always", "submodule", "-q"];
    world.run(&world.path("repo"), allow.into_iter().chain(["add", "../library", "lib"]));
    world.commit(&world.path("repo"), "submodule");

    let worktree = world.worktree("one");
    world.run(worktree.path(), ["config", "submodule.lib.url", world.path("library").to_str().unwrap()]);
    world.run(worktree.path(), allow.into_iter().chain(["update", "--init"]));
    fs::write(worktree.path().join("lib/l.txt"), "changed\n").unwrap();
    let inner = world.commit(&worktree.path().join("lib"), "only here");
    let trash = remove(&world, &world.repo(), worktree.path()).unwrap().unwrap();
    // Its config still names the old place of its files, so it is told another.
    let (kept, files) = (trash.join(".git-modules/lib"), trash.join("lib"));
    let places = ["--git-dir", kept.to_str().unwrap(), "--work-tree", files.to_str().unwrap()];
    assert_eq!(world.run(&trash, places.into_iter().chain(["cat-file", "-t", &inner])), "commit");
    assert_eq!(world.repo().worktrees().unwrap().len(), 1);
}

fn remove(world: &World, repo: &Repo, path: &Path) -> forge_git::Result<Option<std::path::PathBuf>> {
    repo.remove_worktree_to_trash(path, &world.path("trash"), &world.path("worktrees"))
}
