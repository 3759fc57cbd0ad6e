//! How many sessions there may be, how much one may follow, and how long its hello may be.

use forge_server::attempt_token;
use serde_json::{Value, json};

use super::client::{Mcp, hello_of};
use crate::world::{TOKEN, World};

/// Says whether a session is there: one that went is told so by 404, and says hello again.
fn is_there(client: &Mcp<'_>) -> bool {
    let (head, body) = client.post(&json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}));
    match head.split(' ').nth(1) {
        Some("200") => true,
        Some("404") => false,
        _ => panic!("{head}\n{body}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_sessions_the_one_that_was_used_least_recently_goes() {
    let world = World::new().await;
    let (first, second) = (Mcp::new(&world), Mcp::new(&world));
    for _ in 2..256 {
        Mcp::new(&world);
    }
    assert!(is_there(&first));
    Mcp::new(&world);
    assert!(is_there(&first));
    assert!(!is_there(&second));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_an_attempt_has_four_sessions_and_takes_none_of_the_users() {
    let world = World::new().await;
    let project = world.project();
    let kept = world.get("/api/profiles").data();
    let mut profiles: Value = serde_json::from_str(kept["content"].as_str().unwrap()).unwrap();
    profiles["executors"]["SCRIPTED"]["GENIE"]["SCRIPTED"]["forge_mcp"] = json!(true);
    world.send("PUT", "/api/profiles", &[], profiles.to_string().as_bytes()).data();
    let started = world.start(&project, "Mine", "hang");
    let token = attempt_token(TOKEN, started["attempt_id"].as_str().unwrap().parse().unwrap());
    let user = Mcp::new(&world);
    let agents: Vec<Mcp<'_>> = (0..300).map(|_| Mcp::with_token(&world, &token)).collect();
    assert!(is_there(&user));
    assert_eq!(agents.iter().filter(|agent| is_there(agent)).count(), 4);
    assert!(agents[296..].iter().all(is_there));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hello_is_small_and_one_that_is_not_opens_no_session() {
    let world = World::new().await;
    let (head, body) = Mcp::silent(&world).post(&hello_of(&"x".repeat(20_000)));
    assert!(head.contains(" 413 ") && body.contains("clientInfo"), "{head}\n{body}");
    let (head, _) = Mcp::silent(&world).post(&hello_of(&"x".repeat(10_000)));
    assert!(head.contains(" 200 "), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_session_follows_sixty_four_resources() {
    let world = World::new().await;
    let project = world.project();
    let uri = |number: usize| {
        let task = json!({"project_id": project, "title": format!("Task {number}")});
        format!("forge://task/{}", world.post("/api/tasks", &task).data()["id"].as_str().unwrap())
    };
    let mut client = Mcp::new(&world);
    let uris: Vec<String> = (0..65).map(uri).collect();
    for uri in &uris[..64] {
        let told = client.request("resources/subscribe", json!({"uri": uri}));
        assert!(told["result"].is_object(), "{told}");
    }
    let told = client.request("resources/subscribe", json!({"uri": uris[64]}));
    assert!(told["error"]["message"].as_str().unwrap().contains("64"), "{told}");
    // What is followed already may be asked for again, and what is let go makes room.
    assert!(client.request("resources/subscribe", json!({"uri": uris[0]}))["result"].is_object());
    assert!(client.request("resources/unsubscribe", json!({"uri": uris[0]}))["result"].is_object());
    assert!(client.request("resources/subscribe", json!({"uri": uris[64]}))["result"].is_object());
}
