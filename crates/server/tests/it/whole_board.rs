//! What a board draws first: one answer, true at one position.

use forge_server::attempt_token;
use serde_json::{Value, json};

use crate::world::{TOKEN, World, eventually, id};

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_has_all_projects_tasks_attempts_and_open_approvals() {
    let world = World::new().await;
    let first = world.project();
    let path = world.repository("second");
    let body = json!({"name": "second", "git_repo_path": path, "use_existing_repo": true});
    let second = id(&world.post("/api/projects", &body).data());
    let done = world.start(&first, "Done", "edit made.txt hello");
    let done = done["attempt_id"].as_str().unwrap();
    world.wait_for(done, "finished");
    // What it changed is added up in the background.
    eventually(|| Some(()).filter(|()| world.attempt(done)["files_changed"] == 1));
    let waiting = world.start(&second, "Waiting", "ask May I?");
    world.wait_for(waiting["attempt_id"].as_str().unwrap(), "waiting");
    let wish = world.post("/api/tasks", &json!({"project_id": second, "title": "Wish"})).data();

    let board = world.get("/api/board").data();
    assert_eq!(board["projects"], world.get("/api/projects").data());
    assert_eq!(sorted(&board["tasks"]), {
        let of = |project: &str| world.get(&format!("/api/tasks?project_id={project}")).data();
        let mut both = of(&first).as_array().unwrap().clone();
        both.extend(of(&second).as_array().unwrap().clone());
        sorted(&Value::Array(both))
    });
    assert!(sorted(&board["tasks"]).iter().any(|task| task["id"] == wish["id"]));
    let mut attempts = world.get("/api/task-attempts").data();
    for attempt in attempts.as_array_mut().unwrap() {
        assert!(attempt["task"].is_object());
        attempt["task"] = Value::Null;
    }
    assert_eq!(board["attempts"], attempts, "the same, but for the tasks that stand beside them");
    assert_eq!(board["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(board["approvals"], world.get("/api/approvals/pending").data());
    assert_eq!(board["approvals"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_after_its_position_is_told_by_the_events() {
    let world = World::new().await;
    let project = world.project();
    let position = world.get("/api/board").data()["position"].as_i64().unwrap();
    let task = world.post("/api/tasks", &json!({"project_id": project, "title": "Later"})).data();
    let changes = world.engine.changes(position).await.unwrap();
    assert!(!changes.resync && changes.items.len() == 1, "{changes:?}");
    let board = world.get("/api/board").data();
    assert!(board["position"].as_i64().unwrap() > position);
    assert_eq!(board["tasks"][0]["id"], task["id"]);
    let after = world.engine.changes(board["position"].as_i64().unwrap()).await.unwrap();
    assert!(after.items.is_empty(), "{after:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_no_card_but_its_attempt_is_known_and_says_what_it_is_at() {
    let world = World::new().await;
    let project = world.project();
    let chat = world.start(&project, "Talk", "ask May I?");
    let attempt = chat["attempt_id"].as_str().unwrap();
    eventually(|| Some(()).filter(|()| world.attempt(attempt)["open_asks"] == 1));
    world.put(&format!("/api/tasks/{}", id(&chat)), &json!({"status": "agent"})).data();
    let board = world.get("/api/board").data();
    assert_eq!(board["tasks"], json!([]));
    assert_eq!(board["attempts"][0]["task"]["title"], "Talk");
    assert_eq!(board["approvals"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_token_does_not_reach_the_board() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Done", "say hello");
    let token = attempt_token(TOKEN, started["attempt_id"].as_str().unwrap().parse().unwrap());
    let told = world.call("GET", "/api/board", &[("Authorization", &format!("Bearer {token}"))], None);
    assert_eq!(told.status, 403, "{}", told.text);
}

fn sorted(list: &Value) -> Vec<Value> {
    let mut list = list.as_array().unwrap().clone();
    list.sort_by_key(id);
    list
}
