//! Recordings of Codex 0.166.0, folded into steps, and what recordings do not hold.

use std::collections::VecDeque;

use forge_agents::{Conversation, Step, Turn, agent};
use forge_model::Answer;
use forge_model::entry::{EntryType, ErrorType, ToolStatus};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::recording::{Protocol, Recording, Told};

/// How the recordings of Codex are read.
pub(crate) const PROTOCOL: Protocol = Protocol { agent: "CODEX", told, same };

fn told(message: &Value) -> Told {
    let text = || message["params"]["input"][0]["text"].as_str().unwrap_or_default().to_string();
    match message["method"].as_str() {
        Some("turn/start" | "turn/steer") => Told::Say(text()),
        Some("turn/interrupt") => Told::Interrupt,
        Some(_) => Told::ByItself,
        None => {
            let decision = message["result"]["decision"].as_str();
            let declined = decision == Some("decline") || message["result"]["action"] == "decline";
            let answer = if declined { Answer::Deny { reason: None } } else { answered(&message["result"]) };
            Told::Answer(message["id"].to_string(), answer)
        }
    }
}

fn answered(result: &Value) -> Answer {
    let answers = result["answers"].as_object().into_iter().flatten();
    let answers = answers
        .map(|(id, answer)| (id.clone(), answer["answers"][0].as_str().unwrap_or_default().to_string()));
    let for_session = result["decision"] == "acceptForSession" || result["_meta"]["persist"] == "session";
    Answer::Approve { text: None, answers: answers.collect(), for_session }
}

/// The recordings were made by a client of another name and with other settings; how the thread is opened is in the
/// snapshots.
fn same(ours: &Value, recorded: &Value) -> bool {
    let method = |message: &Value| message["method"].as_str().unwrap_or_default().to_string();
    match method(recorded).as_str() {
        "initialize" => method(ours) == "initialize" && ours["id"] == recorded["id"],
        "thread/start" | "thread/resume" | "thread/fork" => {
            method(ours).starts_with("thread/") && ours["id"] == recorded["id"]
        }
        "turn/start" => {
            let part =
                |message: &Value| [message["params"]["threadId"].clone(), message["params"]["input"].clone()];
            method(ours) == "turn/start" && part(ours) == part(recorded)
        }
        _ => ours == recorded,
    }
}

fn recording(name: &str) -> Recording {
    Recording::read(&format!("codex/{name}"), PROTOCOL)
}

fn fold(recording: Recording) -> String {
    let version = concat!("\"version\":\"", env!("CARGO_PKG_VERSION"), "\"");
    recording.fold_any_size().replace(version, "\"version\":\"0\"")
}

fn careful(turn: Turn) -> Turn {
    Turn { variant: Some("APPROVALS".into()), ..turn }
}

fn going_on(turn: Turn) -> Turn {
    Turn { session: Some("01a1e0cf-43fc-76c1-b373-94e971423914".into()), ..turn }
}

#[test]
fn a_turn_with_thoughts_words_and_a_command() {
    assert_snapshot!("codex_tool_call", fold(recording("tool_call")));
}

#[test]
fn a_command_and_a_change_that_are_allowed() {
    assert_snapshot!("codex_approval_allow", fold(recording("approval_allow").of(careful)));
}

#[test]
fn a_command_that_is_refused() {
    assert_snapshot!("codex_approval_deny", fold(recording("approval_deny").of(careful)));
}

#[test]
fn a_turn_that_the_provider_fails_is_retried_and_then_failed() {
    assert_snapshot!("codex_error_500", fold(recording("error_500")));
}

#[test]
fn a_turn_that_is_interrupted() {
    assert_snapshot!("codex_interrupt", fold(recording("interrupt")));
}

#[test]
fn a_plan_that_came_as_words() {
    assert_snapshot!("codex_plan", fold(recording("plan")));
}

