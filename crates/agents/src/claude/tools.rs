//! What a tool call of Claude Code does, in the words of an entry.

use forge_model::Entry;
use forge_model::entry::{
    Action, CommandResult, EntryType, ExitStatus, FileChange, Todo, ToolResult, ToolResultKind, ToolStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::relative::relative;

/// A tool call whose end has not come yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToolCall {
    /// The index of its entry.
    pub(super) index: usize,
    pub(super) id: String,
    /// The tool's name, as entries show it.
    pub(super) name: String,
    action: Action,
    pub(super) label: String,
    /// The sub-agent's own call, when a sub-agent makes this one.
    pub(super) parent: Option<String>,
    /// The key of the ask about this call.
    pub(super) ask: Option<String>,
}

impl ToolCall {
    /// Reads a call. Paths below one of `roots` are shown relative to it.
    pub(super) fn new(id: String, tool: &str, input: &Value, roots: &[String]) -> Self {
        let (action, label) = action(tool, input, roots);
        let name = match &action {
            Action::Tool { tool_name, .. } => tool_name.clone(),
            _ => tool.to_string(),
        };
        Self { index: 0, id, name, action, label, parent: None, ask: None }
    }

    /// Returns the entry of this call.
    pub(super) fn entry(&self, status: ToolStatus) -> Entry {
        let mut metadata = json!({"tool_call_id": self.id});
        if let Some(parent) = &self.parent {
            metadata["parent_tool_call_id"] = json!(parent);
        }
        if let Some(ask) = &self.ask {
            metadata["ask"] = json!(ask);
        }
        let (tool_name, action_type) = (self.name.clone(), self.action.clone());
        let kind = EntryType::ToolUse { tool_name, action_type, status };
        Entry { metadata: Some(metadata), ..Entry::new(kind, self.label.clone()) }
    }

    /// Puts the plan that the person is asked about into the entry; the call itself may not hold it.
    pub(super) fn set_plan(&mut self, text: &str) {
        if let Action::PlanPresentation { plan } = &mut self.action {
            *plan = text.to_string();
            self.label = text.to_string();
        }
    }

    /// Takes in what the tool gave back.
    pub(super) fn finish(&mut self, content: &Value, failed: bool, details: Option<&Value>) {
        match &mut self.action {
            Action::CommandRun { result, .. } => *result = Some(command_result(&plain(content), failed)),
            Action::Tool { result, .. } => {
                *result = Some(ToolResult { kind: ToolResultKind::Markdown, value: json!(plain(content)) });
            }
            Action::FileEdit { path, changes } => {
                if let Some(diff) = details.and_then(|details| applied_diff(path, details)) {
                    *changes = vec![FileChange::Edit { unified_diff: diff, has_line_numbers: true }];
                }
            }
            _ => {}
        }
    }
}

