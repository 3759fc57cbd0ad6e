//! Drafts: kept, versioned, queued, sent exactly once.

use forge_engine::{Change, DraftChange, DraftQueue, ErrorKind, FollowUp, Key, NewImage};
use forge_model::{Answer, AttemptId, AttemptState, Draft, DraftKind, ImageId, RunId};

use crate::world::{World, eventually};

fn text(prompt: &str) -> DraftChange {
    DraftChange { prompt: Some(prompt.into()), ..DraftChange::default() }
}

fn queued() -> DraftQueue {
    DraftQueue { queued: true, ..DraftQueue::default() }
}

fn taken_out() -> DraftQueue {
    DraftQueue::default()
}

fn save(world: &World, id: AttemptId, change: DraftChange) -> Draft {
    world.run(world.engine().save_draft(id, DraftKind::FollowUp, change)).unwrap()
}

fn queue(world: &World, id: AttemptId, wanted: DraftQueue) -> Draft {
    world.run(world.engine().queue_draft(id, wanted, None)).unwrap()
}

fn draft(world: &World, id: AttemptId) -> Draft {
    world.run(world.engine().draft(id, DraftKind::FollowUp)).unwrap()
}

fn picture(world: &World) -> ImageId {
    picture_of(world, b"\x89PNG\r\n\x1a\n a picture")
}

fn picture_of(world: &World, bytes: &[u8]) -> ImageId {
    let new = NewImage { name: "shot.png".into(), bytes: bytes.to_vec(), task: None };
    world.run(world.engine().add_image(new)).unwrap().id
}

/// What the runs of an attempt have said, one text for each.
fn said(world: &World, id: AttemptId) -> Vec<String> {
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    runs.iter().map(|run| world.output(run.id)).collect()
}

#[test]
fn a_draft_is_empty_at_first_and_counts_its_changes() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    let empty = draft(&world, id);
    assert_eq!((empty.version, empty.prompt.as_str(), empty.queued), (0, "", None));
    let image = picture(&world);
    let nobody = ImageId::random();
    let unknown = DraftChange { images: Some(vec![image, nobody]), ..text("say never") };
    let error = world.run(world.engine().save_draft(id, DraftKind::FollowUp, unknown)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.to_string(), format!("`image_ids` names no image: {nobody}"));
    let first = DraftChange {
        variant: Some("PLAN".into()),
        images: Some(vec![image]),
        version: Some(0),
        ..text("say one")
    };
    assert_eq!(save(&world, id, first).version, 1);
    assert_eq!(save(&world, id, text("say two")).version, 2);
    let same = save(&world, id, text("say two"));
    assert_eq!((same.version, same.prompt.as_str()), (2, "say two"));
    // What was not spoken of stays.
    assert_eq!((same.variant.as_deref(), same.images), (Some("PLAN"), Some(vec![image])));
}

#[test]
fn two_tabs_cannot_write_over_each_other() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    save(&world, id, text("say mine"));
    let late = DraftChange { version: Some(0), ..text("say yours") };
    let error = world.run(world.engine().save_draft(id, DraftKind::FollowUp, late)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.to_string(), "Draft changed, please retry with latest");
    assert_eq!(draft(&world, id).prompt, "say mine");
    let late = DraftQueue { expected_version: Some(0), ..queued() };
    let error = world.run(world.engine().queue_draft(id, late, None)).unwrap_err();
    assert_eq!(error.to_string(), "Draft changed, please refresh and try again");
    let believed = DraftQueue { expected_queued: Some(true), ..taken_out() };
    let error = world.run(world.engine().queue_draft(id, believed, None)).unwrap_err();
    assert_eq!(error.to_string(), "Draft changed, please refresh and try again");
}

