//! What a tool call of an ACP agent does, in the words of an entry. Agents announce calls in pieces, with fields that
//! each fills differently: whatever is known so far is shown.

use forge_model::Entry;
use forge_model::entry::{
    Action, CommandResult, EntryType, ExitStatus, FileChange, Todo, ToolResult, ToolResultKind, ToolStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::diff::unified;
use super::wire::{CallUpdate, text_of};

/// The most of a terminal's output that is kept while a command runs.
const MOST_OUTPUT: usize = 256 * 1024;

/// A tool call whose end has not come yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Call {
    /// The index of its entry.
    pub(super) index: usize,
    pub(super) id: String,
    name: Option<String>,
    kind: Option<String>,
    title: String,
    input: Value,
    output: Value,
    /// What its content says in words.
    text: String,
    /// The diffs of its content: path, old text, new text.
    diffs: Vec<(String, Option<String>, String)>,
    path: Option<String>,
    terminal: String,
    exit: Option<i64>,
    parent: Option<String>,
    /// The key of the ask about this call.
    pub(super) ask: Option<String>,
}

impl Call {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_string(), ..Self::default() }
    }

    /// Takes in what is new about the call; says whether its entry looks different for it.
    pub(super) fn merge(&mut self, new: CallUpdate) -> bool {
        let before = self.looks();
        self.take(new);
        before != self.looks()
    }

    /// What an entry of a call that is not over is made of; the content of a plan is the plan.
    fn looks(&self) -> impl PartialEq + use<> {
        let plan = self.is_plan().then(|| self.text.clone());
        let call = (self.name.clone(), self.kind.clone(), self.title.clone(), self.parent.clone());
        (call, self.input.clone(), self.diffs.clone(), self.path.clone(), plan)
    }

    fn take(&mut self, new: CallUpdate) {
        let claude = new.meta.get("claudeCode");
        let meta_text = |key: &str| claude.and_then(|meta| meta.get(key)?.as_str()).map(str::to_string);
        let told = || Some(new.meta.get("toolName")?.as_str()?.to_string());
        set(&mut self.name, new.name.or_else(|| meta_text("toolName")).or_else(told));
        set(&mut self.parent, meta_text("parentToolUseId"));
        // What is known stays when a later message is vaguer.
        let unknown = self.kind.is_none();
        set(&mut self.kind, new.kind.filter(|kind| unknown || kind != "other"));
        if let Some(title) = new.title.filter(|title| !title.trim().is_empty()) {
            self.title = title;
        }
        if let Some(input) = new.raw_input.filter(|input| !is_empty(input)) {
            self.input = input;
        }
        if let Some(output) = new.raw_output {
            self.output = output;
        }
        let locations = new.locations.unwrap_or_default();
        set(
            &mut self.path,
            locations.first().and_then(|place| Some(place.get("path")?.as_str()?.to_string())),
        );
        if let Some(content) = new.content {
            self.take_content(&content);
        }
        let terminal = new.meta.get("terminal_output").and_then(|output| output.get("data")?.as_str());
        if let Some(more) = terminal {
            let room = MOST_OUTPUT.saturating_sub(self.terminal.len());
            self.terminal.push_str(&more[..more.floor_char_boundary(room)]);
        }
        let exit = new.meta.get("terminal_exit").and_then(|exit| exit.get("exit_code")?.as_i64());
        self.exit = exit.or_else(|| exit_code(&self.output)).or(self.exit);
    }

    /// Content replaces what was there; but a diff stays when only words follow.
    fn take_content(&mut self, content: &[Value]) {
        let (mut texts, mut diffs) = (Vec::new(), Vec::new());
        for block in content {
            let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_string);
            match text("type").as_deref() {
                Some("content") => texts.extend(block.get("content").map(text_of)),
                Some("diff") => {
                    if let (Some(path), Some(new)) = (text("path"), text("newText")) {
                        diffs.push((path, text("oldText"), new));
                    }
                }
                _ => {}
            }
        }
        self.text = texts.join("\n");
        if !diffs.is_empty() {
            self.diffs = diffs;
        }
        // Some tell the input of a call as its content at first.
        if is_empty(&self.input)
            && let Ok(input @ Value::Object(_)) = serde_json::from_str(&self.text)
        {
            self.input = input;
        }
    }

    /// The tool's name, as entries and asks show it.
    pub(super) fn tool(&self) -> String {
        let kind = self.kind.as_deref().filter(|kind| !matches!(*kind, "" | "other"));
        let name = self.name.as_deref().or(kind);
        name.unwrap_or(if self.title.is_empty() { "tool" } else { &self.title }).to_string()
    }

    /// The tool's name, as rules read it. Whoever makes a tool gives it its title: it must not pass for one of the
    /// agent's own, which are known by their name or kind.
    pub(super) fn asked_tool(&self) -> String {
        match (self.name.as_deref(), self.kind.as_deref()) {
            (None, None | Some("" | "other")) => format!("other: {}", self.tool()),
            _ => self.tool(),
        }
    }

    /// Says whether the call shows a plan and waits for it to be approved.
    pub(super) fn is_plan(&self) -> bool {
        self.kind.as_deref() == Some("switch_mode")
    }

    /// Says whether the call puts a question to the person.
    pub(super) fn is_question(&self) -> bool {
        matches!(
            self.name.as_deref(),
            Some("AskUserQuestion" | "ask_user" | "ask_user_question" | "question")
        )
    }

    /// What the person is asked about this call, in words.
    pub(super) fn question(&self, roots: &[String]) -> String {
        match self.kind.as_deref() {
            Some("execute") => self.command(),
            Some("switch_mode") => self.plan(),
            _ if !self.title.is_empty() => self.title.clone(),
            _ => self.label(&self.action(&ToolStatus::Created, roots)),
        }
    }

    /// The input of the call for whoever decides about it, with the file and, where the agent's titles are commands,
    /// the command by its name. Any other title is no command: a rule must not take it for one.
    pub(super) fn asked_input(&self, titles_are_commands: bool) -> Value {
        let mut input = match &self.input {
            Value::Object(_) => self.input.clone(),
            Value::Null => json!({}),
            other => json!({"input": other}),
        };
        let told = ["command", "cmd"].iter().any(|key| input.get(key).is_some());
        if self.kind.as_deref() == Some("execute") && titles_are_commands && !told {
            input["command"] = json!(self.title);
        }
        if let (Some("read" | "edit" | "delete" | "move"), None) = (self.kind.as_deref(), input.get("path"))
            && let Some(path) = self.file()
        {
            input["path"] = json!(path);
        }
        input
    }

    /// Returns the entry of this call.
    pub(super) fn entry(&self, status: ToolStatus, roots: &[String]) -> Entry {
        let mut metadata = json!({"tool_call_id": self.id});
        if let Some(parent) = &self.parent {
            metadata["parent_tool_call_id"] = json!(parent);
        }
        if let Some(ask) = &self.ask {
            metadata["ask"] = json!(ask);
        }
        let action_type = self.action(&status, roots);
        let label = self.label(&action_type);
        let kind = EntryType::ToolUse { tool_name: self.tool(), action_type, status };
        Entry { metadata: Some(metadata), ..Entry::new(kind, label) }
    }

    /// Says whether it is a command that ended with an exit code of failure.
    pub(super) fn has_failed(&self) -> bool {
        self.exit.is_some_and(|code| code != 0)
    }

    fn label(&self, action: &Action) -> String {
        match action {
            Action::FileRead { path } | Action::FileEdit { path, .. } => format!("`{path}`"),
            Action::CommandRun { command, .. } => format!("`{command}`"),
            Action::Search { query } => format!("`{query}`"),
            Action::WebFetch { url } => format!("`{url}`"),
            Action::PlanPresentation { plan } => plan.clone(),
            Action::TaskCreate { description } | Action::Other { description } => description.clone(),
            Action::TodoManagement { .. } => "TODO list updated".to_string(),
            Action::Tool { tool_name, .. } if self.title.is_empty() => tool_name.clone(),
            Action::Tool { .. } => self.title.clone(),
        }
    }

    fn action(&self, status: &ToolStatus, roots: &[String]) -> Action {
        let over = matches!(status, ToolStatus::Success | ToolStatus::Failed);
        let file = self.file().map(|path| relative(&path, roots));
        let or_title = |text: Option<String>| text.unwrap_or_else(|| self.title.clone());
        match (self.kind.as_deref(), file) {
            (Some("read"), Some(path)) => Action::FileRead { path },
            (Some("edit"), Some(path)) => Action::FileEdit { changes: self.changes(roots), path },
            (Some("delete"), Some(path)) => Action::FileEdit { path, changes: vec![FileChange::Delete] },
            (Some("move"), Some(path)) => {
                let new_path = self.input(&["newPath", "new_path", "destination", "to"]);
                let rename = new_path.map(|new| FileChange::Rename { new_path: relative(&new, roots) });
                Action::FileEdit { path, changes: rename.into_iter().collect() }
            }
            (Some("execute"), _) => {
                let failed = *status == ToolStatus::Failed;
                let result = over.then(|| CommandResult {
                    exit_status: Some(match self.exit {
                        Some(code) => ExitStatus::ExitCode { code },
                        None => ExitStatus::Success { success: !failed },
                    }),
                    output: Some(self.result_text()),
                });
                Action::CommandRun { command: self.command(), result }
            }
            (Some("search"), _) => {
                Action::Search { query: or_title(self.input(&["pattern", "query", "regex", "glob"])) }
            }
            (Some("fetch"), _) => Action::WebFetch { url: or_title(self.input(&["url", "query", "uri"])) },
            (Some("switch_mode"), _) => Action::PlanPresentation { plan: self.plan() },
            _ if self.input.get("todos").is_some_and(Value::is_array) => {
                Action::TodoManagement { todos: todos(&self.input["todos"]), operation: "write".to_string() }
            }
            (Some("think"), _) if self.input.get("prompt").is_some() => {
                Action::TaskCreate { description: or_title(self.input(&["description"])) }
            }
            (Some("think"), _) => Action::Other { description: self.title.clone() },
            _ => Action::Tool {
                tool_name: self.tool(),
                arguments: Some(self.input.clone()).filter(|input| !input.is_null()),
                result: over
                    .then(|| ToolResult { kind: ToolResultKind::Markdown, value: json!(self.result_text()) }),
            },
        }
    }

    fn changes(&self, roots: &[String]) -> Vec<FileChange> {
        let change = |path: &str, old: Option<&str>, new: &str| match old {
            None | Some("") => FileChange::Write { content: new.to_string() },
            Some(old) => {
                let unified_diff = unified(&relative(path, roots), old, new);
                FileChange::Edit { unified_diff, has_line_numbers: false }
            }
        };
        if !self.diffs.is_empty() {
            return self.diffs.iter().map(|(path, old, new)| change(path, old.as_deref(), new)).collect();
        }
        let path = self.file().unwrap_or_default();
        let old = self.input(&["oldString", "old_string", "old_str", "oldText"]);
        let new = self.input(&["newString", "new_string", "new_str", "newText"]);
        match (old, new, self.input(&["content", "file_text"])) {
            (Some(old), Some(new), _) => vec![change(&path, Some(&old), &new)],
            (_, _, Some(content)) => vec![FileChange::Write { content }],
            _ => Vec::new(),
        }
    }

    /// The file that the call is about, as the agent writes it.
    fn file(&self) -> Option<String> {
        let diff = self.diffs.first().map(|(path, ..)| path.clone());
        let named =
            || self.input(&["path", "file_path", "filePath", "absolute_path", "abs_path", "fileName"]);
        diff.or_else(|| self.path.clone()).or_else(named)
    }

    fn command(&self) -> String {
        let words = |value: &Value| match value {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => {
                let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
                (!words.is_empty()).then(|| words.join(" "))
            }
            _ => None,
        };
        let named = ["command", "cmd"].iter().find_map(|key| words(self.input.get(key)?));
        named.unwrap_or_else(|| self.title.clone())
    }

    fn plan(&self) -> String {
        let written = || Some(self.text.clone()).filter(|text| !text.trim().is_empty());
        self.input(&["plan"]).or_else(written).unwrap_or_else(|| self.title.clone())
    }

    /// Returns the first of these keys of the input that is a text.
    fn input(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| Some(self.input.get(key)?.as_str()?.to_string()))
    }

    /// What the call gave back, in words.
    fn result_text(&self) -> String {
        if !self.terminal.is_empty() {
            return self.terminal.clone();
        }
        // What a command printed, where it is told apart from words about it.
        let printed = self.output.get("output").and_then(Value::as_str);
        if let Some(printed) = printed.filter(|_| self.kind.as_deref() == Some("execute")) {
            return printed.to_string();
        }
        if !self.text.trim().is_empty() {
            return self.text.clone();
        }
        let text = |value: &Value| value.as_str().map(str::to_string);
        let keys = ["output", "content", "stdout", "text", "message", "error"];
        let named = || keys.iter().find_map(|key| text(self.output.get(key)?));
        text(&self.output).or_else(named).unwrap_or_else(|| match &self.output {
            Value::Null => String::new(),
            other => other.to_string(),
        })
    }
}

