//! Going back in time: snapshots are listed, files restored, restores undone, old snapshots let go of.

use forge_engine::{ConfigChange, ErrorKind, FollowUp, RestoreFiles, SnapshotView};
use forge_model::{Attempt, AttemptId, AttemptState};
use serde_json::json;

use crate::world::{World, eventually};

fn listed(world: &World, id: AttemptId) -> Vec<SnapshotView> {
    world.run(world.engine().snapshots(id)).unwrap()
}

fn to(snapshot: &str) -> RestoreFiles {
    RestoreFiles { snapshot: snapshot.into(), paths: None }
}

fn read(attempt: &Attempt, name: &str) -> Option<String> {
    std::fs::read_to_string(attempt.worktree.join(name)).ok()
}

/// Plays two turns, and returns the attempt.
fn two_turns(world: &World) -> Attempt {
    let id = world.start("edit a.txt first").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let follow = FollowUp::new("edit a.txt second\nedit b.txt new");
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
    world.wait_for(id, AttemptState::Finished).attempt
}

#[test]
fn every_turn_has_a_snapshot_that_says_what_it_changed() {
    let world = World::new();
    let attempt = two_turns(&world);
    let list = listed(&world, attempt.id);
    let runs = world.run(world.engine().runs(attempt.id, true)).unwrap();
    assert_eq!(list.iter().map(|one| one.run).collect::<Vec<_>>(), [Some(runs[1].id), Some(runs[0].id)]);
    assert!(list.iter().all(|one| one.why == "turn" && one.left_out.is_empty()), "{list:?}");
    let newest = list[0].changes.unwrap();
    assert_eq!((newest.added, newest.changed, newest.deleted), (1, 1, 0));
    assert_eq!(list[0].head.as_deref(), Some(world.git(&["rev-parse", &attempt.branch]).as_str()));
    let nobody = world.run(world.engine().snapshots(AttemptId::random()));
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn files_go_back_to_a_turn_and_the_restore_is_undone() {
    let world = World::new();
    let attempt = two_turns(&world);
    std::fs::write(attempt.worktree.join("typed.txt"), "by hand").unwrap();
    let head = world.git(&["rev-parse", &attempt.branch]);
    let first = listed(&world, attempt.id).pop().unwrap().id;
    let restored = world.run(world.engine().restore_files(attempt.id, to(&first))).unwrap();
    assert_eq!(
        (restored.written, restored.removed),
        (vec!["a.txt".into()], vec!["b.txt".into(), "typed.txt".into()])
    );
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("first\n"));
    assert_eq!((read(&attempt, "b.txt"), read(&attempt, "typed.txt")), (None, None));
    assert_eq!(world.git(&["rev-parse", &attempt.branch]), head, "history stays where it is");
    let list = listed(&world, attempt.id);
    assert_eq!((&list[0].id, list[0].why.as_str()), (&restored.undo, "before a restore"));

    // What neither the snapshot nor the worktree has cannot be brought back, and is not said to be.
    let unknown = RestoreFiles { paths: Some(vec!["nowhere.txt".into()]), ..to(&restored.undo) };
    let refused = world.run(world.engine().restore_files(attempt.id, unknown)).unwrap_err();
    assert!(refused.to_string().contains("nowhere.txt is in neither snapshot"), "{refused}");
    let part = RestoreFiles { paths: Some(vec!["b.txt".into()]), ..to(&restored.undo) };
    world.run(world.engine().restore_files(attempt.id, part)).unwrap();
    assert_eq!((read(&attempt, "b.txt").as_deref(), read(&attempt, "typed.txt")), (Some("new\n"), None));
    world.run(world.engine().restore_files(attempt.id, to(&restored.undo))).unwrap();
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("second\n"));
    assert_eq!(read(&attempt, "typed.txt").as_deref(), Some("by hand"));
    world.git(&["fsck", "--strict"]);
}

#[test]
fn nothing_is_restored_while_it_runs_or_from_elsewhere() {
    let world = World::new();
    let other = two_turns(&world);
    let foreign = listed(&world, other.id)[0].id.clone();
    let attempt = world.start("edit a.txt text\nask go on?").attempt.attempt;
    world.wait_for_ask(attempt.id);
    let refused = |id, wanted| world.run(world.engine().restore_files(id, wanted)).unwrap_err();
    assert_eq!(refused(attempt.id, to(&foreign)).kind(), ErrorKind::NotFound);
    let running = world.start("hang");
    let own = world.run(world.engine().stop_run(running.run.id)).unwrap();
    let own = listed(&world, own.attempt)[0].id.clone();
    let busy = FollowUp::new("hang");
    world.run(world.engine().follow_up(running.attempt.attempt.id, busy, None)).unwrap();
    let error = refused(running.attempt.attempt.id, to(&own));
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("running"), "{error}");
    let outside = RestoreFiles { paths: Some(vec!["../x".into()]), ..to(&foreign) };
    assert_eq!(refused(other.id, outside).kind(), ErrorKind::Invalid);
}

