//! Making worktrees small: ignored directories are moved aside and back, and nothing else is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::world::World;

#[test]
fn ignored_directories_move_aside_and_back_and_ignored_files_stay() {
    let world = World::new();
    let worktree = world.worktree("task");
    let top = worktree.path().to_path_buf();
    for dir in ["ignored-build/deep", "sub/ignored-cache", "ignored-repo/.git", "plain"] {
        fs::create_dir_all(top.join(dir)).unwrap();
        fs::write(top.join(dir).join("file"), dir).unwrap();
    }
    fs::write(top.join("ignored.env"), "SECRET").unwrap();
    let found = worktree.ignored_directories().unwrap();
    assert_eq!(found, [PathBuf::from("ignored-build"), PathBuf::from("sub/ignored-cache")]);
    let place = world.path("trash/ignored");
    worktree.move_aside(&found, &place).unwrap();
    assert!(!top.join("ignored-build").exists() && !top.join("sub/ignored-cache").exists());
    assert!(top.join("ignored.env").exists() && top.join("plain/file").exists());
    worktree.move_back(&place).unwrap();
    assert_eq!(fs::read_to_string(top.join("ignored-build/deep/file")).unwrap(), "ignored-build/deep");
    assert_eq!(fs::read_to_string(top.join("sub/ignored-cache/file")).unwrap(), "sub/ignored-cache");
    assert!(!place.exists());
}

#[test]
fn what_has_taken_a_directorys_place_is_never_written_over_nor_followed() {
    let world = World::new();
    let worktree = world.worktree("task");
    let top = worktree.path().to_path_buf();
    for dir in ["ignored-one", "sub/ignored-two"] {
        fs::create_dir_all(top.join(dir)).unwrap();
        fs::write(top.join(dir).join("file"), "old").unwrap();
    }
    let place = world.path("trash/ignored");
    worktree.move_aside(&worktree.ignored_directories().unwrap(), &place).unwrap();
    fs::create_dir(top.join("ignored-one")).unwrap();
    fs::write(top.join("ignored-one/file"), "new").unwrap();
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(top.join("sub")).unwrap();
    symlink(&elsewhere, top.join("sub")).unwrap();
    worktree.move_back(&place).unwrap();
    assert_eq!(fs::read_to_string(top.join("ignored-one/file")).unwrap(), "new");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(place.join("files/ignored-one/file")).unwrap(), "old");
}
