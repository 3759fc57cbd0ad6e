//! The agent that plays a small script: no account, no network, every behaviour on demand.
//!
//! The script is the prompt. The player is a process of its own like any other agent's; this file is its
//! adapter and the protocol between the two, one line of JSON or of plain text each.

use std::collections::HashMap;

use forge_model::entry::{
    Action, CommandResult, EntryType, ErrorType, ExitStatus, FileChange, Todo, ToolResult, ToolResultKind,
    ToolStatus,
};
use forge_model::{Answer, AskKind, Entry, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::conversation::{remembered, resumed};
use crate::entries::{Entries, is_json_like};
use crate::{About, Agent, AskRequest, Capabilities, CommandSpec, Conversation, Program, Step, Turn};

/// Says whether a line of the player is read as an event and not as plain text. A said line that would be is sent as
/// [`Event::Say`].
pub fn reads_as_event(line: &str) -> bool {
    is_json_like(line.trim_start())
}

/// What the player prints, beside plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scripted", rename_all = "snake_case")]
pub enum Event {
    /// The session has this id; always the first line.
    Session {
        id: String,
    },
    /// The player was to go on with a session that it does not know.
    Unknown,
    /// A said line that would read as an event.
    Say {
        text: String,
    },
    Think {
        text: String,
    },
    /// A file was written.
    Edit {
        path: String,
        content: String,
    },
    /// The to-do list, as it is now.
    Todos {
        todos: Vec<Todo>,
    },
    /// A command starts.
    Run {
        id: String,
        command: String,
    },
    /// A command ended, with what it printed.
    Ran {
        id: String,
        exit: i64,
        output: String,
    },
    /// The player waits for an answer.
    Ask {
        id: String,
        text: String,
    },
    /// The player waits for a permission.
    Permit {
        id: String,
        tool: String,
        input: Value,
    },
    /// The player has a plan and waits for a yes.
    Plan {
        id: String,
        text: String,
    },
    /// What the player claims to have used, in addition to what it said before.
    Used {
        input: i64,
        output: i64,
        cached: i64,
        cost_micros: i64,
    },
    /// The turn is over, because a provider would not serve the player until a moment in milliseconds since 1970.
    Limited {
        until_ms: Option<i64>,
    },
    /// The turn is over; the player waits for another.
    Done,
}

/// What the player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A script to play after those that came before.
    Turn(String),
    Answer(Answered),
}

/// The answer to an ask: words, or a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub ask: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
}

/// The adapter of the built-in player.
#[derive(Debug)]
pub struct Scripted;

impl Agent for Scripted {
    fn name(&self) -> &'static str {
        "SCRIPTED"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: true, go_on: true, interrupt: false, resume: true, fork: true }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        let mut args = vec!["scripted".to_string()];
        if let Some(session) = &turn.session {
            args.extend(["--session".to_string(), session.clone()]);
            if turn.fork {
                args.push("--fork".to_string());
            }
        }
        CommandSpec { program: Program::Forge, args, env: Vec::new(), unset: Vec::new() }.with_settings(turn)
    }

    fn about(&self) -> About {
        let install = "it comes with Forge";
        About { title: "Scripted", program: None, install, npx: None, login: &[], tried: true }
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        Box::new(Talk::new(turn))
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<Talk>(state)
    }
}

/// A conversation with the player. It keeps only what is still open, so a log of any length fits.
#[derive(Debug, Serialize, Deserialize)]
struct Talk {
    prompt: String,
    append: String,
    entries: Entries,
    /// The commands that run: id to the entry's index and the command.
    runs: HashMap<String, (usize, String)>,
    /// The open asks: id to the entry's index and what is asked.
    asks: HashMap<String, (usize, Asked)>,
    last_said: Option<String>,
    used: Usage,
}

/// What the player asks.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Asked {
    kind: AskKind,
    tool: String,
    text: String,
    input: Value,
}

impl Conversation for Talk {
    fn start(&mut self) -> Vec<Step> {
        let prompt = std::mem::take(&mut self.prompt);
        self.say(&prompt)
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        if !reads_as_event(line) {
            return self.said(line);
        }
        match self.entries.understand(line) {
            Ok(event) => self.happened(event),
            Err(steps) => steps,
        }
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        self.entries.show_error_line(line).into_iter().collect()
    }