#[test]
fn a_thread_that_is_gone_on_with_counts_only_its_own_tokens() {
    assert_snapshot!("codex_resume", fold(recording("resume").of(going_on)));
}

#[test]
fn a_thread_that_is_branched_off() {
    let branch = |turn| Turn { fork: true, ..going_on(turn) };
    assert_snapshot!("codex_fork", fold(recording("fork").of(branch)));
}

#[test]
fn a_thread_that_is_not_there() {
    assert_snapshot!("codex_unknown_thread", fold(recording("unknown_thread").of(going_on)));
}

#[test]
fn a_text_that_reaches_the_turn_that_runs() {
    assert_snapshot!("codex_steer", fold(recording("steer")));
}

#[test]
fn a_command_that_is_allowed_for_the_session_is_not_asked_about_again() {
    assert_snapshot!("codex_approval_session", fold(recording("approval_session").of(careful)));
}

#[test]
fn a_question_that_is_answered() {
    assert_snapshot!("codex_question", fold(recording("question")));
}

#[test]
fn files_that_are_changed_moved_deleted_and_added_in_code_mode() {
    assert_snapshot!("codex_patch", fold(recording("patch")));
}

#[test]
fn a_turn_without_a_login() {
    assert_snapshot!("codex_error_401", fold(recording("error_401")));
}

#[test]
fn a_turn_after_the_allowance_is_used_up() {
    assert_snapshot!("codex_limit", fold(recording("limit")));
}

/// A conversation whose other side is played by the test.
struct Talk {
    conversation: Box<dyn Conversation>,
    /// What was sent and not looked at yet.
    sent: VecDeque<Value>,
    steps: Vec<Step>,
}

impl Talk {
    fn new(turn: Turn) -> Self {
        let turn = Turn { prompt: "first".into(), worktree: "/repo".into(), ..turn };
        let mut conversation = agent("CODEX").unwrap().conversation(&turn);
        let steps = conversation.start();
        let mut talk = Self { conversation, sent: VecDeque::new(), steps: Vec::new() };
        talk.take(steps);
        talk
    }

    /// Opens the thread, and begins the first turn.
    fn running() -> Self {
        let mut talk = Self::opened();
        talk.read(json!({"id": 3, "result": {"turn": {"id": "turn-1"}}}));
        talk.sent.clear();
        talk.steps.clear();
        talk
    }

    fn opened() -> Self {
        let mut talk = Self::new(Turn::default());
        talk.read(json!({"id": 1, "result": {}}));
        talk.read(json!({"id": 2, "result": {"thread": {"id": "thread-1"}, "model": "gpt"}}));
        talk
    }

    fn take(&mut self, steps: Vec<Step>) {
        for step in steps {
            if let Step::Send(line) = &step {
                self.sent.push_back(serde_json::from_str(line).unwrap());
            }
            self.steps.push(step);
        }
    }

    fn read(&mut self, line: Value) {
        let steps = self.conversation.read(&line.to_string());
        self.take(steps);
    }

    fn say(&mut self, text: &str) {
        let steps = self.conversation.say(text);
        self.take(steps);
    }

    fn answer(&mut self, ask: &str, answer: &Answer) {
        let steps = self.conversation.answer(ask, answer);
        self.take(steps);
    }

    fn interrupt(&mut self) {
        let steps = self.conversation.interrupt();
        self.take(steps);
    }

    fn completed(&mut self, turn: &str, status: &str) {
        let turn = json!({"id": turn, "status": status, "error": null});
        self.read(json!({"method": "turn/completed", "params": {"threadId": "thread-1", "turn": turn}}));
    }

    /// Returns what was sent next, as its method and texts.
    fn next(&mut self) -> Option<(String, Value, String)> {
        let sent = self.sent.pop_front()?;
        let texts = sent["params"]["input"].as_array().into_iter().flatten();
        let texts: Vec<&str> = texts.filter_map(|input| input["text"].as_str()).collect();
        let method = sent["method"].as_str().unwrap_or("answer").to_string();
        Some((method, sent["id"].clone(), texts.join("|")))
    }

