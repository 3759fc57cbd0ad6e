//! Attempts without a task, what lies around an attempt, and the window on its queue.

use forge_engine::{
    AttemptView, Change, DraftChange, DraftQueue, ErrorKind, FollowUp, Key, NewAsk, NewLooseAttempt,
    QueueChange,
};
use forge_model::{Answer, AskState, AttemptState, DraftKind, ProfileId, Run};
use serde_json::json;

use crate::world::{World, eventually};

fn wanted(world: &World, prompt: &str) -> NewLooseAttempt {
    NewLooseAttempt {
        project: world.project,
        prompt: prompt.into(),
        profile: ProfileId::new("SCRIPTED", None).unwrap(),
        base_branch: None,
    }
}

struct Began {
    attempt: AttemptView,
    run: Run,
}

fn start(world: &World, prompt: &str) -> Began {
    let started = world.run(world.engine().start_loose(wanted(world, prompt), None)).unwrap();
    Began { attempt: started.attempt, run: started.run.unwrap() }
}

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

#[test]
fn an_attempt_without_a_task_is_named_from_its_prompt_and_stands_in_no_list_of_tasks_attempts() {
    let world = World::new();
    let started = start(&world, "edit made.txt text");
    let id = started.attempt.attempt.id;
    let name = format!("forge/{}-edit-made-txt-te", id.short());
    assert_eq!(started.attempt.attempt.branch, name);
    assert_eq!((started.attempt.attempt.task, started.run.task), (None, None));
    let view = world.wait_until_told(id);
    assert_eq!(world.git(&["show", &format!("{name}:made.txt")]), "text");
    assert_eq!(view.attempt.target_branch, "main");
    let engine = world.engine();
    assert!(world.run(engine.attempts(None)).unwrap().is_empty());
    assert_eq!(world.run(engine.loose_attempts(Some(world.project))).unwrap(), [view]);
    assert!(world.run(engine.loose_attempts(Some(forge_model::ProjectId::random()))).unwrap().is_empty());
    let told = world.run(engine.follow_up_loose(id, follow("say more"), None)).unwrap();
    assert_eq!(told.run.task, None);
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(world.run(engine.runs_of_loose(id)).unwrap().len(), 2);
    world.run(engine.delete_project(world.project)).unwrap();
    assert!(world.run(engine.loose_attempts(None)).unwrap().is_empty());
}

#[test]
fn the_end_of_an_attempt_without_a_task_is_told_as_that_of_one() {
    let world = World::new();
    let loose = start(&world, "say \"task_id\":null").attempt.attempt.id;
    let other = world.start("say \"task_id\":null").attempt.attempt.id;
    for id in [loose, other] {
        world.wait_for(id, AttemptState::Finished);
    }
    let before = *world.engine().bell().borrow();
    world.run(world.engine().delete_project(world.project)).unwrap();
    let changes = world.run(world.engine().changes(before)).unwrap();
    for (id, loose) in [(loose, true), (other, false)] {
        let gone = Change::Attempt { id, added: false, loose, value: None };
        assert!(changes.items.iter().any(|item| item.change == gone), "{gone:?} in {changes:?}");
    }
}

#[test]
fn a_start_without_a_branch_falls_back_from_main_to_what_is_checked_out() {
    let world = World::new();
    world.git(&["branch", "-m", "main", "trunk"]);
    assert_eq!(start(&world, "say hi").attempt.attempt.target_branch, "trunk");
    world.git(&["branch", "main"]);
    assert_eq!(start(&world, "say hi").attempt.attempt.target_branch, "main");
}

