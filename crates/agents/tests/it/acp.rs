//! Recordings of agents that speak the Agent Client Protocol, folded into steps: Gemini CLI 0.61.0, Qwen Code 0.24.4,
//! opencode 1.18.33, Copilot CLI 1.0.102, Kimi Code 2.1.0, Droid 0.215.0, and the adapters for Claude Code and Codex as
//! any command.
//!
//! In two of them, `gemini/load` and `copilot/load`, the setting of the mode was put in that Forge sends and the
//! recorder did not; `gemini/load_without_modes` is the first as it was recorded, but for the modes it offers.

use forge_agents::{Conversation, Step, Turn, agent};
use forge_model::Answer;
use forge_model::entry::{EntryType, ErrorType, ToolStatus};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::recording::{Protocol, Recording, Told};

/// How the recordings of an agent are read.
pub(crate) const fn protocol(agent: &'static str) -> Protocol {
    Protocol { agent, told, same }
}

/// A session that no agent knows.
const NOBODYS: &str = "11111111-2222-3333-4444-555555555555";

/// The options by which agents are refused something.
const NO: &[&str] = &["cancel", "reject", "reject_once"];

fn told(message: &Value) -> Told {
    let outcome = &message["result"]["outcome"];
    match (message["method"].as_str(), message.get("id")) {
        (Some("session/prompt"), _) => {
            Told::Say(message["params"]["prompt"][0]["text"].as_str().unwrap().to_string())
        }
        (Some("session/cancel"), _) => Told::Interrupt,
        (Some(_), _) => Told::ByItself,
        (None, Some(_)) if message.get("error").is_some() => Told::ByItself,
        (None, Some(id)) if outcome["outcome"] == "selected" => {
            let no = NO.contains(&outcome["optionId"].as_str().unwrap());
            let answer = if no { Answer::Deny { reason: None } } else { Answer::yes() };
            Told::Answer(id.to_string(), answer)
        }
        (None, Some(id)) => Told::File(id.to_string(), Ok(String::new())),
        (None, None) => Told::NotOurs,
    }
}

/// Compares by what is meant: Forge has a name of its own, gives no MCP servers, and resumes where that is offered.
fn same(ours: &Value, recorded: &Value) -> bool {
    let (mut ours, mut recorded) = (ours.clone(), recorded.clone());
    for message in [&mut ours, &mut recorded] {
        if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
            params.remove("clientInfo");
            params.remove("mcpServers");
        }
        if let Some(error) = message.get_mut("error").and_then(Value::as_object_mut) {
            error.remove("message");
        }
        if message["method"] == "session/resume" {
            message["method"] = json!("session/load");
        }
    }
    ours == recorded
}

/// A recording in which the person was asked.
fn asked(path: &str, agent: &'static str) -> Recording {
    let recording = Recording::read(&format!("acp/{path}"), protocol(agent));
    recording.of(|turn| Turn { settings: json!({"approvals": true}), ..turn })
}

fn resumed(path: &str, agent: &'static str, session: &str) -> Recording {
    asked(path, agent).of(|turn| Turn { session: Some(session.to_string()), ..turn })
}

fn with(recording: Recording, settings: Value) -> Recording {
    recording.of(|turn| Turn { settings, ..turn })
}

