//! What an agent tells while it works, and what it wants meanwhile: messages, tool calls, permissions, files.

use forge_model::entry::{Action, EntryType, Todo, ToolStatus};
use forge_model::{Answer, AskKind, Entry};
use serde::Deserialize;
use serde_json::{Value, json};

use super::choice;
use super::fold::{Fold, OpenAsk, Replay};
use super::modes::Decides;
use super::text::Kind;
use super::tools::Call;
use super::wire::{self, CallUpdate, Chunk, Permission, PlanEntry, Update, text_of};
use crate::{AskRequest, Step};

/// How many calls that are over are remembered.
const OVER: usize = 64;

impl Fold {
    /// Hears something new about the session.
    pub(super) fn updated(&mut self, mut params: Value, line: &str) -> Vec<Step> {
        let update = params.get_mut("update").map(Value::take).unwrap_or_default();
        let name = update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default().to_string();
        let update = match Update::deserialize(update) {
            Ok(update) => update,
            Err(error) => return vec![self.not_understood(line, error)],
        };
        match update {
            Update::Usage { cost } => {
                let news = cost.is_some_and(|cost| self.usage.cost(&cost));
                return Vec::from_iter(news.then(|| Step::Usage(self.usage.used())));
            }
            Update::Commands => {
                // What was before is told first and the commands last.
                if self.replay == Replay::Yes {
                    self.replay = Replay::No;
                    self.summary = None;
                }
                return Vec::new();
            }
            Update::Settings => {
                return Vec::new();
            }
            Update::Unknown => return vec![Step::Note(format!("{} told of {name}", self.title()))],
            _ => {}
        }
        // Nothing was said in this process before its first prompt: whatever is told before is of an earlier one.
        if !self.prompted {
            return Vec::new();
        }
        if let Update::UserMessageChunk(chunk) = &update {
            let text = text_of(&chunk.content);
            let own = self.prompt.as_deref().is_some_and(|prompt| prompt.contains(text.trim()));
            if self.replay == Replay::Maybe && !own {
                self.replay = Replay::Yes;
            }
            return Vec::new();
        }
        if self.replay == Replay::Yes {
            // The last of it may be the answer after all, when nothing shows where the past ends.
            if let Update::AgentMessageChunk(chunk) = &update {
                let text = text_of(&chunk.content);
                self.summary = Some(text).filter(|text| !text.trim().is_empty());
            }
            return Vec::new();
        }
        self.replay = Replay::No;
        match update {
            Update::AgentMessageChunk(chunk) => self.said(Kind::Text, chunk),
            Update::AgentThoughtChunk(chunk) => self.said(Kind::Thinking, chunk),
            Update::ToolCall(call) => self.called(call),
            Update::Plan { entries } => self.planned(entries),
            _ => Vec::new(),
        }
    }

    fn said(&mut self, kind: Kind, chunk: Chunk) -> Vec<Step> {
        self.usage.piece(&chunk.meta);
        let text = text_of(&chunk.content);
        let informational = chunk.meta.get("claudeCode").and_then(|meta| meta.get("kind")?.as_str());
        let notice = match self.quirks().notices_in_text {
            true => text.strip_prefix("Info: "),
            false => (informational == Some("informational")).then_some(text.as_str()),
        };
        if let Some(notice) = notice.filter(|_| kind == Kind::Text) {
            let mut steps = self.close_text();
            steps.push(self.entries.show(EntryType::SystemMessage, notice));
            return steps;
        }
        // An error that is told as a piece of the answer is not part of what was said before.
        let error = self.quirks().notices_in_text && kind == Kind::Text && text.starts_with("Error: ");
        let mut steps = Vec::new();
        if error || !self.text.continues(kind, chunk.message_id.as_deref()) {
            steps.extend(self.close_text());
        }
        steps.extend(self.text.grow(kind, chunk.message_id, &text, &mut self.entries));
        steps
    }

    /// Ends the message that is being written, because something else comes.
    fn close_text(&mut self) -> Vec<Step> {
        if let Some((_, said)) = self.text.said().filter(|(_, said)| !said.trim().is_empty()) {
            self.summary = Some(said.to_string());
        }
        self.text.close().into_iter().collect()
    }

    fn called(&mut self, update: CallUpdate) -> Vec<Step> {
        let id = update.tool_call_id.clone();
        if self.over.contains(&id) {
            return Vec::new();
        }
        let status = match update.status.as_deref() {
            Some("completed") => Some(ToolStatus::Success),
            Some("failed" | "cancelled") => Some(ToolStatus::Failed),
            _ => None,
        };
        let (mut steps, news) = self.merge(update);
        match status {
            Some(status) => steps.extend(self.end_call(&id, status)),
            None if news => steps.extend(self.show_call(&id, ToolStatus::Created)),
            None => {}
        }
        steps
    }

    /// Takes in what is new about a call, which may be the first that is heard of it. The second value tells whether
    /// its entry is to be shown.
    fn merge(&mut self, update: CallUpdate) -> (Vec<Step>, bool) {
        let id = update.tool_call_id.clone();
        if let Some(call) = self.calls.get_mut(&id) {
            let news = call.merge(update);
            return (Vec::new(), news);
        }
        let steps = self.close_text();
        let mut call = Call::new(&id);
        call.merge(update);
        // Its entry is shown by whoever told us, with its status; here it only gets its number.
        call.index = self.entries.add(call.entry(ToolStatus::Created, &self.roots)).0;
        self.calls.insert(id, call);
        (steps, true)
    }

    pub(super) fn show_call(&self, id: &str, status: ToolStatus) -> Option<Step> {
        let call = self.calls.get(id)?;
        Some(Step::Entry { index: call.index, entry: call.entry(status, &self.roots) })
    }

