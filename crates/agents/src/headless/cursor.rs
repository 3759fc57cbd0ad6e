//! Cursor's command line agent, by the stream of JSON that `cursor-agent -p` prints.

use serde_json::{Map, Value, json};

use super::{Dialect, Headless, Memory, call, number, rename, said};
use crate::conversation::resumed;
use crate::cut::grow;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Login, Turn, acp};

/// There is no npm package of it: the one that has its name is somebody else's.
const INSTALL: &str = "curl https://cursor.com/install -fsS | bash";

pub(crate) const ABOUT: About = About {
    title: "Cursor",
    program: Some("cursor-agent"),
    install: INSTALL,
    npx: None,
    login: &[Login::Variable("CURSOR_API_KEY"), Login::File(".config/cursor/auth.json")],
    tried: false,
};

/// A thought that is longer is shown in pieces.
const LONGEST_THOUGHT: usize = 16 * 1024;

/// The adapter of Cursor's command line agent.
#[derive(Debug)]
pub(crate) struct Cursor;

impl Agent for Cursor {
    fn name(&self) -> &'static str {
        "CURSOR_AGENT"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: false, go_on: false, interrupt: false, resume: true, fork: false }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        if speaks_protocol(turn) {
            return acp::CURSOR.command(turn);
        }
        let mut args: Vec<String> =
            ["-p", "--output-format=stream-json", "--trust"].map(str::to_string).into();
        if turn.flag_setting("force").unwrap_or(true) {
            args.push("--force".to_string());
        }
        args.extend(turn.text_setting("model").map(|model| format!("--model={model}")));
        args.extend(turn.session.as_ref().map(|session| format!("--resume={session}")));
        let program = turn.program("cursor-agent", INSTALL, None);
        CommandSpec { program, args, env: Vec::new(), unset: Vec::new() }.with_settings(turn)
    }

    fn about(&self) -> About {
        ABOUT
    }

    fn log_in(&self) -> Option<&'static str> {
        Some("cursor-agent login")
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        match speaks_protocol(turn) {
            true => acp::CURSOR.conversation(turn),
            false => Box::new(Headless::new(Dialect::Cursor, turn)),
        }
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<Headless>(state).or_else(|| acp::CURSOR.conversation_at(state))
    }
}

/// Says whether the profile wants it by the Agent Client Protocol.
fn speaks_protocol(turn: &Turn) -> bool {
    turn.flag_setting("acp") == Some(true)
}

/// Cursor's messages are those of Claude Code; its tool calls and thoughts are lines of their own.
pub(super) fn translate(mut line: Map<String, Value>, memory: &mut Memory) -> Vec<Value> {
    let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
    let (kind, subtype) = (text("type").to_string(), text("subtype").to_string());
    if kind == "thinking" {
        grow(&mut memory.thought, text("text"));
        let whole = subtype == "completed" || memory.thought.len() > LONGEST_THOUGHT;
        return if whole { thought(memory) } else { Vec::new() };
    }
    let mut lines = thought(memory);
    match kind.as_str() {
        "tool_call" => lines.extend(tool(&line, &subtype)),
        "result" => {
            if line.get("is_error") != Some(&json!(true)) {
                // Everything that was said, in one; the last message is the better summary.
                line.remove("result");
            }
            if let Some(usage) = line.get_mut("usage") {
                *usage = json!({
                    "input_tokens": number(usage, "inputTokens"), "output_tokens": number(usage, "outputTokens"),
                    "cache_creation_input_tokens": number(usage, "cacheWriteTokens"),
                    "cache_read_input_tokens": number(usage, "cacheReadTokens"),
                });
            }
            lines.push(Value::Object(line));
        }
        _ => lines.push(Value::Object(line)),
    }
    lines
}

/// Says the thought that was being written, when there is one.
fn thought(memory: &mut Memory) -> Vec<Value> {
    let text = std::mem::take(&mut memory.thought);
    match text.trim().is_empty() {
        true => Vec::new(),
        false => vec![said(vec![json!({"type": "thinking", "thinking": text})])],
    }
}

