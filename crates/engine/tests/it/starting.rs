//! A start is true: everything it names exists when it returns, or nothing does.

use forge_engine::{ErrorKind, Key};
use forge_model::{AttemptState, ProfileId, RunState, TaskStatus};

use crate::world::{World, eventually, git, marked};

fn key(key: &str, fingerprint: &str) -> Option<Key> {
    Some(Key { key: key.into(), fingerprint: fingerprint.into() })
}

#[test]
fn everything_a_start_names_exists_when_it_returns() {
    let world = World::new();
    let started = world.start("say hello\nsleep 60000");
    let attempt = &started.attempt.attempt;
    assert_eq!(attempt.branch, format!("forge/{}-a-task", attempt.id.short()));
    assert_eq!(world.git(&["rev-parse", &attempt.branch]), attempt.base_commit);
    assert!(attempt.worktree.join("README.md").is_file());
    assert_eq!(git(&attempt.worktree, &["branch", "--show-current"]), attempt.branch);
    assert!(!marked(started.run.id).is_empty(), "no process carries the run's marker");
    assert_eq!(started.run.state, RunState::Running);
    assert_eq!(started.task.task.status, TaskStatus::InProgress);
    assert!(started.task.has_in_progress_attempt);
    assert_eq!(started.task.attempt_count, 1);
}

#[test]
fn a_run_that_ends_well_is_committed_and_sent_to_review() {
    let world = World::new();
    let started = world.start("edit notes.txt remember this\nsay wrote a note");
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(view.status, Some(RunState::Completed));
    let branch = &view.attempt.branch;
    assert_eq!(world.git(&["log", "-1", "--format=%s", branch]), "wrote a note");
    assert_eq!(world.git(&["show", &format!("{branch}:notes.txt")]), "remember this");
    let task = world.run(world.engine().task(started.task.task.id)).unwrap();
    assert_eq!(task.task.status, TaskStatus::InReview);
    let run = world.run(world.engine().run(started.run.id)).unwrap();
    assert_eq!(run.after_head.unwrap(), world.git(&["rev-parse", branch]));
}

#[test]
fn a_run_that_fails_is_snapshotted_and_not_committed() {
    let world = World::new();
    let started = world.start("edit notes.txt half done\nexit 3");
    let id = started.attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Failed);
    assert_eq!(view.attempt.reason.unwrap(), "the agent ended with exit code 3");
    let branch = &view.attempt.branch;
    assert_eq!(world.git(&["rev-parse", branch]), view.attempt.base_commit);
    let snapshot = format!("refs/forge/snapshots/{id}");
    assert_eq!(world.git(&["show", &format!("{snapshot}:notes.txt")]), "half done");
    let run = world.run(world.engine().run(started.run.id)).unwrap();
    assert_eq!((run.state, run.exit_code), (RunState::Failed, Some(3)));
    assert!(world.run(world.engine().task(started.task.task.id)).unwrap().last_attempt_failed);
}

#[test]
fn a_failing_hook_leaves_the_changes_uncommitted_and_says_so() {
    let world = World::new();
    let hook = world.repository.join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\necho no trailing spaces please\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let started = world.start("edit notes.txt text");
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let reason = view.attempt.reason.unwrap();
    assert!(reason.contains("pre-commit") && reason.contains("no trailing spaces please"), "{reason}");
    assert_eq!(world.git(&["rev-parse", &view.attempt.branch]), view.attempt.base_commit);
    assert!(view.attempt.worktree.join("notes.txt").exists());
}

#[test]
fn fifty_starts_at_once_make_exactly_what_they_acknowledge() {
    let mut world = World::with_seam("start.intent:doomed=hold:DIR/go");
    // Its commit is on no other branch, and goes before the worktree is made.
    let commit = world.git(&["commit-tree", "-m", "doomed", "main^{tree}"]).trim().to_string();
    world.git(&["branch", "doomed", &commit]);
    let twin = |world: &World| world.wanted("say twin\nsleep 60000");
    let mut starts = Vec::new();
    let mut doomed = world.wanted("say never");
    doomed.base_branch = Some("doomed".into());
    for index in 0..50 {
        let engine = world.engine().clone();
        let (wanted, key) = match index {
            0 => (doomed.clone(), None),
            1 | 2 => (twin(&world), key("the-same", "f")),
            _ => (world.wanted("say hi\nsleep 60000"), None),
        };
        starts.push(world.spawn(async move { engine.create_and_start(wanted, key).await }));
    }
    let reached = world.dir.path().join("go.reached");
    eventually("the doomed start has its row", || reached.exists().then_some(()));
    world.git(&["branch", "-D", "doomed"]);
    let (folder, name) = commit.split_at(2);
    std::fs::remove_file(world.repository.join(".git/objects").join(folder).join(name)).unwrap();
    std::fs::write(world.dir.path().join("go"), "").unwrap();

    let answers: Vec<_> = starts.into_iter().map(|start| world.run(start).unwrap()).collect();
    let failed: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].kind(), ErrorKind::Invalid);
    assert!(failed[0].to_string().contains(&commit), "{}", failed[0]);
    let mut ids: Vec<_> = answers.iter().flatten().map(|started| started.attempt.attempt.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 48, "the same key gives the same attempt");

    let attempts = world.run(world.engine().attempts(None)).unwrap();
    assert_eq!(attempts.len(), 48);
    assert_eq!(world.run(world.engine().tasks(world.project)).unwrap().len(), 48);
    let (branches, worktrees) = world.made();
    assert_eq!((branches.len(), worktrees.len()), (48, 48));
    assert_eq!(world.run(world.engine().stop_all()).unwrap(), 48);
    world.git(&["fsck", "--strict"]);
    world.restart();
    assert_eq!(world.run(world.engine().attempts(None)).unwrap().len(), 48);
}

