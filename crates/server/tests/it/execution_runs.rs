//! Attempts without a task over the API, and what lies around an attempt.

use serde_json::{Value, json};

use crate::world::{World, eventually, id};

fn start(world: &World, project: &str, prompt: &str) -> Value {
    let body =
        json!({"project_id": project, "prompt": prompt, "executor_profile_id": {"executor": "SCRIPTED"}});
    world.post("/api/execution-runs", &body).data()
}

fn wait_for(world: &World, run: &str, state: &str) -> Value {
    let look = || world.get(&format!("/api/execution-runs/{run}")).data();
    eventually(|| Some(look()).filter(|run| run["state"] == state))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_run_has_a_process_of_its_own_and_stands_in_no_list_of_attempts() {
    let world = World::new().await;
    let project = world.project();
    let started = start(&world, &project, "say hello");
    let run = id(&started["execution_run"]);
    assert_eq!(started["execution_run"]["project_id"], json!(project));
    assert_eq!(started["execution_run"]["prompt"], "say hello");
    assert_eq!(
        (&started["execution_run"]["executor"], &started["execution_run"]["variant"]),
        (&json!("SCRIPTED"), &Value::Null)
    );
    let branch = started["execution_run"]["branch"].as_str().unwrap();
    assert!(branch.starts_with("forge/") && branch.ends_with("-say-hello"), "{branch}");
    let process = &started["execution_process"];
    assert_eq!((&process["task_attempt_id"], &process["execution_run_id"]), (&Value::Null, &json!(run)));
    wait_for(&world, &run, "finished");
    assert_eq!(world.get("/api/task-attempts").data(), json!([]));
    let listed = world.get(&format!("/api/execution-runs?project_id={project}")).data();
    assert_eq!(listed[0]["id"], json!(run));
    let followed =
        world.post(&format!("/api/execution-runs/{run}/follow-up"), &json!({"prompt": "say more"})).data();
    assert_eq!(followed["execution_run_id"], json!(run));
    wait_for(&world, &run, "finished");
    let processes = world.get(&format!("/api/execution-runs/{run}/processes")).data();
    assert_eq!(processes.as_array().unwrap().len(), 2);
    assert_eq!(processes[0]["id"], process["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_output_of_an_execution_run_comes_in_frames_that_are_not_patches() {
    let world = World::new().await;
    let project = world.project();
    let run = id(&start(&world, &project, "say hello")["execution_run"]);
    let mut socket = world.socket(&format!("/api/execution-runs/{run}/logs/ws"));
    let mut said = String::new();
    loop {
        let frame: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
        if frame["finished"] == true {
            break;
        }
        assert!(frame["JsonPatch"].is_null(), "{frame}");
        said.push_str(frame["Stdout"].as_str().or(frame["Stderr"].as_str()).unwrap());
    }
    assert!(said.contains("hello"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_execution_run_or_does_not_run_is_told_so() {
    let world = World::new().await;
    let project = world.project();
    let run = id(&start(&world, &project, "hang")["execution_run"]);
    world.post(&format!("/api/execution-runs/{run}/stop"), &json!({})).data();
    let told = world.post(&format!("/api/execution-runs/{run}/stop"), &json!({})).refusal(409);
    assert!(told.contains("is not running"), "{told}");
    let attempt = id(&world.start(&project, "Fix it", "say done")["attempt"]);
    for path in ["", "/processes"] {
        world.get(&format!("/api/execution-runs/{attempt}{path}")).refusal(404);
    }
    world.post(&format!("/api/execution-runs/{attempt}/stop"), &json!({})).refusal(404);
    let body = json!({"project_id": project, "prompt": "x", "executor_profile_id": "SCRIPTED", "base_branch": "absent"});
    assert!(world.post("/api/execution-runs", &body).refusal(422).contains("absent"));
    let body = json!({"project_id": project, "executor_profile_id": "SCRIPTED"});
    assert!(world.post("/api/execution-runs", &body).refusal(422).starts_with("`prompt`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_tells_its_attempt_and_an_attempt_its_family() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fix it", "say done");
    let attempt = &started["attempt"];
    let path = attempt["container_ref"].as_str().unwrap();
    let info = world.get(&format!("/api/containers/info?ref={path}")).data();
    assert_eq!(info, json!({"attempt_id": attempt["id"], "task_id": started["id"], "project_id": project}));
    world.get("/api/containers/info?ref=/nowhere").refusal(404);
    world.get("/api/containers/info").refusal(400);
    let child = json!({"project_id": project, "title": "Then this", "parent_task_attempt": attempt["id"]});
    let child = world.post("/api/tasks", &child).data();
    let family = world.get(&format!("/api/task-attempts/{}/children", id(attempt))).data();
    assert_eq!((&family["parent_task"], &family["parent"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&family["children"][0]["id"], &family["current_attempt"]["id"]),
        (&child["id"], &attempt["id"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_a_program_creates_is_pending_answered_and_read_back() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "say done")["attempt"]);
    world.wait_for(&attempt, "finished");
    let follow = json!({"prompt": "hang"});
    let run = world.post(&format!("/api/task-attempts/{attempt}/follow-up"), &follow).data();
    let session = run["executor_action"]["typ"]["session_id"].clone();
    let body = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": session});
    let created = world.post("/api/approvals/create", &body).data();
    assert_eq!((&created["tool_input"], &created["session_id"]), (&body["tool_input"], &session));
    assert_eq!(created["execution_process_id"], world.run_of(&attempt)["id"]);
    let ask = id(&created);
    assert_eq!(world.get("/api/approvals/pending").data()[0]["approval_id"], json!(ask));
    let respond = format!("/api/approvals/{ask}/respond");
    let other = json!({"execution_process_id": attempt, "status": {"status": "approved"}});
    assert!(world.post(&respond, &other).refusal(409).starts_with("`execution_process_id`"));
    world.post(&respond, &json!({"approved": false, "comment": "no"})).json();
    let status = world.get(&format!("/api/approvals/{ask}/status")).json();
    assert_eq!(status["data"], json!({"status": "denied", "reason": "no"}));
    let body = json!({"tool_name": "Bash", "session_id": "nobody"});
    assert!(world.post("/api/approvals/create", &body).refusal(404).starts_with("`session_id`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_is_never_silently_a_follow_up() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "say done")["attempt"]);
    world.wait_for(&attempt, "finished");
    let old = id(&world.run_of(&attempt));
    let body = json!({"prompt": "say x", "retry_process_id": old});
    let new = world.post(&format!("/api/task-attempts/{attempt}/follow-up"), &body).data();
    assert_ne!(id(&new), old);
    let left = world.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).data();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(world.get(&format!("/api/execution-processes/{old}")).data()["dropped"], true);
    let body = json!({"project_id": project, "prompt": "say done", "executor_profile_id": "SCRIPTED"});
    let loose = id(&world.post("/api/execution-runs", &body).data()["execution_run"]);
    let body = json!({"prompt": "say x", "retry_process_id": old});
    let told = world.post(&format!("/api/execution-runs/{loose}/follow-up"), &body).refusal(422);
    assert!(told.starts_with("`retry_process_id`") && told.contains("replace-process"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_project_is_not_found_under_this_one() {
    let world = World::new().await;
    let project = world.project();
    let other =
        json!({"name": "other", "git_repo_path": world.repository("other"), "use_existing_repo": true});
    let other = id(&world.post("/api/projects", &other).data());
    let task = id(&world.post("/api/tasks", &json!({"project_id": project, "title": "Fix it"})).data());
    let path = format!("/api/projects/{other}/tasks/{task}");
    world.get(&path).refusal(404);
    world.put(&path, &json!({"title": "x"})).refusal(404);
    world.call("DELETE", &path, &[], None).refusal(404);
    assert_eq!(world.get(&format!("/api/projects/{project}/tasks/{task}")).data()["title"], "Fix it");
}
