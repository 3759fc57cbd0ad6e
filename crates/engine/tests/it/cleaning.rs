//! Cleaning up worktrees: only on evidence, only into the trash, and everything comes back.

use std::fs;
use std::path::Path;

use forge_engine::{Cleaned, ConfigChange, FollowUp, TaskChange, What};
use forge_model::{Attempt, AttemptState, TaskStatus};
use serde_json::{Value, json};

use crate::world::{World, eventually, git};

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

fn configure(world: &World, worktrees: Value) {
    let change = json!({ "worktrees": worktrees });
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
}

fn expire_at_once(world: &World) {
    configure(world, json!({"expire_after_hours": 0}));
}

fn gc(world: &World, dry_run: bool) -> Cleaned {
    world.run(world.engine().gc(dry_run)).unwrap()
}

/// An attempt that is finished, with a file that git ignores and an ignored directory in its worktree.
fn finished(world: &World) -> Attempt {
    let started = world.start("edit work.txt text\nsay done");
    // Whoever adds up what it changed is inside until then.
    let attempt = world.wait_until_told(started.attempt.attempt.id).attempt;
    let exclude = world.repository.join(".git/info/exclude");
    fs::write(exclude, "node_modules/\n.env\n").unwrap();
    fs::write(attempt.worktree.join(".env"), "SECRET=1\n").unwrap();
    fs::create_dir_all(attempt.worktree.join("node_modules/left-pad")).unwrap();
    fs::write(attempt.worktree.join("node_modules/left-pad/index.js"), "x").unwrap();
    attempt
}

fn set_status(world: &World, attempt: &Attempt, status: TaskStatus) {
    let change = TaskChange { status: Some(status), ..TaskChange::default() };
    world.run(world.engine().update_task(attempt.task.unwrap(), change)).unwrap();
}

