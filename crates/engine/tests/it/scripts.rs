//! Scripts of a project: setup before the agent, cleanup after it, in this order whatever happens in between.

use forge_engine::{ConfigChange, Delivered, FollowUp, ProjectChange};
use forge_model::{AttemptId, AttemptState, Run, RunKind, RunState, TaskStatus};
use serde_json::json;

use crate::world::{World, eventually, marked};

const CHAIN: &str = "run echo 2 >> order.txt";

fn scripts(world: &World, setup: Option<&str>, cleanup: Option<&str>) {
    let change = ProjectChange {
        setup_script: Some(setup.map(str::to_string)),
        cleanup_script: Some(cleanup.map(str::to_string)),
        ..ProjectChange::default()
    };
    world.run(world.engine().update_project(world.project, change)).unwrap();
}

fn runs(world: &World, id: AttemptId) -> Vec<Run> {
    world.run(world.engine().runs(id, true)).unwrap()
}

fn kinds(runs: &[Run]) -> Vec<RunKind> {
    runs.iter().map(|run| run.kind).collect()
}

fn follow(prompt: &str) -> FollowUp {
    FollowUp::new(prompt)
}

/// A script that goes on when a file in the world's directory is there.
fn until(world: &World, name: &str) -> String {
    format!("until test -e {}; do sleep 0.02; done", world.dir.path().join(name).display())
}

#[test]
fn setup_runs_before_the_agent_and_cleanup_after_it_and_all_their_work_is_committed() {
    let world = World::new();
    scripts(&world, Some("echo setting up; echo 1 > order.txt"), Some("echo 3 >> order.txt; echo tidy >&2"));
    let started = world.start(CHAIN);
    assert_eq!(started.run.kind, RunKind::Setup, "the setup script is what runs when a start answers");
    assert_eq!(started.run.next.clone().unwrap().prompt, started.attempt.attempt.prompt);
    let id = started.attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    let runs = runs(&world, id);
    assert_eq!(kinds(&runs), [RunKind::Setup, RunKind::Agent, RunKind::Cleanup]);
    assert!(runs.iter().all(|run| run.state == RunState::Completed && run.exit_code == Some(0)), "{runs:?}");
    assert_eq!(world.output(runs[0].id), "setting up\n");
    assert_eq!(world.output(runs[2].id), "tidy\n");
    assert_eq!(world.git(&["show", &format!("{}:order.txt", view.attempt.branch)]), "1\n2\n3");
    assert!(view.attempt.setup_completed_at.is_some());
    let task = world.run(world.engine().task(started.task.task.id)).unwrap();
    assert_eq!(task.task.status, TaskStatus::InReview);
    assert!(!task.has_in_progress_attempt && !task.last_attempt_failed);
    let told = world.run(world.engine().follow_up(id, follow("run echo 4 >> order.txt"), None)).unwrap();
    assert_eq!(
        (told.run.kind, told.delivered),
        (RunKind::Agent, Delivered::Started),
        "set up once is set up"
    );
    eventually("the second cleanup", || (self::runs(&world, id).len() == 5).then_some(()));
    world.wait_for(id, AttemptState::Finished);
}

#[test]
fn a_cleanup_script_has_nothing_to_do_after_a_turn_without_a_commit() {
    let world = World::new();
    scripts(&world, None, Some("echo tidy"));
    let id = world.start("say nothing changed").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(kinds(&runs(&world, id)), [RunKind::Agent]);
}