    fn methods(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
            .iter()
            .map(|sent| sent["method"].as_str().unwrap_or("answer").into())
            .collect()
    }

    fn dones(&self) -> Vec<(bool, Option<String>)> {
        let done = |step: &Step| match step {
            Step::Done { ok, error, .. } => Some((*ok, error.clone())),
            _ => None,
        };
        self.steps.iter().filter_map(done).collect()
    }

    fn entries(&self) -> Vec<(EntryType, String)> {
        let entry = |step: &Step| match step {
            Step::Entry { entry, .. } => Some((entry.entry_type.clone(), entry.content.clone())),
            _ => None,
        };
        self.steps.iter().filter_map(entry).collect()
    }
}

#[test]
fn the_prompt_waits_until_the_thread_is_open() {
    let mut talk = Talk::new(Turn::default());
    assert_eq!(talk.methods(), ["initialize"]);
    talk.say("second");
    assert_eq!(talk.methods(), [""; 0]);
    talk.read(json!({"id": 1, "result": {}}));
    assert_eq!(talk.methods(), ["initialized", "thread/start"]);
    talk.read(json!({"id": 2, "result": {"thread": {"id": "thread-1"}, "model": "gpt"}}));
    assert!(talk.steps.contains(&Step::Session("thread-1".into())));
    assert_eq!(talk.next(), Some(("turn/start".into(), json!(3), "first|second".into())));
    // Until its id is known a turn can neither be steered nor stopped.
    talk.say("third");
    assert_eq!(talk.next(), None);
    talk.read(json!({"id": 3, "result": {"turn": {"id": "turn-1"}}}));
    assert_eq!(talk.next(), Some(("turn/steer".into(), json!(4), "third".into())));
    talk.read(json!({"id": 4, "result": {"turnId": "turn-1"}}));
    talk.completed("turn-1", "completed");
    assert_eq!(talk.dones(), vec![(true, None); 3]);
}

#[test]
fn a_turn_that_is_to_plan_begins_in_the_mode_for_plans_with_the_threads_own_model() {
    let mut talk = Talk::new(Turn { settings: json!({"plan": true}), ..Turn::default() });
    talk.read(json!({"id": 1, "result": {}}));
    talk.read(json!({"id": 2, "result": {"thread": {"id": "thread-1"}, "model": "gpt"}}));
    let begun = talk.sent.iter().find(|message| message["method"] == "turn/start").unwrap();
    let mode = &begun["params"]["collaborationMode"];
    assert_eq!((&mode["mode"], &mode["settings"]["model"]), (&json!("plan"), &json!("gpt")));
    let plain = Talk::opened();
    let begun = plain.sent.iter().find(|message| message["method"] == "turn/start").unwrap();
    assert_eq!(begun["params"].get("collaborationMode"), None);
}

#[test]
fn a_text_that_steers_ends_with_its_turn() {
    let mut talk = Talk::running();
    talk.say("more");
    let steer = talk.sent.pop_front().unwrap();
    assert_eq!(steer["params"]["expectedTurnId"], "turn-1");
    talk.read(json!({"id": 4, "result": {"turnId": "turn-1"}}));
    assert!(talk.dones().is_empty());
    talk.completed("turn-1", "completed");
    assert_eq!(talk.dones(), vec![(true, None); 2]);
    assert_eq!(talk.next(), None);
}

