//! A git that is missing or too old is one sentence with its remedy, and nothing is begun.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{Running, World};

#[test]
fn a_machine_without_git_is_told_to_install_it() {
    let world = World::new();
    let mut command = world.forge(&["serve", "--port", "0"]);
    command.env("PATH", world.path("nothing-here"));
    let ended = Running::start(command).end();
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("git was not found on PATH; install git 2.41 or newer"), "{ended:?}");
    assert_eq!(ended.stderr.trim().lines().count(), 1, "{ended:?}");
}

#[test]
fn a_git_that_is_too_old_is_named_with_its_version() {
    let world = World::new();
    let bin = world.path("old");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("git"), "#!/bin/sh\necho git version 2.39.5\n").unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path =
        std::env::join_paths([bin.as_path()].into_iter().chain([std::path::Path::new("/bin")])).unwrap();
    let mut command = world.forge(&["serve", "--port", "0"]);
    command.env("PATH", path);
    let ended = Running::start(command).end();
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("git 2.39.5") && ended.stderr.contains("too old"), "{ended:?}");
}