#[test]
fn a_draft_queued_at_rest_is_sent_at_once_and_emptied() {
    let world = World::new();
    let id = world.start("say first").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    save(&world, id, text("say second"));
    let sent = queue(&world, id, queued());
    assert_eq!((sent.prompt.as_str(), sent.queued, sent.sending), ("", None, false));
    assert_eq!(sent.version, 3, "written, queued, emptied");
    world.wait_for(id, AttemptState::Finished);
    let said = said(&world, id);
    assert_eq!(said.len(), 2);
    assert_eq!(said[1].matches("second").count(), 1);
    // An empty draft does not stick in the queue.
    assert_eq!(queue(&world, id, queued()).queued, None);
    assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 2);
}

#[test]
fn the_pictures_of_a_draft_are_the_tasks_when_it_is_sent_and_in_its_worktree() {
    let world = World::new();
    let started = world.start("ask go on?");
    let (id, task) = (started.attempt.attempt.id, started.task.task.id);
    let ask = world.wait_for_ask(id);
    let (image, deleted) = (picture(&world), picture_of(&world, b"\x89PNG\r\n\x1a\n another"));
    save(&world, id, DraftChange { images: Some(vec![image, deleted]), ..text("say look") });
    queue(&world, id, queued());
    let of_task = || -> Vec<ImageId> {
        let images = world.run(world.engine().images_of_task(task)).unwrap();
        images.into_iter().map(|image| image.id).collect()
    };
    assert!(of_task().is_empty(), "nothing was sent yet");
    // A picture that goes meanwhile does not keep the turn from being sent.
    world.run(world.engine().delete_image(deleted)).unwrap();
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert!(said(&world, id)[1].contains("look"));
    assert_eq!(of_task(), [image]);
    let (image, _) = world.run(world.engine().image(image)).unwrap();
    assert!(started.attempt.attempt.worktree.join(image.path()).is_file());
}

#[test]
fn a_queued_draft_waits_for_the_turns_end_and_cannot_be_edited_until_it_is_taken_out() {
    let world = World::new();
    let id = world.start("ask go on?").attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    save(&world, id, text("say one"));
    assert!(queue(&world, id, queued()).queued.is_some());
    assert_eq!(world.attempt(id).queued, 1);
    let error = world.run(world.engine().save_draft(id, DraftKind::FollowUp, text("say x"))).unwrap_err();
    assert_eq!(error.to_string(), "Draft is queued; click Edit to unqueue before editing");
    let out = queue(&world, id, DraftQueue { expected_queued: Some(true), ..taken_out() });
    assert_eq!((out.queued, out.prompt.as_str()), (None, "say one"));
    assert_eq!(world.attempt(id).queued, 0);
    save(&world, id, text("say two"));
    queue(&world, id, queued());
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let said = said(&world, id);
    assert_eq!(said.len(), 1, "an agent that takes another turn is told in the process it has");
    assert!(said[0].contains("two") && !said.concat().contains("one\n"), "{said:?}");
    assert_eq!(draft(&world, id).prompt, "");
}

#[test]
fn there_is_no_draft_to_queue_until_one_is_written() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    let error = world.run(world.engine().queue_draft(id, queued(), None)).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Conflict, "No draft to queue"));
    world.wait_for(id, AttemptState::Finished);
    // A text that comes along is saved first.
    queue(&world, id, DraftQueue { prompt: Some("say along".into()), ..queued() });
    world.wait_for(id, AttemptState::Finished);
    assert!(said(&world, id)[1].contains("along"));
}

