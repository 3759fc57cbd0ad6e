//! An agent that speaks the Agent Client Protocol, as a real process: its asks, its files, and what is said to it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use forge_engine::{FollowUp, StartTask};
use forge_model::{Answer, AskState, AttemptState, ProfileId};
use serde_json::json;

use crate::world::{World, eventually};

/// A program that opens a session, and then does what `turn` says when a prompt comes. What it was told is in `heard`.
fn make_agent(world: &World, turn: &str) -> PathBuf {
    let script = format!(
        r#"#!/bin/sh
heard="{heard}"
hear() {{ IFS= read -r line || exit 0; printf '%s\n' "$line" >> "$heard"; }}
tell() {{ printf '%s\n' "$1"; }}
hear; tell '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,"agentCapabilities":{{"loadSession":true}}}}}}'
hear; tell '{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s-1"}}}}'
{turn}
hear
"#,
        heard = world.dir.path().join("heard").display(),
    );
    let path = world.dir.path().join("agent.sh");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = |more: serde_json::Value| {
        let mut settings = json!({"base_command_override": [path.to_str().unwrap()]});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"ACP": settings})
    };
    let profiles = json!({"executors": {"ACP": {
        "GENIE": settings(json!({})),
        "APPROVALS": settings(json!({"approvals": true})),
    }}});
    std::fs::write(world.home.join("profiles.json"), profiles.to_string()).unwrap();
    path
}

fn wanted(world: &World, variant: &str) -> StartTask {
    StartTask { profile: ProfileId::new("ACP", Some(variant)).unwrap(), ..world.wanted("go") }
}

fn heard(world: &World) -> String {
    std::fs::read_to_string(world.dir.path().join("heard")).unwrap_or_default()
}

const END: &str = r#"hear
tell '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'"#;

#[test]
fn an_agent_that_no_profile_names_is_refused_with_the_setting_that_names_it() {
    let world = World::new();
    let error = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap_err();
    assert_eq!(error.code(), Some("setup_required"));
    assert!(error.to_string().contains("`base_command_override`"), "{error}");
}

