//! A silent agent is seen, with the reason; nothing is ended for it.

use forge_engine::{AttemptView, ConfigChange};
use forge_model::{AttemptId, AttemptState};

use crate::world::{World, eventually};

fn impatient() -> World {
    let world = World::new();
    let change = serde_json::json!({
        "agents": {"stalled_after_seconds": 1, "stalled_in_tool_after_seconds": 1},
    });
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    world
}

fn stalled(world: &World, id: AttemptId) -> AttemptView {
    eventually("the attempt is stalled", || Some(world.attempt(id)).filter(|view| view.stalled.is_some()))
}

#[test]
fn a_silent_agent_is_shown_with_its_reason_and_lives_on() {
    let mut world = impatient();
    let started = world.start("say hi\nhang");
    let id = started.attempt.attempt.id;
    let view = stalled(&world, id);
    assert!(view.card.state_since > started.attempt.card.state_since);
    let why = view.stalled.unwrap();
    assert!(why.starts_with("no output for ") && why.contains("no tool runs"), "{why}");
    // It is derived from the log, so a restart knows it as well.
    world.restart();
    let view = stalled(&world, id);
    assert_eq!(view.attempt.state, AttemptState::Running);
    let listed = world.run(world.engine().attempts(None)).unwrap();
    assert!(listed[0].stalled.is_some());
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert_eq!(world.wait_for(id, AttemptState::Stopped).stalled, None);
}

#[test]
fn the_tool_that_runs_is_named() {
    let world = impatient();
    let started = world.start("run sleep 600");
    let id = started.attempt.attempt.id;
    let why = stalled(&world, id).stalled.unwrap();
    assert!(why.contains("`sleep 600` has been running for"), "{why}");
    world.run(world.engine().stop_attempt(id)).unwrap();
}

#[test]
fn an_agent_that_waits_for_a_person_is_not_stalled() {
    let world = impatient();
    let asks = world.start("ask well?").attempt.attempt.id;
    let asked = world.wait_for_ask(asks);
    eventually("it has waited for long enough", || {
        assert_eq!(world.attempt(asks).stalled, None);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        (now.as_millis() as i64 > asked.created_at.millis() + 3000).then_some(())
    });
    world.run(world.engine().stop_attempt(asks)).unwrap();
}

#[test]
fn with_the_usual_settings_a_short_silence_means_nothing() {
    let world = World::new();
    let started = world.start("sleep 1500\nsay done");
    let id = started.attempt.attempt.id;
    eventually("it is done", || {
        let view = world.attempt(id);
        assert_eq!(view.stalled, None);
        (view.attempt.state == AttemptState::Finished).then_some(())
    });
}