#[test]
fn a_text_that_comes_too_late_to_steer_begins_a_turn_of_its_own() {
    let mut talk = Talk::running();
    talk.say("more");
    talk.methods();
    talk.completed("turn-1", "completed");
    assert_eq!(talk.dones().len(), 1, "the text is still on its way");
    talk.read(json!({"id": 4, "error": {"code": -32600, "message": "no active turn to steer"}}));
    assert_eq!(talk.next(), Some(("turn/start".into(), json!(5), "more".into())));
    talk.read(json!({"id": 5, "result": {"turn": {"id": "turn-2"}}}));
    talk.completed("turn-2", "failed");
    assert_eq!(talk.dones().len(), 2);
    assert!(!talk.dones()[1].0);
}

#[test]
fn a_text_that_was_taken_in_just_before_the_end_is_not_told_again() {
    let mut talk = Talk::running();
    talk.say("more");
    talk.methods();
    talk.completed("turn-1", "completed");
    talk.read(json!({"id": 4, "result": {"turnId": "turn-1"}}));
    assert_eq!((talk.dones(), talk.next()), (vec![(true, None); 2], None));
}

#[test]
fn a_turn_that_takes_nothing_in_is_waited_for() {
    let mut talk = Talk::running();
    talk.say("more");
    talk.methods();
    let info = json!({"activeTurnNotSteerable": {"turnKind": "review"}});
    talk.read(json!({"id": 4, "error": {"code": -32600, "message": "not steerable", "data": info}}));
    talk.say("and more");
    assert_eq!(talk.next(), None);
    talk.completed("turn-1", "completed");
    assert_eq!(talk.next(), Some(("turn/start".into(), json!(5), "more|and more".into())));
}

#[test]
fn a_stop_forgets_what_was_not_told_and_begins_nothing() {
    let mut talk = Talk::opened();
    talk.methods();
    talk.interrupt();
    assert_eq!(talk.next(), None, "the turn's id is not known yet");
    talk.say("after the stop");
    talk.read(json!({"id": 3, "result": {"turn": {"id": "turn-1"}}}));
    assert_eq!(talk.methods(), ["turn/interrupt"]);
    talk.interrupt();
    assert_eq!(talk.dones(), [(false, Some("interrupted".into()))]);
    talk.completed("turn-1", "interrupted");
    assert_eq!(talk.dones(), vec![(false, Some("interrupted".into())); 2]);
    assert_eq!(talk.methods(), ["turn/interrupt"]);
}

#[test]
fn a_text_on_its_way_when_everything_stops_is_not_begun_anew() {
    let mut talk = Talk::running();
    talk.say("more");
    talk.interrupt();
    talk.completed("turn-1", "interrupted");
    talk.read(json!({"id": 4, "error": {"code": -32600, "message": "no active turn to steer"}}));
    assert_eq!(talk.methods(), ["turn/steer", "turn/interrupt"]);
    assert_eq!(talk.dones(), vec![(false, Some("interrupted".into())); 2]);
}

#[test]
fn a_thread_that_is_not_there_says_so() {
    let mut talk = Talk::new(Turn { session: Some("gone".into()), ..Turn::default() });
    talk.read(json!({"id": 1, "result": {}}));
    talk.read(json!({"id": 2, "error": {"code": -32600, "message": "no rollout found for thread id gone"}}));
    assert!(talk.steps.contains(&Step::SessionUnknown));
    assert_eq!(talk.dones().len(), 1);
    talk.say("and this?");
    assert_eq!(talk.dones().len(), 2);
    assert!(talk.dones().iter().all(|(ok, error)| !ok && error.as_ref().is_some_and(|e| e.contains("gone"))));
}

