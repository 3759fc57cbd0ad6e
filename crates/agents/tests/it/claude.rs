//! Recordings of Claude Code 2.1.325 (one of 2.1.197), folded into steps.

use std::collections::BTreeMap;

use forge_agents::{Step, Turn, agent};
use forge_model::Answer;
use forge_model::entry::{EntryType, ToolStatus};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::recording::{Protocol, Recording, Told};

/// How the recordings of Claude Code are read: control messages and what a person said.
pub(crate) const PROTOCOL: Protocol = Protocol { agent: "CLAUDE_CODE", told, same };

fn told(message: &Value) -> Told {
    match message["type"].as_str() {
        Some("user") => Told::Say(message["message"]["content"].as_str().unwrap().to_string()),
        // The one that is called so was sent because the agent went on with what was queued.
        Some("control_request") if message["request_id"] == "again" => Told::ByItself,
        Some("control_request") if message["request"]["subtype"] == "interrupt" => Told::Interrupt,
        Some("control_response") => {
            let response = &message["response"]["response"];
            let answer = match response["behavior"].as_str() {
                Some("deny") => Answer::Deny { reason: response["message"].as_str().map(str::to_string) },
                Some(_) => {
                    let answers =
                        response["updatedInput"]["answers"].as_object().cloned().unwrap_or_default();
                    let text =
                        |(question, answer): (String, Value)| Some((question, answer.as_str()?.to_string()));
                    let answers = answers.into_iter().filter_map(text).collect();
                    let changes = response["updatedPermissions"].as_array();
                    let for_session = changes.is_some_and(|changes| changes[0]["type"] == "addRules");
                    Answer::Approve { text: None, answers, for_session }
                }
                // What a hook is told.
                None => return Told::ByItself,
            };
            Told::Answer(message["response"]["request_id"].as_str().unwrap().to_string(), answer)
        }
        _ => Told::ByItself,
    }
}

/// Compares by what is meant: requests have names of their own, and hooks are registered by nobody here.
fn same(ours: &Value, recorded: &Value) -> bool {
    let kind = |message: &Value| (message["type"].clone(), message["request"]["subtype"].clone());
    let hook = recorded["response"]["response"].get("hookSpecificOutput").is_some();
    match recorded["type"].as_str() {
        Some("control_request") => kind(ours) == kind(recorded),
        _ if hook => ours["response"]["request_id"] == recorded["response"]["request_id"],
        _ => ours == recorded,
    }
}

fn recording(name: &str) -> Recording {
    Recording::read(&format!("claude/{name}"), PROTOCOL)
}

fn fold(name: &str) -> String {
    recording(name).fold_any_size()
}

fn turn(prompt: &str) -> Turn {
    let (prompt, worktree) = (prompt.to_string(), "/repo".to_string());
    Turn { prompt, worktree, ..Turn::default() }
}

#[test]
fn a_simple_turn() {
    assert_snapshot!("simple", fold("simple"));
}

#[test]
fn a_turn_with_tools() {
    assert_snapshot!("tool_call", fold("tool_call"));
}

#[test]
fn an_older_version_is_read_too() {
    assert_snapshot!("tool_call_older", fold("tool_call_older"));
}

#[test]
fn a_tool_of_an_mcp_server() {
    assert_snapshot!("mcp_tool_call", fold("mcp_tool_call"));
}

#[test]
fn pieces_of_a_message_grow_into_the_whole() {
    assert_snapshot!("partial", fold("partial"));
}

#[test]
fn a_permission_that_is_given() {
    assert_snapshot!("approval_allow", fold("approval_allow"));
}

#[test]
fn a_permission_that_is_refused() {
    assert_snapshot!("approval_deny", fold("approval_deny"));
}

#[test]
fn a_question_that_is_answered() {
    assert_snapshot!("ask_user_question", fold("ask_user_question"));
}

#[test]
fn a_plan_in_a_file_of_its_own_that_is_approved() {
    assert_snapshot!("plan_mode_with_plan_file", fold("plan_mode_with_plan_file"));
}

