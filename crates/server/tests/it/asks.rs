//! What agents ask and people answer, over the API.

use serde_json::{Value, json};

use crate::world::{World, eventually, id};

fn open_ask(world: &World) -> Value {
    eventually(|| world.get("/api/approvals/pending").data().get(0).cloned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_listed_answered_once_and_heard_by_the_agent() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Ask", "ask Which colour?");
    let attempt = started["attempt_id"].as_str().unwrap();
    let ask = open_ask(&world);
    assert_eq!(ask["task_attempt_id"], attempt);
    assert_eq!(ask["text"], "Which colour?");
    assert_eq!(ask["execution_process_id"], world.run_of(attempt)["id"]);
    assert_eq!(world.attempt(attempt)["state"], "waiting");
    assert_eq!(world.attempt(attempt)["open_asks"], 1);

    let ask = ask["approval_id"].as_str().unwrap();
    let status = world.get(&format!("/api/approvals/{ask}/status")).json();
    assert_eq!((&status["data"]["status"], &status["status"]), (&json!("pending"), &json!("pending")));

    let respond = format!("/api/approvals/{ask}/respond");
    let answer = world.post(&respond, &json!({"approved": true, "text": "blue"})).json();
    assert_eq!(answer["success"], true);
    assert_eq!((&answer["data"]["status"], &answer["status"]), (&json!("approved"), &json!("approved")));
    world.post(&respond, &json!({"approved": true})).refusal(409);
    world.wait_for(attempt, "finished");
    assert_eq!(world.get("/api/approvals/pending").data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_carries_its_reason() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Ask", "ask May I?");
    let ask = open_ask(&world);
    let body = json!({
        "execution_process_id": ask["execution_process_id"],
        "status": {"status": "denied", "reason": "not now"},
    });
    let ask = ask["approval_id"].as_str().unwrap();
    let answer = world.post(&format!("/api/approvals/{ask}/respond"), &body).json();
    assert_eq!(answer["data"], json!({"status": "denied", "reason": "not now"}));
    assert_eq!((&answer["status"], &answer["reason"]), (&json!("denied"), &json!("not now")));
    world.wait_for(&id(&started["attempt"]), "finished");
}
