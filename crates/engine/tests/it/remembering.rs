//! What an agent remembers: its own session, a memo where that is gone, another's conversation where it branches off.

use forge_engine::{ErrorKind, FollowUp, StartTask};
use forge_model::{AttemptId, AttemptState, Manner, Run, RunState};

use crate::world::{World, eventually};

fn follow_up(world: &World, id: AttemptId, prompt: &str) {
    let follow = FollowUp::new(prompt);
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
}

fn runs(world: &World, id: AttemptId) -> Vec<Run> {
    world.run(world.engine().runs(id, true)).unwrap()
}

fn after_runs(world: &World, id: AttemptId, count: usize) -> Vec<Run> {
    eventually("all its runs are over", || {
        let runs = runs(world, id);
        (runs.len() == count && runs.iter().all(|run| run.state.is_over())).then_some(runs)
    })
}

#[test]
fn an_agent_that_does_not_know_its_session_any_more_is_told_what_was_said_and_everybody_sees_it() {
    let world = World::new();
    let started = world.start("say the answer is 42\nrun echo hi\nforget");
    let id = started.attempt.attempt.id;
    let before = world.wait_for(id, AttemptState::Finished);
    assert!(before.attempt.session.unwrap().starts_with("forgotten-"));
    follow_up(&world, id, "say and now this");
    let runs = after_runs(&world, id, 3);
    assert_eq!(runs[1].state, RunState::Failed);
    let memo = runs[2].memo.as_deref().unwrap();
    assert!(memo.contains("\nYou: the answer is 42\n[you ran `echo hi`]\n"), "{memo}");
    assert!(!memo.contains("and now this"), "what it is told now is no memory: {memo}");
    assert_eq!(runs[2].prompt, "say and now this");
    assert_eq!(runs[2].resumed_session, None);
    assert!(world.output(runs[2].id).ends_with("and now this\n{\"scripted\":\"done\"}\n"));
    let after = world.wait_for(id, AttemptState::Finished);
    assert!(after.attempt.session.unwrap().starts_with("scripted-"));
    assert!(after.attempt.reason.unwrap().contains("earlier conversation could not be gone on with"));
    assert_eq!(after.queued, 0);
    // The new conversation is gone on with as any other.
    follow_up(&world, id, "say more");
    let runs = after_runs(&world, id, 4);
    assert!(runs[3].resumed_session.is_some() && runs[3].memo.is_none());
}

#[test]
fn a_memo_is_short_however_long_the_conversation_was_and_has_its_end() {
    let world = World::new();
    let started = world.start("say the very first\nlines 5000 0\nsay the last\nforget");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    follow_up(&world, id, "say on");
    let memo = after_runs(&world, id, 3)[2].memo.clone().unwrap();
    assert!(memo.len() < 26_000, "{}", memo.len());
    assert!(memo.contains("line 5000\nYou: the last\n") && !memo.contains("the very first"));
}

#[test]
fn a_crash_while_the_turn_is_told_again_loses_it_not_and_doubles_it_not() {
    let mut world = World::new();
    let started = world.start("say one\nforget");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    // The third run's start breaks off after its intent is written.
    world.restart_with("finish.recorded=hold:DIR/never");
    follow_up(&world, id, "say two");
    let reached = world.dir.path().join("never.reached");
    eventually("the failed turn is recorded", || reached.exists().then_some(()));
    world.restart();
    let runs = after_runs(&world, id, 3);
    assert!(runs[2].memo.is_some());
    world.wait_for(id, AttemptState::Finished);
}

fn fork(world: &World, script: &str, source: AttemptId) -> StartTask {
    let mut wanted = world.wanted(script);
    wanted.base_branch = None;
    wanted.manner = Manner { forked_from: Some(source), ..Manner::default() };
    wanted
}

#[test]
fn a_fork_remembers_the_others_conversation_and_files_and_leaves_it_as_it_is() {
    let world = World::new();
    let source = world.start("edit made.txt hello\nsay hello").attempt.attempt.id;
    let before = world.wait_for(source, AttemptState::Finished).attempt;
    let started =
        world.run(world.engine().create_and_start(fork(&world, "say forked", source), None)).unwrap();
    let id = started.attempt.attempt.id;
    let after = world.wait_for(id, AttemptState::Finished).attempt;
    let run = &runs(&world, id)[0];
    assert!(run.forked);
    assert_eq!(run.resumed_session, before.session);
    assert!(after.session.is_some() && after.session != before.session);
    assert_eq!(after.manner.forked_from, Some(source));
    assert_eq!(std::fs::read_to_string(after.worktree.join("made.txt")).unwrap(), "hello\n");
    let still = world.attempt(source).attempt;
    assert_eq!((still.session, still.state), (before.session, AttemptState::Finished));
}

#[test]
fn a_fork_of_a_conversation_that_is_gone_gets_a_memo_of_it() {
    let world = World::new();
    let source = world.start("say the answer is 42\nforget").attempt.attempt.id;
    world.wait_for(source, AttemptState::Finished);
    let started =
        world.run(world.engine().create_and_start(fork(&world, "say forked", source), None)).unwrap();
    let runs = after_runs(&world, started.attempt.attempt.id, 2);
    assert!(runs[1].memo.as_deref().unwrap().contains("You: the answer is 42"));
    assert_eq!(runs[1].state, RunState::Completed);
}

#[test]
fn a_fork_of_nothing_or_of_another_agents_conversation_is_refused() {
    let world = World::new();
    let gone = fork(&world, "say x", AttemptId::random());
    let error = world.run(world.engine().create_and_start(gone, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let source = world.start("say hello").attempt.attempt.id;
    world.wait_for(source, AttemptState::Finished);
    let mut other = fork(&world, "say x", source);
    other.profile = "CLAUDE_CODE".parse().unwrap();
    let error = world.run(world.engine().create_and_start(other, None)).unwrap_err();
    assert!(error.to_string().contains("`fork_from`: attempt"), "{error}");
}
