//! What was removed comes back: rows, conversations and files.

use forge_engine::{ErrorKind, KeptFiles, NewProject, RemovedKind, RemovedThing};
use forge_model::{Attempt, AttemptState};

use crate::world::{Began, World, eventually};

/// An attempt with a commit, an edit by hand, and an ignored file.
fn worked(world: &World) -> (Began, Attempt) {
    std::fs::write(world.repository.join(".git/info/exclude"), "*.env\n").unwrap();
    let started = world.start("edit made.txt text\nsay done");
    let attempt = world.wait_for(started.attempt.attempt.id, AttemptState::Finished).attempt;
    std::fs::write(attempt.worktree.join("typed.txt"), "by hand").unwrap();
    std::fs::write(attempt.worktree.join("keys.env"), "ignored").unwrap();
    (started, attempt)
}

fn removed(world: &World) -> Vec<RemovedThing> {
    world.run(world.engine().removed()).unwrap()
}

fn read(attempt: &Attempt, name: &str) -> Option<String> {
    std::fs::read_to_string(attempt.worktree.join(name)).ok()
}

#[test]
fn a_task_comes_back_with_its_attempts_their_runs_and_every_file() {
    let world = World::new();
    let (started, attempt) = worked(&world);
    let task = started.task.task.id;
    world.run(world.engine().delete_task(task)).unwrap();
    let list = removed(&world);
    let kinds: Vec<_> = list.iter().map(|one| (one.kind, one.files)).collect();
    assert!(kinds.contains(&(RemovedKind::Attempt, Some(KeptFiles::Trash))), "{list:?}");
    assert!(list.iter().any(|one| one.kind == RemovedKind::Task && one.name == "a task"), "{list:?}");
    let alone = world.run(world.engine().recover(attempt.id.to_string())).unwrap_err();
    assert!(alone.kind() == ErrorKind::Conflict && alone.to_string().contains(&task.to_string()), "{alone}");

    let seq = world.run(world.engine().overview()).unwrap().seq;
    let recovered = world.run(world.engine().recover(task.to_string())).unwrap();
    assert_eq!((recovered.tasks, recovered.attempts, recovered.notes), (1, 1, vec![]));
    assert_eq!(world.run(world.engine().task(task)).unwrap().task.title, "a task");
    assert_eq!(world.attempt(attempt.id).attempt.branch, attempt.branch);
    assert!(world.output(started.run.id).contains("done"), "the log is still there");
    assert_eq!(read(&attempt, "made.txt").as_deref(), Some("text\n"));
    assert_eq!(read(&attempt, "typed.txt").as_deref(), Some("by hand"));
    assert_eq!(read(&attempt, "keys.env").as_deref(), Some("ignored"));
    assert!(removed(&world).is_empty());
    let changes = world.run(world.engine().changes(seq)).unwrap();
    let told = format!("{changes:?}");
    assert!(told.contains(&task.to_string()) && told.contains(&attempt.id.to_string()), "{told}");
    // It goes on from there, and can be removed again.
    let follow = forge_engine::FollowUp::new("edit more.txt x");
    world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    world.run(world.engine().delete_task(task)).unwrap();
    assert_eq!(removed(&world).len(), 2);
}

#[test]
fn when_the_trash_is_purged_the_files_come_from_the_last_snapshot() {
    let world = World::new();
    let (started, attempt) = worked(&world);
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    std::fs::remove_dir_all(world.home.join("trash")).unwrap();
    let files: Vec<_> = removed(&world).into_iter().filter_map(|one| one.files).collect();
    assert_eq!(files, [KeptFiles::Snapshot]);
    // Somebody has cleaned up branches, too.
    world.git(&["branch", "-q", "-D", &attempt.branch]);
    let recovered = world.run(world.engine().recover(started.task.task.id.to_string())).unwrap();
    assert!(recovered.notes[0].contains("ignored files"), "{:?}", recovered.notes);
    assert_eq!(read(&attempt, "made.txt").as_deref(), Some("text\n"));
    assert_eq!(read(&attempt, "typed.txt").as_deref(), Some("by hand"));
    assert_eq!(read(&attempt, "keys.env"), None);
    assert_eq!(world.git(&["log", "-1", "--format=%s", &attempt.branch]), "done");
}

#[test]
fn a_project_comes_back_with_what_went_with_it_and_a_clash_is_told() {
    let world = World::new();
    let (started, attempt) = worked(&world);
    let early = world.start("say early");
    world.wait_for(early.attempt.attempt.id, AttemptState::Finished);
    world.run(world.engine().delete_task(early.task.task.id)).unwrap();
    world.run(world.engine().delete_project(world.project)).unwrap();
    let new = NewProject { name: "again".into(), path: world.repository.clone(), ..NewProject::default() };
    let again = world.run(world.engine().create_project(new)).unwrap();
    let clash = world.run(world.engine().recover(world.project.to_string())).unwrap_err();
    assert_eq!(clash.kind(), ErrorKind::Conflict);
    world.run(world.engine().delete_project(again.id)).unwrap();
    let recovered = world.run(world.engine().recover(world.project.to_string())).unwrap();
    assert_eq!((recovered.tasks, recovered.attempts), (1, 1));
    assert!(world.run(world.engine().task(started.task.task.id)).is_ok());
    assert_eq!(read(&attempt, "keys.env").as_deref(), Some("ignored"));
    // What was deleted before is still deleted, and can be brought back by itself.
    assert!(world.run(world.engine().task(early.task.task.id)).is_err());
    world.run(world.engine().recover(early.task.task.id.to_string())).unwrap();
    let nobody = world.run(world.engine().recover(forge_model::TaskId::random().to_string())).unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::NotFound);
}

#[test]
fn a_recovery_that_broke_off_is_finished_by_the_next_server() {
    let mut world = World::with_seam("recover.files=hold:DIR/never");
    let (started, attempt) = worked(&world);
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    let (engine, task) = (world.engine().clone(), started.task.task.id.to_string());
    let _caller = world.spawn(async move { engine.recover(task).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the files are back", || reached.exists().then_some(()));
    assert!(world.run(world.engine().task(started.task.task.id)).is_err(), "readers see nothing yet");
    world.restart();
    assert!(world.run(world.engine().task(started.task.task.id)).is_ok());
    assert_eq!(read(&attempt, "keys.env").as_deref(), Some("ignored"));
    assert!(removed(&world).is_empty());
}
