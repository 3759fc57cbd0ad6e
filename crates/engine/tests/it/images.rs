//! Pictures: kept once, brought into worktrees where git never sees them, and cleaned up.

use std::path::PathBuf;

use forge_engine::{Delivered, ErrorKind, FollowUp, NewImage, NewTask, TaskChange};
use forge_model::{Answer, AttemptState, Image, ImageId, TaskId};

use crate::world::{World, eventually, git};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a picture";

fn picture(name: &str, bytes: &[u8], task: Option<TaskId>) -> NewImage {
    NewImage { name: name.into(), bytes: bytes.to_vec(), task }
}

fn add(world: &World, bytes: &[u8]) -> Image {
    world.run(world.engine().add_image(picture("shot.png", bytes, None))).unwrap()
}

fn files(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.home.join("images"));
    entries
        .map(|all| all.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default()
}

fn task(world: &World, images: Vec<ImageId>) -> TaskId {
    let new =
        NewTask { project: world.project, title: "look".into(), description: None, parent: None, images };
    world.run(world.engine().create_task(new)).unwrap().task.id
}

fn of_task(world: &World, task: TaskId) -> Vec<ImageId> {
    world.run(world.engine().images_of_task(task)).unwrap().into_iter().map(|image| image.id).collect()
}

#[test]
fn the_same_bytes_given_many_times_at_once_are_one_image() {
    let world = World::new();
    let uploads: Vec<_> = (0..16)
        .map(|index| {
            let engine = world.engine().clone();
            let new = picture(&format!("{index}.png"), PNG, None);
            world.spawn(async move { engine.add_image(new).await.unwrap().id })
        })
        .collect();
    let mut ids: Vec<_> = uploads.into_iter().map(|upload| world.run(upload).unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let (image, bytes) = world.run(world.engine().image(ids[0])).unwrap();
    assert_eq!(bytes, PNG);
    assert_eq!(files(&world), std::slice::from_ref(&image.file));
    assert_eq!(image.path(), format!(".forge-images/{}.png", image.hash));
    let mode = std::fs::metadata(world.home.join("images").join(&image.file)).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
}

#[test]
fn a_picture_of_a_task_is_in_the_worktree_and_git_never_sees_it() {
    let world = World::new();
    let image = add(&world, PNG);
    let mut wanted = world.wanted(&format!("say ![it]({})\nedit notes.txt seen", image.path()));
    wanted.task.images = vec![image.id];
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let run = started.run.as_ref().unwrap();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let placed = view.attempt.worktree.join(image.path());
    assert_eq!(std::fs::read(&placed).unwrap(), PNG);
    // What the agent was told names the whole path; what is remembered is what the person wrote.
    assert!(world.output(run.id).contains(&format!("![it]({})", placed.display())));
    assert!(run.prompt.contains("![it](.forge-images/"));
    assert_eq!(git(&view.attempt.worktree, &["status", "--porcelain"]), "");
    let committed = world.git(&["ls-tree", "-r", "--name-only", &view.attempt.branch]);
    assert_eq!(committed, "README.md\nnotes.txt");
    assert_eq!(of_task(&world, started.task.task.id), [image.id]);
}

#[test]
fn a_follow_up_brings_its_pictures_to_a_running_agent_and_to_one_that_has_ended() {
    let world = World::new();
    let (first, second) = (add(&world, PNG), add(&world, b"\x89PNG another"));
    let started = world.start("ask go on?");
    let attempt = started.attempt.attempt.clone();
    let ask = world.wait_for_ask(attempt.id);
    let follow = |image: &Image| FollowUp {
        images: vec![image.id],
        ..FollowUp::new(format!("say ![x]({})", image.path()))
    };
    let told = world.run(world.engine().follow_up(attempt.id, follow(&first), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Injected);
    let placed = attempt.worktree.join(first.path());
    assert!(placed.is_file());
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    assert!(world.output(started.run.id).contains(&placed.display().to_string()));
    let again = world.run(world.engine().follow_up(attempt.id, follow(&second), None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    let placed = attempt.worktree.join(second.path());
    assert!(placed.is_file());
    assert!(world.output(again.run.id).contains(&placed.display().to_string()));
    assert_eq!(of_task(&world, started.task.task.id), [first.id, second.id]);
}

#[test]
fn a_change_of_images_replaces_them_and_an_unknown_one_is_named() {
    let world = World::new();
    let (first, second) = (add(&world, PNG), add(&world, b"\x89PNG another"));
    let task = task(&world, vec![first.id]);
    let change = |images: Option<Vec<ImageId>>| {
        world.run(world.engine().update_task(task, TaskChange { images, ..TaskChange::default() }))
    };
    change(None).unwrap();
    assert_eq!(of_task(&world, task), [first.id]);
    change(Some(vec![second.id])).unwrap();
    assert_eq!(of_task(&world, task), [second.id]);
    let nobody = ImageId::random();
    let error = change(Some(vec![nobody])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.to_string(), format!("`image_ids` names no image: {nobody}"));
    assert_eq!(of_task(&world, task), [second.id]);
    let mut wanted = world.wanted("say never");
    wanted.task.images = vec![nobody];
    let error = world.run(world.engine().create_and_start(wanted, None)).unwrap_err();
    assert!(error.to_string().contains(&nobody.to_string()), "{error}");
    assert_eq!(world.made().0.len(), 0);
}

#[test]
fn a_deleted_image_is_gone_for_its_tasks_and_may_be_deleted_again() {
    let world = World::new();
    let image = add(&world, PNG);
    let task = task(&world, vec![image.id]);
    for _ in 0..2 {
        world.run(world.engine().delete_image(image.id)).unwrap();
    }
    assert!(of_task(&world, task).is_empty() && files(&world).is_empty());
    assert_eq!(world.run(world.engine().image(image.id)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_ne!(add(&world, PNG).id, image.id);
}

#[test]
fn a_picture_that_belongs_to_nothing_goes_after_a_day_and_others_stay() {
    let mut world = World::new();
    let (young, old, used) = (add(&world, PNG), add(&world, b"\x89PNG old"), add(&world, b"\x89PNG used"));
    let removed = add(&world, b"\x89PNG removed");
    task(&world, vec![used.id]);
    let doomed = task(&world, vec![removed.id]);
    world.run(world.engine().delete_task(doomed)).unwrap();
    world.crash();
    let database = rusqlite::Connection::open(world.home.join("forge.db")).unwrap();
    database.execute("update images set updated_at = 0 where id <> ?1", [young.id.to_string()]).unwrap();
    drop(database);
    // As a server that died between a file and its row, or in the middle of one, would leave it.
    for name in [format!("{}.png", "f".repeat(64)), format!("{}.png.part", "e".repeat(64))] {
        std::fs::write(world.home.join("images").join(name), "torn").unwrap();
    }
    world.reopen();
    let mut kept = vec![young.file, used.file, removed.file];
    kept.sort();
    eventually("only what is wanted is kept", || {
        let mut files = files(&world);
        files.sort();
        (files == kept).then_some(())
    });
    let gone = world.run(world.engine().image(old.id)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(world.run(world.engine().image(used.id)).is_ok());
}

#[test]
fn a_picture_of_a_draft_that_was_removed_with_its_attempt_is_kept() {
    let mut world = World::new();
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let (drafted, old) = (add(&world, PNG), add(&world, &[PNG, b"old"].concat()));
    let images = Some(vec![drafted.id]);
    let change = forge_engine::DraftChange { images, ..Default::default() };
    world.run(world.engine().save_draft(id, forge_model::DraftKind::FollowUp, change)).unwrap();
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    world.crash();
    let database = rusqlite::Connection::open(world.home.join("forge.db")).unwrap();
    database.execute("update images set updated_at = 0", []).unwrap();
    drop(database);
    world.reopen();
    eventually("the other one is gone", || world.run(world.engine().image(old.id)).is_err().then_some(()));
    world.run(world.engine().image(drafted.id)).unwrap();
}

#[test]
fn a_hostile_link_in_a_repository_keeps_the_start_from_happening_and_nothing_is_written_through_it() {
    let world = World::new();
    let outside: PathBuf = world.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.repository.join(".forge-images")).unwrap();
    world.git(&["add", ".forge-images"]);
    world.git(&["commit", "--quiet", "--message=a link"]);
    let mut wanted = world.wanted("say never");
    wanted.task.images = vec![add(&world, PNG).id];
    let error = world.run(world.engine().create_and_start(wanted, None)).unwrap_err();
    assert!(error.to_string().contains("take the images off the task"), "{error}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(world.made(), (Vec::new(), Vec::new()));
}
