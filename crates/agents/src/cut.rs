//! Bounds what a line becomes. An agent may print any amount, and the raw log has all of it; an entry is shown to many at
//! once and stays small. What is cut says so where it was cut.

use std::io::{self, Write};

use forge_model::Entry;
use forge_model::entry::{Action, EntryType, FileChange, ToolStatus};
use serde_json::{Map, Value, json};

use crate::{AskRequest, Step};

/// About how much JSON an entry has at most. Nobody reads more of one text; a window of a conversation holds dozens.
pub const LONGEST_ENTRY: usize = 256 * 1024;

/// What stands where a text was cut. It needs no escape in JSON.
pub(crate) const MARK: &str = " [Forge cut the rest of this text; the raw log has it]";

/// A text that is so short is never cut: it may be the name of what it stands in.
const SHORT: usize = 64;

/// Once nothing has room any more, an object keeps so many keys. What we define ourselves has fewer.
const KEYS: usize = 16;

/// Our own objects lie less deep in an entry; one that lies so deep is an agent's and may be emptied.
const DEEP: usize = 5;

/// Cuts what is too long to be shown or asked. What is sent to the agent or written for it is whole or not at all.
pub fn bounded(step: Step) -> Step {
    match step {
        Step::Entry { index, entry } => Step::Entry { index, entry: bounded_entry(entry) },
        Step::Ask(ask) => Step::Ask(bounded_ask(ask)),
        Step::Done { ok, error, summary } => {
            Step::Done { ok, error: error.map(bounded_text), summary: summary.map(bounded_text) }
        }
        step => step,
    }
}

/// Says whether a text within a value was cut, so that it does not tell all.
pub fn is_cut(value: &Value) -> bool {
    match value {
        Value::String(text) => text.ends_with(MARK),
        Value::Array(items) => items.iter().any(is_cut),
        Value::Object(map) => map.values().any(is_cut),
        _ => false,
    }
}

/// Appends a piece to a text that grows, for as long as there is any use in more of it.
pub(crate) fn grow(text: &mut String, piece: &str) {
    // Longer than an entry may be, so that the entry is cut and says so.
    let room = (2 * LONGEST_ENTRY).saturating_sub(text.len());
    text.push_str(&piece[..piece.floor_char_boundary(room)]);
}

fn bounded_entry(entry: Entry) -> Entry {
    // As JSON a character has at most six times its bytes. Most entries are far below, and are not written to see it.
    if rough_size(&entry) <= LONGEST_ENTRY / 8 || json_size(&entry) <= LONGEST_ENTRY {
        return entry;
    }
    let kind = entry.entry_type.clone();
    let mut room = Room { left: LONGEST_ENTRY, has_marked: false };
    // What is only text need not be taken apart.
    let cut = match kind {
        EntryType::ToolUse { .. } => serde_json::to_value(entry).and_then(|mut value| {
            room.shrink(&mut value, 0);
            serde_json::from_value(value)
        }),
        _ => {
            let Entry { timestamp, entry_type, mut content, metadata } = entry;
            room.shrink_text(&mut content);
            let mut metadata = metadata.unwrap_or_default();
            room.shrink(&mut metadata, 1);
            Ok(Entry { timestamp, entry_type, content, metadata: Some(metadata) })
        }
    };
    // It was an entry before it was cut, and no key of ours is ever taken away; if it were, its text would be left.
    let mut entry = cut.unwrap_or_else(|_| Entry::new(EntryType::SystemMessage, String::new()));
    if !room.has_marked {
        entry.content.push_str(MARK);
    }
    match &mut entry.metadata {
        Some(Value::Object(map)) => {
            map.insert("cut".to_string(), Value::Bool(true));
        }
        metadata => *metadata = Some(json!({ "cut": true })),
    }
    entry
}

fn bounded_ask(ask: AskRequest) -> AskRequest {
    let AskRequest { key, kind, tool, text, mut input } = ask;
    if json_size(&input) > LONGEST_ENTRY {
        let mut room = Room { left: LONGEST_ENTRY, has_marked: false };
        room.shrink(&mut input, 1);
        if let Value::Object(map) = &mut input
            && !room.has_marked
        {
            map.insert("cut".to_string(), Value::String(MARK.trim_start().to_string() + MARK));
        }
    }
    AskRequest { key, kind, tool: bounded_text(tool), text: bounded_text(text), input }
}

fn bounded_text(mut text: String) -> String {
    Room { left: LONGEST_ENTRY, has_marked: false }.shrink_text(&mut text);
    text
}

/// How much JSON there may still be.
struct Room {
    left: usize,
    /// Some text says that it was cut.
    has_marked: bool,
}