#[test]
fn the_reason_of_a_refusal_is_told_to_the_turn_before_the_refusal_itself() {
    let mut talk = Talk::running();
    let params = json!({"threadId": "thread-1", "turnId": "turn-1", "itemId": "c", "command": "/bin/bash -lc 'rm -rf /'"});
    let item = json!({"type": "commandExecution", "id": "c", "command": "/bin/bash -lc 'rm -rf /'", "status": "inProgress"});
    talk.read(json!({"method": "item/started", "params": {"threadId": "thread-1", "item": item}}));
    talk.read(json!({"method": "item/commandExecution/requestApproval", "id": 0, "params": params}));
    let ask = talk.steps.iter().find_map(|step| match step {
        Step::Ask(ask) => Some(ask.clone()),
        _ => None,
    });
    let ask = ask.unwrap();
    assert_eq!((ask.tool.as_str(), ask.text.as_str()), ("bash", "`rm -rf /`"));
    assert_eq!(ask.input["command"], "rm -rf /");
    talk.steps.clear();
    talk.answer(&ask.key, &Answer::Deny { reason: Some("Not that.".into()) });
    assert_eq!(
        talk.next(),
        Some(("turn/steer".into(), json!(4), "I refused this, because: Not that.".into()))
    );
    assert_eq!(talk.sent.pop_front().unwrap(), json!({"id": 0, "result": {"decision": "decline"}}));
    let denied = ToolStatus::Denied { reason: Some("Not that.".into()) };
    let is_denied = |kind: &EntryType| matches!(kind, EntryType::ToolUse { status, .. } if *status == denied);
    assert!(is_denied(&talk.entries()[0].0), "{:?}", talk.entries());
    let feedback = EntryType::UserFeedback { denied_tool: "bash".into() };
    assert_eq!(talk.entries()[1], (feedback, "Not that.".to_string()));
    talk.steps.clear();
    let item = json!({"type": "commandExecution", "id": "c", "command": "/bin/bash -lc 'rm -rf /'", "status": "declined"});
    talk.read(json!({"method": "item/completed", "params": {"threadId": "thread-1", "item": item}}));
    assert!(is_denied(&talk.entries()[0].0), "{:?}", talk.entries());
    // It is nothing that was said, so it ends nothing, whether it was taken in or not.
    talk.read(json!({"id": 4, "result": {"turnId": "turn-1"}}));
    talk.completed("turn-1", "completed");
    assert_eq!(talk.dones().len(), 1);
}

#[test]
fn a_question_is_answered_and_shows_its_answer() {
    let mut talk = Talk::running();
    let questions = json!([{"id": "a", "header": "Pick", "question": "Which?", "options": [{"label": "A", "description": "a"}]}]);
    let params = json!({"threadId": "thread-1", "itemId": "q", "questions": questions});
    talk.read(json!({"method": "item/tool/requestUserInput", "id": 5, "params": params}));
    talk.answer("5", &Answer::words("A"));
    let expected = json!({"id": 5, "result": {"answers": {"a": {"answers": ["A"]}}}});
    assert_eq!(talk.sent.pop_front(), Some(expected));
    let (kind, _) = talk.entries().pop().unwrap();
    let shown = serde_json::to_value(kind).unwrap();
    assert_eq!(shown["status"]["status"], "success");
    assert_eq!(shown["action_type"]["result"]["value"], "A");
}

#[test]
fn an_ask_that_nobody_waits_for_is_withdrawn() {
    let mut talk = Talk::running();
    let params = json!({"threadId": "thread-1", "itemId": "c", "command": "ls"});
    talk.read(json!({"method": "item/commandExecution/requestApproval", "id": 0, "params": params}));
    talk.steps.clear();
    talk.read(
        json!({"method": "serverRequest/resolved", "params": {"threadId": "thread-1", "requestId": 0}}),
    );
    assert_eq!(talk.steps[0], Step::Withdrawn("0".into()));
    assert_eq!(talk.entries().len(), 1, "readers hear of it");
    talk.answer("0", &Answer::yes());
    assert_eq!(talk.next(), None);
}

#[test]
fn a_request_that_forge_does_not_know_is_refused() {
    let mut talk = Talk::running();
    talk.read(json!({"method": "item/tool/call", "id": 8, "params": {"tool": "x"}}));
    assert_eq!(talk.sent.pop_front().unwrap()["error"]["code"], -32601);
    let verify = json!({"mode": "openai/userVerification", "challenge": "c"});
    talk.read(json!({"method": "mcpServer/elicitation/request", "id": 9, "params": verify}));
    assert_eq!(talk.sent.pop_front().unwrap()["result"], json!({"action": "decline"}));
}

