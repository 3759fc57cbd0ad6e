//! Attempts without a worktree: the agent works in the person's checkout, and Forge changes nothing there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use forge_engine::{
    ConfigChange, ErrorKind, FollowUp, Key, Land, NewAttempt, NewImage, RebaseRequest, Replace, RestoreFiles,
    Started, TaskChange,
};
use forge_model::{AttemptState, ProfileId, TaskStatus};
use serde_json::json;

use crate::world::{World, eventually};

fn start(world: &World, script: &str) -> forge_engine::Result<Started> {
    let mut wanted = world.wanted(script);
    wanted.use_worktree = false;
    world.run(world.engine().create_and_start(wanted, None))
}

fn configure(world: &World, change: serde_json::Value) {
    let change = ConfigChange::new(change.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
}

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

/// Everything a person has there, byte for byte: files, index, refs, config, hooks. Git's own store of objects and
/// what bears our name in it are not theirs.
fn everything(top: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut seen = BTreeMap::new();
    let mut todo = vec![top.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let ours = [".git/objects", ".git/refs/forge", ".git/logs/refs/forge"];
            if ours.iter().any(|ours| path.starts_with(top.join(ours))) {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                todo.push(path);
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                seen.insert(path, (meta.mode(), meta.mtime_nsec(), bytes));
            }
        }
    }
    seen
}

#[test]
fn an_attempt_without_a_worktree_is_deleted_expired_and_cleaned_without_a_byte_of_the_checkout_changing() {
    let mut world = World::new();
    world.git(&["tag", "theirs"]);
    fs::write(world.repository.join("README.md"), "an edit that is not committed\n").unwrap();
    fs::write(world.repository.join(".gitignore"), "target/\n").unwrap();
    fs::create_dir(world.repository.join("target")).unwrap();
    fs::write(world.repository.join("target/made"), "made").unwrap();
    fs::write(world.repository.join("untracked"), "theirs").unwrap();
    world.git(&["add", ".gitignore"]);
    let head = world.git(&["rev-parse", "HEAD"]);
    let started = start(&world, "edit work.txt by the agent\nsay done").unwrap();
    let attempt = &started.attempt.attempt;
    let (id, task) = (attempt.id, started.task.task.id);
    assert!(attempt.in_place);
    assert_eq!((attempt.branch.as_str(), attempt.target_branch.as_str()), ("main", "main"));
    assert_eq!((&attempt.worktree, &attempt.base_commit), (&world.repository, &head));
    assert_eq!(started.task.task.status, TaskStatus::Agent);
    assert!(started.task.is_chat);
    let agents = world.run(world.engine().standing_agents(world.project, Some("genie_chat".into()))).unwrap();
    assert_eq!(agents.iter().map(|agent| agent.task).collect::<Vec<_>>(), [task]);
    let view = world.wait_for(id, AttemptState::Finished);
    assert_eq!(view.attempt.reason, None, "it could be snapshotted");
    assert_eq!(fs::read_to_string(world.repository.join("work.txt")).unwrap(), "by the agent\n");
    assert_eq!(world.git(&["rev-parse", "HEAD"]), head, "nothing is committed");
    assert_eq!(world.git(&["diff", "--cached", "--name-only"]), ".gitignore", "nothing is staged");
    assert_eq!(world.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]), "refs/heads/main");
    let snapshot = format!("refs/forge/snapshots/{id}");
    assert_eq!(world.git(&["show", &format!("{snapshot}:work.txt")]), "by the agent");
    assert_eq!(world.git(&["show", &format!("{snapshot}:untracked")]), "theirs");

    let before = everything(&world.repository);
    configure(&world, json!({"worktrees": {"expire_after_hours": 0, "tidy_after_hours": 0}}));
    let cleaned = world.run(world.engine().gc(false)).unwrap();
    assert_eq!(everything(&world.repository), before, "expired: {cleaned:?}");
    let archived = TaskChange { status: Some(TaskStatus::Archived), ..TaskChange::default() };
    world.run(world.engine().update_task(task, archived)).unwrap();
    world.run(world.engine().gc(false)).unwrap();
    world.restart();
    assert_eq!(everything(&world.repository), before, "archived and restarted");
    assert!(!world.attempt(id).attempt.worktree_deleted);
    world.run(world.engine().delete_task(task)).unwrap();
    world.run(world.engine().gc(false)).unwrap();
    assert_eq!(everything(&world.repository), before, "deleted");
    let second = start(&world, "say again").unwrap();
    world.wait_for(second.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(everything(&world.repository), before, "an agent that changes nothing leaves nothing");
    world.run(world.engine().delete_project(world.project)).unwrap();
    assert_eq!(everything(&world.repository), before, "the project is deleted");
    assert!(world.made().1.is_empty(), "there never was a worktree");
    let trashed = everything(&world.home.join("trash"));
    assert!(
        trashed.is_empty(),
        "only directories for temporary files went, and they were empty: {trashed:?}"
    );
}