impl Room {
    fn shrink(&mut self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) => self.shrink_text(text),
            Value::Array(items) => {
                let mut kept = 0;
                while kept < items.len() && self.left > 0 {
                    self.shrink(&mut items[kept], depth + 1);
                    kept += 1;
                }
                items.truncate(kept);
            }
            Value::Object(map) if self.left == 0 && depth >= DEEP => map.clear(),
            Value::Object(map) => self.shrink_object(map, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.take(8),
        }
    }

    fn shrink_object(&mut self, map: &mut Map<String, Value>, depth: usize) {
        let is_small = |value: &Value| match value {
            Value::String(text) => text.len() <= SHORT,
            Value::Array(_) | Value::Object(_) => false,
            _ => true,
        };
        let mut kept = 0;
        // What is small goes first: names and states, without which the rest means nothing.
        for wants_small in [true, false] {
            map.retain(|key, value| {
                if is_small(value) != wants_small {
                    return true;
                }
                if self.left == 0 && (kept >= KEYS || key.len() > SHORT) {
                    return false;
                }
                kept += 1;
                self.take(key.len() + 4);
                self.shrink(value, depth + 1);
                true
            });
        }
    }

    fn shrink_text(&mut self, text: &mut String) {
        let mut size = 0;
        let end = text.char_indices().find_map(|(at, character)| {
            size += escaped(character);
            (size > self.left && at >= SHORT).then_some(at)
        });
        match end {
            None => self.take(size),
            Some(end) => {
                // A copy, so that what was cut gives its memory back.
                *text = format!("{}{MARK}", &text[..end]);
                (self.left, self.has_marked) = (0, true);
            }
        }
    }

    fn take(&mut self, size: usize) {
        self.left = self.left.saturating_sub(size);
    }
}

