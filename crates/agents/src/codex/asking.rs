//! How an ask begins and ends in the conversation: the call it is about is shown with it, and again with the answer.

use forge_model::Answer;
use forge_model::entry::{EntryType, ToolStatus};
use serde_json::{Value, json};

use super::asks::Asked;
use super::fold::Fold;
use super::items::{Call, text};
use super::wire;
use crate::{AskRequest, Step};

impl Fold {
    /// Asks a person what the agent requests, or refuses it when no person could answer.
    pub(super) fn requested(&mut self, id: Value, method: &str, params: &Value) -> Vec<Step> {
        let key = id.to_string();
        let Some(asked) = Asked::read(method, params) else {
            return vec![
                Step::Note(format!("Codex asked for {method}, which Forge does not answer")),
                Step::Send(refused(&id, method)),
            ];
        };
        let call_id = asked.item_id.clone().unwrap_or_else(|| format!("ask-{key}"));
        // Usually the call has been shown just before; if not, this is where it begins.
        let mut call = self.calls.remove(&call_id).unwrap_or_else(|| {
            let mut call = Call::new(&call_id, &asked.item, &self.roots);
            call.only_asked = asked.only_asked;
            call.asks(&asked.text);
            call
        });
        let thread = text(params, "threadId");
        if !thread.is_empty() && !self.turns.is_own(thread) {
            call.thread = Some(thread.to_string());
        }
        call.ask = Some(key.clone());
        let mut steps = call.show(&ToolStatus::Created, &mut self.entries);
        let told = [asked.text.clone(), call.label(), asked.tool.clone()];
        let words = told.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
        let mut input = asked.input.clone();
        let files = call.paths();
        if !files.is_empty() {
            input["files"] = json!(files);
        }
        let (kind, tool) = (asked.kind, asked.tool.clone());
        self.calls.insert(call_id.clone(), call);
        self.asks.insert(key.clone(), asked.open(id, call_id));
        steps.push(Step::Ask(AskRequest { key, kind, tool, text: words, input }));
        steps
    }

    /// Gives the answer to an ask.
    pub(super) fn give(&mut self, ask: &str, answer: &Answer) -> Vec<Step> {
        let Some(open) = self.asks.remove(ask) else {
            return vec![Step::Note(format!("Codex does not wait for ask {ask}"))];
        };
        let reply = open.reply(answer);
        let mut steps = Vec::new();
        let mut denied_tool = String::new();
        if let Some(mut call) = self.calls.remove(&open.call) {
            let status = match answer {
                Answer::Deny { reason } => call.deny(reason.clone()),
                Answer::Approve { .. } if call.only_asked => {
                    call.answered(&reply.words);
                    ToolStatus::Success
                }
                Answer::Approve { .. } => ToolStatus::Created,
            };
            steps.extend(call.show(&status, &mut self.entries));
            denied_tool.clone_from(&call.name);
            if !call.only_asked {
                self.calls.insert(open.call.clone(), call);
            }
        }
        if let Answer::Deny { reason } = answer {
            let words = reason.clone().unwrap_or_default();
            steps.push(self.entries.show(EntryType::UserFeedback { denied_tool }, words));
        }
        // The refusal itself has no room for a reason. Told first, it is there when the agent goes on.
        let reason = reply.reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| format!("I refused this, because: {reason}"));
        steps.extend(reason.and_then(|reason| self.turns.reason(reason)));
        steps.push(Step::Send(wire::respond(&open.id, &reply.result)));
        steps
    }

    /// Takes the notice that nobody waits for an answer any more; what was answered is forgotten already.
    pub(super) fn withdrawn(&mut self, key: &str) -> Vec<Step> {
        let Some(open) = self.asks.remove(key) else { return Vec::new() };
        let mut steps = vec![Step::Withdrawn(key.to_string())];
        if let Some(mut call) = self.calls.remove(&open.call) {
            let status = if call.only_asked { ToolStatus::Failed } else { ToolStatus::Created };
            steps.extend(call.show(&status, &mut self.entries));
            if !call.only_asked {
                self.calls.insert(open.call, call);
            }
        }
        steps
    }
}

/// Refuses a request that no person can answer.
fn refused(id: &Value, method: &str) -> String {
    match method {
        // The server that asked goes on without.
        "mcpServer/elicitation/request" => wire::respond(id, &json!({"action": "decline"})),
        _ => wire::refuse(id, method),
    }
}