#[test]
fn a_start_without_a_task_that_fails_leaves_nothing_and_one_with_a_key_happens_once() {
    let world = World::new();
    let absent = NewLooseAttempt { base_branch: Some("absent".into()), ..wanted(&world, "say hi") };
    let error = world.run(world.engine().start_loose(absent, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(world.run(world.engine().loose_attempts(None)).unwrap().is_empty());
    assert_eq!(world.made(), (vec![], vec![]));
    let key = Some(Key { key: "once".into(), fingerprint: "f".into() });
    let first = world.run(world.engine().start_loose(wanted(&world, "say hi"), key.clone())).unwrap();
    let again = world.run(world.engine().start_loose(wanted(&world, "say hi"), key)).unwrap();
    assert_eq!(first.attempt.attempt.id, again.attempt.attempt.id);
    assert_eq!(world.run(world.engine().loose_attempts(None)).unwrap().len(), 1);
}

#[test]
fn a_start_without_a_task_whose_process_came_to_be_is_made_visible_after_a_crash() {
    let mut world = World::with_seam("start.spawned=hold:DIR/never");
    let (engine, wanted) = (world.engine().clone(), wanted(&world, "say hi"));
    let _caller = world.spawn(async move { engine.start_loose(wanted, None).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the process is there", || reached.exists().then_some(()));
    world.restart();
    let found = world.run(world.engine().loose_attempts(None)).unwrap();
    assert_eq!(found.len(), 1);
    world.wait_for(found[0].attempt.id, AttemptState::Finished);
}

#[test]
fn stopping_what_does_not_run_is_refused_and_an_attempt_with_a_task_is_no_loose_one() {
    let world = World::new();
    let id = start(&world, "hang").attempt.attempt.id;
    world.run(world.engine().stop_loose(id)).unwrap();
    world.wait_for(id, AttemptState::Stopped);
    let error = world.run(world.engine().stop_loose(id)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("is not running: it is stopped"), "{error}");
    let other = world.start("hang").attempt.attempt.id;
    assert_eq!(world.run(world.engine().stop_loose(other)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.run(world.engine().loose_attempt(other)).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn an_attempt_is_found_by_its_worktree_and_knows_its_family() {
    let world = World::new();
    let started = world.start("say hi");
    let attempt = started.attempt.attempt;
    let engine = world.engine();
    let path = attempt.worktree.to_str().unwrap().to_string();
    assert_eq!(world.run(engine.attempt_at(path.clone())).unwrap().attempt.id, attempt.id);
    let error = world.run(engine.attempt_at(format!("{path}/src"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let mut child = world.wanted("say hi");
    child.task.parent = Some(attempt.id);
    let child = world.run(engine.create_and_start(child, None)).unwrap();
    let family = world.run(engine.family(attempt.id)).unwrap();
    assert_eq!((family.parent, family.children), (None, vec![child.attempt.task.unwrap()]));
    let family = world.run(engine.family(child.attempt.attempt.id)).unwrap();
    assert_eq!(family.parent.map(|task| task.id), Some(started.task.task.id));
    assert!(family.children.is_empty());
}

#[test]
fn what_a_program_beside_the_agent_asks_is_durable_and_its_answer_is_not_told_to_the_agent() {
    let mut world = World::new();
    let started = world.start("say ready\nhang");
    let id = started.attempt.attempt.id;
    let session =
        eventually("the agent has a session", || world.attempt(id).attempt.session.filter(|s| !s.is_empty()));
    let new =
        NewAsk { session, tool: "Bash".into(), input: json!({"command": "ls"}), call: Some("c1".into()) };
    let ask = world.run(world.engine().ask_beside(new.clone())).unwrap();
    assert_eq!((ask.run, ask.state), (started.run.id, AskState::Open));
    assert_eq!(world.run(world.engine().ask_beside(new.clone())).unwrap().id, ask.id, "one call asks once");
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Waiting);
    world.restart();
    assert_eq!(world.wait_for_ask(id).id, ask.id);
    let wrong = Some(forge_model::RunId::random());
    let no = Answer::Deny { reason: Some("not now".into()) };
    let error = world.run(world.engine().answer_in(wrong, ask.id, no.clone(), "test")).unwrap_err();
    assert!(error.to_string().starts_with("`execution_process_id`"), "{error}");
    world.run(world.engine().answer_in(Some(ask.run), ask.id, no, "test")).unwrap();
    assert_eq!(world.run(world.engine().ask(ask.id)).unwrap().state, AskState::Denied);
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Running);
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert!(!world.output(started.run.id).contains("not now"));
    let nobody = NewAsk { session: "nobody".into(), ..new };
    let error = world.run(world.engine().ask_beside(nobody)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("`session_id`"), "{error}");
}

#[test]
fn what_waits_can_be_seen_moved_edited_and_taken_back() {
    let world = World::new();
    let id = world.start("ask go on?").attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    let engine = world.engine();
    let draft = DraftChange { prompt: Some("say draft".into()), ..DraftChange::default() };
    world.run(engine.save_draft(id, DraftKind::FollowUp, draft)).unwrap();
    let queued = DraftQueue { queued: true, ..DraftQueue::default() };
    world.run(engine.queue_draft(id, queued, None)).unwrap();
    for prompt in ["say two", "say three"] {
        world.run(engine.follow_up(id, follow(prompt), None)).unwrap();
    }
    let prompts = || {
        let items = world.run(engine.queue(id)).unwrap();
        items.into_iter().map(|item| item.prompt).collect::<Vec<_>>()
    };
    assert_eq!(prompts(), ["say draft", "say two", "say three"]);
    let items = world.run(engine.queue(id)).unwrap();
    let first = QueueChange { position: Some(0), ..QueueChange::default() };
    world.run(engine.change_queued(id, items[2].id.clone(), first)).unwrap();
    assert_eq!(prompts(), ["say three", "say draft", "say two"]);
    let edited = QueueChange { prompt: Some("say edited".into()), position: Some(99) };
    world.run(engine.change_queued(id, items[0].id.clone(), edited)).unwrap();
    assert_eq!(prompts(), ["say three", "say two", "say edited"]);
    let draft = world.run(engine.draft(id, DraftKind::FollowUp)).unwrap();
    assert_eq!((draft.prompt.as_str(), draft.version), ("say edited", 3), "the draft is the same text");
    world.run(engine.withdraw_queued(id, items[0].id.clone())).unwrap();
    assert_eq!(world.run(engine.draft(id, DraftKind::FollowUp)).unwrap().queued, None);
    world.run(engine.withdraw_queued(id, items[1].id.clone())).unwrap();
    let error = world.run(engine.withdraw_queued(id, items[1].id.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let blank = QueueChange { prompt: Some(" ".into()), ..QueueChange::default() };
    let error = world.run(engine.change_queued(id, items[2].id.clone(), blank)).unwrap_err();
    assert!(error.to_string().contains("`prompt`"), "{error}");
    world.run(engine.answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = world.run(engine.runs(id, true)).unwrap();
    let said: String = runs.iter().map(|run| world.output(run.id)).collect();
    assert!(said.contains("three") && !said.contains("two\n") && !said.contains("edited"), "{said}");
}
