//! Stopping: the ladder, what escaped from it, and who asks.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

use forge_process::{Ladder, Liveness, Signal, Stream, liveness};

use crate::stage::{Running, Stage, eventually, is_running};

const LADDER: Ladder = Ladder { int_ms: 20_000, term_ms: 20_000 };

/// Starts a script that says `ready` and waits for it.
fn start<'a>(stage: &'a Stage, script: &str) -> Running<'a> {
    let spawned = stage.start(&stage.sh(script));
    eventually("the agent being ready", || stage.text(Stream::Stdout).contains("ready").then_some(()));
    spawned
}

#[test]
fn a_willing_agent_is_stopped_by_an_interrupt_at_once() {
    let stage = Stage::new();
    let spawned = start(&stage, "trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.01; done");
    let asked = Instant::now();
    let exit = stage.control().stop(&LADDER).unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10), "no step of the ladder was waited out");
    assert_eq!((exit.code, exit.signal, exit.stopped), (Some(3), None, true));
    assert!(!is_running(spawned.agent_pid));
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Exited(exit));
    assert!(stage.text(Stream::Stdout).ends_with("bye\n"));
    spawned.reap();
}

#[test]
fn an_agent_that_ignores_the_interrupt_is_terminated() {
    let stage = Stage::new();
    start(&stage, "trap '' INT; echo ready; while :; do sleep 0.01; done");
    let exit = stage.control().stop(&Ladder { int_ms: 50, ..LADDER }).unwrap();
    assert_eq!((exit.signal, exit.stopped), (Some(15), true));
}

#[test]
fn an_agent_that_ignores_everything_it_can_is_killed() {
    let stage = Stage::new();
    start(&stage, "trap '' INT TERM; echo ready; while :; do sleep 0.01; done");
    let exit = stage.control().stop(&Ladder { int_ms: 50, term_ms: 50 }).unwrap();
    assert_eq!((exit.code, exit.signal, exit.stopped), (None, Some(9), true));
}

#[test]
fn a_frozen_shim_goes_on_when_it_is_told_to_and_ends_with_its_agent_when_it_is_killed() {
    let stage = Stage::new();
    let spawned = start(&stage, "trap '' INT TERM; echo ready; while :; do sleep 0.01; done");
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(stage.dir.join("shim.json")).unwrap()).unwrap();
    let shim = record["shim_pid"].as_u64().unwrap();
    let freeze = || {
        let pid = rustix::process::Pid::from_raw(shim.try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let stat = || fs::read_to_string(format!("/proc/{shim}/stat")).unwrap();
        let state = || stat().rsplit(')').next().unwrap().trim_start().chars().next();
        eventually("the shim being frozen", || (state() == Some('T')).then_some(()));
    };
    freeze();
    forge_process::thaw(&stage.dir).unwrap();
    assert!(stage.control().status().is_ok(), "it answers again");
    freeze();
    forge_process::kill_shim(&stage.dir).unwrap();
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Gone);
    eventually("the agent's end", || (!is_running(spawned.agent_pid)).then_some(()));
    // Nobody is there any more to be signalled.
    forge_process::thaw(&stage.dir).unwrap();
    forge_process::kill_shim(&stage.dir).unwrap();
}

#[test]
fn a_step_of_zero_is_left_out() {
    let stage = Stage::new();
    start(
        &stage,
        "trap 'echo interrupted' INT; trap 'echo terminated' TERM; echo ready; sleep 600 & wait; wait",
    );
    let exit = stage.control().stop(&Ladder { int_ms: 0, term_ms: 0 }).unwrap();
    assert_eq!(exit.signal, Some(9));
    assert_eq!(stage.text(Stream::Stdout), "ready\n");
}

#[test]
fn a_child_in_its_own_session_with_an_empty_environment_is_gone_when_stop_returns() {
    let stage = Stage::new();
    let pid_file = stage.file("escaped");
    let script = format!(
        "setsid -f env -i /bin/sh -c 'echo $$ > {0}.tmp; /bin/mv {0}.tmp {0}; trap \"\" INT TERM; while :; do /bin/sleep 0.05; done'
         echo ready; exec sleep 600",
        pid_file.display()
    );
    start(&stage, &script);
    let escaped = stage.pid("escaped");
    assert!(is_running(escaped));
    let exit = stage.control().stop(&LADDER).unwrap();
    assert!(!is_running(escaped));
    assert!(exit.swept >= 1, "{exit:?}");
    assert_eq!(exit.signal, Some(2));
}

