//! Removing never loses work: rows are kept aside, files snapshotted and moved to the trash, branches stay.

use forge_engine::ErrorKind;
use forge_model::AttemptState;

use crate::world::{World, make_repository};

#[test]
fn a_removed_task_leaves_its_branch_a_snapshot_and_its_files_in_the_trash() {
    let world = World::new();
    let started = world.start("edit wanted.txt text\nexit 1");
    let attempt = world.wait_for(started.attempt.attempt.id, AttemptState::Failed).attempt;
    std::fs::write(attempt.worktree.join("later.txt"), "typed by hand").unwrap();
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    assert_eq!(world.run(world.engine().task(started.task.task.id)).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
    assert!(!attempt.worktree.exists());
    assert_eq!(world.git(&["rev-parse", &attempt.branch]), attempt.base_commit);
    let snapshot = format!("refs/forge/snapshots/{}", attempt.id);
    assert_eq!(world.git(&["show", &format!("{snapshot}:later.txt")]), "typed by hand");
    let trash: Vec<_> = std::fs::read_dir(world.home.join("trash")).unwrap().flatten().collect();
    assert!(trash.iter().any(|entry| entry.path().join("later.txt").exists()), "{trash:?}");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn nothing_is_removed_while_it_runs() {
    let world = World::new();
    let started = world.start("hang");
    let error = world.run(world.engine().delete_task(started.task.task.id)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let error = world.run(world.engine().delete_project(world.project)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(started.attempt.attempt.worktree.exists());
}

#[test]
fn removing_a_project_does_not_touch_the_persons_repository() {
    let world = World::new();
    let started = world.start("say hi");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    std::fs::write(world.repository.join("mine.txt"), "uncommitted").unwrap();
    world.run(world.engine().delete_project(world.project)).unwrap();
    assert!(world.run(world.engine().projects()).unwrap().is_empty());
    assert_eq!(std::fs::read_to_string(world.repository.join("mine.txt")).unwrap(), "uncommitted");
    assert_eq!(world.git(&["status", "--porcelain"]), "?? mine.txt");
    // The same repository can be registered again.
    let new = forge_engine::NewProject {
        name: "again".into(),
        path: world.repository.clone(),
        ..forge_engine::NewProject::default()
    };
    world.run(world.engine().create_project(new)).unwrap();
}

#[test]
fn what_cannot_be_snapshotted_goes_to_the_trash_whole() {
    let mut world = World::new();
    let started = world.start("say hi");
    let attempt = world.wait_for(started.attempt.attempt.id, AttemptState::Finished).attempt;
    std::fs::write(attempt.worktree.join("typed.txt"), "by hand").unwrap();
    // The worktree cannot be told to be the repository's, so nothing can be snapshotted.
    let (entries, hidden) = (world.repository.join(".git/worktrees"), world.repository.join(".git/hidden"));
    std::fs::rename(&entries, &hidden).unwrap();
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    world.restart();
    assert!(!attempt.worktree.exists());
    let name = attempt.worktree.file_name().unwrap();
    let place = world.home.join("trash").join(attempt.id.to_string()).join("replaced/0").join(name);
    assert_eq!(std::fs::read_to_string(place.join("typed.txt")).unwrap(), "by hand");
    make_repository(&world.dir.path().join("other"));
}

#[test]
fn what_is_left_of_a_repository_that_is_gone_can_be_removed_and_no_file_goes() {
    let mut world = World::new();
    let started = world.start("say hi");
    let attempt = world.wait_for(started.attempt.attempt.id, AttemptState::Finished).attempt;
    std::fs::write(attempt.worktree.join("typed.txt"), "by hand").unwrap();
    let hidden = world.repository.with_extension("hidden");
    std::fs::rename(&world.repository, &hidden).unwrap();
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    let typed = attempt.worktree.join("typed.txt");
    assert!(typed.exists(), "without a snapshot nothing is moved");
    let cleaned = world.run(world.engine().gc(false)).unwrap();
    let left = cleaned.left.iter().find(|left| left.path == attempt.worktree).expect("it is told");
    assert!(left.why.contains("whose repository is gone"), "{left:?}");
    world.restart();
    assert!(typed.exists());
    world.run(world.engine().delete_project(world.project)).unwrap();
    assert!(world.run(world.engine().projects()).unwrap().is_empty());
    // The disk it was on is there again, and so is everything.
    std::fs::rename(&hidden, &world.repository).unwrap();
    world.run(world.engine().recover(world.project.to_string())).unwrap();
    world.run(world.engine().recover(started.task.task.id.to_string())).unwrap();
    let back = world.attempt(attempt.id).attempt;
    assert_eq!(std::fs::read_to_string(back.worktree.join("typed.txt")).unwrap(), "by hand");
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn what_guarded_the_git_of_a_removed_attempt_goes_with_it() {
    let world = World::new();
    let (gone, stays) = (world.start("say hi"), world.start("say ho"));
    for one in [&gone, &stays] {
        world.wait_for(one.attempt.attempt.id, AttemptState::Finished);
    }
    let guard = |attempt: forge_model::AttemptId| world.home.join("guard").join(attempt.to_string());
    assert!(guard(gone.attempt.attempt.id).exists());
    world.run(world.engine().delete_task(gone.task.task.id)).unwrap();
    assert!(!guard(gone.attempt.attempt.id).exists());
    assert!(guard(stays.attempt.attempt.id).exists());
    assert!(world.home.join("guard/objects").exists(), "what is kept for all of them stays");
}
