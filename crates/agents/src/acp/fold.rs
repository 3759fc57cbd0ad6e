//! The conversation with an agent that speaks the Agent Client Protocol: its messages become steps, ours its messages.
//!
//! A session is opened, told its mode, and then given one prompt after the other; what a person says meanwhile waits.
//! Only what is still open is kept: the message being written, tool calls without an end, asks without an answer.

use std::collections::{BTreeMap, VecDeque};

use forge_model::Answer;
use forge_model::entry::{EntryType, ErrorType, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::choice;
use super::failure::Refusal;
use super::modes::{self, Decides, Setting, Wanted};
use super::text::Growing;
use super::tools::Call;
use super::usage::Counter;
use super::wire::{self, Choice, Failure, Line, Message};
use crate::conversation::remembered;
use crate::entries::Entries;
use crate::{Conversation, Step, Turn};

/// The version of the protocol that Forge speaks.
const PROTOCOL: i64 = 1;

/// What makes one agent's conversation differ from another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Quirks {
    /// It tells the provider's errors and its own notices as pieces of the answer: `Error: …`, `Info: …`.
    pub(super) notices_in_text: bool,
    /// Its usage counts all turns of the process.
    pub(super) usage_in_total: bool,
    /// The title of a call that runs a command is the command.
    pub(super) titles_are_commands: bool,
}

/// A conversation with one process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fold {
    title: String,
    quirks: Quirks,
    wanted: Wanted,
    /// How to log in when the agent wants that, where the profile says how.
    auth: Option<String>,
    /// The agent is told that Forge reads and writes files for it.
    offers_files: bool,
    append: String,
    /// The servers of MCP that a session is given.
    #[serde(default)]
    servers: Value,
    /// The directories below which paths are shown relative.
    pub(super) roots: Vec<String>,
    pub(super) entries: Entries,
    requests: u64,
    /// Our requests that are not answered yet.
    pending: BTreeMap<u64, Wait>,
    /// The session, or before it is open the one to go on with.
    session: Option<String>,
    /// What is left to set before the first prompt.
    settings: VecDeque<Setting>,
    state: State,
    /// What is to be said next, in order.
    waiting: VecDeque<Said>,
    /// Something was said to this process.
    pub(super) prompted: bool,
    /// The prompt under way, as it was sent.
    pub(super) prompt: Option<String>,
    pub(super) replay: Replay,
    pub(super) text: Growing,
    pub(super) calls: BTreeMap<String, Call>,
    /// The newest calls that are over: what is told of them later is late.
    pub(super) over: VecDeque<String>,
    pub(super) asks: BTreeMap<String, OpenAsk>,
    /// Files that the agent waits for: the request, and whether it wants to read.
    pub(super) files: BTreeMap<String, (Value, bool)>,
    /// The entry of the agent's plan in this turn.
    pub(super) plan: Option<usize>,
    pub(super) summary: Option<String>,
    pub(super) usage: Counter,
    interrupted: bool,
    /// Why nothing more can be said to this process.
    broken: Option<String>,
}

/// Something that is to be said.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    text: String,
    /// It is shown already.
    shown: bool,
    /// It belongs to the turn before, and its end is that turn's end.
    same_turn: bool,
}

/// What a request of ours is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Wait {
    Initialize,
    Authenticate,
    New,
    Resume,
    Load,
    Set { must: bool },
    Prompt,
}

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Opening,
    Open,
}

/// Whether what the agent tells is of an earlier process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Replay {
    /// It may be: the session was loaded, and nothing new was told yet.
    Maybe,
    /// It is, until the agent shows that it is through with it.
    Yes,
    No,
}

/// Something the agent waits for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenAsk {
    pub(super) id: Value,
    pub(super) options: Vec<Choice>,
    pub(super) call: String,
}

/// Returns the servers of MCP that a session is given: Forge's own, where the profile wants it.
fn servers(turn: &Turn) -> Value {
    match turn.forge_tools.split_first() {
        Some((program, rest)) => json!([{"name": "forge", "command": program, "args": rest, "env": []}]),
        None => json!([]),
    }
}

