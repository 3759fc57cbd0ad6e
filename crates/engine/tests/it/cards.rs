//! What the card of an attempt shows: what its agent does, what its diff comes to, since when it stands where it does;
//! what people note about it; and the order of tasks by hand.

use std::collections::HashSet;
use std::time::Instant;

use forge_engine::{
    Change, ChangeSum, CommentChange, Delivered, Dismiss, ErrorKind, FollowUp, NewComment, NewTask,
    ProjectChange, TaskChange, TaskPlace,
};
use forge_model::{Answer, AttemptId, AttemptState, CommentSide, RunKind, TaskId, Time};

use crate::world::{World, eventually};

fn activity(world: &World, id: AttemptId) -> Option<String> {
    world.attempt(id).card.activity
}

#[test]
fn a_card_says_what_the_agent_does_while_it_runs_and_nothing_after() {
    let world = World::new();
    let gate = world.dir.path().join("gate");
    let wait = format!("until test -e {}; do sleep 0.02; done", gate.display());
    let started = world.start(&format!("think hm\nedit src/db.ts x\nrun {wait}\nhang"));
    let id = started.attempt.attempt.id;
    let shown = eventually("it runs a command", || {
        activity(&world, id).filter(|words| words.starts_with("Running until test"))
    });
    assert!(shown.chars().count() <= 80, "{shown}");
    // Another agent's words are its own.
    let other = world.start("think hm\nhang");
    eventually("the other thinks", || {
        (activity(&world, other.attempt.attempt.id)? == "Thinking").then_some(())
    });
    assert_eq!(activity(&world, id), Some(shown));
    std::fs::write(gate, "").unwrap();
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert_eq!(activity(&world, id), None);
}

#[test]
fn what_agents_do_is_told_once_a_second_at_most_and_fills_no_list() {
    let world = World::new();
    let before = *world.engine().bell().borrow();
    let started = world.start(&"run sleep 0.05\nthink hm\n".repeat(60));
    let id = started.attempt.attempt.id;
    let (mut after, mut told, begun) = (before, 0_u32, Instant::now());
    let mut words = HashSet::new();
    eventually("it is done", || {
        let seen = world.run(world.engine().changes(after)).unwrap();
        after = seen.seq;
        for item in &seen.items {
            if let Change::Attempt { id: of, value: Some(view), .. } = &item.change
                && *of == id
            {
                told += 1;
                words.extend(view.card.activity.clone());
            }
        }
        (world.attempt(id).attempt.state == AttemptState::Finished).then_some(())
    });
    let most = u32::try_from(begun.elapsed().as_secs()).unwrap() + 8;
    assert!(told <= most, "told {told} times in {:?}", begun.elapsed());
    assert!(words.contains("Thinking") || words.contains("Running sleep 0.05"), "{words:?}");
    // Whoever reads on from the beginning sees the attempt once, in its newest form.
    let seen = world.run(world.engine().changes(before)).unwrap();
    let ours = |change: &Change| matches!(change, Change::Attempt { id: of, .. } if *of == id);
    assert_eq!(seen.items.iter().filter(|item| ours(&item.change)).count(), 1);
    assert!(!seen.resync);
}

#[test]
fn a_card_has_what_the_diff_of_the_last_turn_comes_to_also_after_a_restart() {
    let mut world = World::new();
    let started = world.start("edit a.txt one\nrun printf '1\\n2\\n3\\n' > b.txt");
    let id = started.attempt.attempt.id;
    let sum = |world: &World, wanted: ChangeSum| {
        eventually(&format!("the sum is {wanted:?}"), || {
            (world.attempt(id).card.changes? == wanted).then_some(())
        });
    };
    sum(&world, ChangeSum { files: 2, added: 4, deleted: 0 });
    world.wait_for(id, AttemptState::Finished);
    world.restart();
    sum(&world, ChangeSum { files: 2, added: 4, deleted: 0 });
    let follow = FollowUp::new("run rm b.txt");
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
    sum(&world, ChangeSum { files: 1, added: 1, deleted: 0 });
    assert_eq!(world.attempt(id).card.turns, 2);
}

