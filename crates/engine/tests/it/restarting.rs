//! Nothing is lost by a restart, and nothing is declared failed because of one.

use forge_engine::Engine;
use forge_model::{AttemptState, RunState};

use crate::stopping::{agent_pid, kill, shim_pid};
use crate::world::{World, eventually, is_alive, make_repository, marked, options};

#[test]
fn an_agent_runs_on_while_the_server_is_away_and_no_line_is_lost_or_doubled() {
    let mut world = World::new();
    let started = world.start("lines 200 5");
    let agent = agent_pid(&world, started.run.id);
    for _ in 0..3 {
        world.restart();
        assert!(is_alive(agent) || world.run(world.engine().run(started.run.id)).unwrap().state.is_over());
    }
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let output = world.output(started.run.id);
    let lines: Vec<_> = output.lines().filter(|line| line.starts_with("T=")).collect();
    assert_eq!(lines.len(), 200);
    for (index, line) in lines.iter().enumerate() {
        assert!(line.ends_with(&format!("line {}", index + 1)), "{line}");
    }
}

#[test]
fn a_run_that_ended_while_the_server_was_away_is_finished_at_the_next_start() {
    let mut world = World::new();
    let go = world.dir.path().join("go");
    let script =
        format!("run until test -e {}; do sleep 0.02; done\nedit away.txt text\nexit 0", go.display());
    let started = world.start(&script);
    world.crash();
    std::fs::write(&go, "").unwrap();
    let exit = world.home.join("runs").join(started.run.id.to_string()).join("exit.json");
    eventually("the agent has ended", || exit.exists().then_some(()));
    world.reopen();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(world.git(&["show", &format!("{}:away.txt", view.attempt.branch)]), "text");
}

#[test]
fn a_start_that_broke_off_before_its_process_is_taken_back_whole() {
    for seam in ["start.intent", "start.worktree"] {
        let mut world = World::with_seam(&format!("{seam}=hold:DIR/never"));
        let engine = world.engine().clone();
        let wanted = world.wanted("say hi");
        let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
        let reached = world.dir.path().join("never.reached");
        eventually("the start is under way", || reached.exists().then_some(()));
        assert!(world.run(world.engine().attempts(None)).unwrap().is_empty(), "readers see nothing yet");
        world.restart();
        assert!(world.run(world.engine().attempts(None)).unwrap().is_empty(), "{seam}");
        assert!(world.run(world.engine().tasks(world.project)).unwrap().is_empty(), "{seam}");
        assert_eq!(world.made(), (vec![], vec![]), "{seam}");
        world.git(&["fsck", "--strict"]);
    }
}

#[test]
fn a_start_whose_process_came_to_be_is_made_visible() {
    let mut world = World::with_seam("start.spawned=hold:DIR/never");
    let engine = world.engine().clone();
    let wanted = world.wanted("say hi\nedit made.txt text");
    let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the process is there", || reached.exists().then_some(()));
    world.restart();
    let attempts = world.run(world.engine().attempts(None)).unwrap();
    assert_eq!(attempts.len(), 1);
    let view = world.wait_for(attempts[0].attempt.id, AttemptState::Finished);
    assert!(view.attempt.worktree.join("made.txt").exists());
    assert_eq!(world.made().0, [view.attempt.branch]);
}

#[test]
fn a_git_call_of_a_dead_server_has_ended_before_anything_is_taken_up() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap().join("home");
    let repository = make_repository(&dir.path().join("repository"));
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(&repository).args(["cat-file", "--batch"]).env("FORGE_DATA", &home);
    git.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let mut orphan = git.spawn().unwrap();
    let pid = orphan.id();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let opening = runtime.spawn({
        let options = options(&home, "");
        async move { (Engine::open(options).await, is_alive(pid)) }
    });
    let (lock, own) = (home.join("lock"), std::process::id().to_string());
    eventually("the data directory is taken", || {
        std::fs::read_to_string(&lock).ok().filter(|holder| *holder == own)
    });
    drop(orphan.stdin.take());
    let (opened, still_there) = runtime.block_on(opening).unwrap();
    opened.unwrap();
    assert!(!still_there, "the call was under way when the server was open");
    assert!(orphan.wait().unwrap().success());
}

#[test]
fn a_lost_shim_makes_its_run_lost_and_keeps_every_record() {
    let world = World::new();
    let started = world.start("say kept\nspawn exec sleep 3600\nedit file.txt text\nlines 100000 1");
    let (id, run) = (started.attempt.attempt.id, started.run.id);
    world.wait_for_output(run, "line 20");
    kill(shim_pid(&world, run));
    let view = world.wait_for(id, AttemptState::Failed);
    assert!(view.attempt.reason.unwrap().contains("is gone"));
    assert_eq!(world.run(world.engine().run(run)).unwrap().state, RunState::Lost);
    let output = world.output(run);
    assert!(output.contains("kept\n") && output.contains("line 20\n"));
    assert_eq!(marked(run), Vec::<u32>::new());
    assert_eq!(world.git(&["show", &format!("refs/forge/snapshots/{id}:file.txt")]), "text");
    let follow = forge_engine::FollowUp::new("say again");
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
}