/// Reads `{"call_id": …, "tool_call": {"readToolCall": {"args": …, "result": …}}}`.
fn tool(line: &Map<String, Value>, subtype: &str) -> Option<Value> {
    let id = line.get("call_id")?.as_str()?;
    let (kind, call_of_it) =
        line.get("tool_call")?.as_object()?.iter().find(|(_, value)| value.is_object())?;
    match subtype {
        "started" => {
            let (name, input) = meant(kind, call_of_it);
            Some(said(vec![call(id, &name, input)]))
        }
        "completed" => {
            let (content, failed) = came(&call_of_it["result"]);
            let result =
                json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed});
            let diff = call_of_it["result"]["success"]["diffString"].as_str().and_then(hunks);
            Some(json!({
                "type": "user", "message": {"content": [result]},
                "tool_use_result": diff.map(|hunks| json!({"structuredPatch": hunks})),
            }))
        }
        _ => None,
    }
}

/// Returns the name and the input that Claude Code has for the same act.
fn meant(kind: &str, call: &Value) -> (String, Value) {
    if kind == "function" {
        let name = call["name"].as_str().unwrap_or("function").to_string();
        let arguments = match &call["arguments"] {
            // Usually JSON in a text.
            Value::String(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| json!({ "arguments": text }))
            }
            other => other.clone(),
        };
        return (name, arguments);
    }
    let mut args = call["args"].as_object().cloned().unwrap_or_default();
    let name = match kind.strip_suffix("ToolCall").unwrap_or(kind) {
        "read" => "Read",
        "write" => "Write",
        "edit" => "Edit",
        "shell" => "Bash",
        "grep" | "semSearch" => "Grep",
        "glob" => "Glob",
        "ls" => "LS",
        "webFetch" => "WebFetch",
        "webSearch" => "WebSearch",
        "updateTodos" | "todo" => "TodoWrite",
        "task" => "Task",
        "mcp" => {
            let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = format!("mcp__{}__{}", text("providerIdentifier"), text("toolName"));
            return (name, args.remove("args").unwrap_or_default());
        }
        other => return (other.to_string(), Value::Object(args)),
    };
    match name {
        "Read" | "Write" => rename(&mut args, "path", "file_path"),
        "Edit" => {
            rename(&mut args, "path", "file_path");
            if let Some(Value::Object(replaced)) = args.remove("strReplace") {
                args.extend(replaced);
            }
            if let Some(Value::Object(mut many)) = args.remove("multiStrReplace") {
                for edit in many.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten() {
                    edit.as_object_mut().into_iter().for_each(old_and_new);
                }
                args.extend(many);
            }
            old_and_new(&mut args);
        }
        "Grep" => rename(&mut args, "query", "pattern"),
        "Glob" => rename(&mut args, "globPattern", "pattern"),
        "WebSearch" => rename(&mut args, "searchTerm", "query"),
        "TodoWrite" => {
            for todo in args.get_mut("todos").and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(status) = todo.get_mut("status") else { continue };
                let word = status.as_str().and_then(|status| status.strip_prefix("TODO_STATUS_"));
                if let Some(word) = word.map(str::to_ascii_lowercase) {
                    *status = json!(word);
                }
            }
        }
        _ => {}
    }
    for written in ["fileText", "contents"] {
        rename(&mut args, written, "content");
    }
    (name.to_string(), Value::Object(args))
}

fn old_and_new(edit: &mut Map<String, Value>) {
    rename(edit, "oldText", "old_string");
    rename(edit, "newText", "new_string");
}

/// Returns what a tool gave back as Claude Code would tell it, and whether it failed: the one key of a result says
/// how it went.
fn came(result: &Value) -> (String, bool) {
    let Some((how, came)) = result.as_object().and_then(|result| result.iter().next()) else {
        return (String::new(), false);
    };
    let code = came.get("exitCode").and_then(Value::as_i64);
    let failed = how != "success" || code.is_some_and(|code| code != 0);
    let text = |key: &str| came.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let printed = [text("stdout"), text("stderr")].into_iter().flatten().collect::<Vec<_>>().join("\n");
    let told = match text("content").or(text("errorMessage")).or(text("error")).or(text("reason")) {
        _ if code.is_some() || !printed.is_empty() => printed,
        Some(told) => told.to_string(),
        None if came.as_object().is_none_or(Map::is_empty) => {
            if failed {
                how.clone()
            } else {
                String::new()
            }
        }
        None => came.to_string(),
    };
    match code.filter(|_| failed) {
        Some(code) => (format!("Exit code {code}\n{told}"), true),
        None => (told, failed),
    }
}

