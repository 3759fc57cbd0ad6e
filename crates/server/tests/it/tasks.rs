//! Tasks over the API, under their own path and under their project's.

use serde_json::{Value, json};

use crate::world::{World, id};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_created_read_changed_and_removed() {
    let world = World::new().await;
    let project = world.project();
    let body = json!({"project_id": project, "title": " Fix it ", "description": "now", "image_ids": null});
    let task = world.post("/api/tasks", &body).data();
    assert_eq!((&task["title"], &task["status"]), (&json!("Fix it"), &json!("todo")));
    assert!(task.get("attempt_count").is_none(), "a task alone has no flags");

    let one = format!("/api/tasks/{}", id(&task));
    assert_eq!(world.get(&one).data(), task);
    let list = world.get(&format!("/api/tasks?project_id={project}")).data();
    assert_eq!(list[0]["id"], task["id"]);
    assert_eq!(list[0]["attempt_count"], 0);
    assert_eq!(list[0]["executor"], "");

    for (written, read) in [("inprogress", "inprogress"), ("in-review", "inreview"), ("Done", "done")] {
        assert_eq!(world.put(&one, &json!({"status": written})).data()["status"], read);
    }
    let told = world.put(&one, &json!({"status": "asleep"})).refusal(422);
    assert!(told.starts_with("`status`") && told.contains("\"asleep\""), "{told}");

    assert_eq!(world.put(&one, &json!({"description": null})).data()["description"], "now");
    assert!(world.put(&one, &json!({"description": " "})).data()["description"].is_null());

    let removed = world.send("DELETE", &one, &[], b"");
    assert_eq!(removed.status, 202);
    assert!(removed.data().is_null());
    assert_eq!(world.get(&one).status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longer_paths_mean_the_same() {
    let world = World::new().await;
    let project = world.project();
    let under = format!("/api/projects/{project}/tasks");
    let task = world.post(&under, &json!({"title": "Fix it"})).data();
    assert_eq!(task["project_id"], Value::String(project.clone()));
    assert_eq!(world.get(&under).data(), world.get(&format!("/api/tasks?project_id={project}")).data());

    let one = format!("{under}/{}", id(&task));
    assert_eq!(world.get(&one).data(), task);
    assert_eq!(world.put(&one, &json!({"title": "Other"})).data()["title"], "Other");
    assert_eq!(world.send("DELETE", &one, &[], b"").status, 202);

    let start =
        json!({"task": {"title": "say hello"}, "executor_profile_id": "scripted", "base_branch": "main"});
    let started = world.post(&format!("{under}/create-and-start"), &start).data();
    assert_eq!(started["project_id"], Value::String(project));
    assert_eq!(started["executor"], "SCRIPTED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_an_unknown_project_is_refused() {
    let world = World::new().await;
    let unknown = forge_model::ProjectId::random().to_string();
    let answer = world.post("/api/tasks", &json!({"project_id": unknown, "title": "x"}));
    assert!((400..500).contains(&answer.status), "{answer:?}");
    assert!(answer.refusal(answer.status).contains(&unknown));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_agent_runs_cannot_be_removed() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Wait", "hang");
    let one = format!("/api/tasks/{}", id(&started));
    assert!(!world.send("DELETE", &one, &[], b"").refusal(409).is_empty());
    let attempt = started["attempt_id"].as_str().unwrap();
    world.send("POST", &format!("/api/task-attempts/{attempt}/stop"), &[], b"").data();
    assert_eq!(world.send("DELETE", &one, &[], b"").status, 202);
}