#[test]
fn a_key_repeats_the_answer_even_after_a_restart_and_refuses_another_call() {
    let mut world = World::new();
    let wanted = world.wanted("say once");
    let first = world.run(world.engine().create_and_start(wanted.clone(), key("k", "one"))).unwrap();
    world.restart();
    let again = world.run(world.engine().create_and_start(wanted.clone(), key("k", "one"))).unwrap();
    assert_eq!(again.attempt.attempt.id, first.attempt.attempt.id);
    assert_eq!(again.run.unwrap().id, first.run.unwrap().id);
    let other = world.run(world.engine().create_and_start(wanted, key("k", "two"))).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Invalid);
    assert!(other.to_string().contains("was used for another call"), "{other}");
    assert_eq!(world.run(world.engine().attempts(None)).unwrap().len(), 1);
}

#[test]
fn a_caller_that_goes_away_leaves_nothing_half_made() {
    let world = World::with_seam("start.worktree=hold:DIR/go");
    let engine = world.engine().clone();
    let wanted = world.wanted("say hi");
    let caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
    let reached = world.dir.path().join("go.reached");
    eventually("the worktree is made", || reached.exists().then_some(()));
    caller.abort();
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    let attempt =
        eventually("the start goes on by itself", || world.run(world.engine().attempts(None)).unwrap().pop());
    world.wait_for(attempt.attempt.id, AttemptState::Finished);
}

#[test]
fn an_agent_that_is_not_installed_fails_the_start_with_the_command_that_installs_it() {
    let world = World::new();
    let mut wanted = world.wanted("hello");
    wanted.profile = ProfileId::new("CLAUDE_CODE", None).unwrap();
    let on_path =
        std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|dir| dir.join("claude").exists());
    assert!(!on_path, "this test needs a machine without Claude Code");
    let error = world.run(world.engine().create_and_start(wanted, None)).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Invalid, Some("setup_required")));
    assert!(error.to_string().contains("install"), "{error}");
    assert_eq!(world.made(), (vec![], vec![]));
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
    assert!(world.run(world.engine().tasks(world.project)).unwrap().is_empty());
}

#[test]
fn an_agent_finds_the_token_of_its_attempt_and_nothing_of_the_servers_git() {
    let world = World::new();
    let started = world
        .start("run echo $FORGE_TOKEN; env | grep ^GIT_ | grep -vc ^GIT_CONFIG_\nrun echo in $FORGE_ATTEMPT");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let (output, id) = (world.output(started.run.id), started.attempt.attempt.id);
    assert!(output.contains(&format!("token of {id}\\n0")), "{output}");
    assert!(output.contains(&format!("in {id}")), "{output}");
}

#[test]
fn a_task_removed_while_an_attempt_at_it_starts_leaves_nothing_behind() {
    let world = World::with_seam("start.spawned=hold:DIR/go");
    let new = forge_engine::NewTask {
        project: world.project,
        title: "short-lived".into(),
        description: Some("hang".into()),
        parent: None,
        images: Vec::new(),
    };
    let task = world.run(world.engine().create_task(new)).unwrap().task.id;
    let attempt = forge_engine::NewAttempt {
        task,
        profile: ProfileId::new("SCRIPTED", None).unwrap(),
        base_branch: None,
        use_worktree: true,
        manner: forge_model::Manner::default(),
    };
    let engine = world.engine().clone();
    let start = world.spawn(async move { engine.start_attempt(attempt, None).await });
    let reached = world.dir.path().join("go.reached");
    eventually("the process is there", || reached.exists().then_some(()));
    world.run(world.engine().delete_task(task)).unwrap();
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    let error = world.run(start).unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(world.made(), (vec![], vec![]));
    assert_eq!(std::fs::read_dir(world.home.join("runs")).unwrap().count(), 0);
}