/// Every recording with the turn it was made for.
pub(crate) fn recordings() -> Vec<(&'static str, Recording)> {
    let settings = |settings: Value| move |recording| with(recording, settings);
    let yolo = |recording: Recording| with(recording, json!({"yolo": true}));
    let mode = |mode: &str| settings(json!({"approvals": true, "mode": mode}));
    vec![
        ("gemini/approval_allow", asked("gemini/approval_allow", "GEMINI")),
        ("gemini/approval_deny", asked("gemini/approval_deny", "GEMINI")),
        ("gemini/cancel", asked("gemini/cancel", "GEMINI")),
        ("gemini/error_401", asked("gemini/error_401", "GEMINI")),
        ("gemini/load", resumed("gemini/load", "GEMINI", "e5ad5457-1b3d-4f9a-b15e-c57de097c783")),
        (
            "gemini/load_without_modes",
            resumed("gemini/load_without_modes", "GEMINI", "e5ad5457-1b3d-4f9a-b15e-c57de097c783"),
        ),
        ("gemini/load_unknown", resumed("gemini/load_unknown", "GEMINI", NOBODYS)),
        ("gemini/mcp", asked("gemini/mcp", "GEMINI")),
        ("gemini/plan", settings(json!({"plan": true}))(asked("gemini/plan", "GEMINI"))),
        ("qwen/approval_allow", asked("qwen/approval_allow", "QWEN_CODE")),
        ("qwen/resume_unknown", resumed("qwen/resume_unknown", "QWEN_CODE", NOBODYS)),
        ("opencode/approval_allow", asked("opencode/approval_allow", "OPENCODE")),
        ("opencode/cancel", asked("opencode/cancel", "OPENCODE")),
        ("opencode/load", resumed("opencode/load", "OPENCODE", "ses_e1f2b7c93ffeqG7pJtrCoN82iR")),
        ("opencode/resume", resumed("opencode/resume", "OPENCODE", "ses_e1c72f596ffeog519E23PPaCmi")),
        (
            "opencode/resume_unknown",
            resumed("opencode/resume_unknown", "OPENCODE", "ses_e1f2b7c93ffeqG7pJtrCoN82iR"),
        ),
        ("opencode/mcp", asked("opencode/mcp", "OPENCODE")),
        ("opencode/tool_call", yolo(asked("opencode/tool_call", "OPENCODE"))),
        ("copilot/approval_allow", asked("copilot/approval_allow", "COPILOT")),
        ("copilot/approval_deny", asked("copilot/approval_deny", "COPILOT")),
        ("copilot/cancel", asked("copilot/cancel", "COPILOT")),
        ("copilot/error_401", asked("copilot/error_401", "COPILOT")),
        ("copilot/load", resumed("copilot/load", "COPILOT", "d89ce353-3a9c-46c2-8335-4e766d9b0d3b")),
        ("copilot/load_unknown", resumed("copilot/load_unknown", "COPILOT", NOBODYS)),
        ("copilot/mcp", asked("copilot/mcp", "COPILOT")),
        ("kimi/approval_allow", asked("kimi/approval_allow", "KIMI")),
        ("droid/approval_allow", asked("droid/approval_allow", "DROID")),
        ("droid/load", resumed("droid/load", "DROID", "48809b1e-46d3-4d51-b55b-276c4083e303")),
        ("claude-agent-acp/approval_allow", asked("claude-agent-acp/approval_allow", "ACP")),
        ("claude-agent-acp/latest_approval_allow", asked("claude-agent-acp/latest_approval_allow", "ACP")),
        ("claude-agent-acp/plan", settings(json!({"plan": true}))(asked("claude-agent-acp/plan", "ACP"))),
        (
            "claude-agent-acp/resume",
            resumed("claude-agent-acp/resume", "ACP", "b49d34b4-53c2-4d70-9747-6c703d1c2652"),
        ),
        ("codex-acp/tool_call", asked("codex-acp/tool_call", "ACP")),
        ("codex-acp/approval_allow", mode("read-only")(asked("codex-acp/approval_allow", "ACP"))),
        ("codex-acp/readonly", mode("read-only")(asked("codex-acp/readonly", "ACP"))),
        ("codex-acp-zed/tool_call", mode("read-only")(asked("codex-acp-zed/tool_call", "ACP"))),
    ]
}

#[test]
fn every_recording_gives_the_steps_that_were_reviewed_however_it_is_cut() {
    for (name, recording) in recordings() {
        let folded = recording.fold_any_size();
        assert_snapshot!(format!("acp__{}", name.replace('/', "__")), folded);
    }
}

#[test]
fn every_recording_is_in_the_list() {
    let listed: Vec<_> = recordings().into_iter().map(|(name, _)| name).collect();
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/acp");
    for agent in top.read_dir().unwrap().map(Result::unwrap) {
        for file in agent.path().read_dir().unwrap().map(Result::unwrap) {
            let path = file.path().with_extension("");
            let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_string();
            assert!(listed.contains(&name.as_str()), "{name} is not played");
        }
    }
}

