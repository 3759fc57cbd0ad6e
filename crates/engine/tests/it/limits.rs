//! How many attempts run at once: what is over the limit waits in its order, and nothing of it is lost.

use std::sync::{Arc, Mutex};

use forge_engine::{
    AttemptView, ConfigChange, Delivered, DraftChange, DraftQueue, ErrorKind, FollowUp, Key, NewLooseAttempt,
    NewProject, Started, TaskChange,
};
use forge_model::{AttemptId, AttemptState, DraftKind, ProfileId, ProjectId, TaskStatus};
use serde_json::json;

use crate::world::{World, eventually, make_repository};

fn limit(world: &World, limits: serde_json::Value) {
    let change = json!({ "limits": limits }).as_object().unwrap().clone();
    world.run(world.engine().change_config(ConfigChange::new(change).unwrap())).unwrap();
}

fn start(world: &World, script: &str) -> Started {
    world.run(world.engine().create_and_start(world.wanted(script), None)).unwrap()
}

fn start_in(world: &World, project: ProjectId, script: &str) -> Started {
    let mut wanted = world.wanted(script);
    wanted.task.project = project;
    world.run(world.engine().create_and_start(wanted, None)).unwrap()
}

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

fn state(world: &World, id: AttemptId) -> AttemptState {
    world.attempt(id).attempt.state
}

fn places(world: &World, ids: &[AttemptId]) -> Vec<Option<i64>> {
    ids.iter().map(|id| world.attempt(*id).place).collect()
}

fn id(started: &Started) -> AttemptId {
    started.attempt.attempt.id
}