#[test]
fn files_are_written_and_read_beneath_the_worktree_and_nowhere_else() {
    let world = World::new();
    make_agent(
        &world,
        r#"hear
top=$(pwd)
tell '{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s-1","path":"'"$top"'/new/a.txt","content":"one\ntwo\n"}}'
hear
tell '{"jsonrpc":"2.0","id":"r","method":"fs/read_text_file","params":{"sessionId":"s-1","path":"new/a.txt","line":2}}'
hear
tell '{"jsonrpc":"2.0","id":"x","method":"fs/write_text_file","params":{"sessionId":"s-1","path":"'"$top"'/../escaped","content":"no"}}'
hear
tell '{"jsonrpc":"2.0","id":"y","method":"terminal/create","params":{}}'
hear
tell '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'"#,
    );
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let id = started.attempt.attempt.id;
    let view = world.wait_for(id, AttemptState::Finished);
    let heard = heard(&world);
    assert!(heard.contains(r#""id":"w","jsonrpc":"2.0","result":{}"#), "{heard}");
    assert!(heard.contains(r#""id":"r","jsonrpc":"2.0","result":{"content":"two\n"}"#), "{heard}");
    assert!(
        heard.lines().any(|line| line.contains(r#""id":"x""#) && line.contains("is not in the worktree"))
    );
    assert!(heard.lines().any(|line| line.contains(r#""id":"y""#) && line.contains("-32601")));
    let worktree = view.attempt.worktree;
    assert_eq!(std::fs::read_to_string(worktree.join("new/a.txt")).unwrap(), "one\ntwo\n");
    assert!(!worktree.parent().unwrap().join("escaped").exists());
    assert_eq!(view.attempt.session.as_deref(), Some("s-1"));
}

#[test]
fn a_file_that_was_written_before_the_server_died_is_told_after_it_and_written_once() {
    let mut world = World::with_seam("files.done=hold:DIR/never");
    let turn = r#"hear
tell '{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"path":"a.txt","content":"hi"}}'
hear
printf changed > a.txt
tell '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'"#;
    make_agent(&world, turn);
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let id = started.attempt.attempt.id;
    let reached = world.dir.path().join("never.reached");
    eventually("the file is written", || reached.exists().then_some(()));
    let worktree = world.attempt(id).attempt.worktree;
    assert_eq!(std::fs::read_to_string(worktree.join("a.txt")).unwrap(), "hi");
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(heard(&world).matches(r#""id":"w""#).count(), 1, "it hears of it once");
    // A restart that folds the whole log again writes nothing over what the agent has made of it since.
    world.restart();
    assert_eq!(std::fs::read_to_string(worktree.join("a.txt")).unwrap(), "changed");
}

#[test]
fn a_permission_waits_over_a_restart_and_is_answered_in_the_agents_own_words() {
    let mut world = World::new();
    make_agent(
        &world,
        r#"hear
tell '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c","title":"touch b","kind":"execute","rawInput":{"command":"touch b"}},"options":[{"optionId":"ok","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
hear
tell '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'"#,
    );
    let started = world.run(world.engine().create_and_start(wanted(&world, "APPROVALS"), None)).unwrap();
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    assert_eq!((ask.tool.as_str(), ask.text.as_str()), ("execute", "touch b"));
    world.restart();
    let ask = world.wait_for_ask(id);
    let answered = world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    assert_eq!(answered.state, AskState::Approved);
    world.wait_for(id, AttemptState::Finished);
    assert!(heard(&world).contains(r#"{"outcome":{"optionId":"ok","outcome":"selected"}}"#));
}

#[test]
fn what_is_said_during_a_turn_is_said_once_to_the_same_session_when_it_is_over() {
    let world = World::new();
    let go = world.dir.path().join("go");
    let turn = format!(
        r#"hear
while [ ! -e "{}" ]; do sleep 0.05; done
tell '{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}'
hear
tell '{{"jsonrpc":"2.0","id":4,"result":{{"stopReason":"end_turn"}}}}'"#,
        go.display()
    );
    make_agent(&world, &turn);
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let id = started.attempt.attempt.id;
    eventually("the first prompt is heard", || heard(&world).contains("session/prompt").then_some(()));
    let second = FollowUp::new("and then");
    world.run(world.engine().follow_up(id, second, None)).unwrap();
    std::fs::write(&go, "").unwrap();
    eventually("the second prompt is heard", || heard(&world).contains("and then").then_some(()));
    world.wait_for(id, AttemptState::Finished);
    let heard = heard(&world);
    assert_eq!(heard.matches("and then").count(), 1, "{heard}");
    let said = heard.lines().find(|line| line.contains("and then")).unwrap();
    assert!(said.contains(r#""sessionId":"s-1""#), "{said}");
}

#[test]
fn an_agent_that_stays_on_after_its_last_turn_is_let_go_and_has_finished() {
    let world = World::new();
    make_agent(&world, &format!("{END}\nsleep 600 &\nwhile true; do sleep 1; done"));
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(view.attempt.reason, None);
}

#[test]
fn an_agent_that_fails_is_told_with_its_reason() {
    let world = World::new();
    let failed = END
        .replace(r#""result":{"stopReason":"end_turn"}"#, r#""error":{"code":401,"message":"who are you?"}"#);
    make_agent(&world, &failed);
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Failed);
    assert!(view.attempt.reason.is_some_and(|reason| reason.contains("who are you?")));
}

#[test]
fn the_card_of_an_attempt_says_how_far_its_agents_list_is() {
    let world = World::new();
    let plan = r#"hear
tell '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[
{"content":"one","priority":"high","status":"completed"},{"content":"two","priority":"high","status":"in_progress"},
{"content":"three","priority":"low","status":"pending"}]}}}'
tell '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'"#;
    make_agent(&world, &plan.replace(",\n", ",").replace("[\n", "["));
    let started = world.run(world.engine().create_and_start(wanted(&world, "GENIE"), None)).unwrap();
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let todos = view.card.todos.unwrap();
    assert_eq!((todos.done, todos.total), (1, 3));
}
