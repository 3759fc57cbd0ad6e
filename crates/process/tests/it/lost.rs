//! A shim that is killed: what is gone with it, what is kept, what is cleaned up.

use forge_process::{
    Control, Error, Liveness, OWNER, Stream, Watcher, abandon, held_elsewhere, liveness, recover, shims,
    sweep,
};
use std::sync::mpsc::channel;

use crate::stage::{PATIENCE, Stage, eventually, is_running, kill, records};

#[test]
fn a_killed_shim_takes_the_agent_along_and_what_it_left_is_swept() {
    let stage = Stage::new();
    let script = format!(
        "echo before; sh -c 'echo $$ > {0}; exec sleep 600' &
         setsid -f sh -c 'echo $$ > {1}; trap \"\" TERM; while :; do sleep 0.05; done'
         env -i /bin/sh -c 'echo $$ > {2}; exec /bin/sleep 600' &
         exec sleep 600",
        stage.file("child").display(),
        stage.file("escaped").display(),
        stage.file("bare").display()
    );
    let spawned = stage.start(&stage.sh(&script));
    let left = [stage.pid("child"), stage.pid("escaped"), stage.pid("bare")];
    eventually("the output", || (stage.text(Stream::Stdout) == "before\n").then_some(()));
    let control = stage.control();
    control.note(1, "kept").unwrap();
    assert!(matches!(sweep(&stage.run, &stage.dir, &[]).unwrap_err(), Error::Alive { .. }));
    assert!(matches!(recover(&stage.dir).unwrap_err(), Error::Alive { .. }));

    let agent = spawned.agent_pid;
    kill(spawned.shim_pid);
    spawned.reap();
    eventually("the agent's death", || (!is_running(agent)).then_some(()));
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Gone);
    assert!(matches!(control.note(2, "").unwrap_err(), Error::Gone { .. }));
    assert!(matches!(Control::connect(&stage.dir).unwrap_err(), Error::Gone { .. }));

    let recovered = recover(&stage.dir).unwrap();
    assert_eq!(recovered.torn_bytes, 0);
    let kept = records(&stage.dir, 0);
    assert_eq!(
        kept.iter().map(|record| &record.payload[..]).collect::<Vec<_>>(),
        [&b"before\n"[..], b"kept"]
    );
    assert_eq!(kept.last().unwrap().end, recovered.end);

    assert!(left.iter().all(|pid| is_running(*pid)), "the kernel kills the agent only");
    assert!(sweep(&stage.run, &stage.dir, &[]).unwrap() >= 3);
    assert!(left.iter().all(|pid| !is_running(*pid)));
    assert_eq!(sweep(&stage.run, &stage.dir, &[]).unwrap(), 0);
}

#[test]
fn a_run_whose_pids_were_lost_in_a_power_cut_can_still_be_ended() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.spec(&["sleep", "600"]));
    kill(spawned.shim_pid);
    spawned.reap();
    eventually("the death of the shim", || (liveness(&stage.dir).unwrap() == Liveness::Gone).then_some(()));
    std::fs::write(stage.dir.join("shim.json"), "").unwrap();
    sweep(&stage.run, &stage.dir, &[]).unwrap();
    abandon(&stage.run, &stage.dir, &[]).unwrap();
    assert!(!stage.dir.exists());
}

#[test]
fn a_sweep_spares_the_processes_of_other_runs() {
    let lost = Stage::new();
    let other = Stage::new();
    let spawned = lost.start(&lost.spec(&["sleep", "600"]));
    let spared = other.start(&other.sh("sleep 600 & wait"));
    kill(spawned.shim_pid);
    spawned.reap();
    eventually("the death of the shim", || (liveness(&lost.dir).unwrap() == Liveness::Gone).then_some(()));
    sweep(&lost.run, &lost.dir, &[]).unwrap();
    assert!(is_running(spared.agent_pid));
    assert_eq!(liveness(&other.dir).unwrap(), Liveness::Alive);
}

#[test]
fn a_copy_of_a_run_directory_ends_nothing_while_the_shim_of_the_original_lives() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.sh("sleep 600 & wait"));
    let copy = stage.file("copy");
    std::fs::create_dir(&copy).unwrap();
    for name in ["spec.json", "shim.json", "lock"] {
        std::fs::copy(stage.dir.join(name), copy.join(name)).unwrap();
    }
    assert_eq!(liveness(&copy).unwrap(), Liveness::Gone, "its lock is another file, which nobody holds");
    assert_eq!(held_elsewhere(&copy).unwrap(), Some(spawned.shim_pid));
    assert_eq!(held_elsewhere(&stage.dir).unwrap(), None);
    let error = sweep(&stage.run, &copy, &[]).unwrap_err();
    assert!(matches!(error, Error::Elsewhere { shim, .. } if shim == spawned.shim_pid), "{error:?}");
    assert!(matches!(abandon(&stage.run, &copy, &[]).unwrap_err(), Error::Elsewhere { .. }));
    assert!(is_running(spawned.agent_pid));
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Alive);
}

