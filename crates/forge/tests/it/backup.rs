//! `forge backup`: what comes back from it is what was there.

use std::fs;
use std::process::Command;

use crate::world::{World, mode};

#[test]
fn a_backup_taken_while_an_agent_works_is_put_back_and_read() {
    let world = World::new();
    let server = world.serve();
    let done = world.attempt("say what was said\nedit a.txt one");
    world.until_state(&done, "finished");
    world.run(&["tag", "add", "kept", "a text that was kept"]);
    let busy = world.attempt("say still at work\nask which?");
    world.until_state(&busy, "waiting");
    let logs = world.run(&["logs", &done]).stdout;
    assert!(logs.contains("what was said"), "{logs}");

    let file = world.path("backup.tar");
    let file = file.to_str().unwrap();
    let made = world.run(&["backup", file]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stdout.contains("are in ") && made.stderr.contains("to put it back"), "{made:?}");
    assert_eq!(mode(file.as_ref()), 0o600);
    assert_eq!(world.run(&["backup", file]).code, Some(4), "a file that is there is never written over");
    let left = fs::read_dir(world.home().join("backups")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("copying-")).collect();
    assert!(left.is_empty(), "{left:?}");

    world.run(&["serve", "--stop", "--all"]);
    drop(server);
    let back = world.path("back");
    fs::create_dir(&back).unwrap();
    let taken = Command::new("tar").args(["-xf", file, "-C"]).arg(&back).status().unwrap();
    assert!(taken.success());
    assert!(!back.join("token").exists(), "the token is this machine's own");
    let back = back.to_str().unwrap();
    let _server = world.serve_with(&["--port", "0", "--data", back]);
    assert_eq!(world.run(&["--data", back, "logs", &done]).stdout, logs);
    assert_eq!(world.run(&["--data", back, "tag", "show", "kept"]).stdout, "a text that was kept\n");
    let attempts = world.run(&["--data", back, "list"]).stdout;
    assert!(attempts.contains(&busy[..8]), "{attempts}");
    assert!(world.run(&["--data", back, "logs", &busy]).stdout.contains("still at work"));
}
