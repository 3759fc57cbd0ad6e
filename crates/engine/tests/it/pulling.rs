//! How a project's checkout stands to its remote, and pulling it forward.

use std::path::PathBuf;
use std::time::Duration;

use forge_engine::{ErrorKind, ProjectBranch, Pulled};
use forge_model::ProjectId;

use crate::local_github::LocalGitHub;
use crate::world::{World, git};

/// A world whose repository has a bare one on the disk as its remote.
fn with_origin() -> (World, PathBuf) {
    let world = World::new();
    let bare = world.dir.path().join("origin.git");
    git(world.dir.path(), &["clone", "--quiet", "--bare", world.repository.to_str().unwrap(), "origin.git"]);
    world.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
    (world, bare)
}

/// Somebody else writes a file and pushes it.
fn theirs(world: &World, bare: &std::path::Path, name: &str) -> String {
    let other = world.dir.path().join("other");
    if !other.exists() {
        git(world.dir.path(), &["clone", "--quiet", bare.to_str().unwrap(), "other"]);
        git(&other, &["config", "user.name", "Bob"]);
        git(&other, &["config", "user.email", "bob@example.org"]);
    }
    std::fs::write(other.join(name), "theirs\n").unwrap();
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "--quiet", "--message=theirs"]);
    git(&other, &["push", "--quiet", "origin", "main"]);
    git(&other, &["rev-parse", "HEAD"])
}

fn look(world: &World) -> ProjectBranch {
    world.run(world.engine().project_branch(world.project, "main".into())).unwrap()
}

fn pull(world: &World) -> Pulled {
    world.run(world.engine().pull_project(world.project)).unwrap()
}

fn refusal(world: &World) -> String {
    match pull(world) {
        Pulled::Refused { message, details } => format!("{message}: {details}"),
        other => panic!("{other:?}"),
    }
}

/// What a look must not change: every reference but ours, the index, the config.
fn persons(world: &World) -> (String, Vec<u8>, Vec<u8>) {
    let refs = world.git(&["for-each-ref", "--exclude=refs/forge"]);
    let read = |name: &str| std::fs::read(world.repository.join(".git").join(name)).unwrap();
    (refs + &world.git(&["status", "--porcelain"]), read("index"), read("config"))
}

#[test]
fn a_look_fetches_and_counts_and_moves_nothing_of_the_persons() {
    let (world, bare) = with_origin();
    theirs(&world, &bare, "one.txt");
    theirs(&world, &bare, "two.txt");
    world.git(&["commit", "--quiet", "--allow-empty", "--message=mine"]);
    std::fs::write(world.repository.join("README.md"), "edited\n").unwrap();
    std::fs::write(world.repository.join("new.txt"), "new\n").unwrap();
    let before = persons(&world);
    let seen = look(&world);
    assert_eq!((seen.base.as_str(), seen.ahead_behind), ("main", Some((1, 2))));
    let standing = seen.standing.unwrap();
    assert_eq!((standing.uncommitted, standing.untracked), (1, 1));
    assert_eq!(persons(&world), before);
    std::fs::remove_dir_all(&bare).unwrap();
    let seen = look(&world);
    assert!(seen.ahead_behind.is_none() && seen.standing.is_some(), "{seen:?}");
    let nobody = world.run(world.engine().project_branch(ProjectId::random(), "main".into()));
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_pull_moves_the_checkout_forward_and_keeps_edits_of_other_files() {
    let (world, bare) = with_origin();
    assert_eq!(pull(&world), Pulled::UpToDate { branch: "main".into() });
    let newest = theirs(&world, &bare, "one.txt");
    std::fs::write(world.repository.join("README.md"), "edited\n").unwrap();
    assert_eq!(pull(&world), Pulled::Forward { branch: "main".into(), commits: 1 });
    assert_eq!(world.git(&["rev-parse", "main"]), newest);
    assert_eq!(world.git(&["rev-parse", "refs/remotes/origin/main"]), newest, "git status tells the truth");
    assert_eq!(world.git(&["status", "--porcelain"]).trim(), "M README.md");
    assert_eq!(std::fs::read_to_string(world.repository.join("README.md")).unwrap(), "edited\n");
    assert_eq!(std::fs::read_to_string(world.repository.join("one.txt")).unwrap(), "theirs\n");
    world.git(&["commit", "--quiet", "--all", "--message=mine"]);
    assert_eq!(pull(&world), Pulled::UpToDate { branch: "main".into() }, "ahead is up to date");
}

#[test]
fn a_file_in_the_way_is_named_and_nothing_moves() {
    let (world, bare) = with_origin();
    let start = world.git(&["rev-parse", "main"]);
    theirs(&world, &bare, "README.md");
    std::fs::write(world.repository.join("README.md"), "edited\n").unwrap();
    let told = refusal(&world);
    assert!(told.contains("README.md"), "{told}");
    world.git(&["checkout", "--quiet", "README.md"]);
    theirs(&world, &bare, "ignored.txt");
    std::fs::write(world.repository.join(".git/info/exclude"), "ignored.txt\n").unwrap();
    std::fs::write(world.repository.join("ignored.txt"), "mine\n").unwrap();
    let told = refusal(&world);
    assert!(told.contains("ignored.txt"), "{told}");
    assert_eq!(std::fs::read_to_string(world.repository.join("ignored.txt")).unwrap(), "mine\n");
    assert_eq!(world.git(&["rev-parse", "main"]), start);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn branches_that_have_diverged_are_told_with_both_counts_and_nothing_moves() {
    let (world, bare) = with_origin();
    theirs(&world, &bare, "one.txt");
    world.git(&["commit", "--quiet", "--allow-empty", "--message=mine"]);
    let mine = world.git(&["rev-parse", "main"]);
    let told = refusal(&world);
    assert!(told.contains("main has 1 commits") && told.contains("has 1 that are not here"), "{told}");
    assert_eq!(world.git(&["rev-parse", "main"]), mine);
}

#[test]
fn what_cannot_be_pulled_is_said_and_is_no_error() {
    let (world, bare) = with_origin();
    world.git(&["checkout", "--quiet", "-b", "other"]);
    assert!(refusal(&world).contains("has no branch other"));
    world.git(&["checkout", "--quiet", "--detach", "main"]);
    assert!(refusal(&world).contains("on no branch"));
    world.git(&["checkout", "--quiet", "main"]);
    std::fs::remove_dir_all(&bare).unwrap();
    assert!(refusal(&world).contains("Could not fetch from origin"));
    world.git(&["remote", "remove", "origin"]);
    assert!(refusal(&world).contains("has no remote for main"));
}

#[test]
fn a_private_repository_is_fetched_with_the_token_when_it_asks_for_a_login() {
    let github = LocalGitHub::start();
    let world = World::with_github(github.options(Duration::from_secs(3600)));
    let bare = github.host("octocat/demo", &world.repository);
    world.git(&["remote", "add", "origin", &github.url("octocat/demo")]);
    theirs(&world, &bare, "one.txt");
    assert_eq!(look(&world).ahead_behind, Some((0, 1)));
    assert_eq!(pull(&world), Pulled::Forward { branch: "main".into(), commits: 1 });
}
