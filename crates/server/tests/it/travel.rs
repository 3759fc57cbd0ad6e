//! Time travel over the wire: snapshots, restores, replaced turns, recovery.

use serde_json::{Value, json};

use crate::world::{World, id};

fn wait_for_end(world: &World, attempt: &str) {
    world.wait_for(attempt, "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_back_to_a_snapshot_and_forth_again() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "edit a.txt first")["attempt"]);
    wait_for_end(&world, &attempt);
    world
        .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "edit a.txt second"}))
        .data();
    wait_for_end(&world, &attempt);
    let list = world.get(&format!("/api/task-attempts/{attempt}/snapshots")).data();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    assert_eq!(list[0]["changes"], json!({"added": 0, "changed": 1, "deleted": 0}));
    let file = world.attempt(&attempt)["container_ref"].as_str().unwrap().to_string() + "/a.txt";
    let restore = |snapshot: &Value| {
        let body = json!({"snapshot_id": snapshot, "paths": ["a.txt"]});
        world.post(&format!("/api/task-attempts/{attempt}/restore"), &body)
    };
    let restored = restore(&list[1]["id"]).data();
    assert_eq!((&restored["written"], &restored["left_alone"]), (&json!(["a.txt"]), &json!([])));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "first\n");
    restore(&restored["undo_snapshot_id"]).data();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "second\n");
    assert!(restore(&json!("nobody")).refusal(404).contains("nobody"));
    let body = json!({"snapshot_id": list[1]["id"], "paths": ["../../x"]});
    world.post(&format!("/api/task-attempts/{attempt}/restore"), &body).refusal(422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_replaced_in_the_shape_of_newer_and_older_clients() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "edit a.txt first")["attempt"]);
    wait_for_end(&world, &attempt);
    let first = world.run_of(&attempt);
    let path = format!("/api/task-attempts/{attempt}/replace-process");
    let answer = world.post(&path, &json!({"process_id": id(&first), "prompt": "edit b.txt x"})).data();
    assert_eq!(answer["deleted_count"], 1);
    assert_eq!((&answer["git_reset_needed"], &answer["git_reset_applied"]), (&json!(true), &json!(true)));
    assert!(answer["target_before_oid"].is_string());
    wait_for_end(&world, &attempt);
    assert_eq!(id(&world.run_of(&attempt)), answer["new_execution_id"].as_str().unwrap());
    let older = json!({"executor_profile_id": {"executor": "SCRIPTED"}, "prompt": "say older"});
    let answer = world.post(&path, &older).data();
    assert_eq!(answer["deleted_count"], 1);
    wait_for_end(&world, &attempt);
    let foreign = id(&world.start(&project, "Other", "say hi")["attempt"]);
    let wrong = json!({"process_id": id(&world.run_of(&foreign)), "prompt": "say never"});
    assert!(world.post(&path, &wrong).refusal(422).contains("does not belong"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_is_listed_and_comes_back() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fix it", "edit a.txt first");
    let (task, attempt) = (id(&started), id(&started["attempt"]));
    wait_for_end(&world, &attempt);
    world.call("DELETE", &format!("/api/tasks/{task}"), &[], None).data();
    let list = world.get("/api/removed").data();
    let entry =
        |kind: &str| list.as_array().unwrap().iter().find(|entry| entry["kind"] == kind).cloned().unwrap();
    assert_eq!((&entry("task")["name"], &entry("attempt")["files"]), (&json!("Fix it"), &json!("trash")));
    assert!(
        world.post(&format!("/api/removed/{attempt}/recover"), &Value::Null).refusal(409).contains(&task)
    );
    let back = world.post(&format!("/api/removed/{task}/recover"), &Value::Null).data();
    assert_eq!((&back["tasks"], &back["attempts"], &back["notes"]), (&json!(1), &json!(1), &json!([])));
    assert_eq!(world.get(&format!("/api/tasks/{task}")).data()["title"], "Fix it");
    assert_eq!(world.get("/api/removed").data(), json!([]));
}