/// A conversation whose other side is played by the test.
struct Talk {
    conversation: Box<dyn Conversation>,
    steps: Vec<Step>,
}

impl Talk {
    fn begin(name: &str, turn: Turn) -> Self {
        let turn = Turn { prompt: "go".into(), worktree: "/repo".into(), ..turn };
        let mut conversation = agent(name).unwrap().conversation(&turn);
        let steps = conversation.start();
        Self { conversation, steps }
    }

    /// Opens a new session that offers the given things.
    fn open(name: &str, settings: Value, offered: Value) -> Self {
        let mut talk = Self::begin(name, Turn { settings, ..Turn::default() });
        talk.hear(
            json!({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}}),
        );
        let mut opened = json!({"sessionId": "s"});
        opened.as_object_mut().unwrap().extend(offered.as_object().cloned().unwrap_or_default());
        talk.hear(json!({"id": 2, "result": opened}));
        talk
    }

    fn hear(&mut self, mut message: Value) -> Vec<Step> {
        message["jsonrpc"] = json!("2.0");
        self.steps = self.conversation.read(&message.to_string());
        self.steps.clone()
    }

    fn update(&mut self, update: Value) -> Vec<Step> {
        self.hear(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}))
    }

    fn says(&mut self, text: &str) -> Vec<Step> {
        self.update(
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
        )
    }

    fn asks(&mut self, id: Value, call: Value) -> Vec<Step> {
        let options = json!([
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "once", "name": "Once", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        self.hear(json!({"id": id, "method": "session/request_permission", "params": params}))
    }
}

fn sent(steps: &[Step]) -> Vec<Value> {
    let line = |step: &Step| match step {
        Step::Send(line) => Some(serde_json::from_str(line).unwrap()),
        _ => None,
    };
    steps.iter().filter_map(line).collect()
}

fn prompts(steps: &[Step]) -> Vec<String> {
    let prompt = |message: Value| message["params"]["prompt"][0]["text"].as_str().map(str::to_string);
    sent(steps).into_iter().filter_map(prompt).collect()
}

fn done(steps: &[Step]) -> Vec<(bool, Option<&str>)> {
    fn done(step: &Step) -> Option<(bool, Option<&str>)> {
        match step {
            Step::Done { ok, error, .. } => Some((*ok, error.as_deref())),
            _ => None,
        }
    }
    steps.iter().filter_map(done).collect()
}

fn entries(steps: &[Step]) -> Vec<(&EntryType, &str)> {
    fn entry(step: &Step) -> Option<(&EntryType, &str)> {
        match step {
            Step::Entry { entry, .. } => Some((&entry.entry_type, entry.content.as_str())),
            _ => None,
        }
    }
    steps.iter().filter_map(entry).collect()
}

fn statuses(steps: &[Step]) -> Vec<ToolStatus> {
    let status = |(kind, _): (&EntryType, &str)| match kind {
        EntryType::ToolUse { status, .. } => Some(status.clone()),
        _ => None,
    };
    entries(steps).into_iter().filter_map(status).collect()
}

fn end_turn() -> Value {
    json!({"id": 3, "result": {"stopReason": "end_turn"}})
}

#[test]
fn a_method_that_forge_does_not_offer_is_refused_at_once() {
    let mut talk = Talk::open("QWEN_CODE", json!({}), json!({}));
    for method in ["craft/drainMidTurnQueue", "terminal/create", "elicitation/create"] {
        let steps = talk.hear(json!({"id": "q", "method": method, "params": {}}));
        let answer = &sent(&steps)[0];
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("q"), &json!(-32601)));
        assert!(entries(&steps).is_empty());
    }
}

