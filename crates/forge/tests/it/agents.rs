//! `forge agents`: what is on the machine, seen without starting any of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::world::{Running, World};

#[test]
fn agents_are_listed_with_what_is_missing_and_none_is_started() {
    let world = World::new();
    let package = world.path("node_modules/@sourcegraph/amp");
    let programs = world.path("programs");
    fs::create_dir_all(package.join("dist")).unwrap();
    fs::create_dir(&programs).unwrap();
    let program = package.join("dist/main.js");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", world.path("started").display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let about = r#"{"name": "@sourcegraph/amp", "version": "1.2.3", "bin": {"amp": "dist/main.js"}}"#;
    fs::write(package.join("package.json"), about).unwrap();
    symlink(&program, programs.join("amp")).unwrap();

    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).find(|dir| dir.join("git").exists()).unwrap();
    symlink(git.join("git"), programs.join("git")).unwrap();
    let mut serve = world.forge(&["serve", "--port", "0"]);
    serve.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).env("CURSOR_API_KEY", "planted");
    let mut server = Running::start(serve);
    server.line_with("Forge 0.1.0 on http://");

    let listed = world.run(&["agents"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let row = |name: &str| {
        listed.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_string()
    };
    assert!(row("AMP").contains("1.2.3") && row("AMP").contains("(untried)"), "{listed:?}");
    assert!(row("SCRIPTED").contains("comes with Forge"), "{listed:?}");
    assert!(
        row("CURSOR_AGENT").contains("yes") && row("CURSOR_AGENT").contains("not installed"),
        "{listed:?}"
    );
    assert!(listed.stdout.contains("curl https://cursor.com/install"), "{listed:?}");
    assert!(!listed.stdout.contains("planted"), "{listed:?}");

    let told = world.run(&["--json", "agents"]);
    let agents: Vec<Value> = serde_json::from_str(&told.stdout).unwrap();
    let amp = agents.iter().find(|agent| agent["executor"] == "AMP").unwrap();
    assert_eq!((&amp["installed"], &amp["logged_in"]), (&Value::Bool(true), &Value::Bool(false)), "{amp}");
    assert_eq!(amp["remedy"], "log in: amp login");
    assert!(!world.path("started").exists(), "an agent was started to look at it");
}
