//! What a tool call of Codex does, in the words of an entry. A call that changes several files has an entry for each.

use forge_model::Entry;
use forge_model::entry::{
    Action, CommandResult, EntryType, ExitStatus, FileChange, ToolResult, ToolResultKind, ToolStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::text::GROWTH;
use crate::Step;
use crate::entries::Entries;
use crate::relative::relative;
use crate::settings::words;

/// How much of a running command's output is kept: its end.
const TAIL: usize = 8 * 1024;

/// How much of a command's output an entry holds: its beginning and its end.
const OUTPUT: usize = 128 * 1024;

/// A tool call whose end has not come yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    id: String,
    /// The tool's name, as entries show it.
    pub(super) name: String,
    parts: Vec<Part>,
    /// The key of the ask about this call.
    pub(super) ask: Option<String>,
    /// The thread of the sub-agent that makes this call; none for the agent itself.
    pub(super) thread: Option<String>,
    /// It is there because of an ask, and nothing but the answer will end it.
    pub(super) only_asked: bool,
    denied: Option<Denied>,
    output: Output,
}

#[derive(Debug, Serialize, Deserialize)]
struct Part {
    /// The index of its entry, once it is shown.
    index: Option<usize>,
    action: Action,
    label: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Denied {
    reason: Option<String>,
}

/// The output of a running command.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Output {
    tail: String,
    all: usize,
    shown: usize,
}

impl Call {
    /// Reads a call. Paths below one of `roots` are shown relative to it.
    pub(super) fn new(id: &str, item: &Value, roots: &[String]) -> Self {
        let mut call = Self {
            id: id.to_string(),
            name: name(item),
            parts: Vec::new(),
            ask: None,
            thread: None,
            only_asked: false,
            denied: None,
            output: Output::default(),
        };
        call.read(item, roots);
        call
    }

    /// Takes in what the call is now.
    pub(super) fn read(&mut self, item: &Value, roots: &[String]) {
        for (number, (action, label)) in actions(item, roots).into_iter().enumerate() {
            match self.parts.get_mut(number) {
                Some(part) => (part.action, part.label) = (action, label),
                None => self.parts.push(Part { index: None, action, label }),
            }
        }
    }

    /// Takes a piece of a running command's output, and says whether it is worth showing.
    pub(super) fn grow(&mut self, piece: &str) -> bool {
        let Some(Part { action: Action::CommandRun { result, .. }, .. }) = self.parts.first_mut() else {
            return false;
        };
        let output = &mut self.output;
        output.all = output.all.saturating_add(piece.len());
        output.tail.push_str(piece);
        if output.tail.len() > 2 * TAIL {
            let cut = output.tail.ceil_char_boundary(output.tail.len() - TAIL);
            output.tail.drain(..cut);
        }
        if output.all == 0 || output.all - output.shown < output.shown / GROWTH {
            return false;
        }
        output.shown = output.all;
        let left_out = output.all - output.tail.len();
        let text = if left_out > 0 { cut_text(left_out, "", &output.tail) } else { output.tail.clone() };
        *result = Some(CommandResult { exit_status: None, output: Some(text) });
        true
    }

    /// Shows the call, all of its entries.
    pub(super) fn show(&mut self, status: &ToolStatus, entries: &mut Entries) -> Vec<Step> {
        let mut metadata = json!({"tool_call_id": self.id});
        if let Some(thread) = &self.thread {
            metadata["thread"] = json!(thread);
        }
        if let Some(ask) = &self.ask {
            metadata["ask"] = json!(ask);
        }
        let mut steps = Vec::new();
        for part in &mut self.parts {
            let (tool_name, action_type) = (self.name.clone(), part.action.clone());
            let kind = EntryType::ToolUse { tool_name, action_type, status: status.clone() };
            let entry = Entry { metadata: Some(metadata.clone()), ..Entry::new(kind, part.label.clone()) };
            match part.index {
                Some(index) => steps.push(Step::Entry { index, entry }),
                None => {
                    let (index, step) = entries.add(entry);
                    part.index = Some(index);
                    steps.push(step);
                }
            }
        }
        steps
    }

    /// Notes that a person refused it.
    pub(super) fn deny(&mut self, reason: Option<String>) -> ToolStatus {
        self.denied = Some(Denied { reason: reason.clone() });
        ToolStatus::Denied { reason }
    }

    /// Shows what is asked in place of the tool's name.
    pub(super) fn asks(&mut self, words: &str) {
        if let Some(Part { action: Action::Tool { .. }, label, .. }) = self.parts.first_mut()
            && !words.is_empty()
        {
            *label = words.to_string();
        }
    }

    /// Notes what a person answered.
    pub(super) fn answered(&mut self, words: &str) {
        if let Some(Part { action: Action::Tool { result, .. }, .. }) = self.parts.first_mut() {
            *result = Some(ToolResult { kind: ToolResultKind::Markdown, value: json!(words) });
        }
    }

