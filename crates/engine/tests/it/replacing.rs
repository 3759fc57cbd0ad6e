//! Running a turn again in another way: what came of it is dropped, and can still be found.

use forge_engine::{ErrorKind, FollowUp, Replace, Told};
use forge_model::{Attempt, AttemptState, Run};

use crate::world::{World, eventually};

fn replace(prompt: &str) -> Replace {
    Replace {
        run: None,
        prompt: prompt.into(),
        variant: None,
        profile: None,
        images: Vec::new(),
        reset: true,
        discard: false,
    }
}

fn three_turns(world: &World) -> (Attempt, Vec<Run>) {
    let id = world.start("edit a.txt first").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    for prompt in ["edit a.txt second", "edit b.txt third"] {
        let follow = FollowUp::new(prompt);
        world.run(world.engine().follow_up(id, follow, None)).unwrap();
        world.wait_for(id, AttemptState::Finished);
    }
    (world.attempt(id).attempt, world.run(world.engine().runs(id, true)).unwrap())
}

fn read(attempt: &Attempt, name: &str) -> Option<String> {
    std::fs::read_to_string(attempt.worktree.join(name)).ok()
}

#[test]
fn a_turn_is_replaced_with_all_that_came_after_it() {
    let world = World::new();
    let (attempt, runs) = three_turns(&world);
    let wanted = Replace { run: Some(runs[1].id), ..replace("edit c.txt other") };
    let replaced = world.run(world.engine().replace_run(attempt.id, wanted, None)).unwrap();
    assert_eq!((replaced.dropped, replaced.reset_needed, replaced.reset_applied), (2, true, true));
    assert_eq!(replaced.target, runs[1].before_head);
    world.wait_for(attempt.id, AttemptState::Finished);
    let left = world.run(world.engine().runs(attempt.id, false)).unwrap();
    assert_eq!(left.iter().map(|run| run.id).collect::<Vec<_>>(), [runs[0].id, replaced.run.id]);
    assert_eq!(replaced.run.resumed_session, runs[1].resumed_session);
    assert_eq!((read(&attempt, "a.txt").as_deref(), read(&attempt, "b.txt")), (Some("first\n"), None));
    assert_eq!(read(&attempt, "c.txt").as_deref(), Some("other\n"));
    let parent = world.git(&["rev-parse", &format!("{}^", attempt.branch)]);
    assert_eq!(Some(parent), runs[1].before_head);
    // What was dropped is in the snapshot from before.
    let list = world.run(world.engine().snapshots(attempt.id)).unwrap();
    let before = list.iter().find(|one| one.why == "before a turn is run again").unwrap().id.clone();
    let back = forge_engine::RestoreFiles { snapshot: before, paths: None };
    world.run(world.engine().restore_files(attempt.id, back)).unwrap();
    assert_eq!(read(&attempt, "b.txt").as_deref(), Some("third\n"));
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("second\n"));
}

#[test]
fn changes_that_are_not_committed_stay_unless_they_are_given_up() {
    let world = World::new();
    let (attempt, runs) = three_turns(&world);
    std::fs::write(attempt.worktree.join("a.txt"), "by hand\n").unwrap();
    let head = world.git(&["rev-parse", &attempt.branch]);
    // Seen from before the turn that was replaced last; nobody names a run, so it is the last.
    let kept = world.run(world.engine().replace_run(attempt.id, replace("say kept"), None)).unwrap();
    assert_eq!((kept.dropped, kept.reset_needed, kept.reset_applied), (1, true, false));
    world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(world.git(&["rev-parse", &format!("{}^", attempt.branch)]), head);
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("by hand\n"));

    std::fs::write(attempt.worktree.join("a.txt"), "by hand again\n").unwrap();
    let wanted = Replace { run: Some(runs[1].id), discard: true, ..replace("say gone") };
    let gone = world.run(world.engine().replace_run(attempt.id, wanted, None)).unwrap();
    assert!(gone.reset_applied);
    world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("first\n"));
    assert_eq!(Some(world.git(&["rev-parse", &attempt.branch])), runs[1].before_head);
    let dropped = Replace { run: Some(runs[2].id), ..replace("say never") };
    let error = world.run(world.engine().replace_run(attempt.id, dropped, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[test]
fn a_turn_that_runs_is_stopped_and_told_again() {
    let world = World::new();
    let started = world.start("edit a.txt text\nsay there\nhang");
    let id = started.attempt.attempt.id;
    world.wait_for_output(started.run.id, "there");
    let again = Told::Again(Replace { discard: true, ..replace("say again") });
    let told = world.run(world.engine().tell_agent(id, again, None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert!(world.output(told.run.id).contains("again"));
    assert!(world.run(world.engine().run(started.run.id)).unwrap().dropped);
    let foreign = world.start("say other");
    let wrong = Replace { run: Some(foreign.run.id), ..replace("say never") };
    let error = world.run(world.engine().replace_run(id, wrong, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_replacement_that_broke_off_is_finished_by_the_next_server() {
    for seam in ["replace.recorded", "replace.reset"] {
        let mut world = World::with_seam(&format!("{seam}=hold:DIR/never"));
        let (attempt, runs) = three_turns(&world);
        let (engine, id, run) = (world.engine().clone(), attempt.id, runs[1].id);
        let _caller = world.spawn(async move {
            let wanted = Replace { run: Some(run), ..replace("edit c.txt other") };
            engine.replace_run(id, wanted, None).await
        });
        let reached = world.dir.path().join("never.reached");
        eventually("it is under way", || reached.exists().then_some(()));
        world.restart();
        let last = eventually("the new run has ended", || {
            let left = world.run(world.engine().runs(id, false)).unwrap();
            left.into_iter().nth(1).filter(|run| run.id != runs[1].id && run.state.is_over())
        });
        assert_eq!(last.before_head, runs[1].before_head, "{seam}");
        assert_eq!(read(&attempt, "c.txt").as_deref(), Some("other\n"), "{seam}");
        assert_eq!(read(&attempt, "a.txt").as_deref(), Some("first\n"), "{seam}");
    }
}
