//! Recordings of Claude Code 2.1.325 (one of 2.1.197), folded into steps.

use forge_agents::{Step, Turn, agent};
use forge_model::Answer;
use forge_model::entry::{EntryType, ToolStatus};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::recording::Recording;

fn turn(prompt: &str) -> Turn {
    let (prompt, worktree) = (prompt.to_string(), "/repo".to_string());
    Turn { prompt, worktree, ..Turn::default() }
}

fn fold(name: &str, prompt: &str) -> String {
    Recording::read(&format!("claude/{name}"), "CLAUDE_CODE", turn(prompt)).fold_any_size()
}

#[test]
fn a_simple_turn() {
    assert_snapshot!("simple", fold("simple", "Say hello."));
}

#[test]
fn a_turn_with_tools() {
    assert_snapshot!("tool_call", fold("tool_call", "Write a file."));
}

#[test]
fn an_older_version_is_read_too() {
    assert_snapshot!("tool_call_older", fold("tool_call_older", "Write a file."));
}

#[test]
fn a_tool_of_an_mcp_server() {
    assert_snapshot!("mcp_tool_call", fold("mcp_tool_call", "Say hey."));
}

#[test]
fn pieces_of_a_message_grow_into_the_whole() {
    assert_snapshot!("partial", fold("partial", "Write a file."));
}

#[test]
fn a_permission_that_is_given() {
    let prompt = "please FAKE: think let me see ;; say I will write. ;; write a.txt hi ;; shell touch b.txt ;; text Done.";
    assert_snapshot!("approval_allow", fold("approval_allow", prompt));
}

#[test]
fn a_permission_that_is_refused() {
    assert_snapshot!(
        "approval_deny",
        fold("approval_deny", "please FAKE: write c.txt hi ;; text OK I stop.")
    );
}

#[test]
fn a_question_that_is_answered() {
    let question = r#"{"questions":[{"question":"Which?","header":"Pick","multiSelect":false,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}"#;
    let prompt = format!("FAKE: tool AskUserQuestion {question} ;; text Thanks.");
    assert_snapshot!("ask_user_question", fold("ask_user_question", &prompt));
}

#[test]
fn a_plan_that_is_approved() {
    let recorded = include_str!("../fixtures/claude/plan_mode_with_plan_file.jsonl");
    let said = recorded.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let prompt =
        said.filter_map(|record| record["msg"]["message"]["content"].as_str().map(str::to_string)).next();
    assert_snapshot!("plan_mode", fold("plan_mode_with_plan_file", &prompt.unwrap()));
}

#[test]
fn a_turn_the_provider_refuses_to_know() {
    assert_snapshot!("error_401", fold("error_401", "Say hello."));
}

#[test]
fn a_turn_the_provider_has_no_room_for() {
    assert_snapshot!("error_429", fold("error_429", "Say hello."));
}

#[test]
fn a_turn_without_a_login() {
    assert_snapshot!("not_logged_in", fold("not_logged_in", "Say hello."));
}

#[test]
fn a_turn_that_is_interrupted() {
    let prompt = "FAKE: slow 20 one two three four five six seven eight nine ten";
    assert_snapshot!("interrupt", fold("interrupt", prompt));
}

#[test]
fn two_turns_in_one_process_add_up() {
    assert_snapshot!("multi_turn_one_process", fold("multi_turn_one_process", "FAKE: text one"));
}

#[test]
fn a_resumed_session_counts_only_its_own_cost() {
    let follow_up = Turn { session: Some("29fd3c4e".into()), ..turn("And again.") };
    assert_snapshot!("resume", Recording::read("claude/resume", "CLAUDE_CODE", follow_up).fold_any_size());
}

#[test]
fn a_session_that_is_not_there() {
    let follow_up = Turn { session: Some("00000000".into()), ..turn("And again.") };
    assert_snapshot!(
        "resume_bad",
        Recording::read("claude/resume_bad", "CLAUDE_CODE", follow_up).fold_any_size()
    );
}

/// Reads lines in a conversation that has begun, and returns the steps of the last one.
fn steps_of(lines: &[Value]) -> Vec<Step> {
    let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
    conversation.start();
    lines.iter().map(|line| conversation.read(&line.to_string())).last().unwrap()
}