#[test]
fn a_draft_whose_turn_is_being_started_cannot_be_taken_out() {
    let world = World::with_seam("draft.recorded=hold:DIR/go");
    let id = world.start("say first").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    save(&world, id, text("say second"));
    let engine = world.engine().clone();
    let sending = world.spawn(async move { engine.queue_draft(id, queued(), None).await });
    let go = world.dir.path().join("go");
    eventually("the draft is on its way", || go.with_extension("reached").exists().then_some(()));
    assert!(draft(&world, id).sending);
    let error = world.run(world.engine().queue_draft(id, taken_out(), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("is being sent"), "{error}");
    std::fs::write(&go, "").unwrap();
    assert_eq!(world.run(sending).unwrap().unwrap().prompt, "");
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(said(&world, id).len(), 2);
}

#[test]
fn a_queued_draft_survives_a_crash_wherever_it_falls_and_is_sent_once() {
    for seam in ["draft.recorded", "start.spawned", "start.recorded"] {
        let mut world = World::with_seam("");
        let id = world.start("say first").attempt.attempt.id;
        world.wait_for(id, AttemptState::Finished);
        save(&world, id, text("say second"));
        world.restart_with(&format!("{seam}=hold:DIR/never"));
        let engine = world.engine().clone();
        let _caller = world.spawn(async move { engine.queue_draft(id, queued(), None).await });
        let reached = world.dir.path().join("never.reached");
        eventually(seam, || reached.exists().then_some(()));
        world.restart();
        eventually("the draft was sent", || (draft(&world, id).version == 3).then_some(()));
        world.wait_for(id, AttemptState::Finished);
        assert_eq!(draft(&world, id).prompt, "", "{seam}");
        assert_eq!(said(&world, id).concat().matches("second").count(), 1, "{seam}");
    }
}

#[test]
fn what_is_queued_waits_after_a_stop_until_somebody_goes_on() {
    let world = World::new();
    let started = world.start("hang");
    let id = started.attempt.attempt.id;
    save(&world, id, text("say queued"));
    queue(&world, id, queued());
    world.run(world.engine().stop_attempt(id)).unwrap();
    let view = world.wait_for(id, AttemptState::Stopped);
    assert_eq!(view.queued, 1, "it is still there, and can be seen");
    assert!(draft(&world, id).queued.is_some());
    assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 1);
    // Queueing it again is how a person says to go on.
    assert_eq!(queue(&world, id, queued()).prompt, "");
    world.wait_for(id, AttemptState::Finished);
    assert!(said(&world, id)[1].contains("queued"));
}

#[test]
fn what_is_queued_before_a_stop_follows_the_next_follow_up() {
    let world = World::new();
    let id = world.start("hang").attempt.attempt.id;
    save(&world, id, text("say queued"));
    queue(&world, id, queued());
    world.run(world.engine().stop_attempt(id)).unwrap();
    let follow = FollowUp::new("say told");
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
    eventually("the draft was sent", || draft(&world, id).queued.is_none().then_some(()));
    world.wait_for(id, AttemptState::Finished);
    let said = said(&world, id)[1..].concat();
    assert!(said.find("told").unwrap() < said.find("queued").unwrap(), "{said}");
}

#[test]
fn a_draft_that_cannot_be_sent_is_out_of_the_queue_again_and_says_why() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    save(&world, id, text("say lost"));
    let away = world.repository.with_extension("away");
    std::fs::rename(&world.repository, &away).unwrap();
    let error = world.run(world.engine().queue_draft(id, queued(), None)).unwrap_err();
    assert!(error.to_string().contains(&world.repository.display().to_string()), "{error}");
    let kept = draft(&world, id);
    assert_eq!((kept.prompt.as_str(), kept.queued), ("say lost", None));
    assert_eq!(world.attempt(id).queued, 0);
    std::fs::rename(&away, &world.repository).unwrap();
    assert_eq!(queue(&world, id, queued()).prompt, "");
    let plan = DraftChange { variant: Some("NO_SUCH".into()), ..text("say x") };
    save(&world, id, plan);
    let error = world.run(world.engine().queue_draft(id, queued(), None)).unwrap_err();
    assert!(error.to_string().contains("NO_SUCH"), "{error}");
}

