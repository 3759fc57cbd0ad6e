//! A project's scripts on the wire: their order, their output, and a dev server beside it all.

use serde_json::{Value, json};
use tungstenite::Message;

use crate::world::{World, eventually, id};

/// Everything that a run prints, over its socket.
fn output(world: &World, run: &str) -> String {
    let mut socket = world.socket(&format!("/api/execution-processes/{run}/raw-logs/ws"));
    let mut text = String::new();
    while let Message::Text(message) = socket.read().unwrap() {
        let message: Value = serde_json::from_str(&message).unwrap();
        for operation in message["JsonPatch"].as_array().into_iter().flatten() {
            text.push_str(operation["value"]["content"].as_str().unwrap());
        }
    }
    text
}

/// An attempt's processes, oldest first, as the stream of them has them.
fn processes(world: &World, attempt: &str) -> Vec<Value> {
    let list = world.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).data();
    list.as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_agent_and_cleanup_follow_each_other_on_the_wire_with_their_output() {
    let world = World::new().await;
    let project = world.project();
    let scripts = json!({"setup_script": "echo setting up", "cleanup_script": "echo tidying up"});
    world.put(&format!("/api/projects/{project}"), &scripts).data();
    let started = world.start(&project, "Work", "edit a.txt text");
    let attempt = started["attempt_id"].as_str().unwrap();
    let setup = &processes(&world, attempt)[0];
    let action = &setup["executor_action"];
    assert_eq!(setup["run_reason"], "setupscript", "it is what runs when a start answers");
    let script = json!({
        "type": "ScriptRequest", "script": "echo setting up", "language": "Bash", "context": "SetupScript",
    });
    assert_eq!(action["typ"], script);
    assert_eq!(action["next_action"]["typ"]["type"], "CodingAgentInitialRequest");
    assert_eq!(action["next_action"]["typ"]["prompt"], "Work\n\nedit a.txt text");
    let attempt = world.wait_for(attempt, "finished");
    assert!(attempt["setup_completed_at"].is_string());
    let all = processes(&world, &id(&attempt));
    let reasons: Vec<_> = all.iter().map(|run| run["run_reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["setupscript", "codingagent", "cleanupscript"]);
    assert!(all.iter().all(|run| run["status"] == "completed" && run["exit_code"] == 0), "{all:?}");
    assert_eq!(output(&world, &id(&all[0])), "setting up\n");
    assert_eq!(output(&world, &id(&all[2])), "tidying up\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_setup_is_a_failed_process_and_a_task_to_review() {
    let world = World::new().await;
    let project = world.project();
    world.put(&format!("/api/projects/{project}"), &json!({"setup_script": "exit 9"})).data();
    let started = world.start(&project, "Work", "say never");
    let attempt = world.wait_for(started["attempt_id"].as_str().unwrap(), "failed");
    assert!(attempt["reason"].as_str().unwrap().contains("exit code 9"), "{attempt}");
    let all = processes(&world, &id(&attempt));
    assert_eq!((all.len(), &all[0]["status"], &all[0]["exit_code"]), (1, &json!("failed"), &json!(9)));
    let task = world.get(&format!("/api/tasks/{}", id(&started))).data();
    assert_eq!(task["status"], "inreview");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dev_server_is_started_told_by_its_task_and_stopped() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Work", "say hi");
    let attempt = id(&world.wait_for(started["attempt_id"].as_str().unwrap(), "finished"));
    let start = || world.call("POST", &format!("/api/task-attempts/{attempt}/start-dev-server"), &[], None);
    let none = start();
    assert_eq!((none.status, none.json()["success"].clone()), (200, json!(false)));
    assert_eq!(none.json()["message"], "No dev server script configured for this project");

    world.put(&format!("/api/projects/{project}"), &json!({"dev_script": "exec sleep 600"})).data();
    assert_eq!(start().data(), Value::Null);
    let newest = |wanted: usize| {
        eventually(|| Some(processes(&world, &attempt)).filter(|all| all.len() == wanted)).pop().unwrap()
    };
    let server = newest(2);
    assert_eq!((&server["run_reason"], &server["status"]), (&json!("devserver"), &json!("running")));
    let task = || world.get(&format!("/api/tasks/{}", id(&started))).data();
    assert_eq!(task()["dev_server_id"], server["id"]);
    let list = world.get(&format!("/api/tasks?project_id={project}")).data();
    assert_eq!(
        (&list[0]["dev_server_id"], &list[0]["has_in_progress_attempt"]),
        (&server["id"], &json!(false))
    );
    assert_eq!(world.attempt(&attempt)["state"], "finished");

    world.call("POST", &format!("/api/execution-processes/{}/stop", id(&server)), &[], None).data();
    assert_eq!(task()["dev_server_id"], Value::Null);
    start().data();
    assert_eq!(newest(3)["status"], "running");
    world.call("POST", &format!("/api/task-attempts/{attempt}/stop"), &[], None).data();
    assert_eq!(newest(3)["status"], "killed");
    assert_eq!(world.attempt(&attempt)["state"], "finished");
}
