//! An agent that takes another turn in its process is told what waits there, and not before the turn's end.

use forge_engine::{DraftQueue, QueueChange};
use forge_model::{Answer, AttemptId, AttemptState, DraftKind};

use crate::world::{World, eventually};

fn queue(world: &World, id: AttemptId, prompt: &str) {
    let wanted = DraftQueue { queued: true, prompt: Some(prompt.into()), ..DraftQueue::default() };
    world.run(world.engine().queue_draft(id, wanted, None)).unwrap();
}

#[test]
fn what_waits_can_be_changed_until_the_turn_ends_and_is_told_in_the_same_process() {
    let world = World::new();
    let started = world.start("edit one.txt 1\nsay did one\nask go on?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    queue(&world, id, "edit two.txt wrong");
    let item = world.run(world.engine().queue(id)).unwrap().remove(0);
    let change = QueueChange { prompt: Some("edit two.txt 2\nsay did two".into()), position: None };
    world.run(world.engine().change_queued(id, item.id, change)).unwrap();
    assert_eq!(world.attempt(id).queued, 1);
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    let view = world.wait_for(id, AttemptState::Finished);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(world.output(started.run.id).contains("did two"));
    assert_eq!(view.queued, 0);
    assert_eq!(world.run(world.engine().draft(id, DraftKind::FollowUp)).unwrap().prompt, "");
    // Each turn is kept for itself, as if it had had a process of its own.
    let log = crate::world::git(&view.attempt.worktree, &["log", "--format=%s", "main..HEAD"]);
    assert_eq!(log.lines().count(), 2, "{log}");
    let kept = world.run(world.engine().snapshots(id)).unwrap();
    assert_eq!(kept.iter().filter(|kept| kept.why == "turn").count(), 2);
}

#[test]
fn a_turn_that_failed_and_a_project_with_a_cleanup_script_get_a_process_of_their_own() {
    let world = World::new();
    let change = forge_engine::ProjectChange {
        cleanup_script: Some(Some("true".into())),
        ..forge_engine::ProjectChange::default()
    };
    world.run(world.engine().update_project(world.project, change)).unwrap();
    let id = world.start("edit a.txt 1\nask go on?").attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    queue(&world, id, "say two");
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    let kinds = eventually("all is done", || {
        let runs = world.run(world.engine().runs(id, true)).unwrap();
        let over = runs.iter().all(|run| run.state.is_over());
        (over && runs.len() == 3).then(|| runs.iter().map(|run| run.kind.as_str()).collect::<Vec<_>>())
    });
    assert_eq!(kinds, ["agent", "cleanup", "agent"]);
}

#[test]
fn what_was_given_to_the_process_before_a_crash_is_told_once_after_it() {
    let mut world = World::with_seam("tell.noted#2=hold:DIR/never");
    let started = world.start("ask go on?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    queue(&world, id, "say two");
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    let reached = world.dir.path().join("never.reached");
    eventually("the turn is noted", || reached.exists().then_some(()));
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(world.output(started.run.id).lines().filter(|line| *line == "two").count(), 1);
    assert_eq!(world.attempt(id).queued, 0);
}