    fn say(&mut self, prompt: &str) -> Vec<Step> {
        let shown = self.entries.show(EntryType::UserMessage, prompt);
        vec![shown, send(&Input::Turn(format!("{prompt}{}", self.append)))]
    }

    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        let Some((index, asked)) = self.asks.remove(ask) else {
            return vec![Step::Note(format!("the player does not wait for ask {ask}"))];
        };
        let (answered, status, result) = match answer {
            Answer::Approve { text, .. } => {
                let result = ToolResult { kind: ToolResultKind::Markdown, value: json!(text) };
                (
                    Answered { ask: ask.into(), text: text.clone(), denied: None },
                    ToolStatus::Success,
                    Some(result),
                )
            }
            Answer::Deny { reason } => {
                let denied = Some(reason.clone().unwrap_or_default());
                let status = ToolStatus::Denied { reason: reason.clone() };
                (Answered { ask: ask.into(), text: None, denied }, status, None)
            }
        };
        let mut steps = vec![Step::Entry { index, entry: asked.entry(ask, result, status) }];
        if let Answer::Deny { reason } = answer {
            let feedback = EntryType::UserFeedback { denied_tool: asked.tool };
            steps.push(self.entries.show(feedback, reason.clone().unwrap_or_default()));
        }
        steps.push(send(&Input::Answer(answered)));
        steps
    }

    fn interrupt(&mut self) -> Vec<Step> {
        // The player ends by a signal, which the engine sends when there is nothing better.
        Vec::new()
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

impl Talk {
    fn new(turn: &Turn) -> Self {
        Self {
            prompt: turn.prompt.clone(),
            append: turn.append_prompt().to_string(),
            entries: Entries::default(),
            runs: HashMap::new(),
            asks: HashMap::new(),
            last_said: None,
            used: Usage::default(),
        }
    }

    fn said(&mut self, line: &str) -> Vec<Step> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        self.last_said = Some(line.to_string());
        vec![self.entries.show(EntryType::AssistantMessage, line)]
    }

    fn happened(&mut self, event: Event) -> Vec<Step> {
        match event {
            Event::Session { id } => vec![Step::Session(id)],
            Event::Unknown => {
                let error = "there is no such session";
                let shown = EntryType::ErrorMessage { error_type: ErrorType::Other };
                let shown = self.entries.show(shown, error);
                let done = Step::Done { ok: false, error: Some(error.into()), summary: None };
                vec![shown, Step::SessionUnknown, done]
            }
            Event::Say { text } => self.said(&text),
            Event::Think { text } => vec![self.entries.show(EntryType::Thinking, text)],
            Event::Edit { path, content } => {
                let label = format!("`{path}`");
                let action_type = Action::FileEdit { path, changes: vec![FileChange::Write { content }] };
                let status = ToolStatus::Success;
                let kind = EntryType::ToolUse { tool_name: "edit".into(), action_type, status };
                vec![self.entries.show(kind, label)]
            }
            Event::Todos { todos } => {
                let action_type = Action::TodoManagement { todos, operation: "write".into() };
                let status = ToolStatus::Success;
                let kind = EntryType::ToolUse { tool_name: "todos".into(), action_type, status };
                vec![self.entries.show(kind, "TODO list updated")]
            }
            Event::Run { id, command } => {
                let entry = command_entry(&id, &command, None, ToolStatus::Created);
                let (index, step) = self.entries.add(entry);
                self.runs.insert(id, (index, command));
                vec![step]
            }
            Event::Ran { id, exit, output } => {
                let Some((index, command)) = self.runs.remove(&id) else { return Vec::new() };
                let exit_status = Some(ExitStatus::ExitCode { code: exit });
                let result = CommandResult { exit_status, output: Some(output) };
                let status = if exit == 0 { ToolStatus::Success } else { ToolStatus::Failed };
                vec![Step::Entry { index, entry: command_entry(&id, &command, Some(result), status) }]
            }
            Event::Ask { id, text } => {
                let (text, input) = question(text);
                self.asked(id, Asked { kind: AskKind::Question, tool: "question".into(), text, input })
            }
            Event::Permit { id, tool, input } => {
                let text = format!("Allow {tool}?");
                self.asked(id, Asked { kind: AskKind::Permission, tool, text, input })
            }
            Event::Plan { id, text } => {
                let input = json!({"plan": text});
                self.asked(id, Asked { kind: AskKind::Plan, tool: "plan".into(), text, input })
            }
            Event::Used { input, output, cached, cost_micros } => {
                let add = |total: &mut Option<i64>, more: i64| {
                    *total = Some(total.unwrap_or_default().saturating_add(more));
                };
                add(&mut self.used.input_tokens, input);
                add(&mut self.used.output_tokens, output);
                add(&mut self.used.cache_read_tokens, cached);
                add(&mut self.used.cost_micros, cost_micros);
                vec![Step::Usage(self.used)]
            }
            Event::Limited { until_ms } => {
                let error = "usage limit reached";
                let shown = EntryType::ErrorMessage { error_type: ErrorType::Other };
                let entry = self.entries.show(shown, error);
                let summary = self.last_said.take();
                let done = Step::Done { ok: false, error: Some(error.into()), summary };
                vec![entry, Step::Limited { until_ms }, done]
            }
            Event::Done => vec![Step::Done { ok: true, error: None, summary: self.last_said.take() }],
        }
    }
}