    /// Shows how a call ended and forgets it.
    pub(super) fn end_call(&mut self, id: &str, status: ToolStatus) -> Option<Step> {
        let call = self.calls.remove(id)?;
        // Some call a command completed whatever it ended with.
        let status = match status {
            ToolStatus::Success if call.has_failed() => ToolStatus::Failed,
            status => status,
        };
        self.over.push_back(call.id.clone());
        if self.over.len() > OVER {
            self.over.pop_front();
        }
        Some(Step::Entry { index: call.index, entry: call.entry(status, &self.roots) })
    }

    fn planned(&mut self, entries: Vec<PlanEntry>) -> Vec<Step> {
        let mut steps = self.close_text();
        let todo = |entry: PlanEntry| Todo {
            content: entry.content,
            status: entry.status,
            priority: entry.priority,
        };
        let todos = entries.into_iter().map(todo).collect();
        let action_type = Action::TodoManagement { todos, operation: "write".to_string() };
        let kind =
            EntryType::ToolUse { tool_name: "plan".to_string(), action_type, status: ToolStatus::Success };
        let entry = Entry::new(kind, "TODO list updated");
        match self.plan {
            Some(index) => steps.push(Step::Entry { index, entry }),
            None => {
                let (index, step) = self.entries.add(entry);
                self.plan = Some(index);
                steps.push(step);
            }
        }
        steps
    }

    /// The agent wants something of us.
    pub(super) fn requested(&mut self, id: Value, method: &str, params: Value, line: &str) -> Vec<Step> {
        let key = id.to_string();
        match method {
            "session/request_permission" => match Permission::deserialize(params) {
                Ok(permission) => self.asked(id, permission),
                Err(error) => self.misunderstood(&id, line, &error),
            },
            "fs/read_text_file" => match wire::ReadFile::deserialize(params) {
                Ok(wire::ReadFile { path, line, limit }) => {
                    self.files.insert(key.clone(), (id, true));
                    vec![Step::ReadFile { key, path, line, limit }]
                }
                Err(error) => self.misunderstood(&id, line, &error),
            },
            "fs/write_text_file" => match wire::WriteFile::deserialize(params) {
                Ok(wire::WriteFile { path, content }) => {
                    self.files.insert(key.clone(), (id, false));
                    vec![Step::WriteFile { key, path, content }]
                }
                Err(error) => self.misunderstood(&id, line, &error),
            },
            _ => vec![
                Step::Note(format!("{} asked for {method}, which Forge does not offer", self.title())),
                Step::Send(wire::refuse(&id, -32601, &format!("Forge does not offer {method}"))),
            ],
        }
    }

    /// A request of a known kind that is not as it should be: the agent must not wait for ever.
    fn misunderstood(&mut self, id: &Value, line: &str, error: &serde_json::Error) -> Vec<Step> {
        vec![
            self.not_understood(line, error),
            Step::Send(wire::refuse(id, -32602, &format!("Forge does not understand this: {error}"))),
        ]
    }

    fn asked(&mut self, id: Value, permission: Permission) -> Vec<Step> {
        let Permission { tool_call, options } = permission;
        let key = id.to_string();
        let update = tool_call.unwrap_or_else(|| CallUpdate {
            tool_call_id: format!("permission {key}"),
            ..CallUpdate::default()
        });
        self.replay = Replay::No;
        let call_id = update.tool_call_id.clone();
        self.over.retain(|over| *over != call_id);
        // Some ask about a call that they never told of.
        let (mut steps, _) = self.merge(update);
        let (decides, titles_are_commands) = (self.decides(), self.quirks().titles_are_commands);
        let Some(call) = self.calls.get_mut(&call_id) else { return steps };
        let kind = if call.is_plan() {
            AskKind::Plan
        } else if call.is_question() || choice::is_question(&options) {
            AskKind::Question
        } else {
            AskKind::Permission
        };
        let alone = decides == Decides::Nobody && kind != AskKind::Question;
        if !alone {
            call.ask = Some(key.clone());
        }
        let tool = match kind {
            AskKind::Plan => "plan".to_string(),
            AskKind::Question => "question".to_string(),
            AskKind::Permission => call.asked_tool(),
        };
        let (text, mut input) = (call.question(&self.roots), call.asked_input(titles_are_commands));
        steps.extend(self.show_call(&call_id, ToolStatus::Created));
        if alone {
            // The person has said that nobody need be asked, whatever the agent's own mode.
            steps.push(Step::Send(wire::respond(&id, choice::outcome(&options, &Answer::yes()))));
            return steps;
        }
        if kind == AskKind::Question {
            input["options"] = options.iter().map(|option| json!(option.name)).collect();
        }
        self.asks.insert(key.clone(), OpenAsk { id, options, call: call_id });
        steps.push(Step::Ask(AskRequest { key, kind, tool, text, input }));
        steps
    }

    /// The agent no longer waits for something it asked.
    pub(super) fn withdrawn(&mut self, params: &Value) -> Vec<Step> {
        let key = params.get("requestId").map(Value::to_string).unwrap_or_default();
        self.files.remove(&key);
        let Some(ask) = self.asks.remove(&key) else { return Vec::new() };
        let mut steps = vec![Step::Withdrawn(key)];
        steps.extend(self.show_call(&ask.call, ToolStatus::Created));
        steps.push(Step::Send(wire::respond(&ask.id, choice::cancelled())));
        steps
    }

    /// A turn ended while its past was still being told: the last that was told is its answer.
    pub(super) fn settle_replay(&mut self) -> Vec<Step> {
        if std::mem::replace(&mut self.replay, Replay::No) != Replay::Yes {
            return Vec::new();
        }
        let Some(said) = self.summary.take() else { return Vec::new() };
        self.text.grow(Kind::Text, None, &said, &mut self.entries)
    }
}
