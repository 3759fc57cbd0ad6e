//! The MCP servers of agents over the API.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_of_an_agent_are_shown_replaced_and_summed_up() {
    let world = World::new().await;
    let data = world.get("/api/mcp-config?executor=CODEX").data();
    let home = world.engine.home().parent().unwrap().join("person");
    assert_eq!(data["config_path"], home.join(".codex/config.toml").to_str().unwrap());
    let config = &data["mcp_config"];
    assert_eq!(config["servers"], json!({}));
    assert_eq!(config["servers_path"], json!(["mcp_servers"]));
    assert_eq!(config["template"], json!({"mcp_servers": {}}));
    assert_eq!(config["is_toml_config"], true);
    assert!(config["preconfigured"]["meta"]["forge"]["name"].is_string(), "{config}");
    let save =
        |servers: Value| world.post("/api/mcp-config?executor=codex", &json!({ "servers": servers })).data();
    assert_eq!(save(json!({})), "No MCP servers configured");
    assert_eq!(save(json!({"a": {"command": "a"}, "b": {"command": "b"}})), "Added 2 MCP server(s)");
    assert_eq!(
        save(json!({"a": {"command": "c"}, "b": {"command": "b"}})),
        "Updated MCP server configuration (2 server(s))"
    );
    assert_eq!(
        save(json!({"a": {"command": "c"}})),
        "Updated MCP server configuration (2 server(s) before, 1 now)"
    );
    let data = world.get("/api/mcp-config?executor=CODEX").data();
    assert_eq!(data["mcp_config"]["servers"], json!({"a": {"command": "c"}}));
    assert!(std::fs::read_to_string(home.join(".codex/config.toml")).unwrap().contains("[mcp_servers.a]"));
    assert_eq!(
        world.get("/api/mcp-config?executor=CURSOR").data()["config_path"],
        home.join(".cursor/mcp.json").to_str().unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_change_of_servers_is_told() {
    let world = World::new().await;
    let body = json!({"servers": {"a": {"command": "a"}}});
    let path = |agent: &str| format!("/api/mcp-config?executor={agent}");
    assert_eq!(world.get(&path("SCRIPTED")).refusal(200), "MCP not supported by this executor");
    let told = world.post(&path("SCRIPTED"), &body).refusal(200);
    assert_eq!(told, "This executor does not support MCP servers");
    for agent in ["NOBODY", "a%20b", ""] {
        assert!(world.get(&path(agent)).refusal(400).contains("`executor`"), "{agent}");
        assert!(world.post(&path(agent), &body).refusal(400).contains("`executor`"), "{agent}");
    }
    for wrong in [json!({}), json!({"servers": null}), json!({"servers": []})] {
        assert!(world.post(&path("CLAUDE_CODE"), &wrong).refusal(422).contains("`servers` must be"));
    }
    let file = world.engine.home().parent().unwrap().join("person/.claude.json");
    std::fs::write(&file, "{").unwrap();
    let told = world.post(&path("CLAUDE_CODE"), &body).refusal(200);
    assert!(told.starts_with("Failed to update MCP servers: ") && told.contains("line 1"), "{told}");
    assert!(world.get(&path("CLAUDE_CODE")).refusal(503).contains(file.to_str().unwrap()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
}
