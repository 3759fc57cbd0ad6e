//! An entry: one normalised item of a run's log.
//!
//! Unlike the other nouns it serialises here, as clients expect it, because entries are stored in that form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Time;

/// One normalised item of a run's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NormalizedEntry")]
pub struct Entry {
    pub timestamp: Option<Time>,
    pub entry_type: EntryType,
    pub content: String,
    pub metadata: Option<Value>,
}

impl Entry {
    /// Makes an entry with no time and no metadata.
    pub fn new(entry_type: EntryType, content: impl Into<String>) -> Self {
        Self { timestamp: None, entry_type, content: content.into(), metadata: None }
    }
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "NormalizedEntryType")]
pub enum EntryType {
    UserMessage,
    UserFeedback { denied_tool: String },
    AssistantMessage,
    ToolUse { tool_name: String, action_type: Action, status: ToolStatus },
    SystemMessage,
    ErrorMessage { error_type: ErrorType },
    Thinking,
    Loading,
}

/// Which error an error entry shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(rename = "NormalizedEntryError")]
pub enum ErrorType {
    SetupRequired,
    Other,
}

/// What a tool call does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[schemars(rename = "ActionType")]
pub enum Action {
    FileRead { path: String },
    FileEdit { path: String, changes: Vec<FileChange> },
    CommandRun { command: String, result: Option<CommandResult> },
    Search { query: String },
    WebFetch { url: String },
    Tool { tool_name: String, arguments: Option<Value>, result: Option<ToolResult> },
    TaskCreate { description: String },
    PlanPresentation { plan: String },
    TodoManagement { todos: Vec<Todo>, operation: String },
    Other { description: String },
}

/// How a tool call changes a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum FileChange {
    Write { content: String },
    Delete,
    Rename { new_path: String },
    Edit { unified_diff: String, has_line_numbers: bool },
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandResult {
    pub exit_status: Option<ExitStatus>,
    pub output: Option<String>,
}

/// The exit status of a command, as far as the agent tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExitStatus {
    ExitCode { code: i64 },
    Success { success: bool },
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    #[serde(rename = "type")]
    pub kind: ToolResultKind,
    pub value: Value,
}

/// How to show what a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolResultKind {
    Markdown,
    Json,
}

/// One item of an agent's to-do list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    pub content: String,
    pub status: String,
    pub priority: Option<String>,
}

/// Where a tool call stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolStatus {
    Created,
    Success,
    Failed,
    Denied { reason: Option<String> },
    PendingApproval { approval_id: String, requested_at: Time, timeout_at: Time },
    TimedOut,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_call_serialises_as_clients_expect() {
        let result = CommandResult { exit_status: Some(ExitStatus::ExitCode { code: 0 }), output: None };
        let entry = Entry::new(
            EntryType::ToolUse {
                tool_name: "Bash".into(),
                action_type: Action::CommandRun { command: "ls".into(), result: Some(result) },
                status: ToolStatus::Denied { reason: None },
            },
            "`ls`",
        );
        let expected = json!({
            "timestamp": null,
            "entry_type": {
                "type": "tool_use",
                "tool_name": "Bash",
                "action_type": {
                    "action": "command_run",
                    "command": "ls",
                    "result": {"exit_status": {"type": "exit_code", "code": 0}, "output": null},
                },
                "status": {"status": "denied", "reason": null},
            },
            "content": "`ls`",
            "metadata": null,
        });
        assert_eq!(serde_json::to_value(&entry).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Entry>(expected).unwrap(), entry);
    }
}
