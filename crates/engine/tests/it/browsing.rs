//! Looking around: inside the home and the projects, and nowhere else.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use forge_engine::{Listing, NewProject, OUTSIDE, ProjectChange, Result};

use crate::world::{World, make_repository};

fn person(world: &World) -> PathBuf {
    let person = world.dir.path().canonicalize().unwrap().join("person");
    std::fs::create_dir_all(&person).unwrap();
    person
}

fn list(world: &World, path: &Path) -> Result<Listing> {
    world.run(world.engine().list_directory(Some(path.to_path_buf())))
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn directories_come_first_and_what_is_hidden_stays_so() {
    let world = World::new();
    let person = person(&world);
    for dir in ["beta", "Alpha", ".hidden"] {
        std::fs::create_dir(person.join(dir)).unwrap();
    }
    make_repository(&person.join("zeta"));
    std::fs::write(person.join("a file"), "").unwrap();
    let listing = world.run(world.engine().list_directory(None)).unwrap();
    assert_eq!(listing.path, person);
    assert_eq!(names(&listing), ["Alpha", "beta", "zeta", "a file"]);
    let kinds: Vec<_> = listing.entries.iter().map(|e| (e.is_directory, e.is_git_repo)).collect();
    assert_eq!(kinds, [(true, false), (true, false), (true, true), (false, false)]);
    assert!(list(&world, &world.repository).is_ok(), "a project may be looked at");
    assert_eq!(list(&world, &person.join("gone")).unwrap_err().to_string(), "Directory does not exist");
    assert_eq!(list(&world, &person.join("a file")).unwrap_err().to_string(), "Path is not a directory");
}

#[test]
fn nothing_outside_is_shown_by_whatever_way() {
    let world = World::new();
    let person = person(&world);
    let secret = world.dir.path().join("secret");
    std::fs::create_dir_all(secret.join("deep")).unwrap();
    symlink(&secret, person.join("out")).unwrap();
    std::fs::create_dir(person.join("real")).unwrap();
    symlink(person.join("real"), person.join("in")).unwrap();
    let ways = [
        secret,
        person.join("out"),
        person.join("out/deep"),
        person.join("out/not there"),
        person.join("../secret"),
        PathBuf::from("/"),
        PathBuf::from("/etc/not there"),
        PathBuf::from("relative"),
    ];
    for way in ways {
        let error = list(&world, &way).unwrap_err();
        assert_eq!(error.code(), Some(OUTSIDE), "{}: {error}", way.display());
        let search = world.run(world.engine().find_repositories(Some(way)));
        assert_eq!(search.unwrap_err().code(), Some(OUTSIDE));
    }
    let listing = world.run(world.engine().list_directory(None)).unwrap();
    let kinds: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.is_directory)).collect();
    assert_eq!(kinds, [("in", true), ("real", true), ("out", false)]);
    assert!(list(&world, &person.join("in")).is_ok(), "a link that stays inside may be followed");
}

#[test]
fn repositories_are_found_but_not_in_dull_places_nor_through_links() {
    let world = World::new();
    let person = person(&world);
    let outside = make_repository(&world.dir.path().join("elsewhere/repo"));
    let deep = make_repository(&person.join("code/a/b"));
    let near = make_repository(&person.join("near"));
    make_repository(&near.join("inside"));
    make_repository(&person.join("node_modules/x"));
    make_repository(&person.join(".cache/x"));
    make_repository(&person.join("1/2/3/4/too-deep"));
    symlink(outside.parent().unwrap(), person.join("linked")).unwrap();
    symlink(&person, person.join("loop")).unwrap();
    let found = world.run(world.engine().find_repositories(None)).unwrap();
    let mut paths: Vec<_> = found.iter().map(|entry| entry.path.clone()).collect();
    paths.sort();
    assert_eq!(paths, [deep, near]);
    assert!(found.iter().all(|entry| entry.is_git_repo && entry.seconds_since_change.is_some()));
}

#[test]
fn an_attempts_worktree_is_no_project_and_a_default_branch_must_be_there() {
    let world = World::new();
    let worktree = world.start("say hi").attempt.attempt.worktree;
    let new = NewProject { name: "again".into(), path: worktree, ..NewProject::default() };
    let error = world.run(world.engine().create_project(new)).unwrap_err();
    assert!(error.to_string().contains("is a worktree of a Forge attempt"), "{error}");
    let change = |branch: &str| {
        let default_base_branch = Some(Some(branch.to_string()));
        let change = ProjectChange { default_base_branch, ..ProjectChange::default() };
        world.run(world.engine().update_project(world.project, change))
    };
    assert_eq!(change("main").unwrap().default_base_branch.as_deref(), Some("main"));
    let error = change("nowhere").unwrap_err();
    assert!(error.to_string().starts_with("`default_base_branch`: there is no branch nowhere"), "{error}");
}
