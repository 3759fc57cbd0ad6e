//! The MCP servers of agents, in files of a home directory of the test's own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use forge_engine::{ErrorKind, McpChange, McpServers, Result};
use forge_model::ProfileId;
use serde_json::{Value, json};

use crate::world::World;

fn servers(world: &World, agent: &str) -> Result<McpServers> {
    world.run(world.engine().mcp_servers(&ProfileId::new(agent, None).unwrap()))
}

fn replace(world: &World, agent: &str, servers: Value) -> Result<McpChange> {
    let servers = servers.as_object().unwrap().clone();
    world.run(world.engine().replace_mcp_servers(&ProfileId::new(agent, None).unwrap(), servers))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// What stands in a directory, by name.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_servers_of_each_agent_stand_where_that_agent_looks_for_them() {
    let world = World::new();
    for (agent, path, key) in [
        ("CLAUDE_CODE", ".claude.json", "mcpServers"),
        ("AMP", ".config/amp/settings.json", "amp.mcpServers"),
        ("GEMINI", ".gemini/settings.json", "mcpServers"),
        ("CODEX", ".codex/config.toml", "mcp_servers"),
        ("OPENCODE", ".config/opencode/opencode.json", "mcp"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("QWEN_CODE", ".qwen/settings.json", "mcpServers"),
        ("DROID", ".factory/mcp.json", "mcpServers"),
        ("COPILOT", ".copilot/mcp-config.json", "mcpServers"),
    ] {
        let path = world.dir.path().join("person").join(path);
        let shown = servers(&world, agent).unwrap();
        assert_eq!((shown.path.as_path(), shown.servers_path.as_slice()), (path.as_path(), &[key][..]));
        assert!(shown.servers.is_empty() && !path.exists(), "{agent}");
        let wanted = json!({"x": {"command": "x", "env": {"KEY": "planted"}}});
        assert_eq!(replace(&world, agent, wanted.clone()).unwrap(), McpChange { before: 0, after: 1 });
        assert_eq!(Value::Object(servers(&world, agent).unwrap().servers), wanted);
        assert_eq!(mode(&path), 0o600, "{agent}");
    }
    assert_eq!(servers(&world, "SCRIPTED").unwrap_err().code(), Some("no_mcp"));
    assert_eq!(servers(&world, "NOBODY").unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_change_keeps_the_mode_the_rest_and_what_was_there_before() {
    let world = World::new();
    let path = world.dir.path().join("person").join(".claude.json");
    let before = "{\n  \"projects\": {\"/a\": 1},\n  \"mcpServers\": {\"a\": {\"command\": \"a\"}}\n}\n";
    fs::write(&path, before).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    replace(&world, "CLAUDE_CODE", json!({"b": {"command": "b"}})).unwrap();
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.starts_with("{\n  \"projects\": {\"/a\": 1},\n") && now.contains("\"b\""), "{now}");
    let backup = world.dir.path().join("person").join(".claude.json.forge-backup");
    assert_eq!(fs::read_to_string(&backup).unwrap(), before);
    assert_eq!((mode(&path), mode(&backup)), (0o640, 0o640));
    assert!(!names(&world.dir.path().join("person")).iter().any(|name| name.contains("draft")));
    // The same servers again are no change, so the older backup stays.
    replace(&world, "CLAUDE_CODE", json!({"b": {"command": "b"}})).unwrap();
    assert_eq!(fs::read_to_string(&backup).unwrap(), before);
}

#[test]
fn a_linked_file_is_changed_where_it_is_and_the_link_stays() {
    let world = World::new();
    let real: PathBuf = world.dir.path().join("person").join("dotfiles/codex.toml");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::create_dir_all(world.dir.path().join("person").join(".codex")).unwrap();
    fs::write(&real, "# mine\nmodel = \"x\"\n").unwrap();
    let link = world.dir.path().join("person").join(".codex/config.toml");
    symlink("../dotfiles/codex.toml", &link).unwrap();
    replace(&world, "CODEX", json!({"a": {"command": "a"}})).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let now = fs::read_to_string(&real).unwrap();
    assert!(now.starts_with("# mine\nmodel = \"x\"\n") && now.contains("[mcp_servers.a]"), "{now}");
    fs::remove_file(&real).unwrap();
    let error = replace(&world, "CODEX", json!({})).unwrap_err();
    assert!(error.to_string().contains("leads nowhere"), "{error}");
}

#[test]
fn a_file_that_makes_no_sense_is_refused_and_left_alone() {
    let world = World::new();
    let path = world.dir.path().join("person").join(".claude.json");
    fs::write(&path, "{\n\"a\": planted").unwrap();
    let wanted = json!({"a": {"command": "a"}});
    for error in
        [servers(&world, "CLAUDE_CODE").unwrap_err(), replace(&world, "CLAUDE_CODE", wanted).unwrap_err()]
    {
        let told = error.to_string();
        assert!(told.contains(path.to_str().unwrap()) && told.contains("line 2"), "{told}");
        assert!(!told.contains("planted"), "{told}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n\"a\": planted");
    assert!(!world.dir.path().join("person").join(".claude.json.forge-backup").exists());
}

#[test]
fn the_mask_stands_for_a_stored_value_and_for_nothing_else() {
    let world = World::new();
    replace(&world, "CLAUDE_CODE", json!({"a": {"env": {"KEY": "planted"}}})).unwrap();
    replace(&world, "CLAUDE_CODE", json!({"a": {"env": {"KEY": "********", "B": "2"}}})).unwrap();
    let shown = servers(&world, "CLAUDE_CODE").unwrap().servers;
    assert_eq!(shown["a"]["env"], json!({"KEY": "planted", "B": "2"}));
    let error = replace(&world, "CLAUDE_CODE", json!({"b": {"env": {"KEY": "********"}}})).unwrap_err();
    assert!(error.to_string().contains("`servers.b.env.KEY`"), "{error}");
}
