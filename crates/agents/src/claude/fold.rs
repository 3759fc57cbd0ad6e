//! The conversation with Claude Code: its lines become steps, our answers become its lines.
//!
//! Only what is still open is kept: the message being written, tool calls without a result, asks without an
//! answer. All of it goes when the turn ends.

use std::collections::{BTreeMap, HashMap};

use forge_model::entry::{EntryType, ErrorType, ToolStatus};
use forge_model::{Answer, AskKind, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::partial::{Kind, Partial};
use super::tools::{ToolCall, questions};
use super::wire::{self, Block, Body, Delta, Line, Message, Outcome, Request, StreamEvent, System};
use crate::conversation::remembered;
use crate::entries::Entries;
use crate::{AskRequest, Conversation, Step, Turn};

/// A conversation with one process of Claude Code.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fold {
    prompt: String,
    append: String,
    /// The session goes on from an earlier process, whose cost its totals include.
    resumed: bool,
    /// The directories below which paths are shown relative: the worktree, and what the agent calls it.
    roots: Vec<String>,
    entries: Entries,
    requests: u64,
    session: Option<String>,
    model: Option<String>,
    partial: Partial,
    calls: HashMap<String, ToolCall>,
    asks: BTreeMap<String, OpenAsk>,
    summary: Option<String>,
    usage: Usage,
    total_cost_usd: f64,
    interrupted: bool,
    limited: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct OpenAsk {
    kind: AskKind,
    input: Value,
    call: String,
}

impl Fold {
    pub(super) fn new(turn: &Turn) -> Self {
        Self {
            prompt: turn.prompt.clone(),
            append: turn.append_prompt().to_string(),
            resumed: turn.session.is_some(),
            roots: vec![turn.worktree.clone()],
            entries: Entries::default(),
            requests: 0,
            session: None,
            model: None,
            partial: Partial::default(),
            calls: HashMap::new(),
            asks: BTreeMap::new(),
            summary: None,
            usage: Usage::default(),
            total_cost_usd: 0.0,
            interrupted: false,
            limited: false,
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
        if line.trim().is_empty() {
            return Vec::new();
        }
        match serde_json::from_str::<Line>(line) {
            Ok(line) => self.happened(line),
            Err(error) => match serde_json::from_str::<serde::de::IgnoredAny>(line) {
                Ok(_) => vec![Step::Note(format!("could not read a line of Claude Code: {error}"))],
                Err(_) => vec![self.entries.show(EntryType::SystemMessage, line.trim_end())],
            },
        }
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        self.entries.show_error_line(line).into_iter().collect()
    }

    fn say(&mut self, prompt: &str) -> Vec<Step> {
        let shown = self.entries.show(EntryType::UserMessage, prompt);
        vec![shown, Step::Send(wire::user(&format!("{prompt}{}", self.append)))]
    }

    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        let Some(OpenAsk { kind, input, call }) = self.asks.remove(ask) else {
            return vec![Step::Note(format!("Claude Code does not wait for ask {ask}"))];
        };
        match answer {
            Answer::Approve { text, .. } => {
                vec![Step::Send(wire::respond(ask, allow(kind, input, text.as_deref())))]
            }
            Answer::Deny { reason } => {
                let mut steps = Vec::new();
                let mut denied_tool = String::new();
                // Its result will only repeat the reason, so the call is over now.
                if let Some(call) = self.calls.remove(&call) {
                    let entry = call.entry(ToolStatus::Denied { reason: reason.clone() });
                    steps.push(Step::Entry { index: call.index, entry });
                    denied_tool = call.name;
                }
                let words = reason.clone().unwrap_or_default();
                steps.push(self.entries.show(EntryType::UserFeedback { denied_tool }, words));
                let message = reason.as_deref().unwrap_or("The person refused this tool call.");
                let response = json!({"behavior": "deny", "message": message, "interrupt": false});
                steps.push(Step::Send(wire::respond(ask, response)));
                steps
            }
        }
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
            Line::Result(outcome) => self.ended(*outcome),
            Line::ControlRequest { request_id, request } => self.requested(request_id, request),
            Line::ControlCancelRequest { request_id } => match self.asks.remove(&request_id) {
                Some(_) => vec![Step::Withdrawn(request_id)],
                None => Vec::new(),
            },
            // Most are the echo of our own answers; a failed one is worth a note.
            Line::ControlResponse { response } => match response.subtype.as_deref() {
                Some("error") => {
                    let request = response.request_id.unwrap_or_default();
                    let error = response.error.unwrap_or_default();
                    vec![Step::Note(format!("Claude Code refused request {request}: {error}"))]
                }
                _ => Vec::new(),
            },
            Line::RateLimitEvent { rate_limit_info: info } if info.status.as_deref() == Some("rejected") => {
                self.limited(info.resets_at.map(moment))
            }
            Line::RateLimitEvent { .. } | Line::Unknown => Vec::new(),
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
                if let Some(model) = system.model.filter(|model| self.model.as_ref() != Some(model)) {
                    let text = format!("System initialized with model: {model}");
                    steps.push(self.entries.show(EntryType::SystemMessage, text));
                    self.model = Some(model);
                }
            }
            Some("api_retry") => {
                let reason = system.error.as_deref().unwrap_or("unknown error");
                let status = system.error_status.map(|status| format!(" ({status})")).unwrap_or_default();
                let attempt = system.attempt.unwrap_or_default();
                let most = system.max_retries.unwrap_or_default();
                let text = format!("The provider refused: {reason}{status}. Retry {attempt} of {most}.");
                steps.push(self.entries.show(EntryType::SystemMessage, text));
            }
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

    fn assistant(&mut self, said: Message) -> Vec<Step> {
        let Message { message, parent_tool_use_id: parent, error, .. } = said;
        let blocks = match message.content {
            Body::Blocks(blocks) => blocks,
            Body::Text(text) => vec![Block::Text { text }],
            Body::Unknown(_) => Vec::new(),
        };
        let mut steps = Vec::new();
        for block in blocks {
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
    fn called(&mut self, id: String, tool: &str, input: &Value, parent: Option<String>) -> Option<Step> {
        if self.calls.contains_key(&id) {
            return None;
        }
        let mut call = ToolCall::new(id, tool, input, &self.roots);
        call.parent = parent;
        let (index, step) = self.entries.add(call.entry(ToolStatus::Created));
        call.index = index;
        self.calls.insert(call.id.clone(), call);
        Some(step)
    }

    fn user(&mut self, message: Message) -> Vec<Step> {
        // A plain text is the echo of what we said ourselves.
        let Body::Blocks(blocks) = message.message.content else { return Vec::new() };
        let details = message.tool_use_result.filter(|_| blocks.len() == 1);
        let mut steps = Vec::new();
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

    fn requested(&mut self, key: String, request: Request) -> Vec<Step> {
        let Request::CanUseTool { tool_name, input, tool_use_id, description } = request else {
            let error = "Forge does not answer this kind of request";
            return vec![
                Step::Note(format!("Claude Code asked something unknown in request {key}")),
                Step::Send(wire::refuse(&key, error)),
            ];
        };
        let id = tool_use_id.unwrap_or_else(|| key.clone());
        // Usually the call has been shown just before; if not, this is where it begins.
        let mut steps: Vec<Step> = self.called(id.clone(), &tool_name, &input, None).into_iter().collect();
        let mut label = String::new();
        if let Some(call) = self.calls.get_mut(&id) {
            call.ask = Some(key.clone());
            if let Some(plan) = input.get("plan").and_then(Value::as_str) {
                call.set_plan(plan);
            }
            label.clone_from(&call.label);
            steps.push(Step::Entry { index: call.index, entry: call.entry(ToolStatus::Created) });
        }
        let (kind, tool, text) = match tool_name.as_str() {
            "AskUserQuestion" => (AskKind::Question, "question".to_string(), questions(&input).join("\n")),
            "ExitPlanMode" => (AskKind::Plan, "plan".to_string(), label),
            _ => (AskKind::Permission, tool_name, description.unwrap_or(label)),
        };
        self.asks.insert(key.clone(), OpenAsk { kind, input: input.clone(), call: id });
        steps.push(Step::Ask(AskRequest { key, kind, tool, text, input }));
        steps
    }

    fn ended(&mut self, outcome: Outcome) -> Vec<Step> {
        let mut steps: Vec<Step> = std::mem::take(&mut self.asks).into_keys().map(Step::Withdrawn).collect();
        let mut unfinished: Vec<ToolCall> = std::mem::take(&mut self.calls).into_values().collect();
        unfinished.sort_by_key(|call| call.index);
        for call in unfinished {
            steps.push(Step::Entry { index: call.index, entry: call.entry(ToolStatus::Failed) });
        }
        self.partial.begin(None);

        let said = self.summary.take();
        let (error, summary) = if outcome.is_error {
            (Some(self.failure(&outcome, &mut steps)), said)
        } else {
            (None, outcome.result.clone().filter(|text| !text.is_empty()).or(said))
        };
        self.count(&outcome);
        steps.push(Step::Usage(self.usage));
        steps.push(Step::Done { ok: error.is_none(), error, summary });
        self.interrupted = false;
        self.limited = false;
        steps
    }

    /// Shows why a turn failed, and returns it.
    fn failure(&mut self, outcome: &Outcome, steps: &mut Vec<Step>) -> String {
        let aborted = outcome.terminal_reason.as_deref().is_some_and(|reason| reason.starts_with("aborted"));
        if self.interrupted || aborted {
            return "interrupted".to_string();
        }
        let told = outcome.result.clone().filter(|text| !text.is_empty());
        let listed =
            || outcome.errors.as_ref().map(|errors| errors.join("\n")).filter(|text| !text.is_empty());
        let text = told.or_else(listed).unwrap_or_else(|| "Claude Code failed without a reason".to_string());
        // The subscription's limit is told with the moment it ends: `… limit reached|1760000000`.
        let (words, until) = match text.rsplit_once("limit reached|") {
            Some((before, seconds)) => {
                (format!("{before}limit reached"), seconds.trim().parse().ok().map(moment))
            }
            None => (text, None),
        };
        if until.is_some() || outcome.api_error_status == Some(429) {
            steps.extend(self.limited(until));
        }
        steps.extend(self.entries.show_error(ErrorType::Other, &words));
        words
    }

    /// Tells about a limit once a turn.
    fn limited(&mut self, until_ms: Option<i64>) -> Vec<Step> {
        if std::mem::replace(&mut self.limited, true) {
            return Vec::new();
        }
        vec![Step::Limited { until_ms }]
    }

    /// Adds what a turn has used.
    fn count(&mut self, outcome: &Outcome) {
        if let Some(tokens) = &outcome.usage {
            add(&mut self.usage.input_tokens, tokens.input_tokens);
            add(&mut self.usage.output_tokens, tokens.output_tokens);
            add(&mut self.usage.cache_creation_tokens, tokens.cache_creation_input_tokens);
            add(&mut self.usage.cache_read_tokens, tokens.cache_read_input_tokens);
        }
        let total = outcome.total_cost_usd.unwrap_or(self.total_cost_usd);
        let cost = match &outcome.model_usage_since_last_result {
            Some(models) => Some(models.values().filter_map(|model| model.cost_usd).sum()),
            // An older version tells only the total, which after a resume holds what was paid before.
            None if self.resumed => None,
            None => Some(total - self.total_cost_usd),
        };
        self.total_cost_usd = total;
        add(&mut self.usage.cost_micros, cost.map(|usd: f64| (usd * 1_000_000.0).round() as i64));
    }
}

fn add(sum: &mut Option<i64>, more: Option<i64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// Reads a moment that is told in seconds by some versions and in milliseconds by others.
fn moment(told: f64) -> i64 {
    const YEAR_5138_IN_SECONDS: f64 = 1e11;
    if told < YEAR_5138_IN_SECONDS { (told * 1000.0) as i64 } else { told as i64 }
}

/// Says yes to an ask.
fn allow(kind: AskKind, mut input: Value, text: Option<&str>) -> Value {
    match kind {
        AskKind::Permission => json!({"behavior": "allow", "updatedInput": input}),
        AskKind::Question => {
            let answers = answers(&questions(&input), text.unwrap_or_default());
            if let Some(input) = input.as_object_mut() {
                input.insert("answers".to_string(), answers);
            }
            json!({"behavior": "allow", "updatedInput": input})
        }
        AskKind::Plan => {
            let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": [mode]})
        }
    }
}

/// Lays an answer out over the questions: an object of answers is taken as it is; of several lines each
/// answers one question; a single line answers them all.
fn answers(questions: &[String], text: &str) -> Value {
    if let Ok(Value::Object(given)) = serde_json::from_str(text) {
        return Value::Object(given);
    }
    let lines: Vec<&str> = text.lines().collect();
    let answer = |number: usize| match questions.len() {
        1 => text,
        _ => lines.get(number).copied().unwrap_or(text),
    };
    questions.iter().enumerate().map(|(number, question)| (question.clone(), json!(answer(number)))).collect()
}