#[test]
fn a_turn_that_fails_to_start_never_puts_a_second_agent_beside_another() {
    let mut world = World::new();
    let id = world.start("hang").attempt.attempt.id;
    save(&world, id, text("say queued"));
    queue(&world, id, queued());
    world.run(world.engine().stop_attempt(id)).unwrap();
    world.wait_for(id, AttemptState::Stopped);
    world.restart_with("start.undone=hold:DIR/go");
    let follow = |prompt: &str| FollowUp::new(prompt);
    let away = world.repository.with_extension("away");
    std::fs::rename(&world.repository, &away).unwrap();
    let engine = world.engine().clone();
    let lost = follow("say lost");
    let failing = world.spawn(async move { engine.follow_up(id, lost, None).await });
    let go = world.dir.path().join("go");
    eventually("its start was taken back", || go.with_extension("reached").exists().then_some(()));
    std::fs::rename(&away, &world.repository).unwrap();
    world.run(world.engine().follow_up(id, follow("hang"), None)).unwrap();
    std::fs::write(&go, "").unwrap();
    world.run(failing).unwrap().unwrap_err();
    assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 2, "only the second follow-up runs");
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Running);
    assert!(draft(&world, id).queued.is_some(), "what is queued waits for the end of that turn");
}

#[test]
fn a_draft_queued_with_a_key_is_sent_once_however_often_it_is_called() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let key = Some(Key { key: "again".into(), fingerprint: "f".into() });
    for _ in 0..3 {
        let along = DraftQueue { prompt: Some("say unique".into()), ..queued() };
        world.run(world.engine().queue_draft(id, along, key.clone())).unwrap();
    }
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(said(&world, id).concat().matches("unique").count(), 1);
}

#[test]
fn a_retry_is_a_draft_of_its_own_that_names_a_run_and_can_be_dropped() {
    let world = World::new();
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    let retry = |run| DraftChange { retry: Some(run), ..text("say again") };
    let engine = world.engine();
    let error = world.run(engine.save_draft(id, DraftKind::Retry, retry(RunId::random()))).unwrap_err();
    assert!(error.to_string().starts_with("`retry_process_id`: "), "{error}");
    let saved = world.run(engine.save_draft(id, DraftKind::Retry, retry(started.run.id))).unwrap();
    assert_eq!((saved.retry, saved.version), (Some(started.run.id), 1));
    assert_eq!(draft(&world, id).version, 0, "the follow-up is another");
    world.run(engine.delete_draft(id, DraftKind::Retry)).unwrap();
    assert_eq!(world.run(engine.draft(id, DraftKind::Retry)).unwrap().version, 0);
    let error = world.run(engine.delete_draft(id, DraftKind::FollowUp)).unwrap_err();
    assert!(error.to_string().contains("Cannot delete follow-up draft; unqueue or edit instead"), "{error}");
}

#[test]
fn every_change_of_a_draft_is_an_event_and_a_snapshot_has_every_attempt() {
    let world = World::new();
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    world.wait_until_told(id);
    let before = world.run(world.engine().drafts(world.project)).unwrap();
    assert_eq!((before.attempts[0].attempt, before.attempts[0].follow_up.version), (id, 0));
    assert_eq!(before.attempts[0].retry, None);
    save(&world, id, text("say one"));
    let retry = DraftChange { retry: Some(started.run.id), ..text("x") };
    world.run(world.engine().save_draft(id, DraftKind::Retry, retry)).unwrap();
    world.run(world.engine().delete_draft(id, DraftKind::Retry)).unwrap();
    let changes = world.run(world.engine().changes(before.seq)).unwrap();
    let changes: Vec<_> = changes.items.iter().map(|changed| changed.change.clone()).collect();
    let written = draft(&world, id);
    let kind = DraftKind::FollowUp;
    assert_eq!(changes[0], Change::Draft { attempt: id, kind, added: true, value: Some(written) });
    let kind = DraftKind::Retry;
    assert_eq!(changes[1], Change::Draft { attempt: id, kind, added: true, value: None });
    assert_eq!(changes.len(), 2);
}

#[test]
fn a_removed_task_takes_its_drafts_along() {
    let world = World::new();
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    save(&world, id, text("say no more"));
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    let error = world.run(world.engine().draft(id, DraftKind::FollowUp)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(world.run(world.engine().drafts(world.project)).unwrap().attempts.is_empty());
}
