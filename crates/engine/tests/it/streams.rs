//! A stream is the tail of something durable from a position.

use forge_engine::{Change, LogEnd};
use forge_model::AttemptState;

use crate::world::World;

#[test]
fn everything_that_changed_is_told_once_in_its_newest_form() {
    let world = World::new();
    let before = *world.engine().bell().borrow();
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    world.wait_until_told(id);
    let changes = world.run(world.engine().changes(before)).unwrap();
    assert!(!changes.resync);
    let attempts: Vec<_> = changes
        .items
        .iter()
        .filter_map(|item| match &item.change {
            Change::Attempt { id, added, value, .. } => Some((*id, *added, value.clone().unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].0, attempts[0].1), (id, true));
    assert_eq!(attempts[0].2.attempt.state, AttemptState::Finished);
    assert_eq!(changes.seq, *world.engine().bell().borrow());
    assert!(world.run(world.engine().changes(changes.seq)).unwrap().items.is_empty());
}

#[test]
fn a_position_at_the_edge_of_numbers_is_unknown() {
    let world = World::new();
    for after in [i64::MIN, -1, i64::MAX] {
        assert!(world.run(world.engine().changes(after)).unwrap().resync, "{after}");
    }
}

#[test]
fn a_removed_thing_is_told_as_removed() {
    let world = World::new();
    let started = world.start("say hi");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let before = *world.engine().bell().borrow();
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    let changes = world.run(world.engine().changes(before)).unwrap();
    let gone = changes.items.iter().any(
        |item| matches!(&item.change, Change::Task { id, value: None, .. } if *id == started.task.task.id),
    );
    assert!(gone, "{changes:?}");
}

#[test]
fn a_position_that_never_was_asks_for_a_new_beginning() {
    let world = World::new();
    let newest = *world.engine().bell().borrow();
    assert!(world.run(world.engine().changes(newest + 1)).unwrap().resync);
    assert!(world.run(world.engine().changes(-1)).unwrap().resync);
}

#[test]
fn a_reader_that_comes_back_with_its_position_misses_and_repeats_nothing() {
    let world = World::new();
    let started = world.start("lines 300 1");
    let mut text = String::new();
    let mut position = 0;
    world.run(async {
        'reading: loop {
            let mut tail = world.engine().log(started.run.id, position).await.unwrap();
            for _ in 0..3 {
                let Some(batch) = tail.next().await.unwrap() else { break 'reading };
                text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
                position = batch.position;
            }
        }
    });
    assert_eq!(text, world.output(started.run.id));
    assert_eq!(text.lines().filter(|line| line.starts_with("T=")).count(), 300);
}

#[test]
fn a_reader_may_begin_anywhere_in_a_log() {
    let world = World::new();
    let started = world.start("lines 200 1");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let whole = world.output(started.run.id);
    for from in [400, 401, 999, 5_000] {
        let rest = world.run(async {
            let mut tail = world.engine().log(started.run.id, from).await.unwrap();
            let mut text = String::new();
            while let Some(batch) = tail.next().await.unwrap() {
                text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
            }
            text
        });
        assert!(whole.ends_with(&rest) && rest.len() < whole.len(), "from {from}");
    }
}

#[test]
fn what_is_there_so_far_is_given_without_waiting_for_more() {
    let world = World::new();
    let started = world.start("say so far\nhang");
    world.wait_for_output(started.run.id, "so far");
    let (text, end) = world.run(async {
        let mut tail = world.engine().log_so_far(started.run.id, 0).await.unwrap();
        let mut text = String::new();
        while let Some(batch) = tail.next().await.unwrap() {
            text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
        }
        (text, tail.end())
    });
    assert!(text.contains("so far\n"));
    assert_eq!(end, LogEnd::CaughtUp);
}

#[test]
fn a_change_of_a_run_or_an_attempt_tells_of_its_task_too() {
    let world = World::new();
    let started = world.start("ask may I?\nsay thanks");
    let (task, attempt) = (started.task.task.id, started.attempt.attempt.id);
    world.wait_for(attempt, AttemptState::Waiting);
    let before = *world.engine().bell().borrow();
    world.run(world.engine().stop_attempt(attempt)).unwrap();
    world.wait_for(attempt, AttemptState::Stopped);
    let changes = world.run(world.engine().changes(before)).unwrap();
    let told = changes.items.iter().find_map(|item| match &item.change {
        Change::Task { id, value, .. } if *id == task => value.clone(),
        _ => None,
    });
    let told = told.unwrap_or_else(|| panic!("nothing about the task: {changes:?}"));
    assert!(!told.has_in_progress_attempt && told.last_attempt_failed, "{told:?}");
    assert!(changes.items.iter().all(|item| item.project == Some(world.project)), "{changes:?}");
}

#[test]
fn a_crowd_of_readers_at_one_place_shares_one_look_and_nobody_is_kept_in_the_past() {
    let world = World::new();
    let before = *world.engine().bell().borrow();
    assert!(world.run(world.engine().changes(before)).unwrap().items.is_empty());
    world.start("say hi");
    let first = world.run(world.engine().changes(before)).unwrap();
    let second = world.run(world.engine().changes(before)).unwrap();
    assert!(!first.items.is_empty(), "that nothing had changed was true for a moment only");
    assert!(std::sync::Arc::ptr_eq(&first, &second));
}

#[test]
fn a_set_and_the_changes_after_its_position_leave_nothing_out() {
    let world = World::new();
    let started = world.start("say hi");
    let attempt = started.attempt.attempt.id;
    world.wait_until_told(attempt);
    let tasks = world.run(world.engine().tasks_and_position(world.project)).unwrap();
    let runs = world.run(world.engine().runs_and_position(attempt)).unwrap();
    assert_eq!(tasks.items, [world.run(world.engine().task(started.task.task.id)).unwrap()]);
    assert_eq!(runs.items, [world.run(world.engine().run(started.run.id)).unwrap()]);
    assert!(world.run(world.engine().changes(tasks.seq)).unwrap().items.is_empty());
    let nobody = forge_model::AttemptId::random();
    assert!(world.run(world.engine().runs_and_position(nobody)).unwrap().items.is_empty());
}

#[test]
fn a_long_list_of_tasks_is_never_older_than_what_was_told() {
    let world = World::new();
    let add = |title: String| {
        let new = forge_engine::NewTask {
            project: world.project,
            title,
            description: None,
            parent: None,
            images: vec![],
        };
        world.run(world.engine().create_task(new)).unwrap()
    };
    for number in 0..600 {
        add(format!("task {number}"));
    }
    for number in 600..610 {
        let before = world.run(world.engine().tasks(world.project)).unwrap();
        assert_eq!(before.len(), number);
        // The second look is the kept list.
        assert_eq!(world.run(world.engine().tasks(world.project)).unwrap(), before);
        let added = add(format!("task {number}"));
        let after = world.run(world.engine().tasks(world.project)).unwrap();
        assert!(after.len() == number + 1 && after.iter().any(|view| view.task.id == added.task.id));
    }
}
