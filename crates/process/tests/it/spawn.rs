//! Starting: what runs, with what it runs, and what is said when it cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use forge_process::{Liveness, SpawnError, Stream, liveness, spawn};

use crate::stage::{Stage, eventually, launcher};

#[test]
fn an_agent_runs_with_exactly_the_environment_and_directory_it_was_given() {
    let stage = Stage::new();
    let mut spec = stage.sh("pwd; env; echo to stderr >&2; exit 7");
    spec.env.push(("GREETING".into(), "hello  world".into()));
    let spawned = stage.start(&spec);
    let exit = stage.exit();
    spawned.reap();
    assert_eq!((exit.code, exit.signal, exit.stopped, exit.swept), (Some(7), None, false, 0));
    let stdout = stage.text(Stream::Stdout);
    let mut lines: Vec<&str> = stdout.lines().filter(|line| !line.starts_with("_=")).collect();
    lines.sort_unstable();
    let here = stage.temp.path().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let mut expected = vec![
        here.to_owned(),
        format!("PWD={here}"),
        format!("FORGE_RUN={}", stage.run),
        "PATH=/usr/bin:/bin".to_owned(),
        "GREETING=hello  world".to_owned(),
    ];
    // Some shells set these by themselves.
    lines.retain(|line| !line.starts_with("SHLVL=") && !line.starts_with("OLDPWD"));
    expected.sort_unstable();
    assert_eq!(lines, expected);
    assert_eq!(stage.text(Stream::Stderr), "to stderr\n");
    assert_eq!(exit.log_end, forge_process::log_end(&stage.dir).unwrap());
    assert_eq!(stage.shim_errors(), "");
}

#[test]
fn the_agent_exists_when_the_call_returns() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.spec(&["sleep", "600"]));
    let command = fs::read_to_string(format!("/proc/{}/cmdline", spawned.agent_pid)).unwrap();
    assert_eq!(command.split('\0').collect::<Vec<_>>(), ["sleep", "600", ""]);
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Alive);
    let mode = fs::metadata(&stage.dir).unwrap().permissions().mode() & 0o777;
    let spec = fs::metadata(stage.dir.join("spec.json")).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode, spec), (0o700, 0o600));
    let score = |pid: u32| -> i32 {
        fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap().trim().parse().unwrap()
    };
    assert!(score(spawned.agent_pid) > score(spawned.shim_pid), "out of memory, the agent goes first");
}

#[test]
fn a_missing_program_is_told_by_its_errno_and_leaves_nothing_behind() {
    let stage = Stage::new();
    let error = spawn(&launcher(), &stage.dir, &stage.spec(&["no-such-agent", "--json"])).unwrap_err();
    assert!(error.is_missing_program());
    assert_eq!(error.to_string(), "could not run no-such-agent");
    assert!(matches!(error, SpawnError::Exec { errno: 2, .. }));
    assert!(!stage.dir.exists());
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Gone);
}

#[test]
fn a_program_that_may_not_be_executed_is_told_by_its_errno() {
    let stage = Stage::new();
    let program = stage.file("agent");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let error = spawn(&launcher(), &stage.dir, &stage.spec(&[program.to_str().unwrap()])).unwrap_err();
    assert!(matches!(error, SpawnError::Exec { errno: 13, .. }), "{error:?}");
    assert!(!error.is_missing_program());
    assert!(!stage.dir.exists());
}

#[test]
fn a_missing_working_directory_is_not_mistaken_for_a_missing_program() {
    let stage = Stage::new();
    let mut spec = stage.sh("true");
    spec.cwd = stage.file("nowhere");
    let error = spawn(&launcher(), &stage.dir, &spec).unwrap_err();
    assert!(!error.is_missing_program());
    assert_eq!(error.to_string(), format!("could not enter the working directory {}", spec.cwd.display()));
    assert!(!stage.dir.exists());
}

#[test]
fn arguments_beyond_what_the_kernel_takes_are_told_by_its_errno() {
    let stage = Stage::new();
    let long = "x".repeat(200_000);
    let error = spawn(&launcher(), &stage.dir, &stage.spec(&["echo", &long])).unwrap_err();
    assert!(matches!(error, SpawnError::Exec { errno: 7, .. }), "{error:?}");
}

#[test]
fn an_environment_beyond_what_the_kernel_takes_is_told_by_its_errno() {
    let stage = Stage::new();
    let mut spec = stage.sh("true");
    spec.env.push(("LONG".into(), "x".repeat(200_000)));
    let error = spawn(&launcher(), &stage.dir, &spec).unwrap_err();
    assert!(matches!(error, SpawnError::Exec { errno: 7, .. }), "{error:?}");
    assert!(!stage.dir.exists());
}

#[test]
fn the_environment_of_an_agent_is_in_no_file_and_in_no_argument() {
    let stage = Stage::new();
    let mut spec = stage.sh("test \"$API_KEY\" = planted-value && echo has it; exec sleep 600");
    spec.env.push(("API_KEY".into(), "planted-value".into()));
    let argument = "planted-value && echo";
    let spawned = stage.start(&spec);
    eventually("the agent having it", || (stage.text(Stream::Stdout) == "has it\n").then_some(()));
    for file in fs::read_dir(&stage.dir).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).replace(argument, "");
        assert!(!text.contains("planted-value"), "{}: {text}", path.display());
    }
    let command = fs::read_to_string(format!("/proc/{}/cmdline", spawned.shim_pid)).unwrap();
    assert!(!command.contains("planted-value"), "{command}");
}