#[test]
fn over_the_limit_an_attempt_is_queued_with_its_place_and_nothing_is_made_for_it() {
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let first = start(&world, "hang");
    assert_eq!((state(&world, id(&first)), first.attempt.place), (AttemptState::Running, None));
    let made = world.made();
    let key = Some(Key { key: "k".into(), fingerprint: "f".into() });
    let wanted = world.wanted("say second");
    let second = world.run(world.engine().create_and_start(wanted.clone(), key.clone())).unwrap();
    let third = start(&world, "say third");
    assert_eq!(places(&world, &[id(&second), id(&third)]), [Some(1), Some(2)]);
    let AttemptView { attempt, status, .. } = &second.attempt;
    assert_eq!((attempt.state, *status, second.run.is_none()), (AttemptState::Queued, None, true));
    assert_eq!(attempt.branch, format!("forge/{}-a-task", attempt.id.short()));
    assert_eq!(attempt.target_branch, "main");
    assert_eq!(second.task.task.status, TaskStatus::Todo);
    assert!(!second.task.has_in_progress_attempt);
    assert_eq!(second.task.attempt_count, 1);
    assert_eq!(world.made(), made, "there is no branch and no worktree of those that wait");
    let again = world.run(world.engine().create_and_start(wanted, key.clone())).unwrap();
    assert_eq!(id(&again), id(&second), "the same key repeats the answer");
    let error = world.run(world.engine().follow_up(id(&second), follow("say more"), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);

    world.run(world.engine().stop_attempt(id(&first))).unwrap();
    let second_over = world.wait_for(id(&second), AttemptState::Finished);
    assert_eq!(second_over.place, None);
    assert_eq!(world.git(&["rev-parse", "main"]), second_over.attempt.base_commit);
    world.wait_for(id(&third), AttemptState::Finished);
    let run = world.run(world.engine().runs(id(&second), true)).unwrap().remove(0);
    assert!(world.output(run.id).contains("second"));
    let again = world.run(world.engine().create_and_start(world.wanted("say second"), key)).unwrap();
    assert_eq!(again.run.unwrap().id, run.id, "and later tells of its run");
    let task = world.run(world.engine().task(second.task.task.id)).unwrap();
    assert_eq!(task.task.status, TaskStatus::InReview);
}

#[test]
fn a_project_that_is_full_holds_up_nobody_elses_attempts_and_nobody_is_overtaken() {
    let world = World::new();
    let path = make_repository(&world.dir.path().join("other"));
    let new = NewProject { name: "other".into(), path, ..NewProject::default() };
    let other = world.run(world.engine().create_project(new)).unwrap().id;
    limit(&world, json!({"max_running": 2, "max_running_per_project": 1}));
    let here = start(&world, "hang");
    let waits_here = start(&world, "hang");
    assert_eq!(state(&world, id(&waits_here)), AttemptState::Queued);
    let there = start_in(&world, other, "hang");
    assert_eq!(state(&world, id(&there)), AttemptState::Running, "the line of one project is not another's");
    let waits_there = start_in(&world, other, "hang");
    assert_eq!(places(&world, &[id(&waits_here), id(&waits_there)]), [Some(1), Some(2)]);
    world.run(world.engine().stop_attempt(id(&there))).unwrap();
    world.wait_for(id(&waits_there), AttemptState::Running);
    assert_eq!(places(&world, &[id(&waits_here)]), [Some(1)]);
    world.run(world.engine().stop_attempt(id(&here))).unwrap();
    world.wait_for(id(&waits_here), AttemptState::Running);
}

#[test]
fn a_changed_limit_counts_at_once_and_a_lower_one_ends_nothing() {
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let all: Vec<_> = (0..4).map(|_| id(&start(&world, "hang"))).collect();
    assert_eq!(places(&world, &all), [None, Some(1), Some(2), Some(3)]);
    limit(&world, json!({"max_running": 3}));
    world.wait_for(all[1], AttemptState::Running);
    world.wait_for(all[2], AttemptState::Running);
    assert_eq!(state(&world, all[3]), AttemptState::Queued);
    limit(&world, json!({"max_running": 1}));
    world.run(world.engine().stop_attempt(all[0])).unwrap();
    assert_eq!(state(&world, all[1]), AttemptState::Running);
    world.run(world.engine().stop_attempt(all[1])).unwrap();
    assert_eq!((state(&world, all[2]), state(&world, all[3])), (AttemptState::Running, AttemptState::Queued));
    limit(&world, json!({"max_running": null}));
    world.wait_for(all[3], AttemptState::Running);
    let error = ConfigChange::new(json!({"limits": {"max_running": 0}}).as_object().unwrap().clone());
    assert!(error.unwrap_err().to_string().contains("`limits.max_running` must be a whole number from 1 on"));
}

/// Collects the warnings of the whole process.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl tracing::field::Visit for Warnings {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn attempts_that_wait_for_room_on_the_disk_are_logged_once_and_not_at_every_look() {
    let warnings = Warnings::default();
    tracing::subscriber::set_global_default(warnings.clone()).unwrap();
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let first = start(&world, "hang");
    let second = start(&world, "say second");
    limit(&world, json!({"min_free_mb": 1_000_000_000_000_u64}));
    world.run(world.engine().stop_attempt(id(&first))).unwrap();
    let told = || {
        let warnings = warnings.0.lock().unwrap();
        warnings.iter().filter(|warning| warning.contains("attempts that wait are not started")).count()
    };
    eventually("the full disk is logged", || (told() > 0).then_some(()));
    // Each change rings the bell at which it is looked again.
    for n in 0..20 {
        let done = TaskChange { title: Some(format!("title {n}")), ..TaskChange::default() };
        world.run(world.engine().update_task(first.task.task.id, done)).unwrap();
    }
    limit(&world, json!({"min_free_mb": 0}));
    world.wait_for(id(&second), AttemptState::Finished);
    assert_eq!(told(), 1);
}

#[test]
fn one_that_waits_is_given_up_by_a_stop_and_by_the_removal_of_its_task() {
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let first = start(&world, "hang");
    let stopped = start(&world, "hang");
    let removed = start(&world, "hang");
    let last = start(&world, "hang");
    world.run(world.engine().stop_attempt(id(&stopped))).unwrap();
    let view = world.attempt(id(&stopped));
    assert_eq!((view.attempt.state, view.place), (AttemptState::Stopped, None));
    assert!(view.attempt.worktree_deleted);
    world.run(world.engine().delete_task(removed.task.task.id)).unwrap();
    assert_eq!(places(&world, &[id(&last)]), [Some(1)]);
    world.run(world.engine().stop_attempt(id(&first))).unwrap();
    world.wait_for(id(&last), AttemptState::Running);
    world.run(world.engine().delete_task(stopped.task.task.id)).unwrap();
    assert_eq!(world.made().1.len(), 2);
}

