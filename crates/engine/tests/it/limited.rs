//! A limit of an agent's provider is shown with its time, and waited for across restarts when that is wanted.

use forge_engine::{ConfigChange, FollowUp};
use forge_model::{AttemptId, AttemptState, Manner, RunKind};

use crate::world::{World, eventually};

fn start(world: &World, script: &str, resume: Option<bool>) -> AttemptId {
    let mut wanted = world.wanted(script);
    wanted.manner = Manner { resume_when_limited: resume, ..Manner::default() };
    world.run(world.engine().create_and_start(wanted, None)).unwrap().attempt.attempt.id
}

fn limited(world: &World, id: AttemptId) -> forge_engine::AttemptView {
    eventually("the attempt has come to rest with its limit", || {
        let view = world.attempt(id);
        (view.state() == AttemptState::Limited && view.attempt.state == AttemptState::Failed).then_some(view)
    })
}

/// The prompts of its agent's runs.
fn told(world: &World, id: AttemptId) -> Vec<String> {
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    runs.into_iter().filter(|run| run.kind == RunKind::Agent).map(|run| run.prompt).collect()
}

#[test]
fn a_limit_is_shown_with_its_time_and_nothing_goes_on_by_itself() {
    let mut world = World::new();
    let id = start(&world, "say working\nlimit 1\nsay never", None);
    let view = limited(&world, id);
    assert!(view.limited.unwrap().until.is_some());
    assert!(view.attempt.reason.unwrap().contains("usage limit"));
    // The time is over by now, and a restart changes nothing either.
    world.restart();
    let view = limited(&world, id);
    assert_eq!(view.queued, 0);
    assert_eq!(told(&world, id).len(), 1);
    // A person goes on when they like, and the limit is forgotten.
    let more = FollowUp::new("say on");
    world.run(world.engine().follow_up(id, more, None)).unwrap();
    let view = world.wait_for(id, AttemptState::Finished);
    assert_eq!((view.limited, view.state()), (None, AttemptState::Finished));
}

#[test]
fn an_attempt_that_is_meant_to_goes_on_in_its_session_once_when_the_limit_is_over() {
    let mut world = World::new();
    let id = start(&world, "limit 3000", Some(true));
    let before = limited(&world, id);
    // The server is away when the time comes.
    world.crash();
    let until = before.limited.unwrap().until.unwrap();
    eventually("the time has come", || (now() > until.millis()).then_some(()));
    world.reopen();
    let after = world.wait_for(id, AttemptState::Finished);
    assert_eq!(after.attempt.session, before.attempt.session);
    assert_eq!(told(&world, id)[1..], ["continue"]);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert_eq!(runs[1].resumed_session, before.attempt.session);
    world.restart();
    assert_eq!(told(&world, id).len(), 2);
}

#[test]
fn the_settings_say_it_for_all_attempts_and_what_waits_comes_after() {
    let world = World::new();
    let change = serde_json::json!({"agents": {"resume_when_limited": true}});
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    let id = start(&world, "limit 500", None);
    let not_this_one = start(&world, "limit 500", Some(false));
    eventually("it has gone on", || (told(&world, id).len() == 2).then_some(()));
    world.wait_for(id, AttemptState::Finished);
    limited(&world, not_this_one);
    assert_eq!(told(&world, not_this_one).len(), 1);
}

#[test]
fn a_server_that_dies_between_queueing_and_starting_goes_on_once() {
    let mut world = World::with_seam("limit.queued=hold:DIR/never");
    let id = start(&world, "limit 1", Some(true));
    limited(&world, id);
    let reached = world.dir.path().join("never.reached");
    eventually("going on is in the queue", || reached.exists().then_some(()));
    assert_eq!(world.attempt(id).queued, 1);
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(told(&world, id)[1..], ["continue"]);
    world.restart();
    assert_eq!(told(&world, id).len(), 2);
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_millis() as i64
}
