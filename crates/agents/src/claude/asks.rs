//! What Claude Code waits for: permissions, questions and plans, and how a person's answer is told to it.

use std::collections::BTreeMap;

use forge_model::entry::{EntryType, ToolStatus};
use forge_model::{Answer, AskKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fold::Fold;
use super::tools::{Question, questions};
use super::wire::{self, Request};
use crate::{AskRequest, Step};

/// How many asks may be open at once.
const MOST_OPEN: usize = 1000;

/// An ask without an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenAsk {
    kind: AskKind,
    tool: String,
    input: Value,
    call: String,
    /// What the agent itself would change so that it need not ask again.
    suggestions: Value,
}

impl Fold {
    /// Takes a request of the agent. Each is answered in some way: the agent waits for ever for one that is not.
    pub(super) fn requested(&mut self, key: String, request: &Value) -> Vec<Step> {
        match Request::deserialize(request) {
            Ok(request @ Request::CanUseTool { .. }) => self.asked(key, request),
            // No words mean that the hook has nothing against it.
            Ok(Request::HookCallback) => vec![Step::Send(wire::respond(&key, json!({})))],
            Ok(Request::Unknown) => {
                let error = "Forge does not answer this kind of request";
                vec![
                    Step::Note(format!("Claude Code asked something unknown in request {key}")),
                    Step::Send(wire::refuse(&key, error)),
                ]
            }
            Err(error) => vec![
                self.entries.not_understood(&request.to_string(), &error),
                Step::Send(wire::refuse(&key, "Forge does not understand this request")),
            ],
        }
    }

    fn asked(&mut self, key: String, request: Request) -> Vec<Step> {
        let Request::CanUseTool { tool_name, input, tool_use_id, description, permission_suggestions } =
            request
        else {
            return Vec::new();
        };
        if self.asks.contains_key(&key) {
            return Vec::new();
        }
        if self.asks.len() >= MOST_OPEN {
            return vec![Step::Send(wire::refuse(&key, "too much is asked at once"))];
        }
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
            "AskUserQuestion" => (AskKind::Question, "question".to_string(), label),
            // The call holds the plan even where the request does not.
            "ExitPlanMode" if label.is_empty() => {
                (AskKind::Plan, "plan".to_string(), "The agent wants to carry out its plan.".to_string())
            }
            "ExitPlanMode" => (AskKind::Plan, "plan".to_string(), label),
            name => (AskKind::Permission, name.to_string(), description.unwrap_or(label)),
        };
        let open = OpenAsk {
            kind,
            tool: tool_name,
            input: input.clone(),
            call: id,
            suggestions: permission_suggestions,
        };
        self.asks.insert(key.clone(), open);
        steps.push(Step::Ask(AskRequest { key, kind, tool, text, input }));
        steps
    }

    /// The agent no longer waits for an ask; its tool call may still go on.
    pub(super) fn withdrawn(&mut self, key: &str) -> Vec<Step> {
        let Some(open) = self.asks.remove(key) else { return Vec::new() };
        let mut steps = vec![Step::Withdrawn(key.to_string())];
        steps.extend(self.call_again(&open.call));
        steps
    }

    pub(super) fn answered(&mut self, key: &str, answer: &Answer) -> Vec<Step> {
        let Some(open) = self.asks.remove(key) else {
            return vec![Step::Note(format!("Claude Code does not wait for ask {key}"))];
        };
        match answer {
            Answer::Approve { text, answers, for_session } => {
                let mut steps: Vec<Step> = self.call_again(&open.call).into_iter().collect();
                let response = open.allow(text.as_deref().unwrap_or_default(), answers, *for_session);
                steps.push(Step::Send(wire::respond(key, response)));
                steps
            }
            Answer::Deny { reason } => {
                let mut steps = Vec::new();
                let mut denied_tool = open.tool;
                // Its result will only repeat the reason, so the call is over now.
                if let Some(call) = self.calls.remove(&open.call) {
                    let entry = call.entry(ToolStatus::Denied { reason: reason.clone() });
                    steps.push(Step::Entry { index: call.index, entry });
                    denied_tool = call.name;
                }
                let words = reason.clone().unwrap_or_default();
                steps.push(self.entries.show(EntryType::UserFeedback { denied_tool }, words));
                let message = reason.as_deref().unwrap_or("The person refused this tool call.");
                let response = json!({"behavior": "deny", "message": message, "interrupt": false});
                steps.push(Step::Send(wire::respond(key, response)));
                steps
            }
        }
    }

    /// Shows a tool call again, because what its ask stands at has changed.
    fn call_again(&self, id: &str) -> Option<Step> {
        let call = self.calls.get(id)?;
        Some(Step::Entry { index: call.index, entry: call.entry(ToolStatus::Created) })
    }
}