fn action(tool: &str, input: &Value, roots: &[String]) -> (Action, String) {
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let path = |key: &str| relative(&text(key), roots);
    let quoted = |text: &str| format!("`{text}`");
    match tool {
        "Read" => {
            let path = path("file_path");
            let label = quoted(&path);
            (Action::FileRead { path }, label)
        }
        "Write" => {
            let path = path("file_path");
            let label = quoted(&path);
            (Action::FileEdit { path, changes: vec![FileChange::Write { content: text("content") }] }, label)
        }
        "Edit" | "MultiEdit" => {
            let path = path("file_path");
            let label = quoted(&path);
            let single = std::slice::from_ref(input);
            let edits = input.get("edits").and_then(Value::as_array).map_or(single, Vec::as_slice);
            let changes = edits.iter().map(|edit| wanted_change(&path, edit)).collect();
            (Action::FileEdit { path, changes }, label)
        }
        "Bash" => {
            let command = text("command");
            let label = quoted(&command);
            (Action::CommandRun { command, result: None }, label)
        }
        "Grep" | "Glob" => {
            let query = text("pattern");
            let label = quoted(&query);
            (Action::Search { query }, label)
        }
        "WebFetch" | "WebSearch" => {
            let url = if tool == "WebFetch" { text("url") } else { text("query") };
            let label = quoted(&url);
            (Action::WebFetch { url }, label)
        }
        "Task" | "Agent" => {
            let description = text("description");
            (Action::TaskCreate { description: description.clone() }, description)
        }
        "ExitPlanMode" => {
            let plan = text("plan");
            (Action::PlanPresentation { plan: plan.clone() }, plan)
        }
        "TodoWrite" | "TodoRead" => {
            let operation = if tool == "TodoWrite" { "write" } else { "read" }.to_string();
            let label = if tool == "TodoWrite" { "TODO list updated" } else { "TODO list read" };
            (Action::TodoManagement { todos: todos(input), operation }, label.to_string())
        }
        "LS" => {
            let description = format!("List directory: `{}`", path("path"));
            (Action::Other { description: description.clone() }, description)
        }
        "AskUserQuestion" => {
            let asked: Vec<String> = questions(input).into_iter().map(|question| question.text).collect();
            (generic(tool.to_string(), input), asked.join("\n"))
        }
        "NotebookEdit" => (generic(tool.to_string(), input), quoted(&path("notebook_path"))),
        _ => {
            let name = match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
                Some((server, tool)) => format!("mcp:{server}:{tool}"),
                None => tool.to_string(),
            };
            (generic(name.clone(), input), name)
        }
    }
}

/// A question that an `AskUserQuestion` call puts.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) header: Option<String>,
}

/// Returns the questions that an `AskUserQuestion` call puts.
pub(super) fn questions(input: &Value) -> Vec<Question> {
    let questions = input.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |item: &Value, key: &str| Some(item.get(key)?.as_str()?.to_string());
    let question = |item| Some(Question { text: text(item, "question")?, header: text(item, "header") });
    questions.iter().filter_map(question).collect()
}

fn generic(tool_name: String, input: &Value) -> Action {
    Action::Tool { tool_name, arguments: Some(input.clone()), result: None }
}

fn todos(input: &Value) -> Vec<Todo> {
    let items = input.get("todos").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).map(str::to_string);
    let todo = |item: &Value| Todo {
        content: text(item, "content").unwrap_or_default(),
        status: text(item, "status").unwrap_or_default(),
        priority: text(item, "priority"),
    };
    items.iter().map(todo).collect()
}

/// Shows an edit before it is applied: where in the file it lies is not known yet.
fn wanted_change(path: &str, edit: &Value) -> FileChange {
    let lines = |key: &str| -> Vec<&str> {
        edit.get(key).and_then(Value::as_str).unwrap_or_default().lines().collect()
    };
    let (old, new) = (lines("old_string"), lines("new_string"));
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1,{} +1,{} @@\n", old.len(), new.len());
    let mut put = |sign: char, lines: &[&str]| {
        for line in lines {
            diff.extend([sign]);
            diff.push_str(line);
            diff.push('\n');
        }
    };
    put(' ', &old[..head]);
    put('-', &old[head..old.len() - tail]);
    put('+', &new[head..new.len() - tail]);
    put(' ', &old[old.len() - tail..]);
    FileChange::Edit { unified_diff: diff, has_line_numbers: false }
}

/// Reads the diff that the agent reports after it changed a file; none for a new file.
fn applied_diff(path: &str, details: &Value) -> Option<String> {
    let hunks = details.get("structuredPatch")?.as_array()?;
    let mut diff = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in hunks {
        let number = |key: &str| hunk.get(key).and_then(Value::as_i64);
        let (old, old_lines) = (number("oldStart")?, number("oldLines")?);
        let (new, new_lines) = (number("newStart")?, number("newLines")?);
        diff.push_str(&format!("@@ -{old},{old_lines} +{new},{new_lines} @@\n"));
        for line in hunk.get("lines")?.as_array()? {
            diff.push_str(line.as_str()?);
            diff.push('\n');
        }
    }
    (!hunks.is_empty()).then_some(diff)
}