#[test]
fn a_sweep_spares_what_another_data_directory_started() {
    let stage = Stage::new();
    let mut spec = stage.sh(&format!(
        "setsid -f sh -c 'echo $$ > {}; exec sleep 600'; exec sleep 600",
        stage.file("escaped").display()
    ));
    let (one, two) = (format!("one of {}", stage.run), format!("two of {}", stage.run));
    spec.env.push((OWNER.to_string(), one.clone()));
    let spawned = stage.start(&spec);
    let escaped = stage.pid("escaped");
    let known = shims(std::slice::from_ref(&one)).unwrap();
    let name = stage.dir.file_name().unwrap().to_string_lossy();
    assert!(known.iter().any(|shim| shim.pid == spawned.shim_pid && shim.run == name), "{known:?}");
    assert_eq!(shims(std::slice::from_ref(&two)).unwrap(), []);
    let agent = spawned.agent_pid;
    kill(spawned.shim_pid);
    spawned.reap();
    eventually("the death of the shim", || (liveness(&stage.dir).unwrap() == Liveness::Gone).then_some(()));
    // One that is about to be gone shows no environment any more, and would be counted.
    eventually("the agent's death", || (!is_running(agent)).then_some(()));
    assert_eq!(sweep(&stage.run, &stage.dir, std::slice::from_ref(&two)).unwrap(), 0);
    assert!(is_running(escaped));
    assert!(sweep(&stage.run, &stage.dir, &[two, one]).unwrap() >= 1);
    assert!(!is_running(escaped));
}

#[test]
fn a_session_that_a_stranger_has_taken_over_is_spared() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.spec(&["sleep", "600"]));
    let (shim, agent) = (spawned.shim_pid, spawned.agent_pid);
    kill(shim);
    spawned.reap();
    eventually("the agent's death", || (!is_running(agent)).then_some(()));
    let stranger = Stage::new();
    let other = stranger.start(&stranger.spec(&["sleep", "600"]));
    // As if the dead shim's pid had been given to another session leader: everything fits but the
    // time at which it started.
    let path = stage.dir.join("shim.json");
    let record = std::fs::read_to_string(&path).unwrap();
    let record = record.replace(&format!("\"shim_pid\":{shim}"), &format!("\"shim_pid\":{}", other.shim_pid));
    std::fs::write(&path, record.replace("\"start\":", "\"start\":1")).unwrap();
    assert_eq!(sweep(&stage.run, &stage.dir, &[]).unwrap(), 0);
    assert!(is_running(other.agent_pid) && is_running(other.shim_pid));
}

#[test]
fn a_follower_is_woken_when_the_shim_is_killed() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.spec(&["sleep", "600"]));
    let watcher = Watcher::start().unwrap();
    let (send, woken) = channel();
    let _watch = watcher.watch(&stage.dir, move || send.send(()).unwrap()).unwrap();
    kill(spawned.shim_pid);
    spawned.reap();
    woken.recv_timeout(PATIENCE).unwrap();
    eventually("the news", || (liveness(&stage.dir).unwrap() == Liveness::Gone).then_some(()));
}

#[test]
fn an_abandoned_run_is_ended_whatever_state_it_is_in() {
    // Running, with a child that has left its session and its environment behind.
    let running = Stage::new();
    let escaped = running.file("escaped").display().to_string();
    let script =
        format!("setsid -f env -i /bin/sh -c 'echo $$ > {escaped}; exec /bin/sleep 600'; exec sleep 600");
    let spawned = running.start(&running.sh(&script));
    let (agent, escaped) = (spawned.agent_pid, running.pid("escaped"));
    abandon(&running.run, &running.dir, &[]).unwrap();
    assert!(!running.dir.exists() && !is_running(agent) && !is_running(escaped));
    spawned.reap();

    // Killed together with its shim.
    let lost = Stage::new();
    let script =
        format!("sh -c 'echo $$ > {}; exec sleep 600' & exec sleep 600", lost.file("child").display());
    let spawned = lost.start(&lost.sh(&script));
    let child = lost.pid("child");
    kill(spawned.shim_pid);
    spawned.reap();
    abandon(&lost.run, &lost.dir, &[]).unwrap();
    assert!(!lost.dir.exists() && !is_running(child));

    // Never there at all.
    abandon("nobody", &lost.file("nowhere"), &[]).unwrap();
}

#[test]
fn a_shim_whose_directory_was_removed_ends_with_its_agent() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.sh("echo said; exec sleep 600"));
    eventually("the output", || (stage.text(Stream::Stdout) == "said\n").then_some(()));
    std::fs::remove_dir_all(&stage.dir).unwrap();
    let shim = spawned.shim_pid;
    kill(spawned.agent_pid);
    eventually("the shim's end", || (!is_running(shim)).then_some(()));
    spawned.reap();
}
