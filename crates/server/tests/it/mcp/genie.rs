//! The Genie tools: what agents, players, models and sessions their callers mean.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::client::Mcp;
use crate::world::World;

/// Writes an agent file into a project's repository.
fn agent_file(world: &World, project: &str, path: &str, text: &str) {
    let repository = world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].clone();
    let file = Path::new(repository.as_str().unwrap()).join(".genie").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn error(told: &Value) -> &str {
    told["error"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_file_is_run_by_its_names_and_played_by_whoever_is_named() {
    let world = World::new().await;
    let project = world.project();
    let greeter = "---\nname: Greeter\ndescription: Says hello\ngenie:\n  executor: CLAUDE_CODE\n  model: opus\n---\nsay I am the greeter";
    agent_file(&world, &project, "code/agents/qa/greet.md", greeter);
    let mut client = Mcp::new(&world);
    let listed = client.call("list_agents", json!({"project_id": project})).unwrap();
    let file = listed["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "code/qa/greet");
    let file = file.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((&file["executor"], &file["title"]), (&json!("CLAUDE_CODE"), &json!("Says hello")));
    // The file is for an agent that is not here; another plays it, and is told what the file says.
    for name in ["greet", "Greeter", "qa/greet", "code/qa/greet"] {
        let run = json!({"agent": name, "prompt": "say hello", "executor": "SCRIPTED", "monitor": true});
        let ran = client.call("run", run).unwrap();
        assert_eq!(
            (&ran["executor"], &ran["result"]),
            (&json!("SCRIPTED:CODE_GREET"), &json!("I am the greeter")),
            "{name}: {ran}"
        );
    }
    // What was said of a file is taken or refused, and never left out.
    let with =
        |key: &str, value: &str| json!({"agent": "greet", "prompt": "x", "executor": "SCRIPTED", key: value});
    let told = client.call("run", with("variant", "PLAN")).unwrap_err();
    assert!(error(&told).contains("`variant`") && error(&told).contains("greet.md"), "{told}");
    let told = client.call("run", with("model", "opus")).unwrap_err();
    assert!(error(&told).contains("`model`") && error(&told).contains("opus"), "{told}");
    let told = client.call("run", with("executor", "not an agent")).unwrap_err();
    assert!(error(&told).contains("`executor`"), "{told}");
    let attempts = world.get("/api/task-attempts").data();
    assert_eq!(attempts.as_array().unwrap().len(), 4, "a refusal starts nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_taken_from_the_variant_that_has_it_or_refused() {
    let world = World::new().await;
    world.project();
    let kept = world.get("/api/profiles").data();
    let mut profiles: Value = serde_json::from_str(kept["content"].as_str().unwrap()).unwrap();
    profiles["executors"]["SCRIPTED"]["FAST"]["SCRIPTED"] = json!({"model": "quick"});
    profiles["executors"]["SCRIPTED"]["SLOW"]["SCRIPTED"] = json!({"model": "thorough"});
    world.send("PUT", "/api/profiles", &[], profiles.to_string().as_bytes()).data();
    let mut client = Mcp::new(&world);
    let run = |agent: &str, model: &str| json!({"agent": agent, "prompt": "say x", "model": model});
    for (agent, model) in [("scripted", "unheard-of"), ("scripted:slow", "quick")] {
        let told = client.call("run", run(agent, model)).unwrap_err();
        assert!(error(&told).contains("`model`") && error(&told).contains(model), "{told}");
    }
    assert_eq!(world.get("/api/task-attempts").data(), json!([]), "a refusal starts nothing");
    for (agent, model, is) in [("scripted", "quick", "FAST"), ("scripted:slow", "thorough", "SLOW")] {
        let ran = client.call("run", run(agent, model)).unwrap();
        assert_eq!(ran["executor"], format!("SCRIPTED:{is}"), "{ran}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_by_its_name() {
    let world = World::new().await;
    world.project();
    let mut client = Mcp::new(&world);
    let run = json!({"agent": "SCRIPTED", "prompt": "say one", "name": "First words", "monitor": true});
    let ran = client.call("run", run).unwrap();
    let viewed = client.call("view", json!({"sessionId": "First words"})).unwrap();
    assert_eq!(viewed["session_id"], ran["session_id"]);
    let told = client.call("stop", json!({"sessionId": "Last words"})).unwrap_err();
    assert!(error(&told).contains("`sessionId`") && error(&told).contains("Last words"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subtask_lies_below_its_attempt_and_starts_where_that_lands() {
    let world = World::new().await;
    let project = world.project();
    let mut client = Mcp::new(&world);
    let above = world.start(&project, "Above", "say above");
    let below = json!({"parent_attempt_id": above["attempt_id"], "title": "Below", "prompt": "say below"});
    let made = client.call("create_subtask", below.clone()).unwrap();
    assert_eq!((&made["parent_task_attempt"], &made["executor"]), (&above["attempt_id"], &json!("SCRIPTED")));
    let id = made["attempt_id"].as_str().unwrap();
    let attempt = world.wait_for(id, "finished");
    assert_eq!(attempt["target_branch"], "main");
    let waited = client.call("wait_for_attempt", json!({"attempt_id": id})).unwrap();
    assert_eq!(waited["last_message"], "below");
    let mut nobody = below;
    nobody["executor"] = json!("NOBODY:HIGH");
    let told = client.call("create_subtask", nobody).unwrap_err();
    assert!(error(&told).contains("NOBODY"), "{told}");
}