#[test]
fn a_used_up_allowance_is_a_limit_with_its_end_and_a_missing_login_wants_setup() {
    let mut talk = Talk::running();
    let primary = json!({"usedPercent": 100, "resetsAt": 1_800_000_000});
    let limits = json!({"rateLimits": {"primary": primary, "secondary": null}});
    talk.read(json!({"method": "account/rateLimits/updated", "params": limits}));
    let error = json!({"message": "You've hit your usage limit.", "codexErrorInfo": "usageLimitExceeded"});
    talk.read(json!({"method": "error", "params": {"error": error, "willRetry": false}}));
    let turn = json!({"id": "turn-1", "status": "failed", "error": error});
    talk.read(json!({"method": "turn/completed", "params": {"threadId": "thread-1", "turn": turn}}));
    let limited = Step::Limited { until_ms: Some(1_800_000_000_000) };
    assert_eq!(talk.steps.iter().filter(|step| **step == limited).count(), 1);
    assert_eq!(talk.entries().len(), 1, "told twice, shown once: {:?}", talk.entries());

    let mut talk = Talk::running();
    let error = json!({"message": "no", "codexErrorInfo": "unauthorized"});
    talk.read(json!({"method": "error", "params": {"error": error, "willRetry": false}}));
    let setup = EntryType::ErrorMessage { error_type: ErrorType::SetupRequired };
    assert_eq!(talk.entries()[0].0, setup);
}

#[test]
fn a_provider_that_is_away_for_long_is_one_entry() {
    let mut talk = Talk::running();
    for attempt in 1..=50 {
        let error = json!({"message": format!("Reconnecting... {attempt}/50")});
        talk.read(json!({"method": "error", "params": {"error": error, "willRetry": true}}));
    }
    let shown = |step: &Step| matches!(step, Step::Entry { index: 2, .. });
    assert!(talk.steps.len() == 50 && talk.steps.iter().all(shown), "{:?}", talk.steps.last());
    let item = json!({"type": "agentMessage", "id": "m", "text": "back"});
    talk.read(json!({"method": "item/completed", "params": {"threadId": "thread-1", "item": item}}));
    let error = json!({"message": "Reconnecting... 1/50"});
    talk.read(json!({"method": "error", "params": {"error": error, "willRetry": true}}));
    assert!(matches!(talk.steps.last(), Some(Step::Entry { index: 4, .. })), "{:?}", talk.steps.last());
}

#[test]
fn settings_that_codex_takes_no_more_are_named() {
    let settings = json!({"profile": "work", "include_plan_tool": true, "model": "gpt"});
    let talk = Talk::new(Turn { settings, ..Turn::default() });
    let (_, words) = talk.entries().pop().unwrap();
    assert!(words.ends_with("profile, include_plan_tool"), "{words}");
}