#[test]
fn a_shim_that_died_while_the_server_was_away_is_found_at_the_next_start() {
    let mut world = World::new();
    let started = world.start("spawn exec sleep 3600\nsay there\nhang");
    world.wait_for_output(started.run.id, "there");
    let shim = shim_pid(&world, started.run.id);
    world.crash();
    kill(shim);
    world.reopen();
    world.wait_for(started.attempt.attempt.id, AttemptState::Failed);
    assert_eq!(world.run(world.engine().run(started.run.id)).unwrap().state, RunState::Lost);
    assert_eq!(marked(started.run.id), Vec::<u32>::new());
}

#[test]
fn a_stop_on_record_is_carried_out_after_a_restart() {
    let mut world = World::with_seam("stop.recorded=hold:DIR/never");
    let started = world.start("hang");
    let (engine, run) = (world.engine().clone(), started.run.id);
    let _stop = world.spawn(async move { engine.stop_run(run).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the stop is on record", || reached.exists().then_some(()));
    world.restart();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Stopped);
    assert_eq!(view.status, Some(RunState::Killed));
    assert_eq!(marked(run), Vec::<u32>::new());
}

#[test]
fn an_agent_whose_directory_was_removed_while_the_server_was_away_does_not_run_on_alone() {
    let mut world = World::new();
    let started = world.start("edit kept.txt text\nsay there\nhang");
    let (id, run) = (started.attempt.attempt.id, started.run.id);
    world.wait_for_output(run, "there");
    world.crash();
    std::fs::remove_dir_all(world.home.join("runs").join(run.to_string())).unwrap();
    world.reopen();
    world.wait_for(id, AttemptState::Failed);
    assert_eq!(world.run(world.engine().run(run)).unwrap().state, RunState::Lost);
    assert_eq!(marked(run), Vec::<u32>::new());
    assert_eq!(world.git(&["show", &format!("refs/forge/snapshots/{id}:kept.txt")]), "text");
}

#[test]
fn what_an_agent_did_before_its_start_was_taken_back_is_in_the_trash() {
    let mut world = World::with_seam("start.spawned=hold:DIR/never");
    let engine = world.engine().clone();
    let wanted = world.wanted("edit made.txt text\nhang");
    let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
    let runs = world.home.join("runs");
    let made = eventually("the agent has worked", || {
        let worktree = world.home.join("worktrees").join(world.made().1.first()?);
        worktree.join("made.txt").exists().then_some(worktree)
    });
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().file_name();
    world.crash();
    let shim = shim_pid(&world, run.to_str().unwrap().parse().unwrap());
    kill(shim);
    eventually("the shim is gone", || (!is_alive(shim)).then_some(()));
    world.reopen();
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
    assert!(!made.exists());
    let trash: Vec<_> = std::fs::read_dir(world.home.join("trash")).unwrap().flatten().collect();
    assert!(trash.iter().any(|entry| entry.path().join("made.txt").exists()), "{trash:?}");
    assert_eq!(world.made(), (vec![], vec![]));
}

#[test]
fn a_start_whose_project_was_removed_meanwhile_does_not_keep_the_data_from_being_opened() {
    let mut world = World::with_seam("start.spawned=hold:DIR/never");
    let engine = world.engine().clone();
    let wanted = world.wanted("hang");
    let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the process is there", || reached.exists().then_some(()));
    world.run(world.engine().delete_project(world.project)).unwrap();
    world.restart();
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
    assert_eq!(world.made(), (vec![], vec![]));
}

#[test]
fn a_follow_up_that_waits_for_a_turn_that_broke_off_is_started_after_a_restart() {
    let mut world = World::with_seam("follow.recorded=hold:DIR/never");
    let started = world.start("say first");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let follow = |prompt: &str| forge_engine::FollowUp::new(prompt);
    let (engine, never) = (world.engine().clone(), follow("say never"));
    let _caller = world.spawn(async move { engine.follow_up(id, never, None).await });
    let reached = world.dir.path().join("never.reached");
    eventually("the first follow-up is on record", || reached.exists().then_some(()));
    let told = world.run(world.engine().follow_up(id, follow("say waited"), None)).unwrap();
    assert_eq!(told.delivered, forge_engine::Delivered::Queued);
    world.restart();
    let last = eventually("the second follow-up has run", || {
        world.run(world.engine().runs(id, true)).unwrap().into_iter().nth(1)
    });
    assert!(world.output(last.id).contains("waited"));
}