#[test]
fn what_is_unknown_is_passed_over_and_what_is_no_json_is_shown() {
    let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
    conversation.start();
    assert!(conversation.read(r#"{"type":"invented","x":1}"#).is_empty());
    assert!(conversation.read(r#"{"type":"system","subtype":"invented","model":null}"#).is_empty());
    let odd =
        r#"{"type":"assistant","message":{"content":[{"type":"invented"},{"type":"text","text":"hi"}]}}"#;
    assert!(matches!(&conversation.read(odd)[..], [Step::Entry { index: 1, .. }]));
    assert!(matches!(&conversation.read(r#"{"type":"result","is_error":"maybe"}"#)[..], [Step::Note(_)]));
    assert!(conversation.read("  ").is_empty());
    let [Step::Entry { index: 2, entry }] = &conversation.read("Update available!")[..] else { panic!() };
    assert_eq!((&entry.entry_type, entry.content.as_str()), (&EntryType::SystemMessage, "Update available!"));
}

#[test]
fn a_request_that_nobody_knows_is_refused_so_that_the_agent_does_not_wait() {
    let steps = steps_of(&[
        json!({"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback"}}),
    ]);
    let [Step::Note(_), Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
    let sent: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&sent["response"]["subtype"], &sent["response"]["request_id"]),
        (&json!("error"), &json!("r"))
    );
}

fn asked() -> Value {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"});
    json!({"type": "control_request", "request_id": "r", "request": request})
}

#[test]
fn an_ask_about_a_call_not_seen_before_shows_the_call() {
    let steps = steps_of(&[asked()]);
    let [Step::Entry { index: 1, .. }, Step::Entry { index: 1, entry }, Step::Ask(ask)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!((ask.key.as_str(), ask.tool.as_str(), ask.text.as_str()), ("r", "Bash", "`ls`"));
    assert_eq!(entry.metadata, Some(json!({"tool_call_id": "t", "ask": "r"})));
}

#[test]
fn an_ask_the_agent_takes_back_is_withdrawn_once() {
    let cancel = json!({"type": "control_cancel_request", "request_id": "r"});
    assert_eq!(steps_of(&[asked(), cancel.clone()]), [Step::Withdrawn("r".into())]);
    assert_eq!(steps_of(&[asked(), cancel.clone(), cancel]), []);
}

#[test]
fn what_is_open_when_the_turn_ends_is_closed() {
    let steps = steps_of(&[asked(), json!({"type": "result", "is_error": false, "result": "ok"})]);
    let [Step::Withdrawn(key), Step::Entry { index: 1, entry }, Step::Usage(_), Step::Done { ok: true, .. }] =
        &steps[..]
    else {
        panic!("{steps:?}")
    };
    assert_eq!(key, "r");
    assert!(matches!(&entry.entry_type, EntryType::ToolUse { status: ToolStatus::Failed, .. }));
}

#[test]
fn an_answer_to_nothing_sends_nothing() {
    let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
    conversation.start();
    let steps = conversation.answer("r", &Answer::yes());
    assert!(matches!(&steps[..], [Step::Note(_)]), "{steps:?}");
}

#[test]
fn several_questions_take_an_answer_each() {
    let questions = json!([{"question": "One?"}, {"question": "Two?"}]);
    let request =
        json!({"subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": {"questions": questions}});
    let answers = |text: &str| {
        let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
        conversation.start();
        let ask = json!({"type": "control_request", "request_id": "r", "request": request});
        conversation.read(&ask.to_string());
        let steps = conversation.answer("r", &Answer::words(text));
        let [Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
        serde_json::from_str::<Value>(line).unwrap()["response"]["response"]["updatedInput"]["answers"]
            .clone()
    };
    assert_eq!(answers("a\nb"), json!({"One?": "a", "Two?": "b"}));
    assert_eq!(answers("both"), json!({"One?": "both", "Two?": "both"}));
    assert_eq!(answers(r#"{"One?": "x"}"#), json!({"One?": "x"}));
}

#[test]
fn a_limit_tells_when_it_ends() {
    let rejected = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_800_000_000}});
    assert_eq!(steps_of(&[rejected]), [Step::Limited { until_ms: Some(1_800_000_000_000) }]);
    let allowed = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1_800_000_000}});
    assert_eq!(steps_of(&[allowed]), []);
    let steps =
        steps_of(&[json!({"type": "result", "is_error": true, "result": "Usage limit reached|1800000000"})]);
    assert_eq!(steps[0], Step::Limited { until_ms: Some(1_800_000_000_000) });
    assert!(
        matches!(&steps[1], Step::Entry { entry, .. } if entry.content == "Usage limit reached"),
        "{steps:?}"
    );
}

#[test]
fn the_words_of_a_sub_agent_are_shown_but_are_not_the_summary() {
    let said = |text: &str, parent: Value| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "assistant", "message": {"content": content}, "parent_tool_use_id": parent})
    };
    let result = json!({"type": "result", "is_error": true, "errors": ["out of turns"]});
    let steps = steps_of(&[said("mine", Value::Null), said("its", json!("toolu_1")), result]);
    let Some(Step::Done { ok: false, error, summary }) = steps.last() else { panic!("{steps:?}") };
    assert_eq!((error.as_deref(), summary.as_deref()), (Some("out of turns"), Some("mine")));
}

#[test]
fn a_prompt_gets_what_the_profile_appends_and_is_shown_without_it() {
    let turn = Turn { settings: json!({"append_prompt": " Be brief."}), ..turn("Hello.") };
    let steps = agent("CLAUDE_CODE").unwrap().conversation(&turn).start();
    let [Step::Send(_), Step::Entry { entry, .. }, Step::Send(line)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(entry.content, "Hello.");
    assert_eq!(serde_json::from_str::<Value>(line).unwrap()["message"]["content"], "Hello. Be brief.");
}
