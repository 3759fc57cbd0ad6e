//! Trusting the filters of a repository's own config from the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::world::World;

#[test]
fn a_repository_whose_files_are_hidden_is_worked_in_once_its_filters_are_trusted() {
    let world = World::new();
    let script = world.repository().join(".git/rot13");
    fs::write(&script, "#!/bin/sh\nexec tr a-zA-Z n-za-mN-ZA-M\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for key in ["clean", "smudge"] {
        world.git(&["config", &format!("filter.hide.{key}"), script.to_str().unwrap()]);
    }
    world.git(&["config", "filter.hide.required", "true"]);
    fs::write(world.repository().join(".gitattributes"), "*.secret filter=hide\n").unwrap();
    fs::write(world.repository().join("a.secret"), "open\n").unwrap();
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=hidden"]);
    let _server = world.serve();
    let start = || world.run(&["run", "--agent", "SCRIPTED", "run cat a.secret"]);
    let refused = start();
    assert!(refused.code != Some(0) && refused.stderr.contains("`forge trust`"), "{refused:?}");
    let trusted = world.run(&["trust"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(trusted.stdout.contains("run from now on"), "{trusted:?}");
    let started = start();
    assert_eq!(started.code, Some(0), "{started:?}");
    let attempt = world.json(&["list"])[0].clone();
    let file = PathBuf::from(attempt["worktree_path"].as_str().unwrap()).join("a.secret");
    assert_eq!(fs::read_to_string(file).unwrap(), "open\n");
    assert_eq!(world.json(&["trust", "--no-longer"])["trust_filters"], false);
    assert_ne!(start().code, Some(0));
}
