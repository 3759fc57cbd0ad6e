//! Pushing an attempt's branch to real bare repositories.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use forge_engine::{ErrorKind, PushedAttempt, Result};
use forge_model::{AttemptId, AttemptState};

use crate::local_github::{HEADER, LocalGitHub};
use crate::smart_http::Door;
use crate::world::{World, git};

/// A world whose repository has a bare one on the disk as its remote.
fn with_origin() -> (World, PathBuf) {
    let world = World::new();
    let bare = world.dir.path().join("origin.git");
    git(world.dir.path(), &["clone", "--quiet", "--bare", world.repository.to_str().unwrap(), "origin.git"]);
    world.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
    (world, bare)
}

/// An attempt that has made a commit.
fn done(world: &World) -> (AttemptId, String, PathBuf) {
    let started = world.start("edit new.txt new");
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    (view.attempt.id, view.attempt.branch, view.attempt.worktree)
}

fn push(world: &World, id: AttemptId) -> Result<PushedAttempt> {
    world.run(world.engine().push_attempt(id))
}

fn script(path: &Path, body: &str) {
    let mut command = Command::new("/bin/sh");
    command.args([
        "-c",
        "mkdir -p \"$(dirname \"$1\")\"; printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"",
        "sh",
    ]);
    assert!(command.arg(path).arg(body).status().unwrap().success());
}

#[test]
fn what_is_left_is_committed_first_and_the_person_is_told() {
    let (world, bare) = with_origin();
    let (id, branch, worktree) = done(&world);
    let first = push(&world, id).unwrap();
    assert_eq!((first.remote.as_str(), first.committed.as_deref()), ("origin", None));
    assert_eq!(git(&bare, &["rev-parse", &branch]), first.commit);
    std::fs::write(worktree.join("left.txt"), "left\n").unwrap();
    let config = std::fs::read(world.repository.join(".git/config")).unwrap();
    let second = push(&world, id).unwrap();
    assert_eq!(second.committed.as_deref(), Some(second.commit.as_str()));
    assert_eq!(git(&bare, &["show", &format!("{branch}:left.txt")]), "left");
    let message = git(&bare, &["log", "-1", "--format=%B", &branch]);
    assert!(message.starts_with("a task\n") && message.contains("before it was pushed"), "{message}");
    assert_eq!(std::fs::read(world.repository.join(".git/config")).unwrap(), config);
    assert_eq!(push(&world, id).unwrap(), PushedAttempt { committed: None, ..second }, "again is as good");
}

#[test]
fn each_refusal_is_told_in_gits_words_and_moves_nothing() {
    let (world, bare) = with_origin();
    let (id, branch, worktree) = done(&world);
    let refused = |code: &str, words: &str| {
        let error = push(&world, id).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some(code)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    script(&world.repository.join(".git/hooks/pre-push"), "echo tests are red >&2; exit 1");
    refused("hook_failed", "tests are red");
    std::fs::remove_file(world.repository.join(".git/hooks/pre-push")).unwrap();
    script(&bare.join("hooks/pre-receive"), "echo only on weekdays >&2; exit 1");
    refused("remote_rejected", "only on weekdays");
    std::fs::remove_file(bare.join("hooks/pre-receive")).unwrap();
    let pushed = push(&world, id).unwrap().commit;
    // Somebody else pushed to the branch meanwhile.
    let other = world.dir.path().join("other");
    git(world.dir.path(), &["clone", "--quiet", "--branch", &branch, bare.to_str().unwrap(), "other"]);
    let commit =
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--allow-empty", "-m", "theirs"];
    git(&other, &commit);
    git(&other, &["push", "--quiet", "origin", &branch]);
    let theirs = git(&bare, &["rev-parse", &branch]);
    std::fs::write(worktree.join("more.txt"), "more\n").unwrap();
    refused("non_fast_forward", "[rejected]");
    assert_eq!(git(&bare, &["rev-parse", &branch]), theirs);
    assert_ne!(pushed, theirs);
    world.git(&["remote", "remove", "origin"]);
    refused("no_remote", "git remote add origin");
}

#[test]
fn a_pre_commit_hook_that_fails_keeps_what_is_left_and_the_branch_here() {
    let (world, bare) = with_origin();
    let (id, branch, worktree) = done(&world);
    script(&world.repository.join(".git/hooks/pre-commit"), "echo no tabs >&2; exit 1");
    std::fs::write(worktree.join("left.txt"), "left\n").unwrap();
    let error = push(&world, id).unwrap_err();
    assert_eq!(error.code(), Some("hook_failed"));
    assert!(error.to_string().contains("no tabs") && error.to_string().contains("push again"), "{error}");
    assert_eq!(git(&bare, &["for-each-ref", &format!("refs/heads/{branch}")]), "");
    assert_eq!(std::fs::read_to_string(worktree.join("left.txt")).unwrap(), "left\n");
}

#[test]
fn work_in_progress_is_not_committed_under_the_agents_hands() {
    let (world, bare) = with_origin();
    let started = world.start("edit new.txt new\nask May I?");
    let (id, branch) = (started.attempt.attempt.id, started.attempt.attempt.branch);
    world.wait_for_ask(id);
    let error = push(&world, id).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("busy")), "{error}");
    assert_eq!(git(&bare, &["for-each-ref", &format!("refs/heads/{branch}")]), "");
}

#[test]
fn a_server_that_wants_a_login_gets_the_token_and_only_when_it_asks() {
    let github = LocalGitHub::start();
    let world = World::with_github(github.options(Duration::from_secs(3600)));
    let bare = github.host("octocat/demo", &world.repository);
    world.git(&["remote", "add", "origin", &github.url("octocat/demo")]);
    let (id, branch, worktree) = done(&world);
    let pushed = push(&world, id).unwrap();
    assert_eq!(git(&bare, &["rev-parse", &branch]), pushed.commit);
    let seen = github.http.seen();
    assert_eq!(seen[0], None, "the person's own way goes first");
    assert_eq!(seen.last().unwrap().as_deref(), Some(HEADER));
    let before = seen.len();
    github.http.set(Door::Open);
    std::fs::write(worktree.join("more.txt"), "more\n").unwrap();
    push(&world, id).unwrap();
    assert!(github.http.seen()[before..].iter().all(Option::is_none), "nobody asked for it");
    // A token that is not taken is told without being shown.
    github.http.set(Door::Locked("Basic other".into()));
    std::fs::write(worktree.join("most.txt"), "most\n").unwrap();
    let error = push(&world, id).unwrap_err();
    assert_eq!(error.code(), Some("login_required"), "{error}");
    assert!(!format!("{error:?}").contains("planted") && !format!("{error:?}").contains(&HEADER[6..]));
    let log = git(&world.repository, &["config", "--list", "--show-origin"]);
    assert!(!log.contains("planted") && !log.contains(&HEADER[6..]), "{log}");
}