impl OpenAsk {
    /// Says yes.
    fn allow(self, text: &str, answers: &BTreeMap<String, String>, for_session: bool) -> Value {
        let Self { kind, tool, mut input, suggestions, .. } = self;
        match kind {
            AskKind::Permission if for_session => {
                let changes = lasting(&tool, &input, &suggestions);
                json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": changes})
            }
            AskKind::Permission => json!({"behavior": "allow", "updatedInput": input}),
            AskKind::Question => {
                let answers = laid_out(&questions(&input), text, answers);
                if let Some(input) = input.as_object_mut() {
                    input.insert("answers".to_string(), json!(answers));
                }
                json!({"behavior": "allow", "updatedInput": input})
            }
            AskKind::Plan => {
                let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
                json!({"behavior": "allow", "updatedInput": input, "updatedPermissions": [mode]})
            }
        }
    }
}

/// Returns the changes after which the agent does not ask for the like of it again: those it suggests, but for this
/// session only (some would be written into the worktree), or else a rule for exactly this.
fn lasting(tool: &str, input: &Value, suggestions: &Value) -> Vec<Value> {
    let mut changes: Vec<Value> = suggestions.as_array().cloned().unwrap_or_default();
    changes.retain(Value::is_object);
    if changes.is_empty() {
        let mut rule = json!({"toolName": tool});
        if let Some(command) = input.get("command") {
            rule["ruleContent"] = command.clone();
        }
        changes.push(json!({"type": "addRules", "rules": [rule], "behavior": "allow"}));
    }
    for change in &mut changes {
        change["destination"] = json!("session");
    }
    changes
}

/// Lays an answer out over the questions. Each takes the answer that is given to it by name (the question itself, or
/// its header). Words alone answer the first question without an answer; as many lines as questions answer one each;
/// words that are an object are answers by name.
fn laid_out(
    questions: &[Question],
    text: &str,
    answers: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut given = answers.clone();
    let by_name: Option<BTreeMap<String, String>> = serde_json::from_str(text).ok();
    let words = if by_name.is_some() { "" } else { text };
    given.extend(by_name.unwrap_or_default());

    let mut laid = BTreeMap::new();
    let mut without = Vec::new();
    for question in questions {
        let header = question.header.as_deref().unwrap_or_default();
        match given.remove(&question.text).or_else(|| given.remove(header)) {
            Some(answer) => {
                laid.insert(question.text.clone(), answer);
            }
            None => without.push(question.text.clone()),
        }
    }
    let lines: Vec<&str> = words.lines().collect();
    if lines.len() == without.len() && lines.len() > 1 {
        laid.extend(without.into_iter().zip(lines.into_iter().map(str::to_string)));
    } else if let Some(first) = without.into_iter().next().filter(|_| !words.is_empty()) {
        laid.insert(first, words.to_string());
    }
    // What is left is the answer to something that was not read as a question; the agent may know better.
    laid.extend(given);
    laid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_find_their_questions() {
        let input = json!({"questions": [{"question": "One?", "header": "First"}, {"question": "Two?"}]});
        let laid = |text: &str, answers: &[(&str, &str)]| {
            let answers = answers.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            json!(laid_out(&questions(&input), text, &answers))
        };
        assert_eq!(laid("a", &[]), json!({"One?": "a"}));
        assert_eq!(laid("a\nb", &[]), json!({"One?": "a", "Two?": "b"}));
        assert_eq!(laid("", &[("Two?", "b"), ("First", "a")]), json!({"One?": "a", "Two?": "b"}));
        assert_eq!(laid("a", &[("Two?", "b")]), json!({"One?": "a", "Two?": "b"}));
        assert_eq!(laid(r#"{"One?": "x"}"#, &[]), json!({"One?": "x"}));
        assert_eq!(laid("", &[("Three?", "c")]), json!({"Three?": "c"}));
        assert_eq!(laid("", &[]), json!({}));
    }

    #[test]
    fn what_lasts_lasts_for_the_session_only() {
        let suggested = json!([{"type": "addRules", "rules": [], "destination": "localSettings"}, "odd"]);
        let lasts = json!([{"type": "addRules", "rules": [], "destination": "session"}]);
        assert_eq!(json!(lasting("Bash", &Value::Null, &suggested)), lasts);
        let rule = json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
            "behavior": "allow", "destination": "session"}]);
        assert_eq!(json!(lasting("Bash", &json!({"command": "ls"}), &Value::Null)), rule);
    }
}
