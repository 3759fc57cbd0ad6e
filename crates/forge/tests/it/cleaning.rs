//! Cleaning up from the command line.

use serde_json::json;

use crate::map_streams::call;
use crate::world::World;

#[test]
fn gc_says_what_would_go_and_then_moves_it_to_the_trash() {
    let world = World::new();
    let _server = world.serve();
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "edit a.txt text"]).code, Some(0));
    let attempt = world.json(&["list"])[0].clone();
    let worktree = std::path::PathBuf::from(attempt["container_ref"].as_str().unwrap());
    let nothing = world.run(&["gc"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""), "{nothing:?}");
    assert!(nothing.stderr.contains("nothing has had its time"), "{nothing:?}");

    let expire = json!({"worktrees": {"expire_after_hours": 0}});
    call(&world, "PUT", "/api/config", &expire);
    let said = world.run(&["gc", "--dry-run"]);
    assert!(said.stdout.contains(worktree.to_str().unwrap()), "{said:?}");
    assert!(said.stderr.contains("nothing was changed"), "{said:?}");
    assert!(worktree.join("a.txt").exists());
    let done = world.json(&["gc"]);
    assert_eq!(done["swept"][0]["task_attempt_id"], attempt["id"], "{done:?}");
    assert!(!worktree.exists());
    assert_eq!(world.json(&["list"])[0]["worktree_deleted"], true);

    let id = attempt["id"].as_str().unwrap();
    assert_eq!(world.run(&["follow-up", id, "say back"]).code, Some(0));
    assert_eq!(world.run(&["wait", id]).code, Some(0));
    assert_eq!(std::fs::read_to_string(worktree.join("a.txt")).unwrap(), "text\n");
}