#[test]
fn a_sub_agent_ends_no_turn_of_ours_and_its_tokens_count() {
    let mut talk = Talk::running();
    let item = json!({"type": "commandExecution", "id": "x", "command": "ls", "status": "inProgress"});
    talk.read(json!({"method": "item/started", "params": {"threadId": "child", "item": item}}));
    let turn = json!({"id": "turn-9", "status": "completed"});
    talk.read(json!({"method": "turn/started", "params": {"threadId": "child", "turn": {"id": "turn-9"}}}));
    talk.read(json!({"method": "turn/completed", "params": {"threadId": "child", "turn": turn}}));
    assert!(talk.dones().is_empty());
    let tokens = json!({"inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 3});
    let usage = json!({"total": tokens, "last": tokens});
    for (thread, turn) in [("thread-1", "turn-1"), ("child", "turn-9")] {
        let params = json!({"threadId": thread, "turnId": turn, "tokenUsage": usage});
        talk.read(json!({"method": "thread/tokenUsage/updated", "params": params}));
    }
    let Some(Step::Usage(usage)) = talk.steps.last() else { panic!("{:?}", talk.steps) };
    assert_eq!(
        (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens),
        (Some(12), Some(8), Some(6))
    );
    let Some(Step::Entry { entry, .. }) = talk.steps.first() else { panic!("{:?}", talk.steps) };
    assert_eq!(entry.metadata.as_ref().unwrap()["thread"], "child");
}

#[test]
fn a_to_do_list_and_a_plan_are_shown_as_such() {
    let mut talk = Talk::running();
    let plan = json!([{"step": "one", "status": "completed"}, {"step": "two", "status": "inProgress"}]);
    talk.read(json!({"method": "turn/plan/updated", "params": {"threadId": "thread-1", "plan": plan}}));
    let shown = serde_json::to_value(&talk.entries()[0].0).unwrap();
    assert_eq!(
        shown["action_type"]["todos"][1],
        json!({"content": "two", "status": "in_progress", "priority": null})
    );
    for piece in ["1. do", " it"] {
        let params = json!({"threadId": "thread-1", "itemId": "p", "delta": piece});
        talk.read(json!({"method": "item/plan/delta", "params": params}));
    }
    let item = json!({"type": "plan", "id": "p", "text": "1. do it"});
    talk.read(json!({"method": "item/completed", "params": {"threadId": "thread-1", "item": item}}));
    let shown = serde_json::to_value(&talk.entries().pop().unwrap().0).unwrap();
    assert_eq!(shown["action_type"], json!({"action": "plan_presentation", "plan": "1. do it"}));
}

#[test]
fn the_output_of_a_command_flows_while_it_runs() {
    let mut talk = Talk::running();
    let item = json!({"type": "commandExecution", "id": "x", "command": "make", "status": "inProgress"});
    talk.read(json!({"method": "item/started", "params": {"threadId": "thread-1", "item": item}}));
    talk.read(json!({"method": "item/commandExecution/outputDelta", "params": {"itemId": "x", "delta": "cc a.c\n"}}));
    let shown = serde_json::to_value(&talk.entries().pop().unwrap().0).unwrap();
    assert_eq!(shown["action_type"]["result"]["output"], "cc a.c\n");
    assert_eq!(shown["status"]["status"], "created");
}

#[test]
fn lines_of_its_own_log_are_notes_and_other_errors_are_shown_without_colours() {
    let mut conversation = agent("CODEX").unwrap().conversation(&Turn::default());
    let log = "\u{1b}[2m2026-11-15T20:04:08.928334Z\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m codex_core: no";
    assert!(matches!(&conversation.read_error(log)[..], [Step::Note(note)] if note.starts_with("2026")));
    let steps = conversation.read_error("\u{1b}[31mError:\u{1b}[0m error loading config");
    let Step::Entry { entry, .. } = &steps[0] else { panic!("{steps:?}") };
    assert_eq!(entry.content, "Error: error loading config");
}

#[test]
fn a_message_of_a_wrong_shape_is_quoted() {
    for line in [
        json!({"method": "item/started", "params": {"item": {"type": "commandExecution"}}}),
        json!({"method": "turn/completed", "params": {"turn": 1}}),
        json!({"jsonrpc": "2.0"}),
    ] {
        let mut talk = Talk::running();
        talk.read(line.clone());
        let (kind, content) = talk.entries().remove(0);
        assert_eq!(kind, EntryType::ErrorMessage { error_type: ErrorType::Other });
        assert!(content.contains(&line.to_string()), "{content}");
    }
    let mut talk = Talk::running();
    talk.read(json!({"method": "thread/invented", "params": {"a": 1}}));
    assert!(talk.steps.is_empty());
}