/// Every file beneath a directory with its content; git's own bookkeeping of worktrees is left out.
fn contents(top: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![top.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_archived_task_loses_its_worktree_and_gets_back_every_byte() {
    let world = World::new();
    let attempt = finished(&world);
    fs::write(attempt.worktree.join("loose.txt"), "not committed\n").unwrap();
    let before = contents(&attempt.worktree);
    set_status(&world, &attempt, TaskStatus::Archived);
    eventually("the worktree is gone", || (!attempt.worktree.exists()).then_some(()));
    eventually("and said to be", || world.attempt(attempt.id).attempt.worktree_deleted.then_some(()));
    let branch = format!("refs/heads/{}", attempt.branch);
    assert!(!world.git(&["rev-parse", &branch]).is_empty(), "the branch stays");
    world.run(world.engine().follow_up(attempt.id, follow("say again"), None)).unwrap();
    let back = world.wait_for(attempt.id, AttemptState::Finished).attempt;
    assert!(!back.worktree_deleted);
    let after = contents(&attempt.worktree);
    let without_link = |files: Vec<(String, Vec<u8>)>| {
        files.into_iter().filter(|(name, _)| name != ".git").collect::<Vec<_>>()
    };
    assert_eq!(without_link(after), without_link(before));
    world.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_dry_run_says_what_would_go_and_changes_nothing() {
    let world = World::new();
    let attempt = finished(&world);
    expire_at_once(&world);
    let (files, repository) = (contents(&attempt.worktree), contents(&world.repository));
    let said = gc(&world, true);
    assert_eq!(said.swept.len(), 1, "{said:?}");
    assert_eq!((said.swept[0].what, said.swept[0].attempt), (What::Worktree, Some(attempt.id)));
    assert!(said.swept[0].bytes.is_some_and(|bytes| bytes > 0));
    assert_eq!((contents(&attempt.worktree), contents(&world.repository)), (files, repository));
    let done = gc(&world, false);
    assert_eq!(done.swept.len(), 1, "{done:?}");
    assert!(!attempt.worktree.exists());
}

#[test]
fn a_worktree_with_a_process_inside_stays() {
    let world = World::new();
    let attempt = finished(&world);
    expire_at_once(&world);
    let mut sleeper =
        std::process::Command::new("sleep").arg("600").current_dir(&attempt.worktree).spawn().unwrap();
    let said = gc(&world, false);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(said.swept, []);
    assert_eq!(said.left[0].why, format!("process {} is inside", sleeper.id()));
    assert!(attempt.worktree.join("work.txt").exists());
}

#[test]
fn a_worktree_that_somebody_worked_in_since_its_last_turn_stays_for_another_time() {
    let world = World::new();
    let attempt = finished(&world);
    expire_at_once(&world);
    fs::write(attempt.worktree.join("by-hand.txt"), "mine\n").unwrap();
    let said = gc(&world, false);
    assert_eq!(said.swept, []);
    assert!(said.left[0].why.contains("somebody worked in it"), "{said:?}");
    let said = gc(&world, false);
    assert_eq!(said.swept.len(), 1, "untouched since: {said:?}");
    let kept = world.git(&["show", &format!("refs/forge/snapshots/{}:by-hand.txt", attempt.id)]);
    assert_eq!(kept, "mine");
}

#[test]
fn a_running_attempt_is_never_cleaned_up() {
    let world = World::new();
    let running = world.start("hang").attempt.attempt;
    expire_at_once(&world);
    set_status(&world, &running, TaskStatus::Archived);
    assert_eq!(gc(&world, false), Cleaned::default());
    assert!(running.worktree.exists());
    world.run(world.engine().stop_attempt(running.id)).unwrap();
}

#[test]
fn a_completed_task_loses_ignored_directories_first_and_keeps_ignored_files() {
    let world = World::new();
    let attempt = finished(&world);
    configure(&world, json!({"tidy_after_hours": 0}));
    set_status(&world, &attempt, TaskStatus::Done);
    let said = gc(&world, false);
    assert_eq!(said.swept.len(), 1, "{said:?}");
    assert_eq!(said.swept[0].what, What::Ignored);
    assert!(!attempt.worktree.join("node_modules").exists());
    assert_eq!(fs::read_to_string(attempt.worktree.join(".env")).unwrap(), "SECRET=1\n");
    assert_eq!(gc(&world, false).swept, []);
    world.run(world.engine().follow_up(attempt.id, follow("say again"), None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    assert!(attempt.worktree.join("node_modules/left-pad/index.js").exists());
}

#[test]
fn a_removal_that_broke_off_is_carried_out_and_can_still_be_undone() {
    let mut world = World::with_seam("gc.marked=hold:DIR/go");
    let attempt = finished(&world);
    expire_at_once(&world);
    let engine = world.engine().clone();
    let _gone = world.spawn(async move { engine.gc(false).await });
    let reached = world.dir.path().join("go.reached");
    eventually("it is marked", || reached.exists().then_some(()));
    world.restart();
    assert!(attempt.worktree.exists(), "it broke off before the files");
    let said = gc(&world, false);
    assert_eq!(said.swept.len(), 1, "{said:?}");
    assert!(!attempt.worktree.exists());
    world.run(world.engine().follow_up(attempt.id, follow("say again"), None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(fs::read_to_string(attempt.worktree.join(".env")).unwrap(), "SECRET=1\n");
}

#[test]
fn after_the_trash_was_emptied_what_was_not_committed_comes_from_the_snapshot() {
    let mut world = World::with_seam("back.made=hold:DIR/go");
    let attempt = finished(&world);
    fs::write(attempt.worktree.join("loose.txt"), "not committed\n").unwrap();
    fs::remove_file(attempt.worktree.join("README.md")).unwrap();
    set_status(&world, &attempt, TaskStatus::Archived);
    eventually("the worktree is gone", || (!attempt.worktree.exists()).then_some(()));
    let trash = world.home.join("trash").join(attempt.id.to_string());
    eventually("and in the trash", || {
        trash.join(attempt.worktree.file_name().unwrap()).exists().then_some(())
    });
    fs::remove_dir_all(&trash).unwrap();
    // The server dies between the checkout and the files of the snapshot.
    let (engine, id) = (world.engine().clone(), attempt.id);
    let _gone = world.spawn(async move { engine.follow_up(id, follow("say never"), None).await });
    let reached = world.dir.path().join("go.reached");
    eventually("it is checked out", || reached.exists().then_some(()));
    world.restart();
    world.run(world.engine().follow_up(attempt.id, follow("say again"), None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(fs::read_to_string(attempt.worktree.join("loose.txt")).unwrap(), "not committed\n");
    assert!(!attempt.worktree.join("README.md").exists());
    assert!(!attempt.worktree.join(".env").exists(), "ignored files were in the trash only");
}

#[test]
fn two_data_directories_share_a_root_and_never_touch_each_others_worktrees_nor_the_persons() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().join("worktrees");
    let (one, other) = (World::sharing(&root), World::sharing(&root));
    let (mine, theirs) = (finished(&one), finished(&other));
    let own = root.join("persons-own");
    one.git(&["worktree", "add", "--quiet", "-b", "own", own.to_str().unwrap()]);
    fs::write(own.join("wip.txt"), "mine\n").unwrap();
    fs::create_dir(root.join("notes")).unwrap();
    fs::write(root.join("notes/todo.txt"), "mine\n").unwrap();
    // A worktree of the first that its database does not know: as after a restored backup.
    let lost = root.join("lost");
    let reason = format!("forge {}", one.home.canonicalize().unwrap().display());
    let add = ["worktree", "add", "--quiet", "--lock", "--reason", &reason, "-b", "forge/lost"];
    one.git(&[&add[..], &[lost.to_str().unwrap()]].concat());
    fs::write(lost.join("unseen.txt"), "precious\n").unwrap();
    expire_at_once(&one);
    expire_at_once(&other);
    let before = (contents(&theirs.worktree), contents(&own), contents(&root.join("notes")));

    let said = gc(&one, false);
    let swept: Vec<_> = said.swept.iter().map(|swept| swept.path.clone()).collect();
    assert_eq!(swept, [mine.worktree, lost]);
    assert_eq!((contents(&theirs.worktree), contents(&own), contents(&root.join("notes"))), before);
    assert_eq!(one.git(&["show", "refs/forge/strays/lost:unseen.txt"]), "precious");

    let said = gc(&other, false);
    let swept: Vec<_> = said.swept.iter().map(|swept| swept.path.clone()).collect();
    assert_eq!(swept, [theirs.worktree]);
    assert!(own.join("wip.txt").exists() && root.join("notes/todo.txt").exists());
    git(&own, &["status", "--porcelain"]);
}
