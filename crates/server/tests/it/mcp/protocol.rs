//! The protocol itself: versions, what is listed, progress, and the rules of the server around it.

use std::path::Path;

use serde_json::{Value, json};

use super::client::Mcp;
use crate::world::{TOKEN, World};

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_version_that_both_know_is_spoken() {
    let world = World::new().await;
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-01-01", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ];
    for (asked, agreed) in cases {
        let hello = Mcp::silent(&world).hello(asked);
        assert_eq!(hello["result"]["protocolVersion"], agreed, "{asked}: {hello}");
        assert_eq!(hello["result"]["serverInfo"]["name"], "forge");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_older_than_any_version_is_told_which_there_are() {
    let world = World::new().await;
    let hello = Mcp::silent(&world).hello("2024-01-01");
    assert_eq!(hello["error"]["code"], -32602, "{hello}");
    let data = &hello["error"]["data"];
    assert_eq!((&data["requested"], &data["minimum"]), (&json!("2024-01-01"), &json!("2024-11-05")));
    assert!(data["supported"].as_array().unwrap().contains(&json!("2025-03-26")), "{data}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_protocol_is_spoken_without_a_session() {
    let world = World::new().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let answer = world.send("POST", "/mcp", &headers, message.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text.contains("list_projects"), "{answer:?}");
}

/// What is listed is kept in the repository so that a change of it shows in review. Set `FORGE_BLESS` to write it anew.
#[tokio::test(flavor = "multi_thread")]
async fn the_tools_are_the_ones_that_were_reviewed() {
    let world = World::new().await;
    let tools = Mcp::new(&world).tools();
    let made = format!("{}\n", serde_json::to_string_pretty(&tools).unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/tools.json");
    if std::env::var_os("FORGE_BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "the tools have changed: FORGE_BLESS=1 cargo test -p forge-server mcp, and read the diff"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_says_what_it_takes_gives_and_does() {
    let world = World::new().await;
    for tool in Mcp::new(&world).tools() {
        let name = tool["name"].as_str().unwrap();
        assert!(!tool["title"].as_str().unwrap().is_empty(), "{name}");
        assert!(tool["description"].as_str().unwrap().ends_with('.'), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name} does not say what {argument} is");
        }
        if let Some(output) = tool.get("outputSchema") {
            assert_eq!(output["type"], "object", "{name}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} says nothing about {hint}");
        }
        let reads = ["list_", "get_", "read_", "view", "wait_", "compare_", "validate_"];
        let is_reading = reads.iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(tool["annotations"]["readOnlyHint"], is_reading, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_advanced_tool_is_called_by_its_older_name_which_is_not_listed() {
    let world = World::new().await;
    let project = world.project();
    let mut client = Mcp::new(&world);
    assert!(client.tools().iter().all(|tool| !tool["name"].as_str().unwrap().starts_with("adv_")));
    let told = client.call("adv_get_project", json!({"project_id": project})).unwrap();
    assert_eq!(told["id"], project);
    // A core tool was never called so.
    let unknown = client.request("tools/call", json!({"name": "adv_list_projects", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no tool"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_the_server_hold_here_as_well() {
    let world = World::new().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let json = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let send = |extra: (&str, &str)| {
        world.send("POST", "/mcp", &[&json[..], &[extra]].concat(), body.as_bytes()).status
    };
    assert_eq!(send(("Origin", "https://evil.example")), 403);
    assert_eq!(send(("Sec-Fetch-Site", "cross-site")), 403);
    assert_eq!(send(("Authorization", "Bearer nonsense")), 401);
    // With the right token it gets as far as the protocol, which misses a session.
    assert_eq!(send(("Authorization", &format!("Bearer {TOKEN}"))), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_hears_how_far_it_is() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Wait", "say hello\nhang");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "running");
    let mut client = Mcp::new(&world);
    let messages = client.exchange(
        "tools/call",
        json!({
            "name": "wait_for_attempt",
            "arguments": {"attempt_id": attempt, "timeout_seconds": 1},
            "_meta": {"progressToken": "mine"},
        }),
    );
    let told = messages.iter().find(|message| message["method"] == "notifications/progress");
    let told = told.unwrap_or_else(|| panic!("{messages:?}"));
    assert_eq!(told["params"]["progressToken"], "mine");
    assert!(told["params"]["message"].as_str().unwrap().contains("running"), "{told}");
    let waited: Value = messages.last().unwrap()["result"]["structuredContent"].clone();
    assert_eq!((&waited["timed_out"], &waited["state"]), (&json!(true), &json!("running")), "{waited}");
}

/// The page for people lists the same tools. Set `FORGE_BLESS` to write it anew.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_about_mcp_lists_every_tool() {
    let world = World::new().await;
    let mut table = String::from("| Tool | Takes | What it does |\n|---|---|---|\n");
    for tool in Mcp::new(&world).tools() {
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let takes: Vec<String> = tool["inputSchema"]["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(|name| if required.contains(&json!(name)) { format!("**{name}**") } else { name.clone() })
            .collect();
        let (name, about) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
        table.push_str(&format!("| `{name}` | {} | {about} |\n", takes.join(", ")));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = page.split_once("cargo test -p forge-server mcp -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of tools -->").unwrap();
    let made = format!("{before}cargo test -p forge-server mcp -->\n{table}<!-- end of tools -->{after}");
    if std::env::var_os("FORGE_BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    assert!(
        page == made || std::env::var_os("FORGE_BLESS").is_some(),
        "FORGE_BLESS=1 cargo test -p forge-server mcp"
    );
}