/// Reads the hunks of a unified diff, as far as it has line numbers.
fn hunks(diff: &str) -> Option<Vec<Value>> {
    let mut hunks: Vec<Value> = Vec::new();
    for line in diff.lines() {
        if let Some(head) = line.strip_prefix("@@ -") {
            let (old, rest) = head.split_once(" +")?;
            let (new, _) = rest.split_once(" @@")?;
            let range = |text: &str| -> Option<(i64, i64)> {
                let (start, count) = text.split_once(',').unwrap_or((text, "1"));
                Some((start.parse().ok()?, count.parse().ok()?))
            };
            let ((old, old_lines), (new, new_lines)) = (range(old)?, range(new)?);
            hunks
                .push(json!({"oldStart": old, "oldLines": old_lines, "newStart": new, "newLines": new_lines,
                "lines": []}));
        } else if let Some(hunk) = hunks.last_mut().and_then(|hunk| hunk["lines"].as_array_mut()) {
            hunk.push(json!(line));
        }
    }
    (!hunks.is_empty()).then_some(hunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_no_argument_and_a_follow_up_resumes() {
        let settings = json!({"model": "gpt-5"});
        let turn = Turn { prompt: "--help".into(), session: Some("abc".into()), settings, ..Turn::default() };
        let args = Cursor.command(&turn).args;
        let expected =
            ["-p", "--output-format=stream-json", "--trust", "--force", "--model=gpt-5", "--resume=abc"];
        assert_eq!(args, expected);
        let careful = Turn { settings: json!({"force": false}), ..Turn::default() };
        assert!(!Cursor.command(&careful).args.contains(&"--force".to_string()));
    }

    #[test]
    fn a_profile_may_want_the_protocol() {
        let turn = Turn { prompt: "Hello".into(), settings: json!({"acp": true}), ..Turn::default() };
        assert_eq!(Cursor.command(&turn).args, ["acp"]);
        let mut talk = Cursor.conversation(&turn);
        assert!(!talk.start().contains(&crate::Step::CloseInput));
        let mut again = Cursor.conversation_at(&talk.state()).unwrap();
        assert_eq!(again.say("more"), talk.say("more"));
    }

    #[test]
    fn the_one_key_of_a_result_says_how_it_went() {
        let cases = [
            (json!({"success": {"content": "text", "totalLines": 1}}), ("text", false)),
            (json!({"success": {"stdout": "out", "stderr": "err", "exitCode": 0}}), ("out\nerr", false)),
            (json!({"success": {"stdout": "", "exitCode": 3}}), ("Exit code 3\n", true)),
            (json!({"failure": {"stderr": "no", "exitCode": 1}}), ("Exit code 1\nno", true)),
            (json!({"error": {"errorMessage": "gone"}}), ("gone", true)),
            (json!({"rejected": {"reason": "not now"}}), ("not now", true)),
            (json!({"rejected": {}}), ("rejected", true)),
            (json!({"success": {"files": 2}}), (r#"{"files":2}"#, false)),
            (Value::Null, ("", false)),
        ];
        for (result, (told, failed)) in cases {
            assert_eq!(came(&result), (told.to_string(), failed), "{result}");
        }
    }

    #[test]
    fn a_diff_without_line_numbers_is_not_believed() {
        assert_eq!(hunks("-a\n+b\n"), None);
        assert_eq!(hunks("@@ -x +y @@\n-a\n"), None);
        let read = hunks("--- a/f\n+++ b/f\n@@ -3 +3,2 @@ fn\n-a\n+b\n+c\n").unwrap();
        assert_eq!(read[0]["newLines"], 2);
        assert_eq!(read[0]["lines"].as_array().unwrap().len(), 3);
    }
}