fn set(known: &mut Option<String>, new: Option<String>) {
    if let Some(new) = new.filter(|new| !new.is_empty()) {
        *known = Some(new);
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Finds the exit code of a command in what its tool gave back.
fn exit_code(output: &Value) -> Option<i64> {
    let direct = || ["exitCode", "exit_code", "exit"].iter().find_map(|key| output.get(key)?.as_i64());
    let beside = || output.get("metadata")?.get("exit")?.as_i64();
    let listed =
        || output.get("contents")?.as_array()?.iter().find_map(|item| item.get("exitCode")?.as_i64());
    direct().or_else(beside).or_else(listed)
}

/// Reads a to-do list in any of the shapes that agents have for one.
pub(super) fn todos(list: &Value) -> Vec<Todo> {
    let text =
        |item: &Value, keys: &[&str]| keys.iter().find_map(|key| Some(item.get(key)?.as_str()?.to_string()));
    let todo = |item: &Value| Todo {
        content: text(item, &["content", "text", "title", "description"]).unwrap_or_default(),
        status: text(item, &["status"]).unwrap_or_default(),
        priority: text(item, &["priority"]),
    };
    list.as_array().map_or(&[][..], Vec::as_slice).iter().map(todo).collect()
}

/// Makes a path relative to the first root it lies below.
fn relative(path: &str, roots: &[String]) -> String {
    let below = |root: &String| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
    roots.iter().filter(|root| !root.is_empty()).find_map(below).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pieces: &[Value]) -> Call {
        let mut call = Call::new("c");
        for piece in pieces {
            let mut piece = piece.clone();
            piece["toolCallId"] = json!("c");
            call.merge(serde_json::from_value(piece).unwrap());
        }
        call
    }

    fn shown(pieces: &[Value], status: ToolStatus) -> Value {
        let entry = serde_json::to_value(call(pieces).entry(status, &["/r".into()])).unwrap();
        json!([entry["entry_type"]["tool_name"], entry["content"], entry["entry_type"]["action_type"]])
    }

    #[test]
    fn every_kind_has_its_action() {
        let at = json!([{"path": "/r/a"}]);
        let cases = [
            (
                json!({"kind": "read", "title": "Read a", "locations": at}),
                json!(["read", "`a`", {"action": "file_read", "path": "a"}]),
            ),
            (
                json!({"kind": "read", "title": "Read a"}),
                json!(["read", "Read a", {"action": "tool", "tool_name": "read", "arguments": null, "result": null}]),
            ),
            (
                json!({"kind": "delete", "locations": at}),
                json!(["delete", "`a`", {"action": "file_edit", "path": "a", "changes": [{"action": "delete"}]}]),
            ),
            (
                json!({"kind": "move", "locations": at, "rawInput": {"newPath": "/r/b"}}),
                json!(["move", "`a`", {"action": "file_edit", "path": "a", "changes": [{"action": "rename", "new_path": "b"}]}]),
            ),
            (
                json!({"kind": "search", "title": "Searching", "rawInput": {"pattern": "p"}}),
                json!(["search", "`p`", {"action": "search", "query": "p"}]),
            ),
            (
                json!({"kind": "search", "title": "p"}),
                json!(["search", "`p`", {"action": "search", "query": "p"}]),
            ),
            (
                json!({"kind": "fetch", "rawInput": {"url": "u"}}),
                json!(["fetch", "`u`", {"action": "web_fetch", "url": "u"}]),
            ),
            (
                json!({"kind": "think", "title": "Thinking"}),
                json!(["think", "Thinking", {"action": "other", "description": "Thinking"}]),
            ),
            (
                json!({"kind": "think", "name": "Task", "rawInput": {"prompt": "p", "description": "d"}}),
                json!(["Task", "d", {"action": "task_create", "description": "d"}]),
            ),
            (
                json!({"kind": "switch_mode", "rawInput": {"plan": "1. do"}}),
                json!(["switch_mode", "1. do", {"action": "plan_presentation", "plan": "1. do"}]),
            ),
            (
                json!({"kind": "other", "rawInput": {"todos": [{"text": "t", "status": "pending"}]}}),
                json!(["tool", "TODO list updated", {"action": "todo_management", "operation": "write", "todos": [{"content": "t", "status": "pending", "priority": null}]}]),
            ),
            (
                json!({"kind": "invented", "title": "Doing"}),
                json!(["invented", "Doing", {"action": "tool", "tool_name": "invented", "arguments": null, "result": null}]),
            ),
            (
                json!({}),
                json!(["tool", "tool", {"action": "tool", "tool_name": "tool", "arguments": null, "result": null}]),
            ),
        ];
        for (piece, expected) in cases {
            assert_eq!(shown(std::slice::from_ref(&piece), ToolStatus::Created), expected, "{piece}");
        }
    }

    #[test]
    fn a_command_tells_its_output_and_exit_code_when_it_is_over() {
        let begun =
            json!({"kind": "execute", "title": "bash", "rawInput": {"command": "false", "cwd": "/r"}});
        let open = json!({"action": "command_run", "command": "false", "result": null});
        assert_eq!(shown(std::slice::from_ref(&begun), ToolStatus::Created)[2], open);
        let result = |pieces: &[Value], status| shown(pieces, status)[2]["result"].clone();
        let opencode = json!({"rawOutput": {"output": "no", "metadata": {"exit": 1}}});
        let code = |code: i64, output: &str| json!({"exit_status": {"type": "exit_code", "code": code}, "output": output});
        assert_eq!(result(&[begun.clone(), opencode], ToolStatus::Success), code(1, "no"));
        let copilot = json!({"rawOutput": {"contents": [{"type": "shell_exit", "exitCode": 3}]}, "content": [{"type": "content", "content": {"type": "text", "text": "out"}}]});
        assert_eq!(result(&[begun.clone(), copilot], ToolStatus::Failed), code(3, "out"));
        let output = json!({"_meta": {"terminal_output": {"data": "one\n"}}});
        let exit = json!({"_meta": {"terminal_exit": {"exit_code": 0}}});
        assert_eq!(
            result(&[begun.clone(), output.clone(), output, exit], ToolStatus::Success),
            code(0, "one\none\n")
        );
        let plain = json!({"rawOutput": "done"});
        let success = json!({"exit_status": {"type": "success", "success": true}, "output": "done"});
        assert_eq!(result(&[begun, plain], ToolStatus::Success), success);
        let words = json!({"kind": "execute", "rawInput": {"command": ["ls", "-l"]}});
        assert_eq!(shown(&[words], ToolStatus::Created)[2]["command"], "ls -l");
    }

    #[test]
    fn an_edit_keeps_its_diff_when_only_words_follow() {
        let diff = json!({"kind": "edit", "content": [{"type": "diff", "path": "/r/a", "oldText": "x\n", "newText": "y\n"}]});
        let words =
            json!({"content": [{"type": "content", "content": {"type": "text", "text": "Wrote file."}}]});
        let action = &shown(&[diff, words], ToolStatus::Success)[2];
        assert_eq!(action["changes"][0]["unified_diff"], "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n");
        let written = json!({"kind": "edit", "rawInput": {"filePath": "/r/b", "content": "new"}});
        let action = &shown(&[written], ToolStatus::Created)[2];
        assert_eq!(
            action,
            &json!({"action": "file_edit", "path": "b", "changes": [{"action": "write", "content": "new"}]})
        );
        let replaced = json!({"kind": "edit", "rawInput": {"path": "/r/c", "old_str": "1", "new_str": "2"}});
        assert_eq!(shown(&[replaced], ToolStatus::Created)[2]["changes"][0]["action"], "edit");
    }

    #[test]
    fn an_input_that_is_told_as_content_is_an_input() {
        let told = json!({"title": "Bash", "kind": "execute", "content": [{"type": "content", "content": {"type": "text", "text": "{\"command\": \"touch b\"}"}}]});
        let asked = json!({"content": [{"type": "content", "content": {"type": "text", "text": "May I?"}}]});
        let call = call(&[told, asked]);
        assert_eq!(call.asked_input(false), json!({"command": "touch b"}));
        assert_eq!(call.question(&[]), "touch b");
    }

    #[test]
    fn the_person_who_is_asked_sees_the_command_or_the_file_by_its_name() {
        let untold = call(&[json!({"kind": "execute", "title": "touch b"})]);
        assert_eq!(untold.asked_input(true), json!({"command": "touch b"}));
        assert_eq!(untold.asked_input(false), json!({}), "a title is a command only where that is known");
        let edit = call(&[json!({"kind": "edit", "title": "Writing", "locations": [{"path": "/r/a"}]})]);
        assert_eq!(edit.asked_input(true), json!({"path": "/r/a"}));
        assert_eq!((edit.tool(), edit.question(&[])), ("edit".to_string(), "Writing".to_string()));
    }
}