#[test]
fn what_an_agent_leaves_running_is_ended_when_the_agent_ends_by_itself() {
    let stage = Stage::new();
    let pid_file = stage.file("left");
    let script = format!(
        "sh -c 'echo $$ > {0}; exec sleep 600' & while ! test -s {0}; do sleep 0.01; done; exit 5",
        pid_file.display()
    );
    let spawned = stage.start(&stage.sh(&script));
    let exit = stage.exit();
    assert_eq!((exit.code, exit.stopped, exit.swept), (Some(5), false, 1));
    assert!(!is_running(stage.pid("left")));
    spawned.reap();
}

#[test]
fn a_process_elsewhere_that_carries_the_marker_ends_with_the_run() {
    let stage = Stage::new();
    // Not a descendant: as if the agent had asked some daemon to start it.
    let mut elsewhere = Command::new("sleep").arg("600").env("FORGE_RUN", &stage.run).spawn().unwrap();
    let mut other =
        Command::new("sleep").arg("600").env("FORGE_RUN", stage.run.clone() + "0").spawn().unwrap();
    stage.start(&stage.sh("true")).reap();
    assert_eq!(stage.exit().swept, 1);
    assert_eq!(elsewhere.wait().unwrap().signal(), Some(15));
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_whole_tree_that_ignores_signals_is_gone_when_stop_returns() {
    let stage = Stage::new();
    let script = format!(
        "trap '' INT TERM; echo 'trap \"\" INT TERM; echo $$ >> {0}; test $1 -gt 0 && (setsid sh tree $(($1-1)) & setsid sh tree $(($1-1)) &); while :; do sleep 0.05; done' > tree
         sh tree 3 & echo ready; while :; do sleep 0.05; done",
        stage.file("pids").display()
    );
    start(&stage, &script);
    let pids = eventually("the tree", || {
        let text = fs::read_to_string(stage.file("pids")).ok()?;
        let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        (pids.len() == 15).then_some(pids)
    });
    stage.control().stop(&Ladder { int_ms: 10, term_ms: 10 }).unwrap();
    for pid in pids {
        assert!(!is_running(pid));
    }
}

#[test]
fn stopping_a_run_that_has_ended_returns_its_exit() {
    let stage = Stage::new();
    let early = {
        stage.start(&stage.sh("read line; exit 4"));
        stage.control()
    };
    early.input(1, "go\n").unwrap();
    let exit = stage.exit();
    assert_eq!((exit.code, exit.stopped), (Some(4), false));
    assert_eq!(early.stop(&LADDER).unwrap(), exit);
    assert_eq!(stage.control().stop(&LADDER).unwrap(), exit);
}

#[test]
fn the_ladder_is_climbed_to_the_end_though_the_caller_is_gone() {
    let stage = Stage::new();
    start(&stage, "trap '' INT TERM; echo ready; while :; do sleep 0.01; done");
    let mut stream = UnixStream::connect(stage.dir.join("ctl")).unwrap();
    stream
        .write_all(b"{\"hello\":{\"min\":1,\"max\":1}}\n{\"stop\":{\"int_ms\":100,\"term_ms\":100}}\n")
        .unwrap();
    drop(stream);
    let exit = stage.exit();
    assert_eq!((exit.signal, exit.stopped), (Some(9), true));
}

#[test]
fn several_who_stop_at_once_get_the_same_exit_and_the_most_impatient_leads() {
    let stage = Stage::new();
    start(&stage, "trap '' INT TERM; echo ready; while :; do sleep 0.01; done");
    let ladders = [LADDER, Ladder { int_ms: 100, term_ms: 100 }, LADDER];
    let exits: Vec<_> = std::thread::scope(|scope| {
        let stops: Vec<_> =
            ladders.iter().map(|ladder| scope.spawn(|| stage.control().stop(ladder).unwrap())).collect();
        stops.into_iter().map(|stop| stop.join().unwrap()).collect()
    });
    assert_eq!(exits[0].signal, Some(9));
    assert!(exits.iter().all(|exit| *exit == exits[0]));
}

#[test]
fn a_signal_goes_to_the_whole_group_and_is_recorded() {
    let stage = Stage::new();
    let spawned = start(&stage, "sleep 600 & echo ready; wait");
    stage.control().signal(Signal::Term).unwrap();
    let exit = stage.exit();
    assert_eq!((exit.code, exit.signal, exit.stopped), (None, Some(15), false));
    spawned.reap();
}

#[test]
fn a_pipe_that_a_stranger_holds_does_not_keep_a_run_from_ending() {
    let stage = Stage::new();
    let spawned = start(&stage, "echo ready; read line; echo last words");
    // Somebody outside the run has the agent's stdout open, as if it had been handed over.
    let held = fs::OpenOptions::new().append(true).open(format!("/proc/{}/fd/1", spawned.agent_pid)).unwrap();
    stage.control().input(1, "go\n").unwrap();
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout), "ready\nlast words\n");
    drop(held);
}
