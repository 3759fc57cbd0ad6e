//! The conversation with Claude Code: its lines become steps, our answers become its lines.
//!
//! Only what is still open is kept: the message being written, tool calls without a result, asks without an
//! answer. All of it goes when the turn ends.

use std::collections::{BTreeMap, HashMap};

use forge_model::entry::{EntryType, ErrorType, ToolStatus};
use forge_model::{Answer, Entry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asks::OpenAsk;
use super::outcome::Account;
use super::partial::{Kind, Partial};
use super::tools::ToolCall;
use super::turns::Turns;
use super::wire::{self, Block, Body, Delta, Line, Message, Part, StreamEvent, System};
use crate::conversation::remembered;
use crate::entries::Entries;
use crate::{Conversation, Step, Turn};

/// How many tool calls may be open at once. An agent that leaves more without a result never ends them, and what is
/// remembered must stay small.
const MOST_OPEN: usize = 1000;

/// A conversation with one process of Claude Code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fold {
    prompt: String,
    append: String,
    /// The session goes on from an earlier process.
    pub(super) resumed: bool,
    /// The directories below which paths are shown relative: the worktree, and what the agent calls it.
    roots: Vec<String>,
    pub(super) entries: Entries,
    requests: u64,
    pub(super) session: Option<String>,
    model: Option<String>,
    pub(super) partial: Partial,
    pub(super) calls: HashMap<String, ToolCall>,
    pub(super) asks: BTreeMap<String, OpenAsk>,
    /// The entry of the retries that are being made; the next one replaces it.
    pub(super) retry: Option<usize>,
    pub(super) summary: Option<String>,
    pub(super) account: Account,
    pub(super) turns: Turns,
    /// It was asked to stop, and nothing was said since.
    pub(super) interrupted: bool,
}

impl Fold {
    pub(crate) fn new(turn: &Turn) -> Self {
        let resumed = turn.session.is_some();
        Self {
            prompt: turn.prompt.clone(),
            append: turn.append_prompt().to_string(),
            resumed,
            roots: vec![turn.worktree.clone()],
            entries: Entries::default(),
            requests: 0,
            session: None,
            model: None,
            partial: Partial::default(),
            calls: HashMap::new(),
            asks: BTreeMap::new(),
            retry: None,
            summary: None,
            account: Account::new(resumed),
            turns: Turns::default(),
            interrupted: false,
        }
    }
}

impl Conversation for Fold {
    fn start(&mut self) -> Vec<Step> {
        let prompt = std::mem::take(&mut self.prompt);
        let mut steps = vec![self.request(json!({"subtype": "initialize", "hooks": null}))];
        steps.extend(self.say(&prompt));
        steps
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        match self.entries.understand(line) {
            Ok(line) => self.happened(line),
            Err(steps) => steps,
        }
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        self.entries.show_error_line(line).into_iter().collect()
    }