#[test]
fn files_are_read_and_written_by_whoever_has_them_though_none_were_offered() {
    let mut talk = Talk::open("OPENCODE", json!({}), json!({}));
    let write = json!({"sessionId": "s", "path": "/repo/a", "content": "hi\n"});
    let steps = talk.hear(json!({"id": 7, "method": "fs/write_text_file", "params": write}));
    let wanted = Step::WriteFile { key: "7".into(), path: "/repo/a".into(), content: "hi\n".into() };
    assert_eq!(steps, [wanted]);
    assert_eq!(
        sent(&talk.conversation.file("7", Ok("")))[0],
        json!({"jsonrpc": "2.0", "id": 7, "result": {}})
    );
    let read = json!({"sessionId": "s", "path": "/repo/a", "line": 2, "limit": 1});
    let steps = talk.hear(json!({"id": 8, "method": "fs/read_text_file", "params": read}));
    let wanted = Step::ReadFile { key: "8".into(), path: "/repo/a".into(), line: Some(2), limit: Some(1) };
    assert_eq!(steps, [wanted]);
    assert_eq!(sent(&talk.conversation.file("8", Ok("text")))[0]["result"], json!({"content": "text"}));
    let steps = talk.hear(json!({"id": 9, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}}));
    assert!(matches!(&steps[..], [Step::ReadFile { .. }]));
    let refused = sent(&talk.conversation.file("9", Err("not in the worktree")));
    assert_eq!(refused[0]["error"]["message"], "not in the worktree");
    assert!(matches!(&talk.conversation.file("9", Ok(""))[..], [Step::Note(_)]), "it is answered once");
}

#[test]
fn an_agent_is_told_of_files_only_where_the_profile_wants_it() {
    let capability = |settings| {
        let talk = Talk::begin("ACP", Turn { settings, ..Turn::default() });
        sent(&talk.steps)[0]["params"]["clientCapabilities"]["fs"]["writeTextFile"].clone()
    };
    assert_eq!((capability(json!({})), capability(json!({"fs": true}))), (json!(false), json!(true)));
}

#[test]
fn what_is_said_while_a_prompt_is_under_way_waits_for_its_end() {
    let mut talk = Talk::open("GEMINI", json!({"append_prompt": " please"}), json!({}));
    assert_eq!(prompts(&talk.steps), ["go please"]);
    assert!(talk.conversation.say("second").is_empty() && talk.conversation.say("third").is_empty());
    let steps = talk.hear(end_turn());
    assert_eq!((done(&steps), prompts(&steps)), (vec![(true, None)], vec!["second please".to_string()]));
    assert_eq!(entries(&steps), [(&EntryType::UserMessage, "second")]);
    let steps = talk.hear(json!({"id": 4, "result": {}}));
    assert_eq!(prompts(&steps), ["third please"]);
    let steps = talk.hear(json!({"id": 5, "result": {"stopReason": "end_turn"}}));
    assert_eq!((done(&steps), prompts(&steps)), (vec![(true, None)], vec![]));
    assert_eq!(prompts(&talk.conversation.say("fourth")), ["fourth please"]);
}

#[test]
fn a_person_may_be_quicker_than_the_agents_start() {
    let mut talk = Talk::begin("GEMINI", Turn::default());
    assert!(talk.conversation.say("second").is_empty());
    talk.hear(json!({"id": 1, "result": {}}));
    let steps = talk.hear(json!({"id": 2, "result": {"sessionId": "s"}}));
    assert_eq!(prompts(&steps), ["go"]);
    assert_eq!(prompts(&talk.hear(end_turn())), ["second"]);
}

