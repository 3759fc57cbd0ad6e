//! Plays a recording to a conversation and writes its steps down, one a line.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use forge_agents::{Agent, Conversation, Lines, Step, Turn, agent};
use forge_model::Answer;
use serde_json::{Value, json};

/// A recorded conversation: what each side said, in order.
pub(crate) struct Recording {
    agent: &'static dyn Agent,
    turn: Turn,
    parts: Vec<Part>,
}

enum Part {
    /// Bytes the agent printed.
    Printed(Vec<u8>),
    /// A line on standard error.
    Error(String),
    /// A line that was sent to the agent.
    Sent(Value),
}

impl Recording {
    /// Reads `fixtures/<path>.jsonl`: plain output, or `{dir, msg}` records of both directions. The lines of a
    /// `.stderr` beside it come last.
    pub(crate) fn read(path: &str, agent_name: &str, turn: Turn) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path);
        let text = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let mut parts = Vec::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            match record["dir"].as_str() {
                Some(">") => parts.push(Part::Sent(record["msg"].clone())),
                Some("<") => print(&mut parts, &record["msg"].to_string()),
                Some(_) => {}
                None => print(&mut parts, line),
            }
        }
        if let Ok(errors) = fs::read_to_string(path.with_extension("stderr")) {
            parts.extend(errors.lines().map(|line| Part::Error(line.to_string())));
        }
        Self { agent: agent(agent_name).unwrap(), turn, parts }
    }

    /// Folds the recording with its output cut into chunks of a size, and writes the steps down.
    pub(crate) fn fold(&self, size: usize) -> String {
        let mut conversation = self.agent.conversation(&self.turn);
        let mut written = Written::default();
        written.steps(conversation.start());
        let mut lines = Lines::new();
        for part in &self.parts {
            match part {
                Part::Printed(bytes) => {
                    for chunk in bytes.chunks(size) {
                        lines.push(chunk, |line| written.steps(conversation.read(line)));
                    }
                }
                Part::Error(line) => written.steps(conversation.read_error(line)),
                Part::Sent(message) => self.sent(message, &mut *conversation, &mut written),
            }
        }
        lines.finish(|line| written.steps(conversation.read(line)));
        written.text
    }

    /// Folds the recording once as a whole and then in chunks of many sizes; all must agree.
    pub(crate) fn fold_any_size(&self) -> String {
        let whole = self.fold(usize::MAX);
        for size in (1..=64).chain([127, 1000, 4096]) {
            assert_eq!(self.fold(size), whole, "in chunks of {size}");
        }
        whole
    }

    /// Makes the conversation say what was said when the recording was made, and compares the words.
    fn sent(&self, message: &Value, conversation: &mut dyn Conversation, written: &mut Written) {
        let steps = match message["type"].as_str() {
            Some("control_request") if message["request"]["subtype"] == "interrupt" => {
                written.steps(conversation.interrupt());
                return;
            }
            Some("control_response") => {
                let response = &message["response"]["response"];
                let answer = if response["behavior"] == "deny" {
                    Answer::Deny { reason: response["message"].as_str().map(str::to_string) }
                } else {
                    let answers = response["updatedInput"]["answers"].as_object();
                    let text =
                        answers.and_then(|answers| answers.values().next()?.as_str().map(str::to_string));
                    Answer::Approve { text, answers: BTreeMap::new(), for_session: false }
                };
                conversation.answer(message["response"]["request_id"].as_str().unwrap(), &answer)
            }
            // The first one is what `start` says.
            Some("user") if message["message"]["content"] != self.turn.prompt.as_str() => {
                conversation.say(message["message"]["content"].as_str().unwrap())
            }
            _ => return,
        };
        let sent = steps.iter().find_map(|step| match step {
            Step::Send(line) => Some(serde_json::from_str::<Value>(line).unwrap()),
            _ => None,
        });
        assert_eq!(sent.as_ref(), Some(message), "what is sent differs from what worked");
        written.steps(steps);
    }
}

fn print(parts: &mut Vec<Part>, line: &str) {
    let bytes = format!("{line}\n").into_bytes();
    match parts.last_mut() {
        Some(Part::Printed(before)) => before.extend(bytes),
        _ => parts.push(Part::Printed(bytes)),
    }
}

#[derive(Default)]
struct Written {
    text: String,
    entries: usize,
}

impl Written {
    fn steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            let line = match step {
                Step::Entry { index, entry } => {
                    assert!(index <= self.entries, "entry {index} leaves a gap");
                    let verb = if index == self.entries { "add" } else { "replace" };
                    self.entries = self.entries.max(index + 1);
                    let mut entry = serde_json::to_value(entry).unwrap();
                    entry.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    format!("{verb} {index} {entry}")
                }
                Step::Session(id) => format!("session {id}"),
                Step::Ask(ask) => {
                    let (key, kind, tool, text) = (ask.key, ask.kind, ask.tool, ask.text);
                    format!("ask {key} {kind} {tool} {} {}", json!(text), ask.input)
                }
                Step::Withdrawn(key) => format!("withdrawn {key}"),
                Step::Send(line) => {
                    assert!(line.ends_with('\n') && line.lines().count() == 1, "one whole line: {line:?}");
                    format!("send {}", line.trim_end())
                }
                Step::ReadFile { key, path, line, limit } => {
                    format!("read {key} {path} line={line:?} limit={limit:?}")
                }
                Step::WriteFile { key, path, content } => format!("write {key} {path} {}", json!(content)),
                Step::Usage(usage) => format!("{usage:?}"),
                Step::Limited { until_ms } => format!("limited until {until_ms:?}"),
                Step::Note(text) => format!("note {text}"),
                Step::Done { ok, error, summary } => {
                    format!("done ok={ok} error={error:?} summary={summary:?}")
                }
            };
            writeln!(self.text, "{line}").unwrap();
        }
    }
}
