//! What was wrong with the older system where its clients could see it, and is not so here: one test for each,
//! named after the defect. Those of streams stand in `map_streams.rs`, those of who may call in `matrix.rs`.

use serde_json::{Value, json};

use crate::world::{World, id, start_body};

/// Adds a variant to the profiles there are.
fn add_loud(world: &World) {
    let content = world.get("/api/profiles").data()["content"].as_str().unwrap().to_string();
    let mut profiles: Value = serde_json::from_str(&content).unwrap();
    profiles["executors"]["SCRIPTED"]["LOUD"] = json!({"SCRIPTED": {"append_prompt": "!"}});
    world.put("/api/profiles", &profiles).data();
}

const NOBODY: &str = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";

#[tokio::test(flavor = "multi_thread")]
async fn tasks_in_progress_or_in_review_are_not_listed_as_todo() {
    let world = World::new().await;
    let project = world.project();
    for status in ["inprogress", "inreview"] {
        let task = id(&world.post("/api/tasks", &json!({"project_id": project, "title": status})).data());
        world.put(&format!("/api/tasks/{task}"), &json!({ "status": status })).data();
    }
    for path in [format!("/api/tasks?project_id={project}"), format!("/api/projects/{project}/tasks")] {
        let listed = world.get(&path).data();
        for task in listed.as_array().unwrap() {
            assert_eq!(task["status"], task["title"], "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variant_is_not_forgotten_after_the_answer_that_named_it() {
    let world = World::new().await;
    let project = world.project();
    add_loud(&world);
    let mut body = start_body(&project, "Loud", "say hi");
    body["executor_profile_id"]["variant"] = json!("LOUD");
    let started = world.post("/api/tasks/create-and-start", &body).data();
    assert_eq!(started["executor"], "SCRIPTED:LOUD");
    let attempt = world.attempt(&id(&started["attempt"]));
    assert_eq!(attempt["executor"], "SCRIPTED:LOUD");
    let listed = world.get(&format!("/api/tasks?project_id={project}")).data();
    assert_eq!(listed[0]["executor"], "SCRIPTED:LOUD");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wish_for_a_worktree_is_no_foreign_key_violation() {
    let world = World::new().await;
    let project = world.project();
    let mut body = start_body(&project, "Begin", "say hi");
    body["use_worktree"] = json!(true);
    let started = world.post("/api/tasks/create-and-start", &body).data();
    let again = json!({"task_id": started["id"], "executor_profile_id": {"executor": "SCRIPTED"},
        "base_branch": "main", "use_worktree": true});
    world.post("/api/task-attempts", &again).data();
    let attempts = world.get(&format!("/api/task-attempts?task_id={}", id(&started))).data();
    assert_eq!(attempts.as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_not_without_its_worktree_when_its_creation_answers() {
    let world = World::new().await;
    let project = world.project();
    let task = id(&world.post("/api/tasks", &json!({"project_id": project, "title": "New"})).data());
    let body = json!({"task_id": task, "executor_profile_id": "SCRIPTED", "base_branch": "main"});
    let attempt = world.post("/api/task-attempts", &body).data();
    assert!(std::path::Path::new(attempt["container_ref"].as_str().unwrap()).join(".git").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_is_not_a_200_and_a_line_in_a_log() {
    let world = World::new().await;
    let project = world.project();
    let task = id(&world.post("/api/tasks", &json!({"project_id": project, "title": "New"})).data());
    let body = json!({"task_id": task, "executor_profile_id": "SCRIPTED", "base_branch": "absent"});
    assert!(world.post("/api/task-attempts", &body).refusal(422).contains("absent"));
    assert_eq!(world.get(&format!("/api/task-attempts?task_id={task}")).data(), json!([]));
    let mut body = start_body(&project, "Never", "say hi");
    body["base_branch"] = json!("absent");
    world.post("/api/tasks/create-and-start", &body).refusal(422);
    let listed = world.get(&format!("/api/tasks?project_id={project}")).data();
    assert_eq!(listed.as_array().unwrap().len(), 1, "no task of a failed start stays: {listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_named_does_not_clear_a_projects_scripts() {
    let world = World::new().await;
    let project = world.project();
    let path = format!("/api/projects/{project}");
    world.put(&path, &json!({"setup_script": "make", "commit_prompt": "short"})).data();
    let changed = world.put(&path, &json!({"name": "renamed"})).data();
    assert_eq!((&changed["setup_script"], &changed["commit_prompt"]), (&json!("make"), &json!("short")));
    let cleared = world.put(&path, &json!({"setup_script": null})).data();
    assert_eq!((&cleared["setup_script"], &cleared["commit_prompt"]), (&Value::Null, &json!("short")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_projects_last_change_does_not_stand_still() {
    let world = World::new().await;
    let project = world.project();
    let path = format!("/api/projects/{project}");
    let before = world.get(&path).data();
    let moved = crate::world::eventually(|| {
        let after = world.put(&path, &json!({"dev_script": uuid()})).data();
        Some(after).filter(|after| after["updated_at"] != before["updated_at"])
    });
    assert!(moved["updated_at"].as_str() > before["updated_at"].as_str());
    assert_eq!(moved["created_at"], before["created_at"]);
}

fn uuid() -> String {
    forge_model::TaskId::random().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_not_lost_with_the_memory_of_the_server() {
    let world = World::new().await;
    add_loud(&world);
    let told = world.get("/api/profiles").data();
    let kept = std::fs::read_to_string(told["path"].as_str().unwrap()).unwrap();
    assert!(kept.contains("LOUD"), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_the_settings_is_not_a_wrong_method() {
    let world = World::new().await;
    let written = world.put("/api/config", &json!({"theme": "DARK", "disclaimer_acknowledged": true})).data();
    let read = world.get("/api/config").data();
    assert_eq!(read["config_version"], "v7");
    assert_eq!((&read["theme"], &read["disclaimer_acknowledged"]), (&json!("DARK"), &json!(true)));
    assert_eq!(read, written, "what is read is what a write answers with");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disclaimer_that_is_acknowledged_registers_nobodys_repositories() {
    let world = World::new().await;
    world.repository("lying-around");
    world.put("/api/config", &json!({"disclaimer_acknowledged": true})).data();
    assert_eq!(world.get("/api/projects").data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_of_the_api_is_not_the_page_with_a_200() {
    let world = World::new().await;
    let answer = world.get("/api/nothing/here");
    assert!(answer.refusal(404).contains("/api/nothing/here"));
    assert!(answer.header("content-type").unwrap().starts_with("application/json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_an_approval_does_not_look_failed_to_clients_that_want_an_envelope() {
    let world = World::new().await;
    let project = world.project();
    world.start(&project, "Ask", "ask May I?");
    let ask = crate::world::eventually(|| {
        let open = world.get("/api/approvals/pending").data();
        open[0]["approval_id"].as_str().map(str::to_string)
    });
    let body = json!({"status": {"status": "approved"}});
    let answer = world.post(&format!("/api/approvals/{ask}/respond"), &body).json();
    assert_eq!((&answer["success"], &answer["data"]["status"]), (&json!(true), &json!("approved")));
    assert_eq!(answer["status"], "approved", "clients that read it bare find it too");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_since_the_server_started_is_not_replayed_to_whoever_connects() {
    let world = World::new().await;
    let project = world.project();
    world.post("/api/tasks", &json!({"project_id": project, "title": "Before"})).data();
    let mut events = world.events(&[], "");
    let after = id(&world.post("/api/tasks", &json!({"project_id": project, "title": "After"})).data());
    let first = std::iter::from_fn(|| events.next()).find(|event| event.name == "json_patch").unwrap();
    assert_eq!(first.operations(), [format!("add /tasks/{after}")]);
    assert!(first.id.is_some(), "it can be resumed from");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_stream_does_not_look_like_a_broken_connection() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Talk", "say hi")["attempt"]);
    let run = id(&world.run_of(&attempt));
    let mut socket = world.socket(&format!("/api/execution-processes/{run}/raw-logs/ws"));
    let close = loop {
        if let tungstenite::Message::Close(close) = socket.read().unwrap() {
            break close.unwrap();
        }
    };
    assert_eq!(u16::from(close.code), 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_line_of_output_is_not_cut_in_its_middle() {
    let world = World::new().await;
    let project = world.project();
    let long = "abcdefgh".repeat(40_000);
    let attempt = id(&world.start(&project, "Talk", &format!("say {long}"))["attempt"]);
    world.wait_for(&attempt, "finished");
    let run = id(&world.run_of(&attempt));
    let mut socket = world.socket(&format!("/api/execution-processes/{run}/raw-logs/ws"));
    let mut said = String::new();
    while let tungstenite::Message::Text(text) = socket.read().unwrap() {
        let frame: Value = serde_json::from_str(&text).unwrap();
        for op in frame["JsonPatch"].as_array().into_iter().flatten() {
            said.push_str(op["value"]["content"].as_str().unwrap());
        }
    }
    assert!(said.contains(&long) && !said.contains("[truncated]"), "{} bytes came", said.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_does_not_leave_its_task_in_progress() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fail", "exit 3");
    world.wait_for(&id(&started["attempt"]), "failed");
    let task = world.get(&format!("/api/tasks/{}", id(&started))).data();
    assert_eq!(task["status"], "inreview");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_may_have_more_than_one_chat() {
    let world = World::new().await;
    let project = world.project();
    let chat = json!({"project_id": project, "agent_type": "genie_chat"});
    let (one, other) =
        (world.post("/api/forge/agents", &chat).data(), world.post("/api/forge/agents", &chat).data());
    assert_ne!(one["task_id"], other["task_id"]);
}

/// Each of these was a 500, empty or not, or plain text.
#[tokio::test(flavor = "multi_thread")]
async fn a_callers_mistake_is_not_a_server_error() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Done", "say hi")["attempt"]);
    world.wait_for(&attempt, "finished");
    let run = id(&world.run_of(&attempt));
    let profile = json!({"executor": "SCRIPTED"});
    let calls = [
        ("POST", "/api/tasks".to_string(), json!({"project_id": NOBODY, "title": "x"})),
        (
            "POST",
            "/api/task-attempts".to_string(),
            json!({"task_id": NOBODY, "executor_profile_id": profile}),
        ),
        ("PUT", format!("/api/projects/{NOBODY}"), json!({"name": "x"})),
        ("POST", "/api/tags".to_string(), json!({"tag_name": "two words", "content": "x"})),
        ("POST", "/api/tags".to_string(), json!({"tag_name": "word", "content": ""})),
        ("POST", format!("/api/approvals/{NOBODY}/respond"), json!({"approved": true})),
        ("POST", format!("/api/execution-processes/{run}/stop"), json!({})),
        ("PUT", format!("/api/task-attempts/{attempt}/draft?type=retry"), json!({"prompt": "x"})),
        ("DELETE", format!("/api/task-attempts/{attempt}/draft?type=follow_up"), json!({})),
        ("GET", "/api/containers/info?ref=/nowhere".to_string(), Value::Null),
        ("GET", format!("/api/templates?global=true&project_id={project}"), Value::Null),
        ("PUT", format!("/api/forge/projects/{NOBODY}/settings"), json!({"omni_enabled": false})),
        ("POST", "/api/auth/github/device/poll".to_string(), json!({})),
        ("GET", "/api/tasks/stream/ws?project_id=banana".to_string(), Value::Null),
        ("GET", "/api/tasks".to_string(), Value::Null),
    ];
    for (method, path, body) in calls {
        let answer = world.call(method, &path, &[], Some(&body).filter(|body| !body.is_null()));
        assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
        let told = answer.refusal(answer.status);
        assert!(told.len() > 10, "{method} {path}: {told}");
    }
}