#[test]
fn a_turn_the_provider_refuses_to_know() {
    assert_snapshot!("error_401", fold("error_401"));
}

#[test]
fn a_turn_the_provider_has_no_room_for() {
    assert_snapshot!("error_429", fold("error_429"));
}

#[test]
fn a_turn_without_a_login() {
    assert_snapshot!("not_logged_in", fold("not_logged_in"));
}

#[test]
fn a_turn_that_is_interrupted() {
    assert_snapshot!("interrupt", fold("interrupt"));
}

#[test]
fn two_turns_in_one_process_add_up() {
    assert_snapshot!("multi_turn_one_process", fold("multi_turn_one_process"));
}

#[test]
fn a_resumed_session_counts_only_its_own_cost() {
    let resumed = recording("resume").of(|turn| Turn { session: Some("29fd3c4e".into()), ..turn });
    assert_snapshot!("resume", resumed.fold_any_size());
}

#[test]
fn a_turn_the_provider_fails() {
    assert_snapshot!("error_500", fold("error_500"));
}

#[test]
fn retries_are_one_entry_that_is_replaced() {
    assert_snapshot!("error_500_twice", fold("error_500_twice"));
}

#[test]
fn a_hook_that_somebody_registered_is_not_left_waiting() {
    assert_snapshot!("hook_pretooluse_ask", fold("hook_pretooluse_ask"));
}

#[test]
fn a_session_whose_name_was_given() {
    assert_snapshot!("session_id_given", fold("session_id_given"));
}

#[test]
fn a_turn_that_is_interrupted_by_a_signal() {
    assert_snapshot!("sigint", fold("sigint"));
}

#[test]
fn a_plan_that_only_the_call_holds() {
    assert_snapshot!("plan_mode", fold("plan_mode"));
}

#[test]
fn texts_that_come_in_the_middle_of_a_turn_end_with_it() {
    assert_snapshot!("mid_turn", fold("mid_turn"));
}

#[test]
fn texts_that_wait_for_the_end_of_a_turn_are_one_turn() {
    assert_snapshot!("queued_together", fold("queued_together"));
}

#[test]
fn an_interrupt_stops_what_is_queued_too() {
    assert_snapshot!("interrupt_with_queue", fold("interrupt_with_queue"));
}

#[test]
fn a_slash_command_between_two_turns() {
    assert_snapshot!("slash_command", fold("slash_command"));
}

#[test]
fn a_limit_with_the_moment_it_ends() {
    assert_snapshot!("usage_limit", fold("usage_limit"));
}

#[test]
fn a_permission_that_holds_for_the_session() {
    assert_snapshot!("approval_for_session", fold("approval_for_session"));
}

#[test]
fn two_questions_of_which_one_is_answered() {
    assert_snapshot!("two_questions", fold("two_questions"));
}

#[test]
fn a_fork_has_a_session_of_its_own() {
    let forked =
        recording("resume_fork").of(|turn| Turn { session: Some("29fd3c4e".into()), fork: true, ..turn });
    assert_snapshot!("resume_fork", forked.fold_any_size());
}

#[test]
fn a_session_that_is_not_there() {
    let resumed = recording("resume_bad").of(|turn| Turn { session: Some("00000000".into()), ..turn });
    assert_snapshot!("resume_bad", resumed.fold_any_size());
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
    let broken = r#"{"type":"control_request","request_id":7}"#;
    let [Step::Entry { index: 2, entry }] = &conversation.read(broken)[..] else { panic!() };
    assert!(entry.content.ends_with(broken), "{}", entry.content);
    assert!(conversation.read("  ").is_empty());
    let [Step::Entry { index: 3, entry }] = &conversation.read("Update available!")[..] else { panic!() };
    assert_eq!((&entry.entry_type, entry.content.as_str()), (&EntryType::SystemMessage, "Update available!"));
}

