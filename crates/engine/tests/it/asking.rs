//! An ask has no time limit, survives a restart, and is answered once.

use forge_engine::{AskFilter, ErrorKind};
use forge_model::{Answer, AskState, AttemptState, TaskStatus};

use serde_json::json;

use crate::world::{World, eventually};

fn yes(text: &str) -> Answer {
    Answer::words(text)
}

#[test]
fn an_ask_waits_and_its_answer_is_said_back_once() {
    let world = World::new();
    let started = world.start("ask which colour?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    assert_eq!(ask.text, "which colour?");
    let view = world.attempt(id);
    assert_eq!((view.attempt.state, view.open_asks), (AttemptState::Waiting, 1));
    assert_eq!(view.attempt.reason.as_deref(), Some("which colour?"));
    let task = world.run(world.engine().task(started.task.task.id)).unwrap();
    assert_eq!(task.task.status, TaskStatus::InReview);
    let answered = world.run(world.engine().answer(ask.id, yes("blue"), "test")).unwrap();
    assert_eq!(answered.state, AskState::Approved);
    let again = world.run(world.engine().answer(ask.id, yes("red"), "test")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    world.wait_for(id, AttemptState::Finished);
    let output = world.output(started.run.id);
    assert_eq!(output.matches("blue").count(), 1, "{output}");
    assert!(!output.contains("red"));
}

#[test]
fn asks_of_one_moment_wait_in_the_order_in_which_they_were_asked_and_are_answered_in_any() {
    let world = World::new();
    let commands: Vec<String> = (0..12).map(|number| format!("make {number}")).collect();
    let inputs: Vec<_> = commands.iter().map(|command| json!({"command": command})).collect();
    let started = world.start(&format!("permit Bash {}\nsay over", json!(inputs)));
    let id = started.attempt.attempt.id;
    let asks = eventually("all of them are asked", || {
        let filter = AskFilter { attempt: Some(id), ..AskFilter::default() };
        Some(world.run(world.engine().asks(filter)).unwrap()).filter(|asks| asks.len() == commands.len())
    });
    let shown: Vec<_> = asks.iter().rev().map(|ask| ask.input["command"].as_str().unwrap()).collect();
    assert_eq!(shown, commands, "the newest comes first");
    for ask in &asks {
        assert_eq!(world.attempt(id).attempt.state, AttemptState::Waiting);
        world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    }
    world.wait_for(id, AttemptState::Finished);
    assert!(world.output(started.run.id).contains("over"));
}

#[test]
fn an_ask_survives_restarts_and_an_answer_given_before_one_arrives_after_it() {
    let mut world = World::with_seam("answer.recorded=hold:DIR/never");
    let started = world.start("ask which colour?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    // The answer is on record, and the server dies before it tells the agent.
    let engine = world.engine().clone();
    let answer = world.spawn(async move { engine.answer(ask.id, yes("green"), "test").await });
    let reached = world.dir.path().join("never.reached");
    crate::world::eventually("the answer is on record", || reached.exists().then_some(()));
    drop(answer);
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(world.output(started.run.id).matches("green").count(), 1);
}

#[test]
fn an_open_ask_is_still_open_after_a_restart() {
    let mut world = World::new();
    let started = world.start("ask still there?");
    let id = started.attempt.attempt.id;
    let before = world.wait_for_ask(id);
    world.restart();
    world.restart();
    let after = world.wait_for_ask(id);
    assert_eq!(after.id, before.id);
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Waiting);
    world.run(world.engine().answer(after.id, yes("yes"), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
}

#[test]
fn a_denial_is_told_with_its_reason() {
    let world = World::new();
    let started = world.start("ask may I?");
    let ask = world.wait_for_ask(started.attempt.attempt.id);
    let no = Answer::Deny { reason: Some("not today".into()) };
    let answered = world.run(world.engine().answer(ask.id, no, "test")).unwrap();
    assert_eq!(answered.state, AskState::Denied);
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert!(world.output(started.run.id).contains("not today"));
}

#[test]
fn a_stop_cancels_an_ask_and_the_agents_own_end_expires_it() {
    let world = World::new();
    let stopped = world.start("ask one?");
    let ask = world.wait_for_ask(stopped.attempt.attempt.id);
    world.run(world.engine().stop_attempt(stopped.attempt.attempt.id)).unwrap();
    assert_eq!(world.run(world.engine().ask(ask.id)).unwrap().state, AskState::Cancelled);

    let died = world.start("ask two?");
    let ask = world.wait_for_ask(died.attempt.attempt.id);
    let agent = crate::stopping::agent_pid(&world, died.run.id);
    crate::stopping::kill(agent);
    let view = world.wait_for(died.attempt.attempt.id, AttemptState::Failed);
    assert_eq!(view.attempt.reason.as_deref(), Some("the agent was ended by signal 9"));
    assert_eq!(world.run(world.engine().ask(ask.id)).unwrap().state, AskState::Expired);
    let late = world.run(world.engine().answer(ask.id, yes("late"), "test")).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert!(late.to_string().contains("expired"), "{late}");
}
