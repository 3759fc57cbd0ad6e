//! Attempts and runs over the API, with the scripted agent.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{World, git, id, start_body};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_start_answers_is_true_when_it_answers() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fix it", "hang");
    assert_eq!(started["title"], "Fix it");
    assert_eq!(started["status"], "inprogress");
    assert_eq!(started["has_in_progress_attempt"], true);
    assert_eq!((&started["attempt_count"], &started["executor"]), (&json!(1), &json!("SCRIPTED")));
    assert_eq!(started["task"]["id"], started["id"]);
    let attempt = &started["attempt"];
    assert_eq!(started["attempts"], json!([attempt]));
    assert_eq!(started["attempt_id"], attempt["id"]);
    assert_eq!((&attempt["state"], &attempt["status"]), (&json!("running"), &json!("running")));
    assert_eq!(attempt["project_id"], Value::String(project));
    assert_eq!(attempt["executor_profile_id"], json!({"executor": "SCRIPTED"}));

    let worktree = Path::new(attempt["worktree_path"].as_str().unwrap());
    let branch = attempt["branch"].as_str().unwrap();
    assert_eq!(git(worktree, &["branch", "--show-current"]), branch);
    let attempt_id = id(attempt);
    assert_eq!(world.attempt(&attempt_id)["task"]["id"], started["id"]);
    let run = world.run_of(&attempt_id);
    assert_eq!((&run["status"], &run["run_reason"]), (&json!("running"), &json!("codingagent")));
    assert_eq!(run["executor_action"]["typ"]["type"], "CodingAgentInitialRequest");
    assert_eq!(world.get(&format!("/api/execution-processes/{}", id(&run))).data()["id"], run["id"]);

    let listed = world.get(&format!("/api/task-attempts?task_id={}", id(&started))).data();
    assert_eq!(listed[0]["id"], attempt["id"]);
    assert_eq!(world.get("/api/task-attempts").data().as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_start_repeats_the_answer_and_not_the_act() {
    let world = World::new().await;
    let project = world.project();
    let body = start_body(&project, "Fix it", "say done");
    let key = [("Idempotency-Key", "once")];
    let first = world.call("POST", "/api/tasks/create-and-start", &key, Some(&body)).data();
    let again = world.call("POST", "/api/tasks/create-and-start", &key, Some(&body)).data();
    assert_eq!(first["attempt_id"], again["attempt_id"]);
    assert_eq!(world.get("/api/task-attempts").data().as_array().unwrap().len(), 1);
    let other = start_body(&project, "Fix that", "say done");
    world.call("POST", "/api/tasks/create-and-start", &key, Some(&other)).refusal(422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_attempt_says_so_in_both_vocabularies() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fix it", "edit note.txt hello\nsay done");
    let attempt = world.wait_for(started["attempt_id"].as_str().unwrap(), "finished");
    assert_eq!(attempt["status"], "completed");
    let task = world.get(&format!("/api/tasks/{}", id(&started))).data();
    assert_eq!(task["status"], "inreview");
    let failed = world.start(&project, "Break it", "exit 3");
    let attempt = world.wait_for(failed["attempt_id"].as_str().unwrap(), "failed");
    assert_eq!(attempt["status"], "failed");
    assert_eq!(world.run_of(&id(&attempt))["exit_code"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_further_attempt_is_started_at_a_task() {
    let world = World::new().await;
    let project = world.project();
    let task = world.post("/api/tasks", &json!({"project_id": project, "title": "say hello"})).data();
    let body = json!({"task_id": task["id"], "executor_profile_id": "SCRIPTED", "base_branch": "main"});
    let attempt = world.post("/api/task-attempts", &body).data();
    assert_eq!(attempt["task_id"], task["id"]);
    assert!(attempt["branch"].as_str().unwrap().starts_with("forge/"));
    world.wait_for(&id(&attempt), "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_an_attempt_and_stopping_a_run_leave_nothing_running() {
    let world = World::new().await;
    let project = world.project();
    let first = world.start(&project, "Wait", "hang");
    let attempt = first["attempt_id"].as_str().unwrap();
    assert!(world.send("POST", &format!("/api/task-attempts/{attempt}/stop"), &[], b"").data().is_null());
    assert_eq!(world.attempt(attempt)["state"], "stopped");
    assert_eq!(world.run_of(attempt)["status"], "killed");

    let second = world.start(&project, "Wait too", "hang");
    let attempt = second["attempt_id"].as_str().unwrap();
    let stop = format!("/api/execution-processes/{}/stop", id(&world.run_of(attempt)));
    assert!(world.send("POST", &stop, &[], b"").data().is_null());
    assert_eq!(world.run_of(attempt)["status"], "killed");
    world.send("POST", &stop, &[], b"").refusal(409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_says_how_it_was_delivered() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Fix it", "say done");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let run = world.post(&path, &json!({"follow_up_prompt": "say more"})).data();
    assert_eq!(run["delivered"], "started");
    assert_eq!(run["task_attempt_id"], attempt);
    assert_eq!(run["executor_action"]["typ"]["type"], "CodingAgentFollowUpRequest");
    world.wait_for(attempt, "finished");
    assert!(world.post(&path, &json!({})).refusal(422).starts_with("`prompt`"));
    let odd = json!({"prompt": "say more", "variant": "no such"});
    assert!(world.post(&path, &odd).refusal(422).starts_with("`variant`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_known_starts_nothing() {
    let world = World::new().await;
    let project = world.project();
    let mut body = start_body(&project, "Fix it", "say done");
    body["executor_profile_id"] = json!("NO_SUCH_AGENT");
    assert!(world.post("/api/tasks/create-and-start", &body).refusal(422).contains("NO_SUCH_AGENT"));
    assert_eq!(world.get(&format!("/api/tasks?project_id={project}")).data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_without_a_worktree_works_in_the_checkout_and_a_second_one_gets_409() {
    let world = World::new().await;
    let project = world.project();
    let path = world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].clone();
    let mut body = start_body(&project, "Talk", "hang");
    body["use_worktree"] = json!(false);
    let started = world.post("/api/tasks/create-and-start", &body).data();
    assert_eq!(started["status"], "agent");
    let listed = world.get(&format!("/api/task-attempts?task_id={}", id(&started))).data();
    assert_eq!((&listed[0]["container_ref"], &listed[0]["in_place"]), (&path, &json!(true)));
    assert_eq!((&listed[0]["branch"], &listed[0]["target_branch"]), (&json!("main"), &json!("main")));
    world.post("/api/tasks/create-and-start", &body).refusal(409);
    let agents = world.get(&format!("/api/forge/agents?project_id={project}&agent_type=genie_chat")).data();
    assert_eq!(agents[0]["task_id"], started["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_over_the_limit_answers_that_it_is_queued_and_at_which_place() {
    let world = World::new().await;
    let project = world.project();
    world.put("/api/config", &json!({"limits": {"max_running": 1}})).data();
    let first = world.start(&project, "First", "hang");
    let second = world.start(&project, "Second", "say done");
    assert_eq!((&second["status"], &second["has_in_progress_attempt"]), (&json!("todo"), &json!(false)));
    let attempt = &second["attempt"];
    assert_eq!((&attempt["state"], &attempt["queue_place"]), (&json!("queued"), &json!(1)));
    assert!(attempt["container_ref"].is_null() && attempt["status"].is_null());
    let stop = format!("/api/task-attempts/{}/stop", first["attempt_id"].as_str().unwrap());
    world.post(&stop, &json!({})).data();
    world.wait_for(attempt["id"].as_str().unwrap(), "finished");
}