/// Reads how a command ended: a failure begins with its exit code, when there was one.
fn command_result(output: &str, failed: bool) -> CommandResult {
    let coded = output.strip_prefix("Exit code ").filter(|_| failed).and_then(|rest| {
        let (code, output) = rest.split_once('\n').unwrap_or((rest, ""));
        Some((code.trim().parse().ok()?, output))
    });
    let (exit_status, output) = match coded {
        Some((code, output)) => (ExitStatus::ExitCode { code }, output),
        None => (ExitStatus::Success { success: !failed }, output),
    };
    CommandResult { exit_status: Some(exit_status), output: Some(output.to_string()) }
}

/// Returns the text of a tool's result; a picture is named, not shown.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let text = |block: &Value| match block.get("text").and_then(Value::as_str) {
                Some(text) => text.to_string(),
                None => format!("[{}]", block.get("type").and_then(Value::as_str).unwrap_or("unknown")),
            };
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_shows_what_stays_as_context() {
        let edit = json!({"old_string": "a\nb\nc", "new_string": "a\nB\nB\nc"});
        let FileChange::Edit { unified_diff, has_line_numbers } = wanted_change("x", &edit) else { panic!() };
        assert_eq!(unified_diff, "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B\n c\n");
        assert!(!has_line_numbers);
    }

    #[test]
    fn an_applied_edit_has_line_numbers() {
        let input = json!({"file_path": "/r/x", "old_string": "b", "new_string": "c"});
        let mut call = ToolCall::new("1".into(), "Edit", &input, &["/r".into()]);
        let hunk = json!({"oldStart": 7, "oldLines": 1, "newStart": 7, "newLines": 1, "lines": ["-b", "+c"]});
        call.finish(&json!("done"), false, Some(&json!({"structuredPatch": [hunk]})));
        let Action::FileEdit { changes, .. } = &call.action else { panic!() };
        let unified_diff = "--- a/x\n+++ b/x\n@@ -7,1 +7,1 @@\n-b\n+c\n".to_string();
        assert_eq!(changes, &[FileChange::Edit { unified_diff, has_line_numbers: true }]);
    }

    #[test]
    fn a_failed_command_tells_its_exit_code() {
        let result = command_result("Exit code 3\nout\nerr", true);
        assert_eq!(result.exit_status, Some(ExitStatus::ExitCode { code: 3 }));
        assert_eq!(result.output.as_deref(), Some("out\nerr"));
        assert_eq!(command_result("Exit code 3", false).output.as_deref(), Some("Exit code 3"));
    }

    #[test]
    fn a_picture_in_a_result_is_named() {
        let content = json!([{"type": "text", "text": "see"}, {"type": "image", "source": {"data": "AAAA"}}]);
        assert_eq!(plain(&content), "see\n[image]");
    }

    #[test]
    fn every_known_tool_has_its_action() {
        let input = json!({"file_path": "/r/a", "pattern": "p", "url": "u", "query": "q", "description": "d",
            "todos": [{"content": "c", "status": "pending"}], "path": "/r/dir"});
        let shown = |tool| {
            let call = ToolCall::new("1".into(), tool, &input, &["/r".into()]);
            let action = serde_json::to_value(&call.action).unwrap();
            (action["action"].as_str().unwrap().to_string(), call.name, call.label)
        };
        let expected = [
            ("Read", "file_read", "Read", "`a`"),
            ("Grep", "search", "Grep", "`p`"),
            ("WebFetch", "web_fetch", "WebFetch", "`u`"),
            ("WebSearch", "web_fetch", "WebSearch", "`q`"),
            ("Task", "task_create", "Task", "d"),
            ("TodoWrite", "todo_management", "TodoWrite", "TODO list updated"),
            ("LS", "other", "LS", "List directory: `dir`"),
            ("mcp__echo__say", "tool", "mcp:echo:say", "mcp:echo:say"),
            ("Invented", "tool", "Invented", "Invented"),
        ];
        for (tool, action, name, label) in expected {
            assert_eq!(shown(tool), (action.into(), name.into(), label.into()));
        }
    }
}
