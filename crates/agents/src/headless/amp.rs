//! Amp, by the stream of JSON that `amp --execute` prints.

use serde_json::{Map, Value, json};

use super::{Dialect, Headless, Memory, number, rename};
use crate::conversation::resumed;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Login, Turn};

const INSTALL: &str = "npm install -g @sourcegraph/amp";
const PINNED: &str = "@sourcegraph/amp@0.0.1790142911";

/// The adapter of Amp.
#[derive(Debug)]
pub(crate) struct Amp;

impl Agent for Amp {
    fn name(&self) -> &'static str {
        "AMP"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: false, go_on: false, interrupt: false, resume: true, fork: false }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        let mut args = Vec::new();
        if let Some(thread) = &turn.session {
            args.extend(["threads", "continue", thread].map(str::to_string));
        }
        args.extend(["--execute", "--stream-json"].map(str::to_string));
        if turn.flag_setting("dangerously_allow_all").unwrap_or(true) {
            args.push("--dangerously-allow-all".to_string());
        }
        let program = turn.program("amp", INSTALL, Some(PINNED));
        CommandSpec { program, args, env: Vec::new(), unset: Vec::new() }.with_settings(turn)
    }

    fn about(&self) -> About {
        About {
            title: "Amp",
            program: Some("amp"),
            install: INSTALL,
            npx: Some(PINNED),
            login: &[Login::Variable("AMP_API_KEY"), Login::File(".local/share/amp/secrets.json")],
            tried: false,
        }
    }

    fn log_in(&self) -> Option<&'static str> {
        Some("amp login")
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        Box::new(Headless::new(Dialect::Amp, turn))
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<Headless>(state)
    }
}

/// Amp prints the lines of Claude Code, with tools of its own and the tokens on each message.
pub(super) fn translate(mut line: Map<String, Value>, memory: &mut Memory) -> Vec<Value> {
    match line.get("type").and_then(Value::as_str) {
        Some("assistant") => {
            if let Some(message) = line.get_mut("message") {
                count(&message["usage"], memory);
                for block in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
                    tool(block);
                }
            }
        }
        Some("result") => {
            let told = line.get("usage").is_some_and(Value::is_object);
            if !told {
                let tokens = std::mem::take(&mut memory.tokens);
                let usage = json!({
                    "input_tokens": tokens.input, "output_tokens": tokens.output,
                    "cache_creation_input_tokens": tokens.cache_creation,
                    "cache_read_input_tokens": tokens.cache_read,
                });
                line.insert("usage".to_string(), usage);
            }
            if let Some(Value::String(error)) = line.remove("error") {
                line.insert("errors".to_string(), json!([error]));
            }
        }
        _ => {}
    }
    vec![Value::Object(line)]
}

/// Adds the tokens of a message. Amp counts what came from the cache among the input; here it is counted once.
fn count(usage: &Value, memory: &mut Memory) {
    let (made, read) =
        (number(usage, "cache_creation_input_tokens"), number(usage, "cache_read_input_tokens"));
    let input = number(usage, "input_tokens").saturating_sub(made).saturating_sub(read).max(0);
    let tokens = &mut memory.tokens;
    tokens.input = tokens.input.saturating_add(input);
    tokens.output = tokens.output.saturating_add(number(usage, "output_tokens"));
    tokens.cache_creation = tokens.cache_creation.saturating_add(made);
    tokens.cache_read = tokens.cache_read.saturating_add(read);
}

/// Gives a call the name and the fields that Claude Code has for the same act.
fn tool(block: &mut Value) {
    let Some(block) = block.as_object_mut().filter(|block| block.get("type") == Some(&json!("tool_use")))
    else {
        return;
    };
    let name = match block.get("name").and_then(Value::as_str).unwrap_or_default() {
        "create_file" => "Write",
        "edit_file" => "Edit",
        "Read" | "read_file" => "Read",
        "Bash" => "Bash",
        "glob" => "Glob",
        "finder" | "codebase_search_agent" => "Grep",
        "web_search" => "WebSearch",
        "read_web_page" => "WebFetch",
        "todo_write" => "TodoWrite",
        "todo_read" => "TodoRead",
        _ => return,
    };
    if let Some(input) = block.get_mut("input").and_then(Value::as_object_mut) {
        match name {
            "Read" | "Write" | "Edit" => rename(input, "path", "file_path"),
            "Bash" => rename(input, "cmd", "command"),
            "Glob" => rename(input, "filePattern", "pattern"),
            "Grep" => rename(input, "query", "pattern"),
            "WebSearch" => rename(input, "objective", "query"),
            _ => {}
        }
        rename(input, "old_str", "old_string");
        rename(input, "new_str", "new_string");
    }
    block.insert("name".to_string(), json!(name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follow_up_continues_the_thread_and_the_prompt_is_no_argument() {
        let turn = Turn { prompt: "--help".into(), session: Some("T-1".into()), ..Turn::default() };
        let args = Amp.command(&turn).args;
        assert_eq!(
            args,
            ["threads", "continue", "T-1", "--execute", "--stream-json", "--dangerously-allow-all"]
        );
    }

    #[test]
    fn what_came_from_the_cache_is_counted_once() {
        let mut memory = Memory::default();
        let usage = json!({"input_tokens": 12783, "cache_creation_input_tokens": 367,
            "cache_read_input_tokens": 12416, "output_tokens": 8});
        count(&usage, &mut memory);
        count(&usage, &mut memory);
        assert_eq!((memory.tokens.input, memory.tokens.cache_read, memory.tokens.output), (0, 24832, 16));
    }
}
