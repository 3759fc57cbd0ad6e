//! Changing the MCP servers in agents' settings, as text.

use forge_agents::mcp_file;
use serde_json::{Map, Value, json};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

const AMP: &str = r#"// my settings
{
  "amp.notifications": false, // they are loud
  "amp.mcpServers": {
    // the one I need
    "kept": { "command": "a",   "args": [1, 2] },
    "changed": {
      "command": "b", // not c
      "env": { "KEY": "old" }
    },
    "gone": { "command": "c" },
  },
  "last":   [ 1,2 ],
}
"#;

#[test]
fn only_what_differs_is_touched_in_json_with_comments() {
    let file = mcp_file("AMP").unwrap();
    let mut servers = file.read(AMP).unwrap();
    assert_eq!(servers["changed"]["env"]["KEY"], "old");
    servers.remove("gone");
    servers["changed"]["env"]["KEY"] = json!("new \"quoted\" \\ text\n");
    servers.insert("added".into(), json!({"url": "https://example.org/mcp"}));
    let edited = file.edit(AMP, &servers).unwrap();
    assert_eq!(file.read(&edited).unwrap(), servers);
    for kept in [
        "// my settings\n{\n",
        "\"amp.notifications\": false, // they are loud\n",
        "// the one I need\n    \"kept\": { \"command\": \"a\",   \"args\": [1, 2] },\n",
        "\"command\": \"b\", // not c\n",
        "\"last\":   [ 1,2 ],\n}\n",
    ] {
        assert!(edited.contains(kept), "{kept:?} is not in {edited}");
    }
    assert!(!edited.contains("gone"), "{edited}");
}

const CODEX: &str = r#"# my settings
model = "gpt-5" # the good one
started = 2025-01-01T00:00:00Z

[mcp_servers.kept]
# the one I need
command = "a"
since = 2025-01-01

[mcp_servers.changed]
command = "b" # not c
env = { KEY = "old" }

[mcp_servers.gone]
command = "c"

[tui]
notifications   =   true
"#;

#[test]
fn only_what_differs_is_touched_in_toml() {
    let file = mcp_file("CODEX").unwrap();
    assert!(file.is_toml);
    let mut servers = file.read(CODEX).unwrap();
    servers.remove("gone");
    servers["changed"]["command"] = json!("d");
    servers["changed"]["env"]["KEY"] = json!("new");
    servers.insert("added".into(), json!({"command": "e", "args": ["-y"], "env": {"A": "1"}}));
    let edited = file.edit(CODEX, &servers).unwrap();
    assert_eq!(file.read(&edited).unwrap(), servers);
    for kept in [
        "# my settings\nmodel = \"gpt-5\" # the good one\nstarted = 2025-01-01T00:00:00Z\n",
        "[mcp_servers.kept]\n# the one I need\ncommand = \"a\"\nsince = 2025-01-01\n",
        "command = \"d\" # not c\n",
        "env = { KEY = \"new\" }",
        "[tui]\nnotifications   =   true\n",
        "[mcp_servers.added]",
    ] {
        assert!(edited.contains(kept), "{kept:?} is not in {edited}");
    }
    assert!(!edited.contains("gone"), "{edited}");
    let error = file.edit(CODEX, &map(json!({"x": {"env": null}}))).unwrap_err();
    assert!(error.contains("mcp_servers.x.env") && error.contains("null"), "{error}");
}

#[test]
fn the_same_servers_leave_the_text_as_it_is() {
    for (agent, text) in [("AMP", AMP), ("CODEX", CODEX), ("CLAUDE_CODE", "{\"a\" : 1}"), ("CODEX", "")] {
        let file = mcp_file(agent).unwrap();
        assert_eq!(file.edit(text, &file.read(text).unwrap()).unwrap(), text);
    }
}

#[test]
fn every_agents_file_is_begun_from_nothing_and_takes_what_it_is_offered() {
    for agent in
        ["CLAUDE_CODE", "AMP", "GEMINI", "CODEX", "OPENCODE", "CURSOR_AGENT", "QWEN_CODE", "COPILOT", "DROID"]
    {
        let file = mcp_file(agent).unwrap();
        assert_eq!(file.template()[file.key], json!({}), "{agent}");
        let mut offered = map(file.preconfigured());
        let meta = offered.remove("meta").unwrap();
        for (name, _) in &offered {
            assert!(meta[name]["description"].is_string(), "{agent}: {name}");
        }
        for begun in ["", "\n"] {
            let edited = file.edit(begun, &offered).unwrap();
            assert_eq!(file.read(&edited).unwrap(), offered, "{agent}: {edited}");
            assert_eq!(file.edit(&edited, &Map::new()).map(|text| file.read(&text).unwrap().len()), Ok(0));
        }
    }
    assert!(mcp_file("SCRIPTED").is_none());
}

#[test]
fn a_text_that_makes_no_sense_is_refused_with_its_place_and_without_its_content() {
    let cases = [
        ("CLAUDE_CODE", "{\n  \"a\": planted\n}", "line 2"),
        ("CLAUDE_CODE", "{\n  \"a\": \"planted", "line 2"),
        ("CLAUDE_CODE", "[\"planted\"]", "must hold a JSON object"),
        ("CLAUDE_CODE", "{\"mcpServers\": [\"planted\"]}", "`mcpServers`"),
        ("CODEX", "a = 1\nb = planted\n", "line 2"),
        ("CODEX", "mcp_servers = \"planted\"", "`mcp_servers`"),
    ];
    let servers = map(json!({"x": {"command": "x"}}));
    for (agent, text, place) in cases {
        let file = mcp_file(agent).unwrap();
        for error in [file.read(text).unwrap_err(), file.edit(text, &servers).unwrap_err()] {
            assert!(error.contains(place) && !error.contains("planted"), "{text}: {error}");
        }
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    mcp_file("CLAUDE_CODE").unwrap().read(&deep).unwrap_err();
    mcp_file("CODEX").unwrap().read(&format!("a = {deep}")).unwrap_err();
}

#[test]
fn a_key_that_stands_there_twice_is_not_guessed_about() {
    let file = mcp_file("CLAUDE_CODE").unwrap();
    let text = r#"{"mcpServers": {"a": {"command": "1"}}, "mcpServers": {"b": {"command": "2"}}}"#;
    let edited = file.edit(text, &map(json!({"c": {"command": "3"}})));
    assert!(edited.is_err() || file.read(&edited.unwrap()).unwrap().contains_key("c"));
}
