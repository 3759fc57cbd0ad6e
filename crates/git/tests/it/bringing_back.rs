//! Bringing worktrees back: every byte that was kept, and nothing written over.

use std::fs;

use forge_git::{Error, Return, Returned};

use crate::world::World;

#[test]
fn a_worktree_comes_back_from_the_trash_with_every_byte_it_had() {
    let world = World::new();
    let repo = world.repo();
    let path = world.worktree("task").path().to_path_buf();
    fs::write(path.join("a.txt"), "edited\n").unwrap();
    fs::write(path.join("new.txt"), "untracked\n").unwrap();
    fs::write(path.join("ignored.env"), "secret\n").unwrap();
    fs::remove_file(path.join("sub/b.txt")).unwrap();
    let (trash, root) = (world.path("trash"), world.path("worktrees"));
    let trashed = repo.remove_worktree_to_trash(&path, &trash, &root).unwrap();
    assert!(trashed.is_some() && !path.exists());
    let wanted = Return {
        path: path.clone(),
        branch: "forge/task".into(),
        tip: None,
        lock_reason: "in use by forge".into(),
        trash: trashed.clone(),
    };
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Trash);
    assert_eq!(fs::read_to_string(path.join("ignored.env")).unwrap(), "secret\n");
    let status = world.run(&path, ["status", "--porcelain"]);
    assert_eq!(status, " M a.txt\n D sub/b.txt\n?? new.txt");
    assert!(!trashed.unwrap().exists());
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Nothing);
    world.run(&path, ["fsck", "--no-dangling"]);
}

#[test]
fn a_worktree_without_trash_comes_back_from_its_branch_or_its_last_tip() {
    let world = World::new();
    let repo = world.repo();
    let path = world.worktree("task").path().to_path_buf();
    fs::write(path.join("a.txt"), "committed\n").unwrap();
    let tip = world.commit(&path, "work");
    let wanted = Return {
        path: path.clone(),
        branch: "forge/task".into(),
        tip: Some(tip.clone()),
        lock_reason: "in use by forge".into(),
        trash: None,
    };
    // Somebody deleted the directory by hand: the entry is still there, and locked.
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Branch);
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "committed\n");
    repo.remove_worktree_to_trash(&path, &world.path("trash"), &world.path("worktrees")).unwrap();
    world.run(&world.path("repo"), ["branch", "-D", "forge/task"]);
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Branch);
    assert_eq!(world.run(&path, ["rev-parse", "forge/task"]), tip);
}

#[test]
fn a_worktree_whose_repository_was_moved_is_mended() {
    let world = World::new();
    let path = world.worktree("task").path().to_path_buf();
    fs::rename(world.path("repo"), world.path("moved")).unwrap();
    let repo = world.git.open(&world.path("moved")).unwrap();
    let wanted = Return {
        path: path.clone(),
        branch: "forge/task".into(),
        tip: None,
        lock_reason: "in use by forge".into(),
        trash: None,
    };
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Mended);
    assert_eq!(world.run(&path, ["status", "--porcelain"]), "");
    // What stands in the way and is no worktree of ours stays as it is.
    repo.remove_worktree_to_trash(&path, &world.path("trash"), &world.path("worktrees")).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "mine").unwrap();
    assert!(matches!(repo.bring_worktree_back(&wanted), Err(Error::NotOurWorktree { .. })));
    assert_eq!(fs::read_to_string(path.join("precious")).unwrap(), "mine");
}

#[test]
fn a_return_that_broke_off_is_taken_up_again() {
    let world = World::new();
    let repo = world.repo();
    let path = world.worktree("task").path().to_path_buf();
    fs::write(path.join("new.txt"), "untracked\n").unwrap();
    let trashed = repo.remove_worktree_to_trash(&path, &world.path("trash"), &world.path("worktrees"));
    let trashed = trashed.unwrap().unwrap();
    let wanted = Return {
        path: path.clone(),
        branch: "forge/task".into(),
        tip: None,
        lock_reason: "in use by forge".into(),
        trash: Some(trashed.clone()),
    };
    // As a crash leaves it: registered, and some of the files moved.
    world.run(
        &world.path("repo"),
        ["worktree", "add", "-q", "--no-checkout", path.to_str().unwrap(), "forge/task"],
    );
    fs::rename(trashed.join("a.txt"), path.join("a.txt")).unwrap();
    assert_eq!(repo.bring_worktree_back(&wanted).unwrap(), Returned::Trash);
    assert_eq!(world.run(&path, ["status", "--porcelain"]), "?? new.txt");
    assert!(!trashed.exists());
}
