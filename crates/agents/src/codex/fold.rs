//! The conversation with Codex: its lines become steps, our answers become its lines.
//!
//! Only what is still open is kept: texts being written, tool calls without an end, asks without an answer, texts
//! that the agent has not taken in. All but the last goes when the turn ends.

use std::collections::BTreeMap;

use forge_model::entry::{Action, EntryType, ErrorType, Todo, ToolStatus};
use forge_model::{Answer, Entry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asks::OpenAsk;
use super::command;
use super::items::{Call, text, texts};
use super::refusal::Allowances;
use super::stderr::{is_of_its_log, plain};
use super::text::{Kind, Texts};
use super::tokens::Counted;
use super::turns::{Came, Ended, Turns};
use super::wire::{self, Line};
use crate::conversation::remembered;
use crate::entries::Entries;
use crate::{Conversation, Step, Turn, wait};

/// A conversation with one process of Codex.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fold {
    prompt: String,
    append: String,
    /// The request that opens the thread.
    method: String,
    params: Value,
    /// Settings of the profile that Codex does not take.
    without_effect: Vec<String>,
    /// The directory below which paths are shown relative.
    pub(super) roots: Vec<String>,
    pub(super) entries: Entries,
    pub(super) turns: Turns,
    texts: Texts,
    pub(super) calls: BTreeMap<String, Call>,
    pub(super) asks: BTreeMap<String, OpenAsk>,
    model: Option<String>,
    /// Every turn is to end with a plan.
    plans: bool,
    /// The last thing the agent said in this turn.
    summary: Option<String>,
    counted: Counted,
    allowances: Allowances,
    limited: bool,
    /// The entry of the retries that are being made; the next one replaces it.
    retry: Option<usize>,
}

impl Fold {
    pub(super) fn new(turn: &Turn) -> Self {
        let (method, params) = command::thread(turn);
        Self {
            prompt: turn.prompt.clone(),
            append: turn.append_prompt().to_string(),
            method: method.to_string(),
            params,
            without_effect: command::without_effect(turn).into_iter().map(str::to_string).collect(),
            roots: vec![turn.worktree.clone()],
            entries: Entries::default(),
            turns: Turns::default(),
            texts: Texts::default(),
            calls: BTreeMap::new(),
            asks: BTreeMap::new(),
            model: None,
            plans: command::plans(turn),
            summary: None,
            counted: Counted::default(),
            allowances: Allowances::default(),
            limited: false,
            retry: None,
        }
    }
}

impl Conversation for Fold {
    fn start(&mut self) -> Vec<Step> {
        let prompt = std::mem::take(&mut self.prompt);
        let mut steps = vec![self.turns.initialize()];
        steps.extend(self.say(&prompt));
        let unused = std::mem::take(&mut self.without_effect);
        if !unused.is_empty() {
            let words =
                format!("Codex takes these settings no more, they have no effect: {}", unused.join(", "));
            steps.push(self.entries.show(EntryType::SystemMessage, words));
        }
        steps
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        match self.entries.understand::<Line>(line) {
            Ok(message) => match self.happened(message) {
                Ok(steps) => steps,
                Err(error) => vec![self.entries.not_understood(line, &error)],
            },
            Err(steps) => steps,
        }
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        let line = plain(line);
        if is_of_its_log(&line) {
            return vec![Step::Note(line)];
        }
        if line.starts_with("WARNING: ") {
            return vec![self.entries.show(EntryType::SystemMessage, line)];
        }
        self.entries.show_error_line(&line).into_iter().collect()
    }