#[test]
fn one_works_in_a_checkout_at_a_time_and_goes_on_in_its_conversation() {
    let world = World::new();
    let first = start(&world, "hang").unwrap();
    let id = first.attempt.attempt.id;
    let error = start(&world, "say second").unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("in_place_taken")));
    assert_eq!(world.run(world.engine().attempts(None)).unwrap().len(), 1, "nothing is left of it");
    // One with a worktree is in nobody's way.
    let beside = world.start("say beside").attempt.attempt.id;
    world.wait_for(beside, AttemptState::Finished);
    world.run(world.engine().stop_attempt(id)).unwrap();
    let second = start(&world, "hang").unwrap();
    let error = world.run(world.engine().follow_up(id, follow("say more"), None)).unwrap_err();
    assert_eq!(error.code(), Some("in_place_taken"));
    world.run(world.engine().stop_attempt(second.attempt.attempt.id)).unwrap();
    world.run(world.engine().follow_up(id, follow("say more"), None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let error = world.run(world.engine().push_attempt(id)).unwrap_err();
    assert_eq!(error.code(), Some("in_place"), "{error}");
    let new = NewAttempt {
        task: second.task.task.id,
        profile: ProfileId::new("SCRIPTED", None).unwrap(),
        base_branch: None,
        use_worktree: false,
        manner: forge_model::Manner::default(),
    };
    let third = world.run(world.engine().start_attempt(new, None)).unwrap();
    assert!(third.attempt.attempt.in_place);
    assert_eq!(third.task.attempt_count, 2);
}

#[test]
fn a_detached_and_an_unborn_checkout_can_be_worked_in() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "--detach"]);
    let started = start(&world, "say detached").unwrap();
    assert_eq!(started.attempt.attempt.branch, "HEAD");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    world.git(&["checkout", "--quiet", "--orphan", "unborn"]);
    let started = start(&world, "say unborn\nedit new.txt text").unwrap();
    let attempt = &started.attempt.attempt;
    assert_eq!((attempt.branch.as_str(), attempt.base_commit.as_str()), ("unborn", ""));
    let view = world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(view.attempt.reason, None);
    let shown = world.git(&["show", &format!("refs/forge/snapshots/{}:new.txt", attempt.id)]);
    assert_eq!(shown, "text");
    assert!(!world.repository.join(".git/refs/heads/unborn").exists());
}

#[test]
fn pictures_are_not_put_into_a_persons_checkout() {
    let world = World::new();
    let bytes = b"\x89PNG\r\n\x1a\n0000".to_vec();
    let image = NewImage { name: "shot.png".into(), bytes, task: None };
    let image = world.run(world.engine().add_image(image)).unwrap();
    let mut wanted = world.wanted(&format!("say ![it]({})", image.path()));
    wanted.use_worktree = false;
    wanted.task.images = vec![image.id];
    let key = Some(Key { key: "k".into(), fingerprint: "f".into() });
    let started = world.run(world.engine().create_and_start(wanted, key)).unwrap();
    let run = started.run.unwrap();
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let place = world.home.canonicalize().unwrap().join("images").join(&image.file);
    assert!(place.is_file());
    assert!(world.output(run.id).contains(&place.display().to_string()));
    assert!(!world.repository.join(".forge-images").exists());
}

#[test]
fn one_that_waits_for_room_begins_on_what_is_checked_out_then() {
    let world = World::new();
    configure(&world, json!({"limits": {"max_running": 1}}));
    let busy = world.start("hang").attempt.attempt.id;
    let waits = start(&world, "say it").unwrap();
    assert_eq!((waits.attempt.place, waits.attempt.attempt.state), (Some(1), AttemptState::Queued));
    assert_eq!(waits.task.task.status, TaskStatus::Agent);
    assert_eq!(start(&world, "say no").unwrap_err().code(), Some("in_place_taken"));
    world.git(&["checkout", "--quiet", "-b", "other"]);
    world.run(world.engine().stop_attempt(busy)).unwrap();
    let view = world.wait_for(waits.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(view.attempt.branch, "other");
    eventually("the checkout is free", || start(&world, "say next").ok());
}

#[test]
fn git_work_is_refused_and_the_belt_left_out_where_the_checkout_is_the_persons() {
    let world = World::new();
    let env = world.dir.path().join("env");
    let script = format!("run env > {}\nedit made.txt by the agent", env.display());
    let id = start(&world, &script).unwrap().attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let env = fs::read_to_string(env).unwrap();
    assert!(env.contains(&format!("FORGE_ATTEMPT={id}\n")), "{env}");
    for name in ["FORGE_ATTEMPT_REF", "FORGE_ATTEMPT_REPOSITORY", "FORGE_PERSON_GITCONFIG", "GIT_CONFIG_"] {
        assert!(!env.lines().any(|line| line.starts_with(name)), "{name} is set:\n{env}");
    }
    let before = everything(&world.repository);
    let engine = world.engine();
    let snapshot = world.run(engine.snapshots(id)).unwrap()[0].id.clone();
    let refused = [
        ("merge", world.run(engine.land(id, Land::default())).map(drop)),
        ("rebase", world.run(engine.rebase(id, RebaseRequest::default())).map(drop)),
        ("restore", world.run(engine.restore_files(id, RestoreFiles { snapshot, paths: None })).map(drop)),
        ("delete", world.run(engine.delete_file(id, "made.txt".into()))),
        ("push", world.run(engine.push_attempt(id)).map(drop)),
    ];
    for (act, refused) in refused {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("in_place")), "{act}: {error}");
    }
    // A turn is run again, but nothing is taken back for it.
    let again = Replace {
        run: None,
        prompt: "say again".into(),
        variant: None,
        profile: None,
        images: Vec::new(),
        reset: true,
        discard: true,
    };
    let replaced = world.run(engine.replace_run(id, again, None)).unwrap();
    assert!(!replaced.reset_applied);
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(everything(&world.repository), before);
}