impl Talk {
    fn asked(&mut self, id: String, asked: Asked) -> Vec<Step> {
        let (index, shown) = self.entries.add(asked.entry(&id, None, ToolStatus::Created));
        let Asked { kind, tool, text, input } = asked.clone();
        self.asks.insert(id.clone(), (index, asked));
        vec![shown, Step::Ask(AskRequest { key: id, kind, tool, text, input })]
    }
}

fn send(input: &Input) -> Step {
    // Strings always serialise; the empty line of the impossible case is ignored by the player.
    let mut line = serde_json::to_string(input).unwrap_or_default();
    line.push('\n');
    Step::Send(line)
}

/// What a question asks, and its input: a list to choose from when it is written as JSON with `questions`.
fn question(text: String) -> (String, Value) {
    let listed = serde_json::from_str::<Value>(&text).ok().and_then(|input| {
        let questions = input.get("questions")?.as_array()?;
        let texts: Vec<&str> = questions.iter().filter_map(|one| one.get("question")?.as_str()).collect();
        Some((texts.join("\n"), input.clone()))
    });
    listed.unwrap_or_else(|| (text.clone(), json!({"question": text})))
}

fn command_entry(id: &str, command: &str, result: Option<CommandResult>, status: ToolStatus) -> Entry {
    let action_type = Action::CommandRun { command: command.to_string(), result };
    let kind = EntryType::ToolUse { tool_name: "run".into(), action_type, status };
    with_metadata(Entry::new(kind, format!("`{command}`")), json!({"tool_call_id": id}))
}

impl Asked {
    fn entry(&self, id: &str, result: Option<ToolResult>, status: ToolStatus) -> Entry {
        let action_type = match self.kind {
            AskKind::Plan => Action::PlanPresentation { plan: self.text.clone() },
            AskKind::Question | AskKind::Permission => {
                Action::Tool { tool_name: self.tool.clone(), arguments: Some(self.input.clone()), result }
            }
        };
        let kind = EntryType::ToolUse { tool_name: self.tool.clone(), action_type, status };
        with_metadata(Entry::new(kind, self.text.clone()), json!({"tool_call_id": id, "ask": id}))
    }
}

fn with_metadata(entry: Entry, metadata: Value) -> Entry {
    Entry { metadata: Some(metadata), ..entry }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_what_is_over() {
        let mut talk = Talk::new(&Turn::default());
        for n in 0..10_000 {
            talk.read(&format!("line {n}"));
            talk.read(&format!(r#"{{"scripted":"run","id":"{n}","command":"x"}}"#));
            talk.read(&format!(r#"{{"scripted":"ran","id":"{n}","exit":0,"output":""}}"#));
            talk.read(&format!(r#"{{"scripted":"ask","id":"{n}","text":"?"}}"#));
            talk.answer(&n.to_string(), &Answer::yes());
        }
        assert!(talk.runs.is_empty() && talk.asks.is_empty());
        assert_eq!(talk.last_said.as_deref(), Some("line 9999"));
    }

    #[test]
    fn an_event_is_told_from_plain_text_by_how_it_begins() {
        let event = Event::Ran { id: "1".into(), exit: 0, output: String::new() };
        assert!(reads_as_event(&serde_json::to_string(&event).unwrap()));
        assert!(reads_as_event(r#" {"scr"#) && !reads_as_event("say {") && !reads_as_event("[x] done"));
    }
}
