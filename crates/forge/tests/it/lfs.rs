//! Files that git LFS keeps, with the real git LFS: commits hold pointers, every checkout holds the files.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::World;

fn is_pointer(text: &str) -> bool {
    text.starts_with("version https://git-lfs.github.com/spec/")
}

#[test]
fn a_file_of_git_lfs_lands_as_a_pointer_and_is_whole_in_every_checkout() {
    let world = World::new();
    world.git(&["lfs", "install", "--skip-repo"]);
    world.git(&["lfs", "track", "*.bin"]);
    let kept = vec![b'k'; 4096];
    fs::write(world.repository().join("kept.bin"), &kept).unwrap();
    fs::write(world.repository().join("drawn.bin"), "drawn by the person\n").unwrap();
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message", "Big files"]);
    assert!(is_pointer(&world.git(&["show", "HEAD:drawn.bin"])));

    let _server = world.serve();
    let run = world.run(&["run", "--agent", "SCRIPTED", "edit drawn.bin drawn by the agent"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let attempt = world.json(&["list"])[0].clone();
    let worktree = Path::new(attempt["worktree_path"].as_str().unwrap());
    assert_eq!(fs::read(worktree.join("kept.bin")).unwrap(), kept);
    let branch = attempt["branch"].as_str().unwrap();
    assert!(is_pointer(&world.git(&["show", &format!("{branch}:drawn.bin")])));

    let landed = merge(&world, attempt["id"].as_str().unwrap());
    assert_eq!(landed["success"], true, "{landed}");
    assert!(is_pointer(&world.git(&["show", "main:drawn.bin"])));
    assert_eq!(fs::read_to_string(world.repository().join("drawn.bin")).unwrap(), "drawn by the agent\n");
    assert_eq!(fs::read(world.repository().join("kept.bin")).unwrap(), kept);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    world.git(&["lfs", "fsck"]);
}

fn merge(world: &World, attempt: &str) -> Value {
    let server = world.server_file().unwrap();
    let url = format!("{}/api/task-attempts/{attempt}/merge", server["url"].as_str().unwrap());
    let args = ["--silent", "--max-time", "30", "--request", "POST", "--json", "{}", &url];
    let answer = world.program("curl").args(args).output().unwrap();
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