impl Fold {
    pub(super) fn new(title: &str, turn: &Turn, quirks: Quirks, wanted: Wanted) -> Self {
        let first = Said { text: turn.prompt.clone(), shown: true, same_turn: false };
        Self {
            title: title.to_string(),
            quirks,
            wanted,
            auth: turn.text_setting("auth_method").map(str::to_string),
            offers_files: turn.flag_setting("fs").unwrap_or(false),
            append: turn.append_prompt().to_string(),
            servers: servers(turn),
            roots: vec![turn.worktree.clone()],
            entries: Entries::default(),
            requests: 0,
            pending: BTreeMap::new(),
            session: turn.session.clone(),
            settings: VecDeque::new(),
            state: State::Opening,
            waiting: VecDeque::from([first]),
            prompted: false,
            prompt: None,
            replay: Replay::No,
            text: Growing::default(),
            calls: BTreeMap::new(),
            over: VecDeque::new(),
            asks: BTreeMap::new(),
            files: BTreeMap::new(),
            plan: None,
            summary: None,
            usage: Counter::new(quirks.usage_in_total, turn.session.is_none()),
            interrupted: false,
            broken: None,
        }
    }
}

impl Conversation for Fold {
    fn start(&mut self) -> Vec<Step> {
        let first = self.waiting.front().map(|said| said.text.clone()).unwrap_or_default();
        let shown = self.entries.show(EntryType::UserMessage, first);
        let files = json!({"readTextFile": self.offers_files, "writeTextFile": self.offers_files});
        let params = json!({
            "protocolVersion": PROTOCOL,
            "clientInfo": {"name": "forge", "title": "Forge", "version": "1"},
            "clientCapabilities": {"fs": files, "terminal": false},
        });
        vec![shown, self.request(Wait::Initialize, "initialize", params)]
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        let messages = match self.entries.understand::<Line>(line) {
            Ok(Line::One(message)) => vec![*message],
            Ok(Line::Several(messages)) => messages,
            Err(steps) => return steps,
        };
        messages.into_iter().flat_map(|message| self.happened(message, line)).collect()
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        self.entries.show_muttering(line).into_iter().collect()
    }

