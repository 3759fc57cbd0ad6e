//! Telling an agent more: while it runs, at its turn's end, and after its end.

use forge_engine::{Delivered, ErrorKind, FollowUp, Key};
use forge_model::{AttemptState, RunState};

use crate::world::{World, eventually};

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

/// Adds a variant of the scripted agent, which needs a process of its own.
fn make_loud(world: &World) {
    let loud = r#"{"executors": {"SCRIPTED": {"LOUD": {"SCRIPTED": {}}}}}"#;
    std::fs::write(world.home.join("profiles.json"), loud).unwrap();
}

#[test]
fn a_running_agent_is_told_at_once_and_hears_it_once() {
    let world = World::new();
    let started = world.start("say first\nask go on?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    let told = world.run(world.engine().follow_up(id, follow("say second"), None)).unwrap();
    assert_eq!((told.delivered, told.run.id), (Delivered::Injected, started.run.id));
    let yes = forge_model::Answer::words("yes");
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let output = world.output(started.run.id);
    assert_eq!(output.matches("second").count(), 1, "{output}");
    assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 1);
}

#[test]
fn what_a_running_process_cannot_take_waits_for_the_turns_end() {
    let world = World::new();
    let started = world.start("ask go on?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    make_loud(&world);
    let other = FollowUp { variant: Some("LOUD".into()), ..FollowUp::new("say later") };
    let told = world.run(world.engine().follow_up(id, other, None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    assert_eq!(world.attempt(id).queued, 1);
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].state, RunState::Completed);
    assert!(world.output(runs[1].id).contains("later"));
    assert_eq!(world.attempt(id).queued, 0);
}

#[test]
fn a_variant_that_does_not_exist_is_refused_before_the_follow_up_waits() {
    let world = World::new();
    let id = world.start("ask go on?").attempt.attempt.id;
    world.wait_for_ask(id);
    let other = FollowUp { variant: Some("LOUD".into()), ..FollowUp::new("say later") };
    let error = world.run(world.engine().follow_up(id, other, None)).unwrap_err();
    assert_eq!(error.to_string(), "SCRIPTED has no variant LOUD; its variants are GENIE");
    assert_eq!(world.attempt(id).queued, 0);
}

#[test]
fn a_finished_attempt_goes_on_in_the_same_session() {
    let world = World::new();
    let started = world.start("say first");
    let id = started.attempt.attempt.id;
    let session = world.wait_for(id, AttemptState::Finished).attempt.session.unwrap();
    let told = world.run(world.engine().follow_up(id, follow("edit two.txt more"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Started);
    assert_eq!(told.run.resumed_session.as_deref(), Some(session.as_str()));
    let view = world.wait_for(id, AttemptState::Finished);
    assert_eq!(view.attempt.session.unwrap(), session);
    assert!(view.attempt.worktree.join("two.txt").exists());
}

#[test]
fn a_failed_attempt_can_be_followed_up() {
    let world = World::new();
    let started = world.start("exit 1");
    let id = started.attempt.attempt.id;
    let session = world.wait_for(id, AttemptState::Failed).attempt.session;
    let told = world.run(world.engine().follow_up(id, follow("say better"), None)).unwrap();
    assert_eq!((told.delivered, &told.run.resumed_session), (Delivered::Started, &session));
    world.wait_for(id, AttemptState::Finished);
    let output = world.output(told.run.id);
    assert!(output.contains("better"), "{output}");
    let states: Vec<_> =
        world.run(world.engine().runs(id, true)).unwrap().into_iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Failed, RunState::Completed]);
}

#[test]
fn two_follow_ups_at_once_never_start_two_processes() {
    let world = World::new();
    let started = world.start("say first");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let calls: Vec<_> = ["one", "two", "three"]
        .map(|word| {
            let engine = world.engine().clone();
            world.spawn(async move { engine.follow_up(id, follow(&format!("say {word}")), None).await })
        })
        .into();
    for call in calls {
        world.run(call).unwrap().unwrap();
    }
    world.wait_for(id, AttemptState::Finished);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    let said: String = runs.iter().map(|run| world.output(run.id)).collect();
    for word in ["one", "two", "three"] {
        assert_eq!(said.matches(&format!("{word}\n")).count(), 1, "{said}");
    }
    // Runs of one attempt never overlap: each ended before the next began.
    for pair in runs.windows(2) {
        assert!(pair[0].completed_at.unwrap() <= pair[1].started_at);
    }
}

#[test]
fn a_follow_up_with_a_key_is_told_once_however_often_it_is_sent() {
    let world = World::new();
    let started = world.start("ask wait");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    let key = Some(Key { key: "again".into(), fingerprint: "f".into() });
    for _ in 0..3 {
        let told = world.run(world.engine().follow_up(id, follow("say unique"), key.clone())).unwrap();
        assert_eq!(told.delivered, Delivered::Injected);
    }
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(world.output(started.run.id).matches("unique").count(), 1);
}

#[test]
fn a_blank_follow_up_and_an_unknown_attempt_are_refused() {
    let world = World::new();
    let nobody = forge_model::AttemptId::random();
    let error = world.run(world.engine().follow_up(nobody, follow("hi"), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = world.run(world.engine().follow_up(nobody, follow("  "), None)).unwrap_err();
    assert!(error.to_string().contains("`prompt`"), "{error}");
}

#[test]
fn what_is_said_while_the_agent_is_being_stopped_is_heard_after_it() {
    let world = World::with_seam("stop.recorded=hold:DIR/stop,follow.recorded=hold:DIR/told");
    let started = world.start("hang");
    let id = started.attempt.attempt.id;
    let reached = |place: &str| {
        let file = world.dir.path().join(place).with_extension("reached");
        eventually(place, || file.exists().then_some(()));
    };
    let (engine, run) = (world.engine().clone(), started.run.id);
    let stop = world.spawn(async move { engine.stop_run(run).await });
    reached("stop");
    let engine = world.engine().clone();
    let told = world.spawn(async move { engine.follow_up(id, follow("say instead"), None).await });
    reached("told");
    for place in ["stop", "told"] {
        std::fs::write(world.dir.path().join(place), "").unwrap();
    }
    assert_eq!(world.run(stop).unwrap().unwrap().state, RunState::Killed);
    let told = world.run(told).unwrap().unwrap();
    assert_eq!(told.delivered, Delivered::Started);
    world.wait_for(id, AttemptState::Finished);
    assert!(world.output(told.run.id).contains("instead"));
}

#[test]
fn what_waits_for_a_turn_that_cannot_be_started_is_not_forgotten() {
    let world = World::with_seam("follow.recorded=hold:DIR/go");
    let started = world.start("say first");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let (engine, first) = (world.engine().clone(), follow("say one"));
    let first = world.spawn(async move { engine.follow_up(id, first, None).await });
    let go = world.dir.path().join("go");
    eventually("the first is on record", || go.with_extension("reached").exists().then_some(()));
    let told = world.run(world.engine().follow_up(id, follow("say two"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    std::fs::rename(&world.repository, world.repository.with_extension("away")).unwrap();
    std::fs::write(&go, "").unwrap();
    let error = world.run(first).unwrap().unwrap_err().to_string();
    assert!(error.contains(&world.repository.display().to_string()), "{error}");
    let view = world.wait_for(id, AttemptState::Failed);
    assert!(view.attempt.reason.unwrap().contains("the next turn could not be started"));
    assert_eq!(view.queued, 1);
}

#[test]
fn a_variant_that_can_be_none_is_refused_before_it_waits() {
    let world = World::new();
    let started = world.start("hang");
    let odd = FollowUp { variant: Some("no such/variant".into()), ..FollowUp::new("say hi") };
    let error = world.run(world.engine().follow_up(started.attempt.attempt.id, odd, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_turn_that_an_agent_did_not_live_to_be_told_is_told_to_the_next_one() {
    let world = World::with_seam("tell.noted=hold:DIR/go");
    let started = world.start("ask wait");
    let id = started.attempt.attempt.id;
    world.wait_for_ask(id);
    // The turn is noted in the log, and the agent dies before its text is sent.
    world.run(world.engine().follow_up(id, follow("say after all"), None)).unwrap();
    let reached = world.dir.path().join("go.reached");
    crate::world::eventually("the turn is noted", || reached.exists().then_some(()));
    crate::stopping::kill(crate::stopping::agent_pid(&world, started.run.id));
    let exit = world.home.join("runs").join(started.run.id.to_string()).join("exit.json");
    crate::world::eventually("the agent is dead", || exit.exists().then_some(()));
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(world.output(runs[1].id).matches("after all").count(), 1);
}

#[test]
fn nothing_overtakes_what_waits_already() {
    let world = World::new();
    let started = world.start("ask wait");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    make_loud(&world);
    let plan = FollowUp { variant: Some("LOUD".into()), ..FollowUp::new("say first") };
    assert_eq!(world.run(world.engine().follow_up(id, plan, None)).unwrap().delivered, Delivered::Queued);
    let second = world.run(world.engine().follow_up(id, follow("say second"), None)).unwrap();
    assert_eq!(second.delivered, Delivered::Queued);
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    let said: Vec<_> = runs.iter().skip(1).map(|run| world.output(run.id)).collect();
    assert!(said[0].contains("first") && said[1].contains("second"), "{said:?}");
}

#[test]
fn the_default_variant_by_its_name_is_the_default() {
    let world = World::new();
    let started = world.start("ask wait");
    let id = started.attempt.attempt.id;
    world.wait_for_ask(id);
    let named = FollowUp { variant: Some("DEFAULT".into()), ..FollowUp::new("say more") };
    assert_eq!(world.run(world.engine().follow_up(id, named, None)).unwrap().delivered, Delivered::Injected);
}

#[test]
fn a_follow_up_brings_back_a_worktree_that_is_gone() {
    let world = World::new();
    let started = world.start("edit kept.txt text\nsay first");
    let id = started.attempt.attempt.id;
    let worktree = world.wait_for(id, AttemptState::Finished).attempt.worktree;
    std::fs::remove_dir_all(&worktree).unwrap();
    let told = world.run(world.engine().follow_up(id, follow("say second"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Started);
    world.wait_for(id, AttemptState::Finished);
    assert!(std::fs::read_to_string(worktree.join("kept.txt")).unwrap().contains("text"));
}
