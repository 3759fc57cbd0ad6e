//! Finding git, and opening what is or is not a repository.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use forge_git::{Error, Git};

use crate::world::World;

#[test]
fn without_git_on_path_the_remedy_is_named() {
    let world = World::empty();
    let environment = [(OsString::from("PATH"), world.path("home").into_os_string())];
    let error = Git::find_in(environment).unwrap_err();
    assert!(matches!(error, Error::Missing));
    assert!(error.to_string().contains("install git 2.41 or newer"));
    assert!(matches!(Git::at(Path::new("/nowhere/git")), Err(Error::Missing)));
}

#[test]
fn a_git_that_is_too_old_is_refused_with_its_version_and_place() {
    let world = World::empty();
    let program = world.path("old/git");
    world.script(&program, "echo git version 2.40.1");
    let error = Git::at(&program).unwrap_err().to_string();
    assert!(
        error.contains("git 2.40.1") && error.contains("old/git") && error.contains("2.41 or newer"),
        "{error}"
    );
    world.script(&program, "echo hello");
    assert!(matches!(Git::at(&program), Err(Error::NotGit { .. })));
}

#[test]
fn a_repository_is_found_from_anywhere_inside_it() {
    let world = World::new();
    let repo = world.git.open(&world.path("repo/sub")).unwrap();
    assert_eq!(repo.top(), world.path("repo"));
    assert_eq!(repo.common_dir(), world.path("repo/.git"));
    assert!(repo.has_commits().unwrap());
}

#[test]
fn a_linked_worktree_of_the_person_is_a_repository_too() {
    let world = World::new();
    world.run(&world.path("repo"), ["worktree", "add", "-q", "-b", "side", "../side"]);
    let repo = world.git.open(&world.path("side")).unwrap();
    assert_eq!(repo.top(), world.path("side"));
    assert_eq!(repo.common_dir(), world.path("repo/.git"));
    assert_eq!(repo.current_branch().unwrap().as_deref(), Some("side"));
}

#[test]
fn what_is_not_a_checkout_is_refused_by_what_it_is() {
    let world = World::new();
    world.run(&world.path(""), ["init", "-q", "--bare", "bare.git"]);
    let open = |name: &str| world.git.open(&world.path(name)).unwrap_err();
    assert!(matches!(open("missing"), Error::NoSuchPath { .. }));
    assert!(matches!(open("repo/a.txt"), Error::NotADirectory { .. }));
    assert!(matches!(open("home"), Error::NotARepository { .. }));
    assert!(matches!(open("bare.git"), Error::Bare { .. }));
    assert!(matches!(open("repo/.git"), Error::NoCheckout { .. }));
}

#[test]
fn a_checkout_that_config_moves_elsewhere_is_refused() {
    let world = World::new();
    let elsewhere = world.path("home");
    world.run(&world.path("repo"), ["config", "core.worktree", elsewhere.to_str().unwrap()]);
    assert!(matches!(world.git.open(&world.path("repo")), Err(Error::NoCheckout { .. })));
}

#[test]
fn a_repository_without_commits_says_so() {
    let world = World::empty();
    world.run(&world.path(""), ["init", "-q", "repo"]);
    let repo = world.repo();
    assert!(!repo.has_commits().unwrap());
    assert_eq!(repo.current_branch().unwrap().as_deref(), Some("main"));
    assert!(repo.branches().unwrap().is_empty());
    assert!(matches!(repo.resolve_branch("main"), Err(Error::NoCommits { .. })));
}

#[test]
fn variables_of_a_surrounding_repository_are_not_obeyed() {
    let world = World::new();
    world.run(&world.path(""), ["init", "-q", "other"]);
    let mut environment = world.environment();
    environment.push(("GIT_DIR".into(), world.path("other/.git").into()));
    environment.push(("GIT_INDEX_FILE".into(), world.path("nowhere").into()));
    let repo = Git::find_in(environment).unwrap().open(&world.path("repo")).unwrap();
    assert_eq!(repo.common_dir(), world.path("repo/.git"));
}

#[test]
fn small_questions_about_commits_are_answered() {
    let world = World::new();
    let repo = world.repo();
    let first = repo.resolve_branch("main").unwrap();
    fs::write(world.path("repo/c.txt"), "three\n").unwrap();
    let second = world.commit(&world.path("repo"), "second: with a colon");
    assert!(repo.is_ancestor(&first, &second).unwrap());
    assert!(!repo.is_ancestor(&second, &first).unwrap());
    assert_eq!(repo.commit_subject(&second).unwrap(), "second: with a colon");
    assert!(matches!(repo.commit_subject("--all"), Err(Error::NoSuchCommit { .. })));
}

#[test]
fn a_new_repository_has_a_main_branch_with_one_empty_commit() {
    let world = World::empty();
    // The person's template brings a hook that would refuse every commit.
    world.script(&world.path("template/hooks/pre-commit"), "exit 1");
    let template = world.path("template");
    world.run(&world.path(""), ["config", "--global", "init.templateDir", template.to_str().unwrap()]);
    fs::create_dir(world.path("repo")).unwrap();
    fs::write(world.path("repo/file.txt"), "there before\n").unwrap();
    world.git.init(&world.path("repo")).unwrap();
    let repo = world.repo();
    assert_eq!(repo.current_branch().unwrap().as_deref(), Some("main"));
    let first = repo.resolve_branch("main").unwrap();
    assert_eq!(world.run(repo.top(), ["ls-tree", &first]), "");
    assert_eq!(world.run(repo.top(), ["status", "--porcelain"]), "?? file.txt");
}