#[test]
fn a_live_diff_keeps_the_sum_true_between_turns() {
    let world = World::new();
    let started = world.start("say nothing");
    let id = started.attempt.attempt.id;
    let worktree = world.wait_for(id, AttemptState::Finished).attempt.worktree;
    eventually("nothing differs", || (world.attempt(id).card.changes?.files == 0).then_some(()));
    let mut view = world.run(world.engine().follow_diff(id, true)).unwrap();
    world.run(view.next()).unwrap();
    std::fs::write(worktree.join("by-hand.txt"), "one\ntwo\n").unwrap();
    eventually("the sum is told", || {
        (world.attempt(id).card.changes? == ChangeSum { files: 1, added: 2, deleted: 0 }).then_some(())
    });
}

#[test]
fn a_state_has_its_beginning_and_keeps_it_over_a_restart() {
    let mut world = World::new();
    let started = world.start("ask go on?\nsay so");
    let id = started.attempt.attempt.id;
    world.wait_for_ask(id);
    let waiting = world.wait_for(id, AttemptState::Waiting).card.state_since;
    assert!(waiting >= started.attempt.card.state_since);
    // Something else about the attempt changes, and its state does not.
    world.run(world.engine().note_seen(id)).unwrap();
    world.restart();
    let view = world.attempt(id);
    assert_eq!((view.attempt.state, view.card.state_since), (AttemptState::Waiting, waiting));
    assert_eq!(view.card.last_run, Some(started.run.id));
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert!(world.attempt(id).card.state_since >= waiting);
}

#[test]
fn a_setup_script_that_runs_is_named_by_its_first_line() {
    let world = World::new();
    let gate = world.dir.path().join("gate");
    let script = format!("# prepares\nuntil test -e {}; do sleep 0.02; done\necho done", gate.display());
    let change = ProjectChange { setup_script: Some(Some(script)), ..ProjectChange::default() };
    world.run(world.engine().update_project(world.project, change)).unwrap();
    let started = world.start("say so");
    assert_eq!(started.run.kind, RunKind::Setup);
    let id = started.attempt.attempt.id;
    let preparing = world.attempt(id).card.preparing.unwrap();
    assert!(preparing.starts_with("until test -e"), "{preparing}");
    std::fs::write(gate, "").unwrap();
    assert_eq!(world.wait_for(id, AttemptState::Finished).card.preparing, None);
}