    fn say(&mut self, prompt: &str) -> Vec<Step> {
        self.waiting.push_back(Said { text: prompt.to_string(), shown: false, same_turn: false });
        self.next()
    }

    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        let Some(OpenAsk { id, options, call }) = self.asks.remove(ask) else {
            return vec![Step::Note(format!("{} does not wait for ask {ask}", self.title))];
        };
        let mut steps = Vec::new();
        match answer {
            Answer::Approve { .. } => steps.extend(self.show_call(&call, ToolStatus::Created)),
            Answer::Deny { reason } => {
                let denied = self.calls.get(&call).map(|call| (call.tool(), call.question(&self.roots)));
                let (denied_tool, about) = denied.unwrap_or_default();
                steps.extend(self.end_call(&call, ToolStatus::Denied { reason: reason.clone() }));
                let words = reason.clone().unwrap_or_default();
                // The protocol has no words for a refusal, so the agent is told them once it is through.
                if !words.trim().is_empty() {
                    let text = format!("I refused this: {about}\n{words}");
                    let said = Said { text, shown: true, same_turn: true };
                    let own = self.waiting.iter().take_while(|said| said.same_turn).count();
                    self.waiting.insert(own, said);
                }
                steps.push(self.entries.show(EntryType::UserFeedback { denied_tool }, words));
            }
        }
        steps.push(Step::Send(wire::respond(&id, choice::outcome(&options, answer))));
        steps
    }

    fn interrupt(&mut self) -> Vec<Step> {
        self.interrupted = true;
        if self.prompt.is_none() {
            return self.next();
        }
        let mut steps = Vec::new();
        if let Some(session) = &self.session {
            steps.push(Step::Send(wire::notify("session/cancel", json!({"sessionId": session}))));
        }
        for (key, ask) in std::mem::take(&mut self.asks) {
            steps.push(Step::Withdrawn(key));
            steps.extend(self.show_call(&ask.call, ToolStatus::Created));
            steps.push(Step::Send(wire::respond(&ask.id, choice::cancelled())));
        }
        steps
    }

    fn file(&mut self, key: &str, came: Result<&str, &str>) -> Vec<Step> {
        let Some((id, reads)) = self.files.remove(key) else {
            return vec![Step::Note(format!("{} does not wait for file {key}", self.title))];
        };
        vec![Step::Send(match came {
            Ok(text) if reads => wire::respond(&id, json!({"content": text})),
            Ok(_) => wire::respond(&id, json!({})),
            Err(why) => wire::refuse(&id, -32603, why),
        })]
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

impl Fold {
    fn request(&mut self, wait: Wait, method: &str, params: Value) -> Step {
        self.requests += 1;
        self.pending.insert(self.requests, wait);
        Step::Send(wire::request(self.requests, method, params))
    }

    fn happened(&mut self, message: Message, line: &str) -> Vec<Step> {
        let Message { id, method, params, result, error } = message;
        match (method.as_deref(), id) {
            (Some("session/update"), _) => self.updated(params, line),
            (Some("$/cancel_request"), None) => self.withdrawn(&params),
            (Some(method), None) => vec![Step::Note(format!("{} told of {method}", self.title))],
            (Some(method), Some(id)) => self.requested(id, method, params, line),
            (None, Some(id)) => match number(&id).and_then(|id| self.pending.remove(&id)) {
                Some(wait) if error.is_null() => self.answered(wait, Ok(result)),
                Some(wait) => self.answered(wait, Err(Failure::read(error))),
                None => {
                    vec![Step::Note(format!("{} answered a request that was not made: {id}", self.title))]
                }
            },
            (None, None) => vec![self.not_understood(line, "neither a request nor an answer")],
        }
    }

    /// Shows a message that is whole, but not of this protocol.
    pub(super) fn not_understood(&mut self, line: &str, why: impl std::fmt::Display) -> Step {
        self.entries.not_understood(line, &serde::de::Error::custom(why))
    }

    fn answered(&mut self, wait: Wait, answer: Result<Value, Failure>) -> Vec<Step> {
        match (wait, answer) {
            (Wait::Initialize, Ok(agent)) => self.open(&agent),
            (Wait::Authenticate, Ok(_)) => {
                self.auth = None;
                vec![self.new_session()]
            }
            (Wait::New, Err(failure))
                if self.auth.is_some() && Refusal::read(&failure).kind == ErrorType::SetupRequired =>
            {
                let params = json!({"methodId": self.auth});
                vec![self.request(Wait::Authenticate, "authenticate", params)]
            }
            (Wait::New | Wait::Resume | Wait::Load, Ok(opened)) => self.opened(&opened, wait == Wait::Load),
            (Wait::Resume | Wait::Load, Err(failure)) => {
                let refusal = Refusal::read(&failure);
                let unknown = refusal.kind != ErrorType::SetupRequired && refusal.limited.is_none();
                let mut steps = Vec::from_iter(unknown.then_some(Step::SessionUnknown));
                steps.extend(self.give_up(refusal));
                steps
            }
            (Wait::Set { .. }, Ok(_)) => self.set_next(),
            (Wait::Set { must: false }, Err(failure)) => {
                let mut steps =
                    vec![Step::Note(format!("{} refused a mode: {}", self.title, failure.message))];
                steps.extend(self.set_next());
                steps
            }
            (Wait::Prompt, Ok(result)) => self.ended(&result),
            (Wait::Prompt, Err(failure)) => self.failed(&Refusal::read(&failure)),
            (_, Err(failure)) => self.give_up(Refusal::read(&failure)),
        }
    }

    /// Opens a session, by what the agent says it can.
    fn open(&mut self, agent: &Value) -> Vec<Step> {
        if let Some(version) = agent.get("protocolVersion").and_then(Value::as_i64).filter(|v| *v != PROTOCOL)
        {
            let words = format!(
                "{} speaks version {version} of the Agent Client Protocol; Forge speaks {PROTOCOL}",
                self.title
            );
            return self.give_up(Refusal::said(&words));
        }
        let can = agent.get("agentCapabilities").unwrap_or(&Value::Null);
        let resumes = can.get("sessionCapabilities").and_then(|session| session.get("resume"));
        let loads = can.get("loadSession").and_then(Value::as_bool) == Some(true);
        let Some(session) = self.session.clone() else { return vec![self.new_session()] };
        let params =
            json!({"sessionId": session, "cwd": self.roots.first(), "mcpServers": self.mcp_servers()});
        if resumes.is_some_and(|resumes| !resumes.is_null() && *resumes != Value::Bool(false)) {
            vec![self.request(Wait::Resume, "session/resume", params)]
        } else if loads {
            vec![self.request(Wait::Load, "session/load", params)]
        } else {
            let words = format!("{} cannot go on with an earlier session", self.title);
            let mut steps = vec![Step::SessionUnknown];
            steps.extend(self.give_up(Refusal::said(&words)));
            steps
        }
    }

    /// A fold that was kept before there were any has none.
    fn mcp_servers(&self) -> Value {
        if self.servers.is_array() { self.servers.clone() } else { json!([]) }
    }

    fn new_session(&mut self) -> Step {
        let params = json!({"cwd": self.roots.first(), "mcpServers": self.mcp_servers()});
        self.request(Wait::New, "session/new", params)
    }

    fn opened(&mut self, opened: &Value, loaded: bool) -> Vec<Step> {
        let told = opened.get("sessionId").and_then(Value::as_str).map(str::to_string);
        let Some(session) = told.or_else(|| self.session.clone()) else {
            let words = format!("{} opened a session without a name", self.title);
            return self.give_up(Refusal::said(&words));
        };
        self.session = Some(session.clone());
        let mut steps = vec![Step::Session(session.clone())];
        if loaded {
            self.replay = Replay::Maybe;
        }
        match modes::settings(opened, &session, &self.wanted, loaded) {
            Ok(settings) => {
                self.settings = settings.into();
                steps.extend(self.set_next());
            }
            Err(lacks) => {
                let words = format!("{} {lacks}", self.title);
                steps.extend(self.give_up(Refusal::said(&words)));
            }
        }
        steps
    }

    fn set_next(&mut self) -> Vec<Step> {
        match self.settings.pop_front() {
            Some(Setting { method, params, must }) => vec![self.request(Wait::Set { must }, &method, params)],
            None => {
                self.state = State::Open;
                self.next()
            }
        }
    }

    /// Says what waits, when its time has come.
    fn next(&mut self) -> Vec<Step> {
        if self.prompt.is_some() {
            return Vec::new();
        }
        let over = match &self.broken {
            Some(broken) => Some(broken.clone()),
            None => self.interrupted.then(|| "interrupted".to_string()),
        };
        if let Some(why) = over {
            // Whoever waits for a turn must hear that it will not come.
            let turns = std::mem::take(&mut self.waiting).into_iter().filter(|said| !said.same_turn);
            let done = |_| Step::Done { ok: false, error: Some(why.clone()), summary: None };
            let steps = turns.map(done).collect();
            self.interrupted &= self.state == State::Opening;
            return steps;
        }
        if self.state == State::Opening {
            return Vec::new();
        }
        let Some(said) = self.waiting.pop_front() else { return Vec::new() };
        let mut steps = Vec::new();
        if !said.shown {
            steps.push(self.entries.show(EntryType::UserMessage, said.text.as_str()));
        }
        let text = format!("{}{}", said.text, self.append);
        let params = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        self.prompt = Some(text);
        self.prompted = true;
        steps.push(self.request(Wait::Prompt, "session/prompt", params));
        steps
    }

    /// The agent is through with a prompt.
    fn ended(&mut self, result: &Value) -> Vec<Step> {
        let reason = result.get("stopReason").and_then(Value::as_str).unwrap_or("end_turn");
        let told = result.get("usage").is_some();
        let mut steps = self.settle_replay();
        if self.quirks.notices_in_text
            && !told
            && reason == "end_turn"
            && let Some((index, text)) = self.text.said()
            && text.starts_with("Error: ")
        {
            let refusal = Refusal::said(text);
            let kind = EntryType::ErrorMessage { error_type: refusal.kind.clone() };
            let entry = forge_model::Entry::new(kind, text);
            self.text = Growing::default();
            self.summary = None;
            steps.push(Step::Entry { index, entry });
            steps.extend(refusal.limited);
            steps.extend(self.close_turn(Some(refusal.words), result));
            return steps;
        }
        let error = match reason {
            "cancelled" => Some("interrupted".to_string()),
            "refusal" => Some(format!("{} refused to go on", self.title)),
            "max_tokens" => Some("the answer became longer than the model can write".to_string()),
            "max_turn_requests" => {
                Some(format!("{} asked its model as often as it may in one turn", self.title))
            }
            _ if self.interrupted => Some("interrupted".to_string()),
            _ => None,
        };
        if let Some(error) = error.as_ref().filter(|error| *error != "interrupted") {
            steps.extend(self.entries.show_error(ErrorType::Other, error));
        }
        steps.extend(self.close_turn(error, result));
        steps
    }

    /// The agent refused a prompt.
    fn failed(&mut self, refusal: &Refusal) -> Vec<Step> {
        let mut steps = self.settle_replay();
        if self.interrupted {
            steps.extend(self.close_turn(Some("interrupted".to_string()), &Value::Null));
            return steps;
        }
        steps.extend(self.text.close());
        steps.extend(refusal.limited.clone());
        steps.extend(self.entries.show_error(refusal.kind.clone(), &refusal.words));
        steps.extend(self.close_turn(Some(refusal.words.clone()), &Value::Null));
        steps
    }

    fn close_turn(&mut self, error: Option<String>, result: &Value) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some((_, said)) = self.text.said().filter(|(_, said)| !said.trim().is_empty()) {
            self.summary = Some(said.to_string());
        }
        steps.extend(self.text.close());
        for (key, ask) in std::mem::take(&mut self.asks) {
            steps.push(Step::Withdrawn(key));
            steps.push(Step::Send(wire::respond(&ask.id, choice::cancelled())));
        }
        // An agent that is through and did not say that a call failed has done it.
        let status = if error.is_some() { ToolStatus::Failed } else { ToolStatus::Success };
        let mut open: Vec<_> = self.calls.iter().map(|(id, call)| (call.index, id.clone())).collect();
        open.sort_unstable();
        for (_, id) in open {
            steps.extend(self.end_call(&id, status.clone()));
        }
        self.prompt = None;
        self.plan = None;
        self.files.clear();
        steps.extend(self.usage.turn(result).map(Step::Usage));
        let goes_on = error.is_none() && self.waiting.front().is_some_and(|said| said.same_turn);
        if !goes_on {
            self.waiting.retain(|said| !said.same_turn);
            let summary = self.summary.take();
            steps.push(Step::Done { ok: error.is_none(), error, summary });
        }
        steps.extend(self.next());
        self.interrupted = false;
        steps
    }

    /// Ends a conversation that could not begin.
    fn give_up(&mut self, refusal: Refusal) -> Vec<Step> {
        let mut steps = Vec::from_iter(refusal.limited);
        steps.extend(self.entries.show_error(refusal.kind, &refusal.words));
        self.broken = Some(refusal.words);
        steps.extend(self.next());
        steps
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn decides(&self) -> Decides {
        self.wanted.decides
    }

    pub(super) fn quirks(&self) -> Quirks {
        self.quirks
    }
}

/// Reads the number of a request of ours; some give it back as a text.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}