#[test]
fn the_shim_carries_no_marker_of_its_own_run() {
    let stage = Stage::new();
    let mut spec = stage.sh("echo $FORGE_RUN; exec sleep 600");
    spec.env.push(("FORGE_RUN".into(), "of somebody else".into()));
    let spawned = stage.start(&spec);
    eventually("the marker", || (stage.text(Stream::Stdout) == format!("{}\n", stage.run)).then_some(()));
    let environment = fs::read_to_string(format!("/proc/{}/environ", spawned.shim_pid)).unwrap();
    assert_eq!(environment, "PATH=/usr/bin:/bin\0");
}

#[test]
fn a_launcher_that_is_no_shim_is_refused_with_what_it_said() {
    let stage = Stage::new();
    let mut launcher = launcher();
    launcher.program = "/bin/false".into();
    let error = spawn(&launcher, &stage.dir, &stage.sh("true")).unwrap_err();
    assert!(matches!(&error, SpawnError::Shim { .. }), "{error:?}");
    assert!(!stage.dir.exists());
}

#[test]
fn a_directory_that_is_there_is_not_used_and_not_removed() {
    let stage = Stage::new();
    fs::create_dir(&stage.dir).unwrap();
    fs::write(stage.dir.join("precious"), "x").unwrap();
    let error = spawn(&launcher(), &stage.dir, &stage.sh("true")).unwrap_err();
    assert!(matches!(error, SpawnError::Io { act: "create", .. }));
    assert!(stage.dir.join("precious").exists());
}

#[test]
fn a_second_shim_on_the_same_directory_is_refused() {
    let stage = Stage::new();
    let spawned = stage.start(&stage.spec(&["sleep", "600"]));
    let second =
        Command::new(launcher().program).arg("run").arg(&stage.dir).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(second.stdout).unwrap();
    assert!(said.contains("a shim still holds the run"), "{said}");
    assert!(!second.status.success());
    assert_eq!(stage.control().status().unwrap().agent_pid, spawned.agent_pid);

    stage.control().signal(forge_process::Signal::Kill).unwrap();
    stage.exit();
    spawned.reap();
    let third =
        Command::new(launcher().program).arg("run").arg(&stage.dir).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(third.stdout).unwrap();
    assert!(said.contains("this directory has had its run"), "{said}");
}

#[test]
fn descriptors_left_open_by_the_parent_reach_neither_shim_nor_agent() {
    let stage = Stage::new();
    let leaked = stage.file("leaked");
    let spec = stage.sh("ls -l /proc/self/fd; exec sleep 600");
    // A shell opens a descriptor without close-on-exec and becomes the launcher.
    let mut launcher = launcher();
    let shim = launcher.program.display().to_string();
    let script = format!("exec 7>{0} 8<{0}; exec {shim} \"$@\"", leaked.display());
    launcher.program = "/bin/sh".into();
    launcher.args = vec!["-c".into(), script, "sh".into()];
    let spawned = stage.start_by(&launcher, &spec);
    let listing = eventually("the listing", || {
        let text = stage.text(Stream::Stdout);
        text.contains(" 2 ->").then_some(text)
    });
    assert!(!listing.contains("leaked"), "{listing}");
    let shim_fds = fs::read_dir(format!("/proc/{}/fd", spawned.shim_pid)).unwrap();
    for fd in shim_fds {
        let target = fs::read_link(fd.unwrap().path()).unwrap_or_default();
        assert_ne!(target, leaked);
    }
    assert!(leaked.exists());
}

#[test]
fn a_directory_with_a_path_longer_than_a_socket_may_have_works() {
    let mut stage = Stage::new();
    stage.dir = stage.temp.path().join("a".repeat(90)).join("b".repeat(90)).join("run");
    let spawned = stage.start(&stage.spec(&["cat"]));
    let control = stage.control();
    control.input(1, "hello\n").unwrap();
    control.close_input(2).unwrap();
    assert_eq!(stage.exit().code, Some(0));
    spawned.reap();
    assert_eq!(stage.text(Stream::Stdout), "hello\n");
}

#[test]
fn an_agent_hears_an_interrupt_though_the_server_was_started_to_ignore_it() {
    let stage = Stage::new();
    let mut launcher = launcher();
    let shim = launcher.program.display().to_string();
    launcher.program = "/bin/sh".into();
    launcher.args = vec!["-c".into(), format!("trap '' INT CHLD; exec {shim} \"$@\""), "sh".into()];
    let spawned = stage.start_by(&launcher, &stage.spec(&["sleep", "600"]));
    stage.control().signal(forge_process::Signal::Int).unwrap();
    let exit = stage.exit();
    assert_eq!((exit.code, exit.signal), (None, Some(2)));
    spawned.reap();
}