#[test]
fn what_people_note_about_an_attempt_is_kept_and_told() {
    let mut world = World::new();
    let id = world.start("say so").attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    assert_eq!((view.card.seen_at, view.card.dismissed_at, view.card.later_until), (None, None, None));
    let before = *world.engine().bell().borrow();
    assert!(world.run(world.engine().note_seen(id)).unwrap().card.seen_at.is_some());
    let seen = world.run(world.engine().changes(before)).unwrap();
    let is_ours =
        |change: &Change| matches!(change, Change::Attempt { id: of, value: Some(_), .. } if *of == id);
    assert!(seen.items.iter().any(|item| is_ours(&item.change)));
    assert!(world.run(world.engine().put_aside(id, Dismiss::Now)).unwrap().card.dismissed_at.is_some());
    let evening = Time::from_millis(1_900_000_000_000);
    world.run(world.engine().put_aside(id, Dismiss::Until(evening))).unwrap();
    world.restart();
    let card = world.attempt(id).card;
    assert!(card.dismissed_at.is_some() && card.later_until == Some(evening), "{card:?}");
    assert!(card.seen_at.is_some());
    let card = world.run(world.engine().put_aside(id, Dismiss::Undo)).unwrap().card;
    assert_eq!((card.dismissed_at, card.later_until), (None, None));
    let gone = world.run(world.engine().note_seen(AttemptId::random())).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

fn comment(line: i64, text: &str) -> NewComment {
    let (path, quote) = ("src/a.rs".to_string(), "let a = 1;".to_string());
    NewComment { path, side: CommentSide::New, line, end_line: None, quote, text: text.to_string() }
}

#[test]
fn comments_are_counted_until_they_are_sent_and_come_back_with_their_attempt() {
    let world = World::new();
    let started = world.start("say so");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let first = world.run(world.engine().create_comment(id, comment(4, "Clamp at 0."))).unwrap();
    let second = world.run(world.engine().create_comment(id, comment(9, "Why?"))).unwrap();
    assert_eq!((first.end_line, world.attempt(id).card.comments), (4, 2));
    let change = CommentChange { text: Some("Why so?".into()), line: Some(11), ..CommentChange::default() };
    let changed = world.run(world.engine().update_comment(id, second.id, change)).unwrap();
    assert_eq!((changed.line, changed.end_line, changed.text.as_str()), (11, 11, "Why so?"));
    let all = world.run(world.engine().comments_sent(id, vec![first.id])).unwrap();
    // Two of the same millisecond come in any order.
    let sent: Vec<_> = all.iter().filter(|one| one.sent_at.is_some()).map(|one| one.id).collect();
    assert_eq!((all.len(), sent), (2, vec![first.id]));
    assert_eq!(world.attempt(id).card.comments, 1);
    // One that is not there spoils the whole call.
    let gone = forge_model::CommentId::random();
    let refused = world.run(world.engine().comments_sent(id, vec![second.id, gone])).unwrap_err();
    assert!(refused.to_string().contains(&gone.to_string()), "{refused}");
    assert_eq!(world.attempt(id).card.comments, 1);
    let task = started.task.task.id;
    world.run(world.engine().delete_task(task)).unwrap();
    world.run(world.engine().recover(task.to_string())).unwrap();
    assert_eq!(world.run(world.engine().comments(id)).unwrap().len(), 2);
    world.run(world.engine().delete_comment(id, second.id)).unwrap();
    assert_eq!(world.attempt(id).card.comments, 0);
    let again = world.run(world.engine().delete_comment(id, second.id)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
}

fn unsent(world: &World, id: AttemptId) -> usize {
    world.run(world.engine().comments(id)).unwrap().iter().filter(|one| one.sent_at.is_none()).count()
}

#[test]
fn comments_are_sent_with_the_message_that_is_made_of_them_once() {
    let world = World::new();
    let id = world.start("say so").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let write = |line| world.run(world.engine().create_comment(id, comment(line, "Why?"))).unwrap().id;
    let tell = |prompt: &str, comments| {
        let follow = FollowUp { comments, ..FollowUp::new(prompt) };
        world.run(world.engine().follow_up(id, follow, None))
    };
    let (first, second) = (write(4), write(9));
    assert_eq!(tell("ask sure?", vec![first]).unwrap().delivered, Delivered::Started);
    assert_eq!((unsent(&world, id), world.attempt(id).card.comments), (1, 1));
    let ask = world.wait_for_ask(id);
    // Another tab shows them still; what it sends as well would be told twice.
    let again = tell("say twice", vec![second, first]).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    assert!(again.to_string().contains(&first.to_string()), "{again}");
    let gone = forge_model::CommentId::random();
    let unknown = tell("say nothing", vec![second, gone]).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Invalid);
    assert!(unknown.to_string().contains(&format!("`comment_ids` names no comment on attempt {id}: {gone}")));
    assert_eq!(unsent(&world, id), 1);
    assert_eq!(tell("say more", vec![second]).unwrap().delivered, Delivered::Injected);
    assert_eq!((unsent(&world, id), world.attempt(id).card.comments), (0, 0));
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let run = world.run(world.engine().runs(id, true)).unwrap().pop().unwrap();
    let output = world.output(run.id);
    assert!(output.contains("more") && !output.contains("twice") && !output.contains("nothing"), "{output}");
}

#[test]
fn comments_of_a_message_that_broke_off_wait_again() {
    let mut world = World::with_seam("follow.recorded=hold:DIR/never");
    let id = world.start("say so").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let comments = vec![world.run(world.engine().create_comment(id, comment(4, "Why?"))).unwrap().id];
    let (engine, follow) = (world.engine().clone(), FollowUp { comments, ..FollowUp::new("say why") });
    let _caller = world.spawn(async move { engine.follow_up(id, follow, None).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the message is on record", || reached.exists().then_some(()));
    assert_eq!(unsent(&world, id), 0);
    world.restart();
    eventually("the comment waits again", || (unsent(&world, id) == 1).then_some(()));
    assert_eq!(world.attempt(id).card.comments, 1);
}

#[test]
fn comments_of_a_message_that_is_taken_out_of_the_queue_wait_again() {
    let world = World::new();
    let id = world.start("ask sure?").attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    let comment = world.run(world.engine().create_comment(id, comment(4, "Why?"))).unwrap().id;
    world.run(world.engine().tell_after_turn(id, FollowUp::new("say first"))).unwrap();
    let tell = || {
        let follow = FollowUp { comments: vec![comment], ..FollowUp::new("say why") };
        assert_eq!(
            world.run(world.engine().follow_up(id, follow, None)).unwrap().delivered,
            Delivered::Queued
        );
        assert_eq!((unsent(&world, id), world.attempt(id).card.comments), (0, 0));
        world.run(world.engine().queue(id)).unwrap()
    };
    let waiting = tell();
    let comments: Vec<_> = waiting.iter().map(|item| item.comments.clone()).collect();
    assert_eq!(comments, [vec![], vec![comment]]);
    let left = world.run(world.engine().withdraw_queued(id, waiting[1].id.clone())).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!((unsent(&world, id), world.attempt(id).card.comments), (1, 1));
    tell();
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    eventually("all of it was told", || {
        let runs = world.run(world.engine().runs(id, true)).unwrap();
        runs.iter().any(|run| world.output(run.id).contains("why")).then_some(())
    });
    assert_eq!(unsent(&world, id), 0);
}

#[test]
fn comments_are_bounded_in_length_and_number() {
    let world = World::new();
    let id = world.start("say so").attempt.attempt.id;
    let refused =
        |new: NewComment| world.run(world.engine().create_comment(id, new)).unwrap_err().to_string();
    assert!(refused(comment(0, "x")).contains("`line`"));
    assert!(refused(comment(1, " ")).contains("`text`"));
    assert!(refused(comment(1, &"x".repeat(20 * 1024 + 1))).contains("20 KB"));
    assert!(refused(NewComment { end_line: Some(1), ..comment(2, "x") }).contains("`end_line`"));
    for _ in 0..500 {
        world.run(world.engine().create_comment(id, comment(1, "x"))).unwrap();
    }
    assert!(refused(comment(1, "x")).contains("500 comments"));
}

#[test]
fn tasks_stand_where_they_are_put_and_a_new_one_above_all() {
    let world = World::new();
    let create = |title: &str| {
        let (title, project) = (title.to_string(), world.project);
        let new = NewTask { project, title, description: None, parent: None, images: Vec::new() };
        world.run(world.engine().create_task(new)).unwrap().task.id
    };
    let order = || {
        let mut tasks = world.run(world.engine().tasks(world.project)).unwrap();
        tasks.sort_by_key(|view| view.position);
        tasks.iter().map(|view| view.task.title.clone()).collect::<Vec<_>>().join("")
    };
    let [a, b, c, d] = ["a", "b", "c", "d"].map(create);
    assert_eq!(order(), "dcba");
    let put = |task: TaskId, place: TaskPlace| {
        let change = TaskChange { place: Some(place), ..TaskChange::default() };
        world.run(world.engine().update_task(task, change))
    };
    put(a, TaskPlace::Above(c)).unwrap();
    assert_eq!(order(), "dacb");
    put(d, TaskPlace::Last).unwrap();
    assert_eq!(order(), "acbd");
    // Two at once: both come to stand above the same one.
    let engine = world.engine().clone();
    let both = world.run(async move {
        let change = |place| TaskChange { place: Some(place), ..TaskChange::default() };
        tokio::join!(
            engine.update_task(b, change(TaskPlace::Above(a))),
            engine.update_task(d, change(TaskPlace::Above(a))),
        )
    });
    assert!(both.0.is_ok() && both.1.is_ok());
    assert!(["bdac", "dbac"].contains(&order().as_str()), "{}", order());
    create("e");
    assert!(order().starts_with('e'));
    let nobody = put(a, TaskPlace::Above(TaskId::random())).unwrap_err();
    assert!(nobody.to_string().contains("`position.before`"), "{nobody}");
}