#[test]
fn a_request_that_nobody_knows_is_refused_so_that_the_agent_does_not_wait() {
    let steps = steps_of(&[
        json!({"type": "control_request", "request_id": "r", "request": {"subtype": "invented"}}),
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
    let steps = steps_of(&[asked(), cancel.clone()]);
    let [Step::Withdrawn(key), Step::Entry { index: 1, .. }] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!(key, "r");
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
    let answers = |answer: &Answer| {
        let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
        conversation.start();
        let ask = json!({"type": "control_request", "request_id": "r", "request": request});
        conversation.read(&ask.to_string());
        let steps = conversation.answer("r", answer);
        let [Step::Entry { .. }, Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
        serde_json::from_str::<Value>(line).unwrap()["response"]["response"]["updatedInput"]["answers"]
            .clone()
    };
    assert_eq!(answers(&Answer::words("a\nb")), json!({"One?": "a", "Two?": "b"}));
    assert_eq!(answers(&Answer::words("first")), json!({"One?": "first"}));
    let by_name = ["One?", "Two?"].map(|question| (question.to_string(), "x".to_string()));
    let by_name = Answer::Approve { text: None, answers: by_name.into(), for_session: false };
    assert_eq!(answers(&by_name), json!({"One?": "x", "Two?": "x"}));
}

#[test]
fn an_answer_for_the_session_changes_what_the_agent_asks_for() {
    let mut ask = asked();
    ask["request"]["permission_suggestions"] = json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "allow", "destination": "localSettings"},
    ]);
    let mut conversation = agent("CLAUDE_CODE").unwrap().conversation(&turn("hi"));
    conversation.start();
    conversation.read(&ask.to_string());
    let answer = Answer::Approve { text: None, answers: BTreeMap::new(), for_session: true };
    let steps = conversation.answer("r", &answer);
    let [Step::Entry { index: 1, .. }, Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
    let sent: Value = serde_json::from_str(line).unwrap();
    let changes = &sent["response"]["response"]["updatedPermissions"];
    assert_eq!(changes[0]["rules"][0]["ruleContent"], "ls");
    assert_eq!(changes[0]["destination"], "session", "nothing is written into the worktree");
}

#[test]
fn a_hook_is_told_nothing_that_would_stop_it() {
    let hook = json!({"type": "control_request", "request_id": "h", "request": {"subtype": "hook_callback", "callback_id": "c"}});
    let steps = steps_of(&[hook]);
    let [Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
    let sent: Value = serde_json::from_str(line).unwrap();
    assert_eq!(sent["response"], json!({"subtype": "success", "request_id": "h", "response": {}}));
}

#[test]
fn a_request_that_is_broken_is_shown_and_refused() {
    let broken =
        json!({"type": "control_request", "request_id": "b", "request": {"subtype": "can_use_tool"}});
    let steps = steps_of(&[broken]);
    let [Step::Entry { entry, .. }, Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
    assert!(matches!(entry.entry_type, EntryType::ErrorMessage { .. }), "{entry:?}");
    assert!(line.contains("\"error\""), "{line}");
}

#[test]
fn a_part_of_a_message_that_is_broken_leaves_the_others_readable() {
    let content = json!([{"type": "text", "text": "before"}, {"type": "text", "text": 7}, {"type": "text", "text": "after"}]);
    let steps = steps_of(&[json!({"type": "assistant", "message": {"content": content}})]);
    let shown: Vec<&str> = steps
        .iter()
        .map(|step| match step {
            Step::Entry { entry, .. } => entry.content.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown.len(), 3);
    assert!(shown.contains(&"before") && shown.contains(&"after"), "{shown:?}");
    assert!(shown.iter().any(|text| text.ends_with(r#"{"text":7,"type":"text"}"#)), "{shown:?}");
}

#[test]
fn a_result_of_any_shape_ends_the_turn() {
    for result in [
        json!({"type": "result"}),
        json!({"type": "result", "is_error": true, "errors": [{"code": 1}], "usage": "much", "total_cost_usd": "free"}),
        json!({"type": "result", "is_error": true, "errors": 7, "result": [], "api_error_status": -1}),
    ] {
        let steps = steps_of(&[result]);
        assert!(matches!(steps.last(), Some(Step::Done { .. })), "{steps:?}");
    }
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
