//! Where worktrees lie: a root that is moved, and links for tools that know an older place.

use std::fs;

use forge_engine::{ConfigChange, Options};
use forge_model::{Attempt, AttemptState};
use serde_json::json;

use crate::world::{World, eventually, options};

fn move_root(world: &mut World, to: serde_json::Value) {
    let change = json!({"workspace_dir": to});
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    world.restart();
}

fn delete(world: &World, attempt: &Attempt) {
    world.run(world.engine().delete_task(attempt.task.unwrap())).unwrap();
    assert!(!attempt.worktree.exists());
    let name = attempt.worktree.file_name().unwrap();
    assert!(world.home.join("trash").join(name).join("made.txt").exists(), "{name:?} is in the trash");
}

#[test]
fn a_root_that_was_moved_is_for_new_attempts_and_the_others_are_looked_after_where_they_are() {
    let mut world = World::new();
    let elsewhere = world.dir.path().join("elsewhere");
    let first = world.rested("edit made.txt first");
    let second = world.rested("edit made.txt second");
    move_root(&mut world, json!(elsewhere));
    let third = world.rested("edit made.txt third");
    assert!(third.worktree.starts_with(&elsewhere), "{third:?}");
    assert!(first.worktree.starts_with(world.home.join("worktrees")));
    world.land(&first).unwrap();
    delete(&world, &first);
    let cleaned = world.run(world.engine().gc(false)).unwrap();
    assert!(cleaned.swept.is_empty() && cleaned.left.is_empty(), "{cleaned:?}");
    // What lies in a root that was left is still ours, after the next move too.
    move_root(&mut world, serde_json::Value::Null);
    delete(&world, &third);
    world.run(world.engine().recover(third.task.unwrap().to_string())).unwrap();
    assert!(third.worktree.join("made.txt").exists());
    delete(&world, &second);
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn every_worktree_has_a_link_where_older_tools_look_and_it_goes_with_the_worktree() {
    let mut world = World::new();
    let older = world.dir.path().join("older/worktrees");
    let before = world.rested("edit made.txt before");
    world.restart_as(Options { older_place: Some(older.clone()), ..options(&world.home, "") });
    let link = |attempt: &Attempt| older.join(attempt.worktree.file_name().unwrap());
    assert_eq!(fs::read_link(link(&before)).unwrap(), before.worktree, "those that there were have one too");
    let started = world.start("edit made.txt after");
    let after = world.wait_for(started.attempt.attempt.id, AttemptState::Finished).attempt;
    eventually("it has its link", || link(&after).join("made.txt").exists().then_some(()));
    delete(&world, &before);
    assert!(fs::symlink_metadata(link(&before)).is_err());
    world.run(world.engine().recover(before.task.unwrap().to_string())).unwrap();
    world.restart_as(Options { older_place: Some(older.clone()), ..options(&world.home, "") });
    assert!(link(&before).join("made.txt").exists());
}

#[test]
fn an_older_place_that_somebody_uses_is_left_alone() {
    let mut world = World::new();
    let older = world.dir.path().join("older/worktrees");
    fs::create_dir_all(older.join("vk-1234-theirs")).unwrap();
    world.restart_as(Options { older_place: Some(older.clone()), ..options(&world.home, "") });
    let attempt = world.rested("edit made.txt text");
    delete(&world, &attempt);
    let names: Vec<_> = fs::read_dir(&older).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["vk-1234-theirs"]);
}