    fn say(&mut self, prompt: &str) -> Vec<Step> {
        let mut steps = vec![self.entries.show(EntryType::UserMessage, prompt)];
        steps.extend(self.turns.say(format!("{prompt}{}", self.append)));
        steps
    }

    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        self.give(ask, answer)
    }

    fn interrupt(&mut self) -> Vec<Step> {
        self.turns.interrupt()
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

impl Fold {
    fn happened(&mut self, line: Line) -> serde_json::Result<Vec<Step>> {
        match (line.method, line.id) {
            (Some(method), Some(id)) => Ok(self.requested(id, &method, &line.params)),
            (Some(method), None) => self.told(&method, &line.params),
            (None, Some(id)) => Ok(self.answered(&id, line.error.map_or(Ok(line.result), Err))),
            (None, None) => Err(serde::de::Error::custom("it has neither a method nor an id")),
        }
    }

    fn answered(&mut self, id: &Value, result: Result<Value, wire::Refusal>) -> Vec<Step> {
        match self.turns.answered(id, result) {
            Came::Ready => self.turns.open(&self.method, &self.params),
            Came::Opened(opened) => {
                let mut steps = vec![Step::Session(opened.thread.id)];
                if let Some(model) = opened.model {
                    let words = format!("System initialized with model: {model}");
                    steps.push(self.entries.show(EntryType::SystemMessage, words));
                    if self.plans {
                        self.turns.plan(&model);
                    }
                    self.model = Some(model);
                }
                steps.extend(self.turns.go());
                steps
            }
            Came::Refused { what, refusal } => {
                let words = format!("{what}: {}", refusal.message);
                let mut steps = Vec::new();
                if self.method != "thread/start" && is_unknown_thread(&refusal.message) {
                    steps.push(Step::SessionUnknown);
                }
                steps.extend(self.entries.show_error(ErrorType::Other, &words));
                steps.extend(self.turns.give_up(&words));
                steps
            }
            Came::NoTurn { refusal, steps: ends } => {
                let words = format!("Codex could not begin the turn: {}", refusal.message);
                let mut steps: Vec<Step> =
                    self.entries.show_error(ErrorType::Other, &words).into_iter().collect();
                steps.extend(ends);
                steps
            }
            Came::Steps(steps) => steps,
        }
    }

    /// Takes a notice. Those that say nothing to a person are passed over.
    fn told(&mut self, method: &str, params: &Value) -> serde_json::Result<Vec<Step>> {
        let piece = || parsed::<wire::Piece>(params);
        let step = match method {
            "turn/started" => {
                let begun: wire::Begun = parsed(params)?;
                let own = self.turns.is_own(&begun.thread_id);
                return Ok(if own { self.turns.begun(begun.turn.id) } else { Vec::new() });
            }
            "turn/completed" => return Ok(self.over(parsed(params)?)),
            "item/started" => return self.item(parsed(params)?, false),
            "item/completed" => return self.item(parsed(params)?, true),
            "error" => return Ok(self.went_wrong(&parsed(params)?)),
            "serverRequest/resolved" => {
                let resolved: wire::Resolved = parsed(params)?;
                return Ok(self.withdrawn(&resolved.request_id.to_string()));
            }
            "item/fileChange/patchUpdated" => {
                let piece = piece()?;
                let Some(call) = self.calls.get_mut(&piece.item_id) else { return Ok(Vec::new()) };
                call.read(&json!({"type": "fileChange", "changes": piece.changes}), &self.roots);
                return Ok(call.show(&ToolStatus::Created, &mut self.entries));
            }
            "item/commandExecution/outputDelta" => {
                let piece = piece()?;
                let Some(call) = self.calls.get_mut(&piece.item_id) else { return Ok(Vec::new()) };
                let shown = call.grow(&piece.delta);
                return Ok(if shown {
                    call.show(&ToolStatus::Created, &mut self.entries)
                } else {
                    Vec::new()
                });
            }
            "item/agentMessage/delta" => self.grow(&piece()?, Kind::Message),
            "item/plan/delta" => self.grow(&piece()?, Kind::Plan),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.grow(&piece()?, Kind::Thinking)
            }
            "item/reasoning/summaryPartAdded" => {
                self.texts.part(&piece()?.item_id);
                None
            }
            "turn/plan/updated" => Some(self.planned(parsed(params)?)),
            "thread/tokenUsage/updated" => Some(self.used(&parsed(params)?)),
            "account/rateLimits/updated" => {
                self.allowances.told(&parsed::<wire::Allowance>(params)?.rate_limits);
                None
            }
            "warning"
            | "guardianWarning"
            | "configWarning"
            | "deprecationNotice"
            | "model/rerouted"
            | "mcpServer/startupStatus/updated" => self.words(method, parsed(params)?),
            _ => None,
        };
        Ok(step.into_iter().collect())
    }

    fn grow(&mut self, piece: &wire::Piece, kind: Kind) -> Option<Step> {
        self.texts.grow(&piece.item_id, kind, &piece.delta, &mut self.entries)
    }

    /// Shows an item: as far as it is when it begins, whole when it is over.
    fn item(&mut self, told: wire::Itemed, over: bool) -> serde_json::Result<Vec<Step>> {
        let (item, own) = (told.item, self.turns.is_own(&told.thread_id));
        let (id, kind) = (text(&item, "id").to_string(), text(&item, "type"));
        if id.is_empty() || kind.is_empty() {
            return Err(serde::de::Error::custom("the item has no id or no type"));
        }
        self.retry = None;
        let whole = match kind {
            // The echo of what we said ourselves, or what a sub-agent was told.
            "userMessage" => return Ok(Vec::new()),
            "agentMessage" => Some((Kind::Message, text(&item, "text").to_string())),
            "plan" => Some((Kind::Plan, text(&item, "text").to_string())),
            "reasoning" => {
                let summary = texts(&item, "summary");
                let words = if summary.is_empty() { texts(&item, "content") } else { summary };
                Some((Kind::Thinking, words.join("\n\n")))
            }
            _ => None,
        };
        if let Some((kind, words)) = whole {
            if !over {
                return Ok(self.texts.grow(&id, kind, &words, &mut self.entries).into_iter().collect());
            }
            let step = self.texts.settle(&id, kind, &words, &mut self.entries);
            if own && kind == Kind::Message && !words.trim().is_empty() {
                self.summary = Some(words);
            }
            return Ok(step.into_iter().collect());
        }
        if let Some(words) = remark(&item) {
            let step = over.then(|| self.entries.show(EntryType::SystemMessage, words));
            return Ok(step.into_iter().collect());
        }
        Ok(self.call(&id, &item, told.thread_id, over))
    }

    fn call(&mut self, id: &str, item: &Value, thread: String, over: bool) -> Vec<Step> {
        let mut call = match self.calls.remove(id) {
            Some(mut call) => {
                call.read(item, &self.roots);
                call
            }
            None => Call::new(id, item, &self.roots),
        };
        if !self.turns.is_own(&thread) {
            call.thread = Some(thread);
        }
        let status = if over { call.end(item) } else { ToolStatus::Created };
        let steps = call.show(&status, &mut self.entries);
        if !over {
            self.calls.insert(id.to_string(), call);
        }
        steps
    }

    fn over(&mut self, over: wire::Over) -> Vec<Step> {
        if !self.turns.is_own(&over.thread_id) || !self.turns.is_running(&over.turn.id) {
            return Vec::new();
        }
        let mut steps: Vec<Step> = std::mem::take(&mut self.asks).into_keys().map(Step::Withdrawn).collect();
        steps.extend(self.texts.abandon());
        let mut unfinished: Vec<Call> = std::mem::take(&mut self.calls).into_values().collect();
        unfinished.sort_by_key(Call::index);
        for mut call in unfinished {
            steps.extend(call.show(&ToolStatus::Failed, &mut self.entries));
        }
        let error = match over.turn.status.as_str() {
            "completed" if over.turn.error.is_none() => None,
            "interrupted" => {
                steps.push(self.entries.show(EntryType::SystemMessage, "Interrupted"));
                Some("interrupted".to_string())
            }
            _ if self.turns.is_stopping() => Some("interrupted".to_string()),
            _ => Some(self.failed(&over.turn.error.unwrap_or_default(), &mut steps)),
        };
        let ended = Ended { ok: error.is_none(), error, summary: self.summary.take() };
        self.limited = false;
        self.retry = None;
        steps.extend(self.turns.end(ended));
        steps
    }

    fn went_wrong(&mut self, went: &wire::Went) -> Vec<Step> {
        let mut steps = Vec::new();
        if went.will_retry {
            // A provider that is away for long is one entry.
            let entry = Entry::new(EntryType::SystemMessage, went.error.words());
            if let Some(index) = self.retry {
                steps.push(Step::Entry { index, entry });
            } else {
                let (index, step) = self.entries.add(entry);
                self.retry = Some(index);
                steps.push(step);
            }
        } else {
            self.failed(&went.error, &mut steps);
        }
        steps
    }

    /// Shows why a turn fails, once, and returns it.
    fn failed(&mut self, trouble: &wire::Trouble, steps: &mut Vec<Step>) -> String {
        let (kind, words) = trouble.shown();
        if trouble.is_limit() && !std::mem::replace(&mut self.limited, true) {
            steps.push(match (self.allowances.until_ms(), wait::told_ms(&trouble.words())) {
                (None, Some(ms)) => Step::LimitedFor { ms },
                (until_ms, _) => Step::Limited { until_ms },
            });
        }
        steps.extend(self.entries.show_error(kind, &words));
        words
    }

    fn planned(&mut self, planned: wire::Planned) -> Step {
        let status = |status: &str| match status {
            "inProgress" => "in_progress".to_string(),
            other => other.to_string(),
        };
        let todo =
            |step: wire::PlanStep| Todo { status: status(&step.status), content: step.step, priority: None };
        let action_type = Action::TodoManagement {
            todos: planned.plan.into_iter().map(todo).collect(),
            operation: "update".to_string(),
        };
        let tool_name = "update_plan".to_string();
        let kind = EntryType::ToolUse { tool_name, action_type, status: ToolStatus::Success };
        let words = planned.explanation.filter(|words| !words.trim().is_empty());
        self.entries.add(Entry::new(kind, words.unwrap_or_else(|| "TODO list updated".to_string()))).1
    }

    fn used(&mut self, used: &wire::Used) -> Step {
        // A sub-agent's thread began with this process; our own may be older than it.
        let ours = !self.turns.is_own(&used.thread_id) || self.turns.is_ours(&used.turn_id);
        Step::Usage(self.counted.count(&used.thread_id, &used.token_usage, ours))
    }

    /// Shows a notice that holds words.
    fn words(&mut self, method: &str, words: wire::Words) -> Option<Step> {
        let told = match method {
            "deprecationNotice" => return words.summary.map(Step::Note),
            "model/rerouted" => {
                format!("Model changed from {} to {}", words.from_model?, words.to_model?)
            }
            "mcpServer/startupStatus/updated" => {
                let name = words.name.filter(|_| words.status.as_deref() == Some("failed"))?;
                let error = words.error.unwrap_or_else(|| "no reason was told".to_string());
                let text = format!("The MCP server {name} could not be started: {error}");
                return self.entries.show_error(ErrorType::Other, &text);
            }
            _ => {
                let told = [words.message, words.summary, words.details];
                told.into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
        };
        (!told.trim().is_empty()).then(|| self.entries.show(EntryType::SystemMessage, told))
    }
}

/// Returns what an item says to a person, when it is no tool call.
fn remark(item: &Value) -> Option<String> {
    match text(item, "type") {
        "contextCompaction" => Some("Earlier conversation summarised".to_string()),
        "enteredReviewMode" => Some(format!("Review begun: {}", text(item, "review"))),
        "exitedReviewMode" => Some(text(item, "review").to_string()),
        "hookPrompt" => {
            let fragments = item.get("fragments").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            Some(fragments.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

fn parsed<T: DeserializeOwned>(params: &Value) -> serde_json::Result<T> {
    T::deserialize(params)
}

/// Says whether Codex refuses to open a thread because it does not know it.
fn is_unknown_thread(message: &str) -> bool {
    let message = message.to_lowercase();
    ["no rollout found", "not found", "no such thread", "invalid thread id", "invalid session id"]
        .iter()
        .any(|known| message.contains(known))
}
