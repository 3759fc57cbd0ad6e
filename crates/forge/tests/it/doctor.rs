//! `forge doctor`: what is wrong, with its remedy, with and without a server.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::world::{Ended, Running, World};

#[test]
fn without_a_server_everything_is_checked_and_a_problem_is_exit_1() {
    let world = World::new();
    let mut command = with_programs(&world, &["git"], &["--json", "doctor"]);
    let told = ended(&mut command);
    assert_eq!(told.code, Some(1), "{told:?}");
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let state = |name: &str| {
        let checks = told["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not checked: {told}"))["state"]
            .as_str()
            .unwrap()
            .to_string()
    };
    for name in ["forge", "git", "identity", "data", "disk", "server"] {
        assert_eq!(state(name), "ok", "{name}: {told}");
    }
    assert_eq!(state("agents"), "problem", "{told}");
    state("port");
    assert!(!world.home().exists(), "looking has made data");
}

#[test]
fn each_problem_has_its_remedy() {
    let world = World::new();
    fs::create_dir(world.home()).unwrap();
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o755)).unwrap();
    let told = ended(&mut with_programs(&world, &[], &["doctor"]));
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.stdout.contains("install git 2.41 or newer"), "{told:?}");
    assert!(told.stdout.contains(&format!("chmod 700 {}", world.home().display())), "{told:?}");
    assert!(told.stdout.contains("`forge agents` says how to install one"), "{told:?}");
    assert!(told.stderr.contains("there are 3 problems"), "{told:?}");

    let away = ended(&mut with_programs(&world, &["git"], &["doctor", "--url", "http://127.0.0.1:1"]));
    assert!(away.stdout.contains("no Forge server answers at http://127.0.0.1:1"), "{away:?}");
    fs::set_permissions(world.home(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_root_of_worktrees_that_others_may_look_into_is_told() {
    let world = World::new();
    let root = world.home().with_file_name("roots");
    fs::create_dir(&root).unwrap();
    let told = |mode: u32| {
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
        let mut doctor = with_programs(&world, &["git"], &["doctor"]);
        ended(doctor.env("FORGE_WORKTREES", &root)).stdout
    };
    let remedy = format!("chmod 700 {}", root.display());
    assert!(told(0o755).contains(&remedy));
    assert!(!told(0o700).contains(&remedy));
}

#[test]
fn with_a_server_and_an_agent_nothing_is_wrong() {
    let world = World::new();
    let agent = programs(&world, &["git"]).join("cursor-agent");
    fs::write(&agent, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let mut serve = with_programs(&world, &["git"], &["serve", "--port", "0"]);
    let mut server = Running::start({
        serve.env("CURSOR_API_KEY", "planted");
        serve
    });
    server.line_with("Forge 0.1.0 on http://");
    let told = ended(&mut with_programs(&world, &["git"], &["doctor"]));
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.stdout.contains("CURSOR_AGENT") && told.stdout.contains("0.1.0 on http://127.0.0.1"),
        "{told:?}"
    );
    assert!(told.stdout.contains("`forge github login`, for pull requests"), "{told:?}");
    assert!(told.stderr.ends_with("nothing is wrong\n"), "{told:?}");
    assert!(!told.stdout.contains("planted") && !told.stdout.contains('\x1b'), "{told:?}");
}

/// Makes a directory with these programs alone.
fn programs(world: &World, names: &[&str]) -> PathBuf {
    let programs = world.path("programs");
    fs::create_dir_all(&programs).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in names {
        let found = std::env::split_paths(&path).find(|dir| dir.join(name).exists()).unwrap();
        // The test before may have made it.
        let _ = symlink(found.join(name), programs.join(name));
    }
    programs
}

fn with_programs(world: &World, names: &[&str], args: &[&str]) -> Command {
    let mut command = world.forge(args);
    command.env("PATH", programs(world, names));
    command
}

fn ended(command: &mut Command) -> Ended {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: done.status.code(), stdout: text(done.stdout), stderr: text(done.stderr) }
}