    /// Returns how the call stands once it is over.
    pub(super) fn end(&self, item: &Value) -> ToolStatus {
        if let Some(Denied { reason }) = &self.denied {
            return ToolStatus::Denied { reason: reason.clone() };
        }
        match text(item, "status") {
            "declined" => ToolStatus::Denied { reason: None },
            "failed" | "interrupted" | "errored" => ToolStatus::Failed,
            _ if item["exitCode"].as_i64().is_some_and(|code| code != 0) => ToolStatus::Failed,
            _ if item["success"] == false => ToolStatus::Failed,
            _ => ToolStatus::Success,
        }
    }

    /// Returns what the call is about, in words.
    pub(super) fn label(&self) -> String {
        self.parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the files it changes.
    pub(super) fn paths(&self) -> Vec<String> {
        let path = |part: &Part| match &part.action {
            Action::FileEdit { path, .. } => Some(path.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(path).collect()
    }

    /// Returns where it was shown first, to put calls in order.
    pub(super) fn index(&self) -> Option<usize> {
        self.parts.first()?.index
    }
}

/// Returns the script of a command that is wrapped in a shell, and any other command as it is.
pub(super) fn script(command: &str) -> String {
    let argv = words(command);
    let [shell, flag, script] = &argv[..] else { return command.to_string() };
    let shell = shell.rsplit('/').next().unwrap_or_default();
    let wrapped = ["bash", "sh", "zsh", "dash"].contains(&shell) && ["-c", "-lc"].contains(&flag.as_str());
    if wrapped { script.clone() } else { command.to_string() }
}

/// Returns a text of a JSON object; an empty one when it is not there.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the texts of a list in a JSON object.
pub(super) fn texts<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    let list = value.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).collect()
}

fn name(item: &Value) -> String {
    match text(item, "type") {
        "commandExecution" => "bash".to_string(),
        "fileChange" => "edit".to_string(),
        "mcpToolCall" => format!("mcp:{}:{}", text(item, "server"), text(item, "tool")),
        "webSearch" => "web_search".to_string(),
        "imageView" => "view_image".to_string(),
        "collabAgentToolCall" => text(item, "tool").to_string(),
        "dynamicToolCall" => text(item, "tool").to_string(),
        "functionCallOutput" => text(item, "name").to_string(),
        "" => "tool".to_string(),
        other => other.to_string(),
    }
}

fn actions(item: &Value, roots: &[String]) -> Vec<(Action, String)> {
    let quoted = |text: &str| format!("`{text}`");
    match text(item, "type") {
        "commandExecution" => {
            let command = script(text(item, "command"));
            let label = quoted(&command);
            vec![(Action::CommandRun { command, result: command_result(item) }, label)]
        }
        "fileChange" => {
            let changes = item.get("changes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            changes.iter().map(|change| file_edit(change, roots)).collect()
        }
        "webSearch" => {
            let action = &item["action"];
            let told = [text(item, "query"), text(action, "url"), text(action, "query")];
            let url = told.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_string();
            let label = quoted(&url);
            vec![(Action::WebFetch { url }, label)]
        }
        "imageView" => {
            let path = relative(text(item, "path"), roots);
            let label = quoted(&path);
            vec![(Action::FileRead { path }, label)]
        }
        "collabAgentToolCall" if text(item, "tool") == "spawnAgent" => {
            let description = text(item, "prompt").to_string();
            vec![(Action::TaskCreate { description: description.clone() }, description)]
        }
        "subAgentActivity" => {
            let (agent, kind) = (text(item, "agentPath"), text(item, "kind"));
            let description = format!("Sub-agent {agent}: {kind}");
            vec![(Action::Other { description: description.clone() }, description)]
        }
        _ => {
            let tool_name = name(item);
            let (arguments, result) = (Some(arguments(item)), tool_result(item));
            vec![(Action::Tool { tool_name: tool_name.clone(), arguments, result }, tool_name)]
        }
    }
}

/// Returns what a tool was called with; of an item that Forge does not know, all of it.
fn arguments(item: &Value) -> Value {
    if let Some(arguments) = item.get("arguments") {
        return arguments.clone();
    }
    const OF_EVERY_ITEM: &[&str] = &["id", "type", "status", "startedAtMs", "completedAtMs", "durationMs"];
    let own = |key: &str| !OF_EVERY_ITEM.contains(&key);
    let all = item.as_object().into_iter().flatten();
    let all = all.filter(|(key, value)| own(key) && !value.is_null());
    Value::Object(all.map(|(key, value)| (key.clone(), bounded_value(value))).collect())
}

/// Keeps a picture or the like out of an entry.
fn bounded_value(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > OUTPUT => json!(bounded(text)),
        other => other.clone(),
    }
}

fn tool_result(item: &Value) -> Option<ToolResult> {
    let markdown = |text: &str| ToolResult { kind: ToolResultKind::Markdown, value: json!(bounded(text)) };
    if let Some(message) = item["error"]["message"].as_str() {
        return Some(markdown(message));
    }
    if let Some(output) = item.get("output").and_then(Value::as_str) {
        return Some(markdown(output));
    }
    let content = item["result"].get("content").or(item.get("contentItems")).or(item.get("output"));
    if let Some(content) = content.and_then(Value::as_array) {
        return Some(markdown(&plain(content)));
    }
    let structured = item["result"].get("structuredContent").filter(|value| !value.is_null())?;
    Some(ToolResult { kind: ToolResultKind::Json, value: structured.clone() })
}

/// Returns the text of a tool's result; a picture is named, not shown.
fn plain(content: &[Value]) -> String {
    let text = |block: &Value| match block.get("text").and_then(Value::as_str) {
        Some(text) => text.to_string(),
        None => format!("[{}]", block.get("type").and_then(Value::as_str).unwrap_or("unknown")),
    };
    content.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn command_result(item: &Value) -> Option<CommandResult> {
    let over = ["completed", "failed"].contains(&text(item, "status"));
    let output = item["aggregatedOutput"].as_str().map(bounded);
    let exit_status = match item["exitCode"].as_i64() {
        Some(code) => Some(ExitStatus::ExitCode { code }),
        None => over.then(|| ExitStatus::Success { success: text(item, "status") == "completed" }),
    };
    (over || output.is_some()).then_some(CommandResult { exit_status, output })
}

fn file_edit(change: &Value, roots: &[String]) -> (Action, String) {
    let path = relative(text(change, "path"), roots);
    let mut diff = text(change, "diff");
    // An older version tells the kind as a word.
    let kind = match &change["kind"] {
        Value::String(kind) => kind.as_str(),
        kind => text(kind, "type"),
    };
    let moved = match &change["kind"] {
        kind if kind["move_path"].is_string() => text(kind, "move_path"),
        kind => text(kind, "movePath"),
    };
    let mut label = format!("`{path}`");
    let mut changes = Vec::new();
    if !moved.is_empty() {
        // That is said once more below its diff.
        diff = diff.rsplit_once("\n\nMoved to: ").map_or(diff, |(diff, _)| diff);
        let new_path = relative(moved, roots);
        label = format!("`{path}` → `{new_path}`");
        changes.push(FileChange::Rename { new_path });
    }
    match kind {
        "add" => changes.push(FileChange::Write { content: bounded(diff) }),
        "delete" => changes.push(FileChange::Delete),
        _ if diff.is_empty() => {}
        _ => {
            let headed = diff.starts_with("--- ") || diff.starts_with("diff ");
            let head = if headed { String::new() } else { format!("--- a/{path}\n+++ b/{path}\n") };
            let unified_diff = format!("{head}{}", bounded(diff));
            let has_line_numbers = diff.lines().any(|line| line.starts_with("@@ -"));
            changes.push(FileChange::Edit { unified_diff, has_line_numbers });
        }
    }
    (Action::FileEdit { path, changes }, label)
}

/// Leaves the middle of a long text out.
fn bounded(text: &str) -> String {
    if text.len() <= OUTPUT {
        return text.to_string();
    }
    let head = text.floor_char_boundary(OUTPUT / 2);
    let tail = text.ceil_char_boundary(text.len() - OUTPUT / 2);
    cut_text(tail - head, &text[..head], &text[tail..])
}

fn cut_text(left_out: usize, head: &str, tail: &str) -> String {
    format!("{head}\n… {left_out} bytes are left out here …\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(item: Value) -> Vec<(Value, String)> {
        let mut call = Call::new("1", &item, &["/repo".to_string()]);
        let status = call.end(&item);
        let steps = call.show(&status, &mut Entries::default());
        let entry = |step| match step {
            Step::Entry { entry, .. } => (serde_json::to_value(entry.entry_type).unwrap(), entry.content),
            other => panic!("no entry: {other:?}"),
        };
        steps.into_iter().map(entry).collect()
    }

    #[test]
    fn a_command_is_shown_without_the_shell_around_it() {
        let cases = [
            ("/bin/bash -lc 'touch ok.txt'", "touch ok.txt"),
            (r#"/bin/bash -lc "echo 'a b' | wc""#, "echo 'a b' | wc"),
            ("bash -c ls", "ls"),
            ("ls -l /", "ls -l /"),
            ("bash -x script", "bash -x script"),
            ("", ""),
        ];
        for (command, expected) in cases {
            assert_eq!(script(command), expected);
        }
    }

    #[test]
    fn every_file_of_a_change_has_its_entry() {
        let changes = json!([
            {"path": "/repo/new.txt", "kind": {"type": "add"}, "diff": "hello\n"},
            {"path": "/repo/old.txt", "kind": {"type": "delete"}, "diff": "bye\n"},
            {"path": "/repo/a.rs", "kind": {"type": "update", "move_path": "/repo/b.rs"}, "diff": "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /repo/b.rs"},
            {"path": "/etc/hosts", "kind": {"type": "update", "move_path": null}, "diff": "@@\n-a\n+b\n"},
        ]);
        let shown = shown(json!({"type": "fileChange", "changes": changes, "status": "completed"}));
        let labels: Vec<&str> = shown.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["`new.txt`", "`old.txt`", "`a.rs` → `b.rs`", "`/etc/hosts`"]);
        let changes = |number: usize| &shown[number].0["action_type"]["changes"];
        assert_eq!(changes(0), &json!([{"action": "write", "content": "hello\n"}]));
        assert_eq!(changes(1), &json!([{"action": "delete"}]));
        assert_eq!(changes(2)[0], json!({"action": "rename", "new_path": "b.rs"}));
        let diff = "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(changes(2)[1], json!({"action": "edit", "unified_diff": diff, "has_line_numbers": true}));
        assert_eq!(changes(3)[0]["has_line_numbers"], false);
    }

    #[test]
    fn the_output_of_a_command_is_bounded_while_it_runs_and_after() {
        let item = json!({"type": "commandExecution", "command": "yes", "status": "inProgress"});
        let mut call = Call::new("1", &item, &[]);
        let mut shown = 0;
        for _ in 0..200_000 {
            if call.grow("yes yes äöü yes yes\n") {
                shown += serde_json::to_string(&call.parts[0].action).unwrap().len();
                assert!(call.output.tail.len() <= 2 * TAIL + 64);
            }
        }
        assert!(shown < 10_000_000, "{shown} bytes were shown for four megabytes");
        let output = "ä".repeat(OUTPUT);
        let long = json!({"type": "commandExecution", "command": "yes", "aggregatedOutput": output,
            "status": "completed", "exitCode": 0});
        call.read(&long, &[]);
        let Action::CommandRun { result: Some(result), .. } = &call.parts[0].action else { panic!() };
        let kept = result.output.as_deref().unwrap();
        assert!(kept.len() < OUTPUT + 100 && kept.contains("bytes are left out here"), "{}", kept.len());
    }

    #[test]
    fn every_known_item_has_its_action_and_an_unknown_one_is_shown_whole() {
        let cases = [
            (
                json!({"type": "commandExecution", "command": "ls", "status": "failed"}),
                "command_run",
                "bash",
                "`ls`",
            ),
            (json!({"type": "webSearch", "query": "q"}), "web_fetch", "web_search", "`q`"),
            (json!({"type": "imageView", "path": "/repo/a.png"}), "file_read", "view_image", "`a.png`"),
            (
                json!({"type": "collabAgentToolCall", "tool": "spawnAgent", "prompt": "do"}),
                "task_create",
                "spawnAgent",
                "do",
            ),
            (json!({"type": "collabAgentToolCall", "tool": "wait"}), "tool", "wait", "wait"),
            (
                json!({"type": "mcpToolCall", "server": "echo", "tool": "say"}),
                "tool",
                "mcp:echo:say",
                "mcp:echo:say",
            ),
            (json!({"type": "dynamicToolCall", "tool": "t"}), "tool", "t", "t"),
            (json!({"type": "invented", "id": "1", "colour": "red"}), "tool", "invented", "invented"),
            (json!({}), "tool", "tool", "tool"),
        ];
        for (item, action, tool, label) in cases {
            let (entry, content) = shown(item.clone()).remove(0);
            assert_eq!(entry["action_type"]["action"], action, "{item}");
            assert_eq!((entry["tool_name"].as_str(), content.as_str()), (Some(tool), label));
        }
        let (unknown, _) = shown(json!({"type": "invented", "id": "1", "colour": "red"})).remove(0);
        assert_eq!(unknown["action_type"]["arguments"], json!({"colour": "red"}));
    }

    #[test]
    fn what_a_tool_gave_back_is_shown() {
        let item = json!({"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": {"a": 1}, "status": "completed",
            "result": {"content": [{"type": "text", "text": "see"}, {"type": "image"}], "structuredContent": null}});
        let (entry, _) = shown(item).remove(0);
        assert_eq!(entry["action_type"]["result"]["value"], "see\n[image]");
        assert_eq!(entry["status"]["status"], "success");
        let failed = json!({"type": "mcpToolCall", "status": "failed", "error": {"message": "no"}});
        let (entry, _) = shown(failed).remove(0);
        assert_eq!(entry["action_type"]["result"]["value"], "no");
        assert_eq!(entry["status"]["status"], "failed");
    }
}