#[test]
fn a_restore_that_is_killed_half_way_is_finished_by_the_next_server() {
    let mut world = World::with_seam("restore.snapshotted=hold:DIR/never");
    let attempt = two_turns(&world);
    std::fs::write(attempt.worktree.join("typed.txt"), "by hand").unwrap();
    let first = listed(&world, attempt.id).pop().unwrap().id;
    let (engine, id) = (world.engine().clone(), attempt.id);
    let _caller = world.spawn(async move { engine.restore_files(id, to(&first)).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the restore is under way", || reached.exists().then_some(()));
    let undo = listed(&world, id)[0].id.clone();
    // It had removed one file and not written the other yet.
    std::fs::remove_file(attempt.worktree.join("b.txt")).unwrap();
    world.restart();
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("first\n"));
    assert_eq!((read(&attempt, "b.txt"), read(&attempt, "typed.txt")), (None, None));
    world.run(world.engine().restore_files(id, to(&undo))).unwrap();
    assert_eq!(read(&attempt, "b.txt").as_deref(), Some("new\n"));
    assert_eq!(read(&attempt, "typed.txt").as_deref(), Some("by hand"));
}

/// Says that nothing but the last is to be kept, and restarts; a server that starts cleans up.
fn keep_only_the_last(world: &mut World, seam: &str) {
    let change = json!({ "snapshots": { "keep_days": 0, "keep_mb": null } });
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    world.restart_with(seam);
}

#[test]
fn old_snapshots_go_and_the_last_one_stays() {
    let mut world = World::new();
    let attempt = two_turns(&world);
    let before = listed(&world, attempt.id);
    assert_eq!(before.len(), 2);
    keep_only_the_last(&mut world, "");
    let list =
        eventually("the first is gone", || Some(listed(&world, attempt.id)).filter(|list| list.len() == 1));
    assert_eq!(list[0].id, before[0].id);
    let reference = format!("refs/forge/snapshots/{}", attempt.id);
    let head = world.git(&["rev-parse", &attempt.branch]);
    assert_eq!(world.git(&["log", "-1", "--format=%P", &reference]), head, "only the commit is its parent");
    assert_eq!(world.git(&["show", &format!("{reference}:a.txt")]), "second");
    std::fs::write(attempt.worktree.join("a.txt"), "spoiled").unwrap();
    world.run(world.engine().restore_files(attempt.id, to(&list[0].id))).unwrap();
    assert_eq!(read(&attempt, "a.txt").as_deref(), Some("second\n"));
}

#[test]
fn snapshots_that_are_too_much_together_go_oldest_first_and_the_last_one_stays() {
    let mut world = World::new();
    let attempt = two_turns(&world);
    let newest = listed(&world, attempt.id)[0].id.clone();
    let change = json!({ "snapshots": { "keep_days": null, "keep_mb": 0 } });
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    world.restart();
    let list =
        eventually("the first is gone", || Some(listed(&world, attempt.id)).filter(|list| list.len() == 1));
    assert_eq!(list[0].id, newest);
}

#[test]
fn a_server_that_dies_while_it_lets_go_of_snapshots_loses_none_that_is_kept() {
    for seam in ["retain.recorded", "retain.moved"] {
        let mut world = World::new();
        let attempt = two_turns(&world);
        let newest = listed(&world, attempt.id)[0].id.clone();
        keep_only_the_last(&mut world, &format!("{seam}=hold:DIR/never"));
        let reached = world.dir.path().join("never.reached");
        eventually("it is under way", || reached.exists().then_some(()));
        world.restart();
        let list = eventually("the first is gone", || {
            Some(listed(&world, attempt.id)).filter(|list| list.len() == 1)
        });
        assert_eq!(list[0].id, newest, "{seam}");
        std::fs::remove_file(attempt.worktree.join("a.txt")).unwrap();
        world.run(world.engine().restore_files(attempt.id, to(&newest))).unwrap();
        assert_eq!(read(&attempt, "a.txt").as_deref(), Some("second\n"), "{seam}");
        world.git(&["fsck", "--strict"]);
    }
}
