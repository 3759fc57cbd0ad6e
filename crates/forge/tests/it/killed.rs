//! Servers that are killed in the middle of handing a worktree over, or of bringing files back.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::world::{Running, World, eventually};

/// Starts a server that dies where a seam says.
fn serve_until(world: &World, seam: &str) -> Running {
    let mut command = world.forge(&["serve", "--port", "0"]);
    command.env("FORGE_SEAM", seam);
    let mut server = Running::start(command);
    server.line_with("Forge 0.1.0 on http://");
    server
}

/// Worktrees that wait, or are being made.
fn pooled(world: &World) -> Vec<PathBuf> {
    let list = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let places = list(world.home().join("worktrees/.pool"));
    let pooled = places.flat_map(list);
    pooled.filter(|path| path.file_name().is_some_and(|name| name != ".gone")).collect()
}

/// Says whether the files of a worktree that waits were written long enough ago for it to be handed out.
fn has_settled(world: &World) -> bool {
    pooled(world).iter().any(|path| {
        let written = path.join("README.md").metadata().and_then(|meta| meta.modified()).ok();
        let age = written.and_then(|written| written.elapsed().ok());
        age.is_some_and(|age| age > Duration::from_secs(3))
    })
}

#[test]
fn a_hand_over_whose_server_is_killed_leaves_a_start_whole_or_nothing() {
    let world = World::new();
    fs::create_dir_all(world.home()).unwrap();
    let from = |files: u32| {
        let pool = format!(r#"{{"worktree_pool": {{"ready": 1, "from_files": {files}}}}}"#);
        fs::write(world.home().join("config.json"), pool).unwrap();
    };
    from(1000);
    for seam in ["pool.filled", "pool.renamed", "pool.pointed"] {
        let server = serve_until(&world, &format!("{seam}=kill"));
        if seam == "pool.filled" {
            world.attempt("say hi");
            // It dies by itself as soon as a worktree is made ahead.
            from(1);
        } else {
            eventually("a start took a worktree that waited", || {
                let ready = has_settled(&world);
                let start = || world.run(&["run", "--agent", "SCRIPTED", "--detach", "say hi"]);
                (ready && start().code != Some(0)).then_some(())
            });
        }
        server.end();
        let again = world.serve();
        let attempts = world.json(&["list"]);
        let attempts = attempts.as_array().unwrap();
        let branches = world.git(&["for-each-ref", "--format=%(refname)", "refs/heads/forge"]);
        assert_eq!(branches.lines().count(), attempts.len(), "{seam}: {branches}");
        for attempt in attempts {
            let worktree = PathBuf::from(attempt["worktree_path"].as_str().unwrap());
            assert!(worktree.join("README.md").exists(), "{seam}: {attempt}");
        }
        world.git(&["fsck", "--strict"]);
        assert_eq!(world.git(&["worktree", "prune", "--dry-run", "--verbose"]), "", "{seam}");
        assert_eq!(world.git(&["status", "--porcelain"]), "", "{seam}");
        let id = world.attempt("say hi");
        world.until_state(&id, "finished");
        drop(again);
    }
}

#[test]
fn a_restore_whose_server_is_killed_is_finished_by_the_next_one_and_can_be_undone() {
    let world = World::new();
    let server = serve_until(&world, "restore.snapshotted=kill");
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "edit a.txt first"]).code, Some(0));
    let attempt = world.json(&["list"])[0].clone();
    let id = attempt["id"].as_str().unwrap();
    let worktree = PathBuf::from(attempt["worktree_path"].as_str().unwrap());
    let snapshot = world.json(&["snapshots", id])[0]["id"].as_str().unwrap().to_string();
    fs::write(worktree.join("a.txt"), "spoiled\n").unwrap();
    fs::write(worktree.join("typed.txt"), "by hand\n").unwrap();
    assert_ne!(world.run(&["restore", id, &snapshot]).code, Some(0));
    server.end();
    assert_eq!(fs::read_to_string(worktree.join("a.txt")).unwrap(), "spoiled\n");
    let _server = world.serve();
    eventually("the restore is finished", || {
        let first = fs::read_to_string(worktree.join("a.txt")).is_ok_and(|text| text == "first\n");
        (first && !worktree.join("typed.txt").exists()).then_some(())
    });
    let undo = world.json(&["snapshots", id])[0]["id"].as_str().unwrap().to_string();
    assert_ne!(undo, snapshot);
    let undone = world.run(&["restore", id, &undo]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(fs::read_to_string(worktree.join("a.txt")).unwrap(), "spoiled\n");
    assert_eq!(fs::read_to_string(worktree.join("typed.txt")).unwrap(), "by hand\n");
}
