//! Going back in time from the command line.

use std::fs;
use std::path::PathBuf;

use crate::world::World;

#[test]
fn files_go_back_to_a_snapshot_and_the_way_back_is_told() {
    let world = World::new();
    let _server = world.serve();
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "edit a.txt first"]).code, Some(0));
    let attempt = world.json(&["list"])[0].clone();
    let id = attempt["id"].as_str().unwrap();
    let file = PathBuf::from(attempt["worktree_path"].as_str().unwrap()).join("a.txt");
    let list = world.json(&["snapshots", id]);
    let snapshot = list[0]["id"].as_str().unwrap().to_string();
    let shown = world.run(&["snapshots", id]);
    assert!(shown.stdout.starts_with(&snapshot[..8]) && shown.stdout.contains("turn"), "{shown:?}");

    fs::write(&file, "spoiled\n").unwrap();
    let restored = world.run(&["restore", id, &snapshot[..8], "a.txt"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(restored.stdout.starts_with("1 files written, 0 removed\n"), "{restored:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "first\n");
    let (_, undo) = restored.stdout.split_once("`forge ").unwrap();
    let undo: Vec<&str> = undo.trim_end().trim_end_matches('`').split(' ').collect();
    assert_eq!(world.run(&undo).code, Some(0), "{undo:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "spoiled\n");

    let unknown = world.run(&["restore", id, "zzzz"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert_eq!(world.run(&["recover", "zzzz"]).code, Some(3));
    let nothing = world.run(&["recover"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""), "{nothing:?}");
}