#[test]
fn a_cleanup_script_that_fails_is_told_and_what_waits_goes_on() {
    let world = World::new();
    scripts(&world, None, Some(&format!("{}; exit 3", until(&world, "go"))));
    let id = world.start("edit a.txt text").attempt.attempt.id;
    eventually("the cleanup runs", || (runs(&world, id).len() == 2).then_some(()));
    let told = world.run(world.engine().follow_up(id, follow("say after"), None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = runs(&world, id);
    assert_eq!(kinds(&runs), [RunKind::Agent, RunKind::Cleanup, RunKind::Agent]);
    assert_eq!((runs[1].state, runs[1].exit_code), (RunState::Failed, Some(3)));
}

#[test]
fn when_the_setup_fails_the_agent_does_not_run_and_a_follow_up_begins_again() {
    let world = World::new();
    scripts(&world, Some("echo one; echo no network >&2; exit 7"), None);
    let started = world.start("edit first.txt text");
    let id = started.attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Failed);
    let reason = view.attempt.reason.unwrap();
    assert!(reason.contains("the setup script ended with exit code 7"), "{reason}");
    assert!(reason.contains("no network"), "{reason}");
    assert_eq!(view.attempt.setup_completed_at, None);
    assert_eq!(kinds(&runs(&world, id)), [RunKind::Setup]);
    let task = world.run(world.engine().task(started.task.task.id)).unwrap();
    assert_eq!((task.task.status, task.last_attempt_failed), (TaskStatus::InReview, true));
    scripts(&world, Some("echo better"), None);
    let told = world.run(world.engine().follow_up(id, follow("edit second.txt text"), None)).unwrap();
    assert_eq!((told.run.kind, told.delivered), (RunKind::Setup, Delivered::Queued));
    let view = world.wait_for(id, AttemptState::Finished);
    let runs = runs(&world, id);
    assert_eq!(kinds(&runs), [RunKind::Setup, RunKind::Setup, RunKind::Agent]);
    assert_eq!(runs[2].prompt, view.attempt.prompt, "the first prompt is not lost");
    assert!(view.attempt.worktree.join("second.txt").exists(), "the same process is told the follow-up");
}

#[test]
fn a_setup_script_that_hangs_is_ended_at_its_limit_with_everything_it_started() {
    let mut world = World::new();
    let limit = json!({ "setup_seconds": 2 });
    let change = ConfigChange::new([("scripts".to_string(), limit)].into_iter().collect()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
    scripts(&world, Some("echo begun; (trap '' INT TERM; sleep 3600) & sleep 3600"), None);
    let started = world.start("say never");
    let (id, run) = (started.attempt.attempt.id, started.run.id);
    // The time goes on while the server is away.
    world.restart();
    let reason = world.wait_for(id, AttemptState::Failed).attempt.reason.unwrap();
    assert!(reason.contains("it took longer than its limit of 2 s"), "{reason}");
    assert!(reason.contains("its last line: begun"), "{reason}");
    assert_eq!(kinds(&runs(&world, id)), [RunKind::Setup]);
    assert_eq!(marked(run), Vec::<u32>::new());
}

#[test]
fn a_stop_during_the_setup_means_that_the_agent_never_starts() {
    let mut world = World::new();
    scripts(&world, Some("echo begun; sleep 3600"), None);
    let started = world.start("say never");
    let id = started.attempt.attempt.id;
    world.wait_for_output(started.run.id, "begun");
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Stopped);
    assert_eq!(marked(started.run.id), Vec::<u32>::new());
    world.restart();
    let runs = runs(&world, id);
    assert_eq!((kinds(&runs), runs[0].state), (vec![RunKind::Setup], RunState::Killed));
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Stopped);
}

#[test]
fn a_follow_up_during_the_setup_waits_for_the_first_turn() {
    let world = World::new();
    scripts(&world, Some(&until(&world, "go")), None);
    let id = world.start("say first").attempt.attempt.id;
    let told = world.run(world.engine().follow_up(id, follow("say second"), None)).unwrap();
    assert_eq!((told.delivered, told.run.kind), (Delivered::Queued, RunKind::Setup));
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    world.wait_for(id, AttemptState::Finished);
    let runs = runs(&world, id);
    assert_eq!(kinds(&runs), [RunKind::Setup, RunKind::Agent]);
    let said = world.output(runs[1].id);
    assert!(said.find("first").unwrap() < said.find("second").unwrap(), "{said}");
}

#[test]
fn a_server_that_dies_between_two_links_loses_none_and_doubles_none() {
    // Each place where a server can die, from the setup's process to the cleanup's.
    let seams = [
        "start.spawned#1",
        "start.recorded#1",
        "finish.recorded#1",
        "start.spawned#2",
        "start.recorded#2",
        "finish.recorded#2",
        "start.spawned#3",
        "start.recorded#3",
        "finish.recorded#3",
    ];
    for seam in seams {
        let mut world = World::with_seam(&format!("{seam}=hold:DIR/never"));
        scripts(&world, Some("echo 1 >> order.txt"), Some("echo 3 >> order.txt"));
        let (engine, wanted) = (world.engine().clone(), world.wanted(CHAIN));
        let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
        let reached = world.dir.path().join("never.reached");
        eventually(seam, || reached.exists().then_some(()));
        world.restart();
        let attempts = world.run(world.engine().attempts(None)).unwrap();
        assert_eq!(attempts.len(), 1, "{seam}");
        let view = world.wait_for(attempts[0].attempt.id, AttemptState::Finished);
        let runs = runs(&world, view.attempt.id);
        assert_eq!(kinds(&runs), [RunKind::Setup, RunKind::Agent, RunKind::Cleanup], "{seam}");
        assert!(runs.iter().all(|run| run.state == RunState::Completed), "{seam}: {runs:?}");
        assert_eq!(world.git(&["show", &format!("{}:order.txt", view.attempt.branch)]), "1\n2\n3", "{seam}");
    }
}