#[test]
fn one_whose_base_is_gone_when_its_turn_comes_has_failed_and_the_next_goes_on() {
    let world = World::new();
    world.git(&["branch", "doomed"]);
    limit(&world, json!({"max_running": 1}));
    let first = start(&world, "hang");
    let mut wanted = world.wanted("say never");
    wanted.base_branch = Some("absent".into());
    let error = world.run(world.engine().create_and_start(wanted.clone(), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "what is wrong already is told at once");
    wanted.base_branch = Some("doomed".into());
    let doomed = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let last = start(&world, "say last");
    world.git(&["branch", "-D", "doomed"]);
    world.run(world.engine().stop_attempt(id(&first))).unwrap();
    let failed = world.wait_for(id(&doomed), AttemptState::Failed);
    assert!(failed.attempt.reason.unwrap().contains("there is no branch doomed"));
    world.wait_for(id(&last), AttemptState::Finished);
    assert_eq!(world.made().0.len(), 2, "nothing is left of the one that failed");
}

#[test]
fn a_follow_up_over_the_limit_waits_in_its_attempts_queue_and_goes_when_there_is_room() {
    let mut world = World::new();
    let rests = world.start("say one").attempt.attempt.id;
    let drafts = world.start("say one").attempt.attempt.id;
    for id in [rests, drafts] {
        world.wait_for(id, AttemptState::Finished);
    }
    limit(&world, json!({"max_running": 1}));
    let busy = world.start("hang").attempt.attempt.id;
    let told = world.run(world.engine().follow_up(rests, follow("say two"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    let change = DraftChange { prompt: Some("say drafted".into()), ..DraftChange::default() };
    world.run(world.engine().save_draft(drafts, DraftKind::FollowUp, change)).unwrap();
    let queued = DraftQueue { queued: true, ..DraftQueue::default() };
    assert!(world.run(world.engine().queue_draft(drafts, queued, None)).unwrap().queued.is_some());
    let told = world.run(world.engine().follow_up(rests, follow("say three"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    let view = world.attempt(rests);
    assert_eq!((view.attempt.state, view.queued, view.place), (AttemptState::Finished, 2, Some(1)));
    assert_eq!(places(&world, &[drafts]), [Some(2)]);
    world.restart();
    assert_eq!(places(&world, &[rests, drafts]), [Some(1), Some(2)]);
    world.run(world.engine().stop_attempt(busy)).unwrap();
    eventually("both were told in order", || {
        let runs = world.run(world.engine().runs(rests, true)).unwrap();
        // The second may be told in the process of the first.
        let said: String = runs[1..].iter().map(|run| world.output(run.id)).collect();
        (said.find("two")? < said.find("three")?).then_some(())
    });
    eventually("the draft was sent", || {
        let runs = world.run(world.engine().runs(drafts, true)).unwrap();
        (runs.len() == 2 && world.attempt(drafts).attempt.state == AttemptState::Finished).then_some(())
    });
    assert_eq!(places(&world, &[rests, drafts]), [None, None]);
}

#[test]
fn a_follow_up_that_is_taken_back_while_it_waits_is_never_sent() {
    let world = World::new();
    let rests = world.start("say one").attempt.attempt.id;
    world.wait_for(rests, AttemptState::Finished);
    limit(&world, json!({"max_running": 1}));
    let busy = world.start("hang").attempt.attempt.id;
    world.run(world.engine().follow_up(rests, follow("say two"), None)).unwrap();
    let item = world.run(world.engine().queue(rests)).unwrap().remove(0);
    world.run(world.engine().withdraw_queued(rests, item.id)).unwrap();
    let last = start(&world, "say last");
    world.run(world.engine().stop_attempt(busy)).unwrap();
    world.wait_for(id(&last), AttemptState::Finished);
    assert_eq!(world.run(world.engine().runs(rests, true)).unwrap().len(), 1);
    assert_eq!(places(&world, &[rests]), [None]);
}

#[test]
fn an_attempt_without_a_task_waits_like_any_other() {
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let busy = world.start("hang").attempt.attempt.id;
    let wanted = NewLooseAttempt {
        project: world.project,
        prompt: "say loose".into(),
        profile: ProfileId::new("SCRIPTED", None).unwrap(),
        base_branch: None,
    };
    let loose = world.run(world.engine().start_loose(wanted.clone(), None)).unwrap();
    let other = world.run(world.engine().start_loose(wanted, None)).unwrap();
    assert_eq!((loose.run.is_none(), loose.attempt.place), (true, Some(1)));
    world.run(world.engine().stop_loose(other.attempt.attempt.id)).unwrap();
    world.run(world.engine().stop_attempt(busy)).unwrap();
    world.wait_for(loose.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(state(&world, other.attempt.attempt.id), AttemptState::Stopped);
}

#[test]
fn a_start_that_waited_and_breaks_off_has_its_place_again() {
    let mut world = World::with_seam("");
    limit(&world, json!({"max_running": 1}));
    let busy = world.start("hang").attempt.attempt.id;
    let all: Vec<_> = ["say one", "say two"].map(|script| id(&start(&world, script))).into();
    world.restart_with("start.worktree=hold:DIR/go");
    let engine = world.engine().clone();
    let _stop = world.spawn(async move { engine.stop_attempt(busy).await });
    let reached = world.dir.path().join("go.reached");
    eventually("the first has its worktree", || reached.exists().then_some(()));
    assert_eq!(places(&world, &all), [None, Some(1)]);
    world.crash();
    world.reopen();
    for id in &all {
        world.wait_for(*id, AttemptState::Finished);
    }
    let begun = all.iter().map(|id| world.run(world.engine().runs(*id, true)).unwrap());
    let begun: Vec<_> = begun.map(|runs| (runs.len(), runs[0].started_at)).collect();
    assert!(begun[0].0 == 1 && begun[1].0 == 1 && begun[0].1 < begun[1].1, "{begun:?}");
}

#[test]
fn what_is_taken_of_the_disk_is_told_by_project_and_attempt() {
    let world = World::new();
    let id = world.start("edit large.txt text\nsay hi").attempt.attempt.id;
    let worktree = world.wait_for(id, AttemptState::Finished).attempt.worktree;
    std::fs::write(worktree.join("ignored.bin"), vec![7; 3 << 20]).unwrap();
    let seen = world.run(world.engine().disk_use()).unwrap();
    assert!(seen.is_complete && seen.free.unwrap() > 0 && seen.floor == 1 << 30);
    assert!(seen.database > 0);
    let of = &seen.projects[0];
    assert_eq!((of.project, of.name.as_str(), of.attempts.len()), (world.project, "demo", 1));
    assert!(of.attempts[0].attempt == id && of.attempts[0].worktree >= 3 << 20 && of.attempts[0].runs > 0);
    assert_eq!((seen.worktrees, seen.runs), (of.worktrees, of.runs));
    let again = world.run(world.engine().disk_use()).unwrap();
    assert_eq!(again, seen, "a second caller is told the same without another look");
}

#[test]
fn one_that_was_removed_while_it_waited_waits_again_when_it_is_recovered() {
    let world = World::new();
    limit(&world, json!({"max_running": 1}));
    let first = start(&world, "hang");
    let second = start(&world, "edit second.txt text");
    let third = start(&world, "say third");
    world.run(world.engine().delete_task(second.task.task.id)).unwrap();
    assert_eq!(places(&world, &[id(&third)]), [Some(1)]);
    let recovered = world.run(world.engine().recover(second.task.task.id.to_string())).unwrap();
    assert_eq!((recovered.attempts, recovered.notes.len()), (1, 0), "{recovered:?}");
    assert_eq!(state(&world, id(&second)), AttemptState::Queued);
    assert_eq!(places(&world, &[id(&third), id(&second)]), [Some(1), Some(2)]);
    world.run(world.engine().stop_attempt(id(&first))).unwrap();
    for one in [&third, &second] {
        world.wait_for(id(one), AttemptState::Finished);
    }
    assert!(world.attempt(id(&second)).attempt.worktree.join("second.txt").exists());
}