    fn say(&mut self, prompt: &str) -> Vec<Step> {
        self.interrupted = false;
        let text = format!("{prompt}{}", self.append);
        let sent = Step::Send(wire::user(&text));
        self.turns.told(text);
        vec![self.entries.show(EntryType::UserMessage, prompt), sent]
    }

    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        self.answered(ask, answer)
    }

    fn interrupt(&mut self) -> Vec<Step> {
        self.interrupted = true;
        vec![self.request(json!({"subtype": "interrupt"}))]
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

impl Fold {
    /// Shows the prompt, for those who say it in another way.
    pub(crate) fn show_prompt(&mut self) -> Step {
        let prompt = std::mem::take(&mut self.prompt);
        self.turns.told(prompt.clone());
        self.turns.echoed(&prompt);
        self.entries.show(EntryType::UserMessage, prompt)
    }

    fn request(&mut self, request: Value) -> Step {
        self.requests += 1;
        Step::Send(wire::request(&format!("forge-{}", self.requests), request))
    }

    fn happened(&mut self, line: Line) -> Vec<Step> {
        match line {
            Line::System(system) => self.system(system),
            Line::Assistant(message) => self.assistant(message),
            Line::User(message) => self.user(message),
            // A sub-agent's message is shown when it is whole.
            Line::StreamEvent { parent_tool_use_id: Some(_), .. } => Vec::new(),
            Line::StreamEvent { event, .. } => self.streamed(event).into_iter().collect(),
            Line::Result(outcome) => self.ended(&outcome),
            Line::ControlRequest { request_id, request } => self.requested(request_id, &request),
            Line::ControlCancelRequest { request_id } => self.withdrawn(&request_id),
            // Most are the echo of our own answers; a failed one is worth a note.
            Line::ControlResponse { response } => match response.subtype.as_deref() {
                Some("error") => {
                    let request = response.request_id.unwrap_or_default();
                    let error = response.error.unwrap_or_default();
                    vec![Step::Note(format!("Claude Code refused request {request}: {error}"))]
                }
                _ => Vec::new(),
            },
            Line::RateLimitEvent { rate_limit_info: info } => self.account.limit(&info),
            Line::Unknown => Vec::new(),
        }
    }

    fn system(&mut self, system: System) -> Vec<Step> {
        let mut steps = Vec::new();
        match system.subtype.as_deref() {
            // Every turn begins with it; only what is new is told.
            Some("init") => {
                if let Some(cwd) = system.cwd.filter(|cwd| !self.roots.contains(cwd)) {
                    self.roots.truncate(1);
                    self.roots.push(cwd);
                }
                if system.session_id.is_some() && system.session_id != self.session {
                    self.session.clone_from(&system.session_id);
                    steps.extend(system.session_id.map(Step::Session));
                }
                // What was still queued when it was asked to stop would be played now.
                if self.interrupted && self.turns.is_over() {
                    steps.push(self.request(json!({"subtype": "interrupt"})));
                }
                if let Some(model) = system.model.filter(|model| self.model.as_ref() != Some(model)) {
                    let text = format!("System initialized with model: {model}");
                    steps.push(self.entries.show(EntryType::SystemMessage, text));
                    self.model = Some(model);
                }
            }
            Some("api_retry") => steps.push(self.retried(&system)),
            Some("informational") => {
                steps.extend(system.content.map(|text| self.entries.show(EntryType::SystemMessage, text)));
            }
            Some("compact_boundary") => {
                steps.push(self.entries.show(EntryType::SystemMessage, "Earlier conversation summarised"));
            }
            _ => {}
        }
        steps
    }

    /// Shows a retry in place of the one before it: a provider that is away for long is one entry.
    fn retried(&mut self, system: &System) -> Step {
        let reason = system.error.as_deref().unwrap_or("unknown error");
        let status = system.error_status.map(|status| format!(" ({status})")).unwrap_or_default();
        let attempt = system.attempt.unwrap_or_default();
        let most = system.max_retries.unwrap_or_default();
        let wait = system.retry_delay_ms.map(|ms| format!(" in {:.1} s", ms / 1000.0)).unwrap_or_default();
        let text = format!("The provider refused: {reason}{status}. Retry {attempt} of {most}{wait}.");
        let entry = Entry::new(EntryType::SystemMessage, text);
        match self.retry {
            Some(index) => Step::Entry { index, entry },
            None => {
                let (index, step) = self.entries.add(entry);
                self.retry = Some(index);
                step
            }
        }
    }

    /// Returns the blocks of a message, and shows what is none.
    fn blocks(&mut self, body: Body, steps: &mut Vec<Step>) -> Vec<Block> {
        let parts = match body {
            Body::Blocks(parts) => parts,
            Body::Text(text) => vec![Part::Block(Block::Text { text })],
            Body::Unknown(Value::Null) => Vec::new(),
            Body::Unknown(odd) => vec![Part::Unknown(odd)],
        };
        let mut blocks = Vec::new();
        for part in parts {
            match part {
                Part::Block(block) => blocks.push(block),
                Part::Unknown(odd) => {
                    if let Err(error) = Block::deserialize(&odd) {
                        steps.push(self.entries.not_understood(&odd.to_string(), &error));
                    }
                }
            }
        }
        blocks
    }

    fn assistant(&mut self, said: Message) -> Vec<Step> {
        let Message { message, parent_tool_use_id: parent, error, .. } = said;
        self.retry = None;
        let mut steps = Vec::new();
        for block in self.blocks(message.content, &mut steps) {
            match block {
                Block::Text { text } => match &error {
                    Some(error) => {
                        let login = error == "authentication_failed";
                        let kind = if login { ErrorType::SetupRequired } else { ErrorType::Other };
                        steps.extend(self.entries.show_error(kind, &text));
                    }
                    None => {
                        let own = parent.is_none();
                        steps.extend(self.whole(message.id.as_deref(), Kind::Text, &text, own));
                        if own && !text.trim().is_empty() {
                            self.summary = Some(text);
                        }
                    }
                },
                Block::Thinking { thinking } => {
                    let own = parent.is_none();
                    steps.extend(self.whole(message.id.as_deref(), Kind::Thinking, &thinking, own));
                }
                Block::ToolUse { id, name, input } => {
                    steps.extend(self.called(id, &name, &input, parent.clone()));
                }
                Block::ToolResult { .. } | Block::Unknown => {}
            }
        }
        steps
    }

    /// Shows a whole block, in place of the pieces that came before it.
    fn whole(&mut self, message: Option<&str>, kind: Kind, text: &str, own: bool) -> Option<Step> {
        let pieces = if own { self.partial.settle(message, kind, text) } else { None };
        match pieces {
            Some((_, true)) => None,
            Some((index, false)) => Some(Step::Entry { index, entry: kind.entry(text) }),
            None if text.trim().is_empty() => None,
            None => Some(self.entries.add(kind.entry(text)).1),
        }
    }

    /// Shows a tool call, unless it is shown already.
    pub(super) fn called(
        &mut self,
        id: String,
        tool: &str,
        input: &Value,
        parent: Option<String>,
    ) -> Option<Step> {
        if self.calls.contains_key(&id) {
            return None;
        }
        if self.calls.len() >= MOST_OPEN {
            let oldest = self.calls.values().min_by_key(|call| call.index).map(|call| call.id.clone());
            self.calls.remove(&oldest.unwrap_or_default());
        }
        let mut call = ToolCall::new(id, tool, input, &self.roots);
        call.parent = parent;
        let (index, step) = self.entries.add(call.entry(ToolStatus::Created));
        call.index = index;
        self.calls.insert(call.id.clone(), call);
        Some(step)
    }

    fn user(&mut self, message: Message) -> Vec<Step> {
        // A plain text is the echo of what we said ourselves, printed when the agent reads it.
        if let Body::Text(text) = &message.message.content {
            self.turns.echoed(text);
            return Vec::new();
        }
        let mut steps = Vec::new();
        let blocks = self.blocks(message.message.content, &mut steps);
        let details = message.tool_use_result.filter(|_| blocks.len() == 1);
        for block in blocks {
            match block {
                Block::ToolResult { tool_use_id, content, is_error } => {
                    let Some(mut call) = self.calls.remove(&tool_use_id) else { continue };
                    let failed = is_error == Some(true);
                    call.finish(&content, failed, details.as_ref());
                    let status = if failed { ToolStatus::Failed } else { ToolStatus::Success };
                    steps.push(Step::Entry { index: call.index, entry: call.entry(status) });
                }
                Block::Text { text } if text.starts_with("[Request interrupted") => {
                    steps.push(self.entries.show(EntryType::SystemMessage, "Interrupted"));
                }
                _ => {}
            }
        }
        steps
    }

    fn streamed(&mut self, event: StreamEvent) -> Option<Step> {
        match event {
            StreamEvent::MessageStart { message } => {
                self.retry = None;
                self.partial.begin(message.id);
                None
            }
            StreamEvent::ContentBlockDelta { index, delta } => {
                let (kind, piece) = match &delta {
                    Delta::Text { text } => (Kind::Text, text),
                    Delta::Thinking { thinking } => (Kind::Thinking, thinking),
                    Delta::Unknown => return None,
                };
                self.partial.grow(index, kind, piece, &mut self.entries)
            }
            StreamEvent::Unknown => None,
        }
    }
}
