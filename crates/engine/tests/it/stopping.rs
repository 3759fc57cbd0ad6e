//! After a stop returns, no process of the run exists.

use forge_engine::ErrorKind;
use forge_model::{AttemptState, RunId, RunState};

use crate::world::{World, eventually, is_alive, marked};

/// The agent's pid, as its run directory tells.
pub(crate) fn agent_pid(world: &World, run: RunId) -> u32 {
    pid(world, run, "agent_pid")
}

pub(crate) fn shim_pid(world: &World, run: RunId) -> u32 {
    pid(world, run, "shim_pid")
}

fn pid(world: &World, run: RunId, key: &str) -> u32 {
    let path = world.home.join("runs").join(run.to_string()).join("shim.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json[key].as_u64().unwrap_or_else(|| panic!("{key} is not in {text}")).try_into().unwrap()
}

pub(crate) fn kill(pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_willing_agent_is_gone_when_the_stop_returns() {
    let world = World::new();
    let started = world.start("edit kept.txt text\nhang");
    let id = started.attempt.attempt.id;
    let kept = started.attempt.attempt.worktree.join("kept.txt");
    eventually("the agent has written its file", || kept.exists().then_some(()));
    let agent = agent_pid(&world, started.run.id);
    let run = world.run(world.engine().stop_run(started.run.id)).unwrap();
    assert_eq!(run.state, RunState::Killed);
    assert!(!is_alive(agent));
    assert_eq!(marked(started.run.id), Vec::<u32>::new());
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Stopped);
    let snapshot = format!("refs/forge/snapshots/{id}:kept.txt");
    assert_eq!(world.git(&["show", &snapshot]), "text");
    let again = world.run(world.engine().stop_run(started.run.id)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    world.run(world.engine().stop_attempt(id)).unwrap();
}

#[test]
fn an_agent_that_ignores_signals_is_gone_too() {
    let world = World::new();
    let started = world.start("ignore-signals\nsay deaf\nhang");
    world.wait_for_output(started.run.id, "deaf");
    let agent = agent_pid(&world, started.run.id);
    world.run(world.engine().stop_attempt(started.attempt.attempt.id)).unwrap();
    assert!(!is_alive(agent));
    assert_eq!(world.attempt(started.attempt.attempt.id).attempt.state, AttemptState::Stopped);
}

#[test]
fn a_supervisor_that_somebody_has_frozen_is_stopped_all_the_same() {
    let world = World::new();
    let started = world.start("say begun\nhang");
    world.wait_for_output(started.run.id, "begun");
    let (shim, agent) = (shim_pid(&world, started.run.id), agent_pid(&world, started.run.id));
    signal(shim, rustix::process::Signal::STOP);
    eventually("the shim is frozen", || is_frozen(shim).then_some(()));
    world.run(world.engine().stop_attempt(started.attempt.attempt.id)).unwrap();
    assert!(!is_alive(agent) && !is_alive(shim));
    assert_eq!(world.attempt(started.attempt.attempt.id).attempt.state, AttemptState::Stopped);
}

fn is_frozen(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('T')
}

#[test]
fn a_child_in_its_own_session_double_forked_and_without_environment_is_gone_too() {
    let world = World::new();
    let file = world.dir.path().join("pid");
    let script = format!(
        "spawn setsid sh -c '(exec env -i setsid sh -c \"echo \\$\\$ > {}; exec sleep 3600\") & exit 0'\nhang",
        file.display()
    );
    let started = world.start(&script);
    let child: u32 =
        eventually("the child has told its pid", || std::fs::read_to_string(&file).ok()?.trim().parse().ok());
    assert!(is_alive(child));
    world.run(world.engine().stop_attempt(started.attempt.attempt.id)).unwrap();
    assert!(!is_alive(child), "process {child} is still there");
}

#[test]
fn what_an_agent_leaves_behind_is_gone_when_its_run_is_over() {
    let world = World::new();
    let file = world.dir.path().join("pid");
    let script = format!("spawn echo $$ > {}; exec sleep 3600\nsleep 300", file.display());
    let started = world.start(&script);
    let child: u32 =
        eventually("the child has told its pid", || std::fs::read_to_string(&file).ok()?.trim().parse().ok());
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert!(!is_alive(child));
}

#[test]
fn stopping_everything_counts_what_it_stopped() {
    let world = World::new();
    for _ in 0..3 {
        world.start("hang");
    }
    assert_eq!(world.run(world.engine().stop_all()).unwrap(), 3);
    assert_eq!(world.run(world.engine().stop_all()).unwrap(), 0);
    assert_eq!(world.run(world.engine().overview()).unwrap().running, 0);
}

#[test]
fn a_stop_between_two_turns_stops_the_second() {
    let world = World::with_seam("finish.recorded=hold:DIR/go");
    let started = world.start("ask go on?");
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    let loud = r#"{"executors": {"SCRIPTED": {"LOUD": {"SCRIPTED": {}}}}}"#;
    std::fs::write(world.home.join("profiles.json"), loud).unwrap();
    let other =
        forge_engine::FollowUp { variant: Some("LOUD".into()), ..forge_engine::FollowUp::new("hang") };
    world.run(world.engine().follow_up(id, other, None)).unwrap();
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    let go = world.dir.path().join("go");
    eventually("the first turn is over", || go.with_extension("reached").exists().then_some(()));
    let engine = world.engine().clone();
    let stop = world.spawn(async move { engine.stop_attempt(id).await });
    // Removing it is refused as well: it is about to go on.
    assert!(world.run(world.engine().delete_task(started.task.task.id)).is_err());
    std::fs::write(&go, "").unwrap();
    world.run(stop).unwrap().unwrap();
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Stopped);
    for run in world.run(world.engine().runs(id, true)).unwrap() {
        assert_eq!(marked(run.id), Vec::<u32>::new());
    }
}
