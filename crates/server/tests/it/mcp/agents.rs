//! What an agent's token reaches: its own task, subtasks that it makes, attempts at those, and nothing else.

use forge_server::attempt_token;
use serde_json::{Value, json};

use super::client::{Mcp, hello_of};
use crate::world::{TOKEN, World};

const TOOLS: [&str; 8] = [
    "create_and_start_task",
    "create_subtask",
    "create_task",
    "create_task_and_start",
    "get_task",
    "get_task_attempt",
    "start_task_attempt",
    "wait_for_attempt",
];

/// Switches Forge's own tools on for the scripted agent.
fn switch_on(world: &World) {
    switch(world, true);
}

fn switch(world: &World, is_on: bool) {
    let kept = world.get("/api/profiles").data();
    let mut profiles: Value = serde_json::from_str(kept["content"].as_str().unwrap()).unwrap();
    profiles["executors"]["SCRIPTED"]["GENIE"]["SCRIPTED"]["forge_mcp"] = json!(is_on);
    world.send("PUT", "/api/profiles", &[], profiles.to_string().as_bytes()).data();
}

fn token_of(started: &Value) -> String {
    attempt_token(TOKEN, started["attempt_id"].as_str().unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn with_an_attempts_token_every_tool_beyond_its_task_and_subtasks_is_refused() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let other = world.start(&project, "Other", "hang");
    let listed = Mcp::new(&world).tools();
    let mut agent = Mcp::with_token(&world, &token_of(&own));
    let mut heard: Vec<String> =
        agent.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect();
    heard.sort();
    assert_eq!(heard, TOOLS);
    // Everything that is another's, under every name that a tool has for it.
    let (task, attempt) = (&other["task"]["id"], &other["attempt_id"]);
    let arguments = json!({
        "project_id": project, "task_id": task, "attempt_id": attempt, "sessionId": attempt, "execution_run_id": attempt,
        "title": "x", "task": {"title": "x", "parent_task_attempt": attempt}, "parent_task_attempt": attempt,
        "parent_attempt_id": attempt, "executor": "SCRIPTED", "base_branch": "main", "agent": "SCRIPTED", "prompt": "say x", "message": "say x",
        "name": "x", "git_repo_path": "/", "approved": true, "ask_id": attempt, "process_id": attempt, "sha": "HEAD",
        "target_branch": "main", "file_path": "README.md", "content": "x", "queued": true, "config": {}, "settings": {},
        "data": "eA==", "mime_type": "image/png", "image_id": attempt, "host": "http://127.0.0.1:9", "api_key": "k",
    });
    let before = world.get("/api/board").data();
    for tool in listed {
        let name = tool["name"].as_str().unwrap();
        let told = agent.call(name, arguments.clone()).expect_err(name);
        assert!(
            told["error"].as_str().unwrap().contains("the token of an attempt reaches"),
            "{name}: {told}"
        );
    }
    assert_eq!(world.get("/api/board").data()["tasks"], before["tasks"], "nothing has changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_its_task_makes_subtasks_starts_them_and_waits() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let mut agent = Mcp::with_token(&world, &token_of(&own));
    let mine = agent.call("get_task", json!({"task_id": own["task"]["id"]})).unwrap();
    assert_eq!(mine["task"]["title"], "Mine");
    // It need not say where: a subtask is below the attempt that makes it.
    let made = agent.call("create_task", json!({"title": "Below", "description": "say from below"})).unwrap();
    let below = world.get(&format!("/api/tasks/{}", made["task_id"].as_str().unwrap())).data();
    assert_eq!((&below["parent_task_attempt"], &below["project_id"]), (&own["attempt_id"], &json!(project)));
    let start = json!({"task_id": made["task_id"], "executor": "SCRIPTED", "base_branch": "main"});
    let started = agent.call("start_task_attempt", start).unwrap();
    let waited = agent.call("wait_for_attempt", json!({"attempt_id": started["attempt_id"]})).unwrap();
    assert_eq!((&waited["state"], &waited["last_message"]), (&json!("finished"), &json!("from below")));
    let both = json!({"task": {"title": "Too", "description": "say too"}, "executor": "SCRIPTED"});
    let both = agent.call("create_and_start_task", both).unwrap();
    assert_eq!(both["parent_task_attempt"], own["attempt_id"]);
    agent.call("get_task_attempt", json!({"attempt_id": both["attempt_id"]})).unwrap();
    // What is known of it, no client has to ask its model for.
    assert_eq!(agent.call("get_task", json!({})).unwrap()["task"]["title"], "Mine");
    let third = json!({"title": "Three", "prompt": "say three", "executor": "SCRIPTED"});
    assert_eq!(agent.call("create_subtask", third).unwrap()["parent_task_attempt"], own["attempt_id"]);
    let elsewhere = json!({"title": "x", "prompt": "say x", "parent_attempt_id": both["attempt_id"]});
    agent.call("create_subtask", elsewhere).unwrap_err();
    for tool in agent.tools() {
        let required = tool["inputSchema"]["required"].to_string();
        assert!(!required.contains("project_id") && !required.contains("parent"), "{tool}");
    }
    // Its own task is not one that it may start again.
    let again = json!({"task_id": own["task"]["id"], "executor": "SCRIPTED", "base_branch": "main"});
    agent.call("start_task_attempt", again).unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_the_switch_is_not_let_in() {
    let world = World::new().await;
    let project = world.project();
    let own = world.start(&project, "Mine", "hang");
    let token = token_of(&own);
    let refused = || {
        let (head, body) = Mcp::bearing(&world, &token).post(&hello_of("test"));
        assert!(head.contains(" 403 ") && body.contains("forge_mcp"), "{head}\n{body}");
    };
    refused();
    switch_on(&world);
    let mut agent = Mcp::with_token(&world, &token);
    assert_eq!(agent.tools().len(), TOOLS.len());
    // A session that is there already is no way around the switch.
    switch(&world, false);
    let (head, _) = agent.post(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"}));
    assert!(head.contains(" 403 "), "{head}");
    refused();
}

/// Makes 60 calls at once, and returns how many were done.
fn made_at_once(world: &World, token: &str, tool: &str, arguments: impl Fn(usize) -> Value + Sync) -> usize {
    let client = Mcp::with_token(world, token);
    let made: Vec<bool> = std::thread::scope(|scope| {
        let calls: Vec<_> = (1..=60)
            .map(|number| {
                let (mut client, arguments) = (client.beside(number as u64), &arguments);
                scope.spawn(move || match client.call(tool, arguments(number)) {
                    Ok(_) => true,
                    Err(told) => {
                        let told = told["error"].as_str().unwrap().to_string();
                        assert!(told.contains("the most that an agent may"), "{told}");
                        false
                    }
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    made.into_iter().filter(|made| *made).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_asks_for_sixty_subtasks_at_once_gets_twenty() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let made = made_at_once(
        &world,
        &token_of(&own),
        "create_task",
        |number| json!({"title": format!("No. {number}")}),
    );
    assert_eq!(made, 20);
    let children = || {
        let tasks = world.get(&format!("/api/tasks?project_id={project}")).data();
        let is_below = |task: &&Value| task["parent_task_attempt"] == own["attempt_id"];
        tasks.as_array().unwrap().iter().filter(is_below).count()
    };
    assert_eq!(children(), 20);
    // The bound is the agent's: a user may add more.
    let more = json!({"project_id": project, "title": "One more", "parent_task_attempt": own["attempt_id"]});
    world.post("/api/tasks", &more).data();
    assert_eq!(children(), 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_starts_sixty_subtasks_at_once_gets_twenty() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let start = |number| json!({"task": {"title": format!("No. {number}"), "description": "say x"}, "executor": "SCRIPTED"});
    assert_eq!(made_at_once(&world, &token_of(&own), "create_and_start_task", start), 20);
    assert_eq!(world.get("/api/task-attempts").data().as_array().unwrap().len(), 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_starts_sixty_attempts_at_its_subtasks_and_no_more() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let mut agent = Mcp::with_token(&world, &token_of(&own));
    let below = agent.call("create_task", json!({"title": "Below", "description": "say x"})).unwrap();
    let start = json!({"task_id": below["task_id"], "executor": "SCRIPTED", "base_branch": "main"});
    for _ in 0..56 {
        agent.call("start_task_attempt", start.clone()).unwrap();
    }
    assert_eq!(made_at_once(&world, &token_of(&own), "start_task_attempt", |_| start.clone()), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn subtasks_are_bounded_in_depth() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let mut above = world.start(&project, "Top", "hang");
    for depth in 1..=4 {
        let mut agent = Mcp::with_token(&world, &token_of(&above));
        let start = json!({"task": {"title": format!("Depth {depth}"), "description": "hang"}, "executor": "SCRIPTED"});
        match agent.call("create_and_start_task", start) {
            Ok(started) => above = started,
            Err(told) => {
                assert_eq!(depth, 4, "{told}");
                assert!(told["error"].as_str().unwrap().contains("3 deep"), "{told}");
                return;
            }
        }
    }
    panic!("subtasks lie deeper than they may");
}

/// The routes, which tools are not: with an attempt's token all are shut but those that read its own.
#[tokio::test(flavor = "multi_thread")]
async fn with_an_attempts_token_every_route_beyond_its_own_is_refused() {
    let world = World::new().await;
    let project = world.project();
    switch_on(&world);
    let own = world.start(&project, "Mine", "hang");
    let other = world.start(&project, "Other", "hang");
    let bearer = format!("Bearer {}", token_of(&own));
    let open = ["/api/health", "/health", "/docs", "/api/session", "/mcp"];
    for line in include_str!("../../../routes.txt").lines() {
        let (method, path) = line.split_once(' ').unwrap();
        if open.contains(&path) || !path.starts_with("/api/") {
            continue;
        }
        let id = other["attempt_id"].as_str().unwrap();
        let filled: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { id } else { part }).collect();
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let answer = world.send(method, &filled.join("/"), &headers, b"{}");
        assert_eq!(answer.status, 403, "{line}: {answer:?}");
    }
}