#[test]
fn a_worktree_that_was_made_anew_is_set_up_anew_before_the_agent_goes_on() {
    let world = World::new();
    scripts(&world, Some("echo made > made.txt"), None);
    let id = world.start("edit kept.txt text").attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    std::fs::remove_dir_all(&view.attempt.worktree).unwrap();
    let told = world.run(world.engine().follow_up(id, follow("run cat made.txt"), None)).unwrap();
    assert_eq!((told.run.kind, told.delivered), (RunKind::Setup, Delivered::Queued));
    let view = world.wait_for(id, AttemptState::Finished);
    let runs = runs(&world, id);
    assert_eq!(kinds(&runs), [RunKind::Setup, RunKind::Agent, RunKind::Setup, RunKind::Agent]);
    assert_eq!(runs[3].prompt, "run cat made.txt");
    assert!(view.attempt.setup_completed_at.is_some() && view.attempt.worktree.join("kept.txt").exists());
}

#[test]
fn runs_of_an_attempt_have_ports_names_and_temporary_files_of_their_own() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let (setup, agent) = (world.dir.path().join("setup.env"), world.dir.path().join("agent.env"));
    scripts(&world, Some(&format!("env > {}; read nothing; echo $?", setup.display())), None);
    let started = world.start(&format!("run env > {}", agent.display()));
    let attempt = started.attempt.attempt;
    world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(world.output(started.run.id), "1\n", "there is nothing to read for a script");
    let read = |path: &std::path::Path| -> std::collections::HashMap<String, String> {
        let text = std::fs::read_to_string(path).unwrap();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let (setup, agent) = (read(&setup), read(&agent));
    let first: u16 = setup["FORGE_DEV_PORT"].parse().unwrap();
    for slot in 1..=9_u16 {
        assert_eq!(setup[&format!("FORGE_DEV_PORT_{slot}")], (first + slot).to_string());
    }
    let id = attempt.id.to_string().replace('-', "");
    assert_eq!(setup["COMPOSE_PROJECT_NAME"], format!("forge-{}", &id[..12]));
    let tmp = world.home.canonicalize().unwrap().join("tmp").join(&id[..12]);
    assert_eq!(setup["TMPDIR"], tmp.to_str().unwrap());
    assert_eq!(tmp.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(setup["FORGE_BRANCH"], attempt.branch);
    assert_eq!(setup["FORGE_TARGET_BRANCH"], "main");
    assert_eq!(setup["FORGE_WORKTREE"], attempt.worktree.to_str().unwrap());
    assert_eq!(setup["FORGE_TASK"], started.task.task.id.to_string());
    assert_eq!(setup["FORGE_PROJECT"], world.project.to_string());
    assert_eq!(setup["FORGE_REPOSITORY"], world.repository.to_str().unwrap());
    assert!(!agent.contains_key("FORGE_REPOSITORY"), "an agent has no business in the person's checkout");
    for name in ["FORGE_DEV_PORT", "FORGE_DEV_PORT_9", "COMPOSE_PROJECT_NAME", "TMPDIR", "FORGE_BRANCH"] {
        assert_eq!(setup[name], agent[name]);
    }
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    assert!(!tmp.exists(), "its temporary files went to the trash with it");
    let other = world.start("say hi").attempt.attempt.id;
    assert_ne!(other, attempt.id);
}

#[test]
fn a_script_that_could_never_be_run_is_refused_when_it_is_set() {
    let world = World::new();
    let change = ProjectChange { setup_script: Some(Some("x".repeat(200_000))), ..ProjectChange::default() };
    let error = world.run(world.engine().update_project(world.project, change)).unwrap_err().to_string();
    assert!(error.contains("`setup_script`"), "{error}");
    let change = ProjectChange { copy_files: Some(Some(".env, ../x".into())), ..ProjectChange::default() };
    let error = world.run(world.engine().update_project(world.project, change)).unwrap_err().to_string();
    assert!(error.contains("`copy_files`: \"../x\" leads out"), "{error}");
}