#[test]
fn an_interrupt_cancels_the_prompt_its_asks_and_all_that_waits() {
    let mut talk = Talk::open("GEMINI", json!({"approvals": true}), json!({}));
    talk.asks(json!(0), json!({"toolCallId": "c", "kind": "execute", "title": "rm x"}));
    assert!(talk.conversation.say("later").is_empty());
    let steps = talk.conversation.interrupt();
    assert!(steps.contains(&Step::Withdrawn("0".into())));
    assert_eq!(statuses(&steps), [ToolStatus::Created], "readers hear that nobody is asked any more");
    let sent = sent(&steps);
    assert_eq!(sent[0]["method"], "session/cancel");
    assert_eq!(sent[1]["result"], json!({"outcome": {"outcome": "cancelled"}}));
    let steps = talk.hear(json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    assert_eq!(done(&steps), [(false, Some("interrupted")), (false, Some("interrupted"))]);
    assert!(prompts(&steps).is_empty());
    assert_eq!(statuses(&steps), [ToolStatus::Failed]);
    assert_eq!(prompts(&talk.conversation.say("again")), ["again"], "the process can go on");
}

#[test]
fn an_interrupt_before_the_first_prompt_keeps_it_from_being_sent() {
    let mut talk = Talk::begin("GEMINI", Turn::default());
    assert_eq!(done(&talk.conversation.interrupt()), [(false, Some("interrupted"))]);
    talk.hear(json!({"id": 1, "result": {}}));
    let steps = talk.hear(json!({"id": 2, "result": {"sessionId": "s"}}));
    assert!(prompts(&steps).is_empty() && done(&steps).is_empty());
}

#[test]
fn the_words_of_a_refusal_are_said_when_the_agent_is_through() {
    let mut talk = Talk::open("GEMINI", json!({"approvals": true}), json!({}));
    talk.asks(json!("x"), json!({"toolCallId": "c", "kind": "execute", "title": "rm x"}));
    assert!(talk.conversation.say("later").is_empty());
    let reason = Some("use git rm".to_string());
    let steps = talk.conversation.answer("\"x\"", &Answer::Deny { reason: reason.clone() });
    assert_eq!(statuses(&steps), [ToolStatus::Denied { reason }]);
    let feedback = EntryType::UserFeedback { denied_tool: "execute".into() };
    assert_eq!(entries(&steps)[1], (&feedback, "use git rm"));
    assert_eq!(sent(&steps)[0]["result"]["outcome"]["optionId"], "no");
    // What the agent tells of a call that was refused is late.
    let late = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"});
    assert!(talk.update(late).is_empty());
    let steps = talk.hear(end_turn());
    assert!(done(&steps).is_empty(), "the turn goes on with the reason");
    assert_eq!(prompts(&steps), ["I refused this: rm x\nuse git rm"]);
    let steps = talk.hear(json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    assert_eq!((done(&steps), prompts(&steps)), (vec![(true, None)], vec!["later".to_string()]));
}

#[test]
fn a_refusal_without_words_is_only_a_refusal() {
    let mut talk = Talk::open("GEMINI", json!({"approvals": true}), json!({}));
    talk.asks(json!(0), json!({"toolCallId": "c", "title": "t"}));
    talk.conversation.answer("0", &Answer::Deny { reason: None });
    let steps = talk.hear(end_turn());
    assert_eq!((done(&steps), prompts(&steps)), (vec![(true, None)], vec![]));
}

#[test]
fn a_yes_for_the_session_is_the_agents_own_always() {
    let mut talk = Talk::open("DROID", json!({"approvals": true}), json!({}));
    talk.asks(json!(0), json!({"toolCallId": "c", "title": "t"}));
    let answer = Answer::Approve { text: None, answers: Default::default(), for_session: true };
    let steps = talk.conversation.answer("0", &answer);
    assert_eq!(sent(&steps)[0]["result"]["outcome"]["optionId"], "always");
    assert_eq!(statuses(&steps), [ToolStatus::Created]);
    assert!(matches!(&talk.conversation.answer("0", &answer)[..], [Step::Note(_)]));
}

#[test]
fn where_nobody_need_be_asked_an_agent_that_asks_is_answered_at_once() {
    let mut talk = Talk::open("OPENCODE", json!({}), json!({}));
    let steps = talk.asks(json!(0), json!({"toolCallId": "c", "title": "t", "kind": "edit"}));
    assert_eq!(sent(&steps)[0]["result"]["outcome"]["optionId"], "once");
    assert!(!steps.iter().any(|step| matches!(step, Step::Ask(_))));
    assert_eq!(statuses(&steps), [ToolStatus::Created]);
}

#[test]
fn a_permission_that_the_agent_takes_back_is_withdrawn() {
    let mut talk = Talk::open("KIMI", json!({"approvals": true}), json!({}));
    talk.asks(json!(5), json!({"toolCallId": "c", "title": "t"}));
    let steps = talk.hear(json!({"method": "$/cancel_request", "params": {"requestId": 5}}));
    assert!(steps.contains(&Step::Withdrawn("5".into())));
    assert_eq!(statuses(&steps), [ToolStatus::Created]);
    talk.asks(json!(6), json!({"toolCallId": "d", "title": "t"}));
    let steps = talk.hear(end_turn());
    assert!(steps.contains(&Step::Withdrawn("6".into())), "an ask does not outlive its turn");
}

#[test]
fn a_session_that_the_agent_does_not_know_is_told_as_such() {
    let turn = Turn { session: Some("old".into()), ..Turn::default() };
    let mut talk = Talk::begin("GEMINI", turn.clone());
    talk.hear(json!({"id": 1, "result": {"agentCapabilities": {"loadSession": true}}}));
    let steps = talk.hear(json!({"id": 2, "error": {"code": -32602, "message": "Session not found"}}));
    assert_eq!(steps[0], Step::SessionUnknown);
    assert_eq!(done(&steps), [(false, Some("Session not found"))]);
    // One that cannot go on with any session does not know this one either.
    let mut talk = Talk::begin("ACP", turn.clone());
    let steps = talk.hear(json!({"id": 1, "result": {"agentCapabilities": {}}}));
    assert_eq!(steps[0], Step::SessionUnknown);
    assert_eq!(done(&steps), [(false, Some("ACP agent cannot go on with an earlier session"))]);
    // One that wants a login has forgotten nothing.
    let mut talk = Talk::begin("GEMINI", turn);
    talk.hear(json!({"id": 1, "result": {"agentCapabilities": {"loadSession": true}}}));
    let steps = talk.hear(json!({"id": 2, "error": {"code": -32000, "message": "Authentication required"}}));
    assert!(!steps.contains(&Step::SessionUnknown));
}

#[test]
fn an_agent_that_wants_a_login_says_so_and_is_logged_in_only_where_the_profile_says_how() {
    let refusal = json!({"id": 2, "error": {"code": -32000, "message": "Authentication required"}});
    let mut talk = Talk::begin("GEMINI", Turn::default());
    talk.hear(json!({"id": 1, "result": {}}));
    let steps = talk.hear(refusal.clone());
    let setup = EntryType::ErrorMessage { error_type: ErrorType::SetupRequired };
    assert_eq!(entries(&steps), [(&setup, "Authentication required")]);
    assert_eq!(done(&steps), [(false, Some("Authentication required"))]);
    assert_eq!(done(&talk.conversation.say("more")), [(false, Some("Authentication required"))]);

    let settings = json!({"auth_method": "gemini-api-key"});
    let mut talk = Talk::begin("GEMINI", Turn { settings, ..Turn::default() });
    talk.hear(json!({"id": 1, "result": {}}));
    let steps = talk.hear(refusal);
    assert_eq!(sent(&steps)[0]["params"], json!({"methodId": "gemini-api-key"}));
    let steps = talk.hear(json!({"id": 3, "result": {}}));
    assert_eq!(sent(&steps)[0]["method"], "session/new");
    let steps = talk.hear(json!({"id": 4, "error": {"code": -32000, "message": "no"}}));
    assert_eq!(done(&steps), [(false, Some("no"))], "it is tried once");
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    let mut talk = Talk::begin("ACP", Turn::default());
    let steps = talk.hear(json!({"id": 1, "result": {"protocolVersion": 2}}));
    assert_eq!(done(&steps).len(), 1);
    assert!(done(&steps)[0].1.unwrap().contains("version 2"));
}

#[test]
fn a_plan_that_the_agent_does_not_offer_is_refused_before_anything_is_said() {
    let talk = Talk::open("GOOSE", json!({"plan": true}), json!({}));
    assert_eq!(done(&talk.steps), [(false, Some("goose offers no mode for planning"))]);
    assert!(prompts(&talk.steps).is_empty());
    let modes =
        json!({"modes": {"availableModes": [{"id": "default"}, {"id": "plan"}], "currentModeId": "default"}});
    let mut talk = Talk::open("GEMINI", json!({"plan": true}), modes);
    let steps = talk.hear(json!({"id": 3, "error": {"code": -32602, "message": "not trusted"}}));
    assert_eq!(done(&steps), [(false, Some("not trusted"))]);
    assert!(prompts(&steps).is_empty(), "a plan is never silently more than a plan");
}

#[test]
fn a_freedom_that_the_agent_does_not_grant_is_no_reason_to_stop() {
    let modes =
        json!({"modes": {"availableModes": [{"id": "default"}, {"id": "yolo"}], "currentModeId": "default"}});
    let mut talk = Talk::open("GEMINI", json!({"yolo": true}), modes);
    assert_eq!(sent(&talk.steps)[0]["params"]["modeId"], "yolo");
    let steps = talk.hear(json!({"id": 3, "error": {"code": -32603, "message": "not trusted"}}));
    assert_eq!(prompts(&steps), ["go"]);
}

#[test]
fn a_plan_of_the_agent_is_one_todo_list_that_changes() {
    let mut talk = Talk::open("GEMINI", json!({}), json!({}));
    let plan = |status| json!({"sessionUpdate": "plan", "entries": [{"content": "do", "priority": "high", "status": status}]});
    let index = |steps: Vec<Step>| match &steps[..] {
        [Step::Entry { index, .. }] => *index,
        other => panic!("{other:?}"),
    };
    let (first, second) = (index(talk.update(plan("pending"))), index(talk.update(plan("completed"))));
    assert_eq!(first, second);
}

#[test]
fn why_a_turn_stopped_is_told() {
    let cases = [
        ("end_turn", true, None),
        ("cancelled", false, Some("interrupted")),
        ("refusal", false, Some("Droid refused to go on")),
        ("max_tokens", false, Some("the answer became longer than the model can write")),
        ("max_turn_requests", false, Some("Droid asked its model as often as it may in one turn")),
        ("invented", true, None),
    ];
    for (reason, ok, error) in cases {
        let mut talk = Talk::open("DROID", json!({}), json!({}));
        let steps = talk.hear(json!({"id": 3, "result": {"stopReason": reason}}));
        assert_eq!(done(&steps), [(ok, error)], "{reason}");
    }
}

#[test]
fn a_limit_of_the_provider_is_told_with_its_moment() {
    let mut talk = Talk::open("GEMINI", json!({}), json!({}));
    let message = "Quota exceeded; resets at 2025-10-09T08:53:20Z";
    let steps = talk.hear(json!({"id": 3, "error": {"code": 429, "message": message}}));
    assert!(steps.contains(&Step::Limited { until_ms: Some(1_760_000_000_000) }));
    assert_eq!(done(&steps), [(false, Some(message))]);
}

#[test]
fn an_error_in_any_shape_ends_the_turn() {
    for error in [json!("words"), json!({"code": "E"}), json!([1]), json!({"message": 5})] {
        let mut talk = Talk::open("GEMINI", json!({}), json!({}));
        let steps = talk.hear(json!({"id": "3", "error": error}));
        assert_eq!(done(&steps).len(), 1, "{error}");
    }
}

#[test]
fn an_error_that_is_told_as_an_answer_fails_only_where_that_is_the_agents_way() {
    let play = |name, result: Value| {
        let mut talk = Talk::open(name, json!({}), json!({}));
        talk.says("Error: no such file");
        done(&talk.hear(json!({"id": 3, "result": result})))[0].0
    };
    let told = json!({"stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1}});
    assert!(!play("COPILOT", json!({"stopReason": "end_turn"})));
    assert!(play("COPILOT", told), "a model that was used has answered");
    assert!(play("GEMINI", json!({"stopReason": "end_turn"})));
}

#[test]
fn messages_that_are_not_understood_are_shown_and_no_request_is_left_open() {
    let mut talk = Talk::open("GEMINI", json!({}), json!({}));
    let error = |steps: &[Step]| {
        let found = entries(steps).first().map(|(kind, text)| ((*kind).clone(), text.to_string()));
        let (kind, text) = found.expect("nothing is shown");
        assert_eq!(kind, EntryType::ErrorMessage { error_type: ErrorType::Other });
        text
    };
    assert!(error(&talk.hear(json!({"hello": 1}))).contains("neither a request nor an answer"));
    assert!(
        error(&talk.update(json!({"sessionUpdate": "tool_call", "title": "no id"}))).contains("toolCallId")
    );
    assert!(error(&talk.update(json!("words"))).contains("was not understood"));
    let steps = talk.hear(json!({"id": 9, "method": "session/request_permission", "params": {"options": 3}}));
    error(&steps);
    assert_eq!(sent(&steps)[0]["error"]["code"], -32602);
    let steps = talk.conversation.read("{\"jsonrpc\":\"2.0\",\"id\":3,\"resu");
    assert!(error(&steps).contains("is cut"));
    assert!(matches!(&talk.update(json!({"sessionUpdate": "later", "x": 1}))[..], [Step::Note(_)]));
    assert_eq!(
        entries(&talk.conversation.read("[INFO] plain")),
        [(&EntryType::SystemMessage, "[INFO] plain")]
    );
    assert_eq!(done(&talk.hear(end_turn())), [(true, None)]);
}

#[test]
fn several_messages_may_come_in_one_line() {
    let mut talk = Talk::open("GEMINI", json!({}), json!({}));
    let line = json!([{"jsonrpc": "2.0", "method": "_x/y"}, {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}]);
    assert_eq!(done(&talk.conversation.read(&line.to_string())), [(true, None)]);
}

#[test]
fn the_past_that_an_agent_tells_too_late_is_not_shown_unless_it_is_all_there_is() {
    let loaded = || {
        let mut talk = Talk::begin("ACP", Turn { session: Some("s".into()), ..Turn::default() });
        talk.hear(json!({"id": 1, "result": {"agentCapabilities": {"loadSession": true}}}));
        talk.hear(json!({"id": 2, "result": {}}));
        assert_eq!(prompts(&talk.steps), ["go"]);
        talk
    };
    let user = |text: &str| json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}});
    let mut talk = loaded();
    assert!(talk.update(user("before")).is_empty() && talk.says("old").is_empty());
    talk.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
    assert_eq!(entries(&talk.says("new")), [(&EntryType::AssistantMessage, "new")]);
    // An echo of what was just said is not the past.
    let mut talk = loaded();
    assert!(talk.update(user("go")).is_empty());
    assert_eq!(entries(&talk.says("new")), [(&EntryType::AssistantMessage, "new")]);
    // Nothing shows where the past ends: its last words are shown rather than lost.
    let mut talk = loaded();
    talk.update(user("before"));
    talk.says("old");
    talk.says("new");
    let steps = talk.hear(end_turn());
    assert_eq!(entries(&steps), [(&EntryType::AssistantMessage, "new")]);
}

#[test]
fn a_question_is_answered_in_the_agents_own_options() {
    let mut talk = Talk::open("QWEN_CODE", json!({}), json!({}));
    let options = json!([{"optionId": "a", "name": "Red", "kind": "choice"}, {"optionId": "b", "name": "Blue", "kind": "choice"}]);
    let params = json!({"toolCall": {"toolCallId": "c", "title": "Which colour?"}, "options": options});
    let steps = talk.hear(json!({"id": 4, "method": "session/request_permission", "params": params}));
    let Some(Step::Ask(ask)) = steps.last() else { panic!("nobody is asked: {steps:?}") };
    assert_eq!((ask.text.as_str(), &ask.input["options"]), ("Which colour?", &json!(["Red", "Blue"])));
    let steps = talk.conversation.answer("4", &Answer::words("blue"));
    assert_eq!(sent(&steps)[0]["result"]["outcome"]["optionId"], "b");
}

#[test]
fn only_the_newest_calls_are_remembered() {
    let mut talk = Talk::open("GEMINI", json!({}), json!({}));
    for number in 0..10_000 {
        let id = format!("call-{number}");
        talk.update(json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "t", "kind": "read"}));
        talk.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}));
        talk.says(&"word ".repeat(20));
    }
    let state = talk.conversation.state().to_string();
    assert!(state.len() < 16 * 1024, "{} bytes are remembered", state.len());
}