/// How many bytes a character has in JSON.
fn escaped(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// How many bytes of text there are in an entry, keys of values aside.
fn rough_size(entry: &Entry) -> usize {
    let kind = match &entry.entry_type {
        EntryType::ToolUse { tool_name, action_type, status } => {
            let status = match status {
                ToolStatus::Denied { reason } => reason.as_ref().map_or(0, String::len),
                _ => 0,
            };
            tool_name.len() + size_of_action(action_type) + status
        }
        EntryType::UserFeedback { denied_tool } => denied_tool.len(),
        _ => 0,
    };
    entry.content.len() + kind + entry.metadata.as_ref().map_or(0, size_of_value)
}

fn size_of_action(action: &Action) -> usize {
    match action {
        Action::FileRead { path } => path.len(),
        Action::FileEdit { path, changes } => {
            let change = |change: &FileChange| match change {
                FileChange::Write { content: text }
                | FileChange::Rename { new_path: text }
                | FileChange::Edit { unified_diff: text, .. } => text.len() + AROUND,
                FileChange::Delete => AROUND,
            };
            path.len() + changes.iter().map(change).sum::<usize>()
        }
        Action::CommandRun { command, result } => {
            let output = result.as_ref().and_then(|result| result.output.as_ref());
            command.len() + output.map_or(0, String::len)
        }
        Action::Tool { tool_name, arguments, result } => {
            let result = result.as_ref().map(|result| size_of_value(&result.value));
            tool_name.len() + arguments.as_ref().map_or(0, size_of_value) + result.unwrap_or_default()
        }
        Action::TodoManagement { todos, operation } => {
            let todo = |todo: &forge_model::entry::Todo| {
                let priority = todo.priority.as_ref().map_or(0, String::len);
                todo.content.len() + todo.status.len() + priority + AROUND
            };
            operation.len() + todos.iter().map(todo).sum::<usize>()
        }
        Action::Search { query: text }
        | Action::WebFetch { url: text }
        | Action::TaskCreate { description: text }
        | Action::PlanPresentation { plan: text }
        | Action::Other { description: text } => text.len(),
    }
}

/// What stands around a text in JSON.
const AROUND: usize = 16;

fn size_of_value(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + AROUND,
        Value::Array(items) => items.iter().map(size_of_value).sum::<usize>() + AROUND,
        Value::Object(map) => {
            map.iter().map(|(key, value)| key.len() + size_of_value(value)).sum::<usize>() + AROUND
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => AROUND,
    }
}

/// How many bytes of JSON something is.
fn json_size(value: &impl serde::Serialize) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written cannot be shown either; then it is cut as what is too long.
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use forge_model::AskKind;
    use forge_model::entry::{CommandResult, ErrorType, Todo, ToolResult, ToolResultKind};

    use super::*;

    fn cut(entry: Entry) -> Entry {
        match bounded(Step::Entry { index: 3, entry }) {
            Step::Entry { index: 3, entry } => entry,
            other => panic!("another step: {other:?}"),
        }
    }

    fn tool(action_type: Action, metadata: Option<Value>) -> Entry {
        let status = ToolStatus::Success;
        let entry_type = EntryType::ToolUse { tool_name: "tool".into(), action_type, status };
        Entry { timestamp: None, entry_type, content: "`tool`".into(), metadata }
    }

    fn huge() -> String {
        "word ".repeat(1 << 20)
    }

    #[test]
    fn an_entry_that_is_short_enough_stays_as_it_is() {
        for entry in [
            Entry::new(EntryType::AssistantMessage, "x".repeat(LONGEST_ENTRY - 1000)),
            tool(Action::FileRead { path: "README.md".into() }, Some(json!({"ask": "1", "more": ["x"]}))),
        ] {
            assert_eq!(cut(entry.clone()), entry);
        }
    }

    #[test]
    fn whatever_is_long_in_an_entry_is_cut_and_says_so_and_the_entry_is_what_it_was() {
        let value = || json!({"a": [huge(), {"b": huge()}], "c": {"d": {"e": {"f": {"g": huge()}}}}});
        let numbers = || Value::Array(vec![json!({"k": [1, {"x": {}}]}); 1 << 16]);
        let many: Map<String, Value> = (0..1 << 16).map(|n| (format!("key{n}"), json!("x"))).collect();
        let result = ToolResult { kind: ToolResultKind::Json, value: value() };
        let todo = Todo { content: "do it".into(), status: "pending".into(), priority: None };
        let edit = FileChange::Edit { unified_diff: huge(), has_line_numbers: true };
        let output = Some(CommandResult { exit_status: None, output: Some("\u{1}\"".repeat(1 << 20)) });
        let error = EntryType::ErrorMessage { error_type: ErrorType::SetupRequired };
        for entry in [
            Entry::new(EntryType::AssistantMessage, huge()),
            Entry::new(EntryType::Thinking, "🦀".repeat(1 << 20)),
            Entry { metadata: Some(value()), ..Entry::new(error, "oh") },
            tool(Action::FileRead { path: "p".into() }, Some(json!({"ask": "the key", "input": value()}))),
            tool(Action::FileRead { path: "p".into() }, Some(Value::Object(many))),
            tool(Action::FileRead { path: "p".into() }, Some(json!({"n": numbers()}))),
            tool(Action::FileEdit { path: "p".into(), changes: vec![edit; 3] }, None),
            tool(Action::FileEdit { path: "p".into(), changes: vec![FileChange::Delete; 1 << 16] }, None),
            tool(Action::CommandRun { command: "c".into(), result: output }, None),
            tool(
                Action::Tool { tool_name: "t".into(), arguments: Some(value()), result: Some(result) },
                None,
            ),
            tool(Action::TodoManagement { todos: vec![todo; 1 << 16], operation: "write".into() }, None),
            tool(Action::PlanPresentation { plan: huge() }, None),
        ] {
            let told = format!("{:.300}", format!("{entry:?}"));
            let small = cut(entry.clone());
            assert!(json_size(&small) < 2 * LONGEST_ENTRY, "{} of {told}", json_size(&small));
            assert!(json_size(&small) > LONGEST_ENTRY / 2, "{} of {told}", json_size(&small));
            let same = |entry: &Entry| match &entry.entry_type {
                EntryType::ToolUse { action_type, .. } => json!(action_type)["action"].clone(),
                other => json!(other),
            };
            assert_eq!(same(&small), same(&entry), "{told}");
            assert_eq!(small.metadata.as_ref().unwrap()["cut"], true, "{told}");
            assert!(serde_json::to_string(&small).unwrap().contains(MARK), "{told}");
            if let Some(ask) = entry.metadata.as_ref().and_then(|metadata| metadata.get("ask")) {
                assert_eq!(&small.metadata.unwrap()["ask"], ask);
            }
        }
    }

    #[test]
    fn an_ask_that_is_cut_says_so() {
        let ask = |text: String, input: Value| {
            let ask =
                AskRequest { key: "k".into(), kind: AskKind::Permission, tool: "t".into(), text, input };
            match bounded(Step::Ask(ask)) {
                Step::Ask(ask) => ask,
                other => panic!("another step: {other:?}"),
            }
        };
        let long = ask(huge(), json!({"command": huge()}));
        assert!(long.text.ends_with(MARK) && is_cut(&long.input));
        assert!(long.text.len() + json_size(&long.input) < 3 * LONGEST_ENTRY);
        assert!(is_cut(&ask(String::new(), json!({"all": vec![1; 1 << 20]})).input));
        let short = json!({"command": "ls"});
        assert_eq!(ask("Allow it?".into(), short.clone()).input, short);
        assert!(!is_cut(&short));
    }
}
