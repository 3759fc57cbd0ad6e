//! Agents that play one prompt and print lines much like those of Claude Code: each line is translated, and the
//! conversation with Claude Code does the rest. They read their input to its end, so that nothing more is said.

mod amp;
mod cursor;

pub(crate) use amp::Amp;
pub(crate) use cursor::{ABOUT as CURSOR, Cursor};

use forge_model::entry::{EntryType, ErrorType};
use forge_model::{Answer, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::claude::Fold;
use crate::conversation::remembered;
use crate::{Conversation, Step, Turn};

/// How they say that nobody has logged in.
const NOT_LOGGED_IN: &[&str] = &["Authentication required", "cursor-agent login", "amp login"];

/// Whose lines are translated.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Dialect {
    Amp,
    Cursor,
}

/// What a translation remembers from line to line.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// Tokens of the messages so far, for an agent that tells them with each message only.
    tokens: Tokens,
    /// The thought that is being written.
    thought: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Tokens {
    input: i64,
    output: i64,
    cache_creation: i64,
    cache_read: i64,
}

/// A conversation with a process that plays one prompt.
#[derive(Debug, Serialize, Deserialize)]
struct Headless {
    dialect: Dialect,
    fold: Fold,
    memory: Memory,
    /// What its standard input holds.
    input: String,
    over: bool,
    /// The last line of standard error: why it ended, when it ends without telling.
    last_error: Option<String>,
}

impl Headless {
    fn new(dialect: Dialect, turn: &Turn) -> Self {
        Self {
            dialect,
            fold: Fold::new(turn),
            memory: Memory::default(),
            input: format!("{}{}\n", turn.prompt, turn.append_prompt()),
            over: false,
            last_error: None,
        }
    }
}

impl Headless {
    /// Folds a translated line. Neither of these agents tells what it costs.
    fn folded(&mut self, line: &Value) -> Vec<Step> {
        let mut steps = self.fold.read(&line.to_string());
        for step in &mut steps {
            if let Step::Usage(usage) = step {
                usage.cost_micros = None;
            }
        }
        steps.retain(|step| *step != Step::Usage(Usage::default()));
        steps
    }
}

impl Conversation for Headless {
    fn start(&mut self) -> Vec<Step> {
        vec![self.fold.show_prompt(), Step::Send(std::mem::take(&mut self.input)), Step::CloseInput]
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        let Ok(Value::Object(object)) = serde_json::from_str(line) else { return self.fold.read(line) };
        let translated = match self.dialect {
            Dialect::Amp => amp::translate(object, &mut self.memory),
            Dialect::Cursor => cursor::translate(object, &mut self.memory),
        };
        let mut steps = Vec::new();
        for line in translated {
            self.over |= line["type"] == "result";
            steps.extend(self.folded(&line));
        }
        steps
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        if !line.trim().is_empty() {
            self.last_error = Some(line.trim().chars().take(500).collect());
        }
        let mut steps = self.fold.read_error(line);
        if NOT_LOGGED_IN.iter().any(|words| line.contains(words)) {
            for step in &mut steps {
                if let Step::Entry { entry, .. } = step {
                    entry.entry_type = EntryType::ErrorMessage { error_type: ErrorType::SetupRequired };
                }
            }
        }
        steps
    }

    fn say(&mut self, _: &str) -> Vec<Step> {
        vec![Step::Note("this agent hears nothing after its prompt".to_string())]
    }

    fn answer(&mut self, ask: &str, _: &Answer) -> Vec<Step> {
        vec![Step::Note(format!("this agent asks nothing, so that nobody answers {ask}"))]
    }

    fn interrupt(&mut self) -> Vec<Step> {
        Vec::new()
    }

    /// Ends the turn of a process that ended without telling how it went, which it does when it fails.
    fn ended(&mut self) -> Vec<Step> {
        if std::mem::replace(&mut self.over, true) {
            return Vec::new();
        }
        let why = self.last_error.take().unwrap_or_else(|| "it ended before its turn was over".to_string());
        self.folded(&json!({"type": "result", "is_error": true, "errors": [why]}))
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

/// What the assistant says, as a line of Claude Code.
fn said(blocks: Vec<Value>) -> Value {
    json!({"type": "assistant", "message": {"content": blocks}})
}

/// A call of a tool, as a block of such a line.
fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// Gives a field of an object the name under which Claude Code has it.
fn rename(input: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = input.remove(from) {
        input.entry(to).or_insert(value);
    }
}

fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or_default()
}
