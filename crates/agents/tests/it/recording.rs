//! Plays a recording to a conversation and writes its steps down, one a line. What was sent when the recording was
//! made is compared with what the conversation sends; how the two are read is up to the agent's [`Protocol`].

use std::collections::VecDeque;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use forge_agents::{Agent, Conversation, Lines, Step, Turn, agent};
use forge_model::{Answer, Usage};
use serde_json::{Value, json};

/// How the recordings of one agent are read.
#[derive(Clone, Copy)]
pub(crate) struct Protocol {
    /// The agent's name, as profiles spell it.
    pub(crate) agent: &'static str,
    /// What was done so that this line was sent to the agent.
    pub(crate) told: fn(&Value) -> Told,
    /// Says whether a line that the conversation sends means the same as the recorded one.
    pub(crate) same: fn(ours: &Value, recorded: &Value) -> bool,
}

/// What was done so that a line was sent to the agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// Nothing: the conversation sends it by itself, as its opening or in answer to the agent.
    ByItself,
    /// A person said this. The first time it is the turn's prompt, which the conversation sends by itself.
    Say(String),
    /// A person answered the ask with this key.
    Answer(String, Answer),
    /// A person asked the agent to stop.
    Interrupt,
    /// The engine did what a file step wanted.
    File(String, Result<String, String>),
    /// Forge does not send the like of it.
    NotOurs,
}

/// A recorded conversation: what each side said, in order.
#[derive(Clone)]
pub(crate) struct Recording {
    pub(crate) turn: Turn,
    pub(crate) parts: Vec<Part>,
    protocol: Protocol,
}

#[derive(Clone)]
pub(crate) enum Part {
    /// Bytes the agent printed.
    Printed(Vec<u8>),
    /// A line on standard error.
    Error(String),
    /// A line that was sent to the agent.
    Sent(Value),
}

impl Recording {
    /// Reads `fixtures/<path>.jsonl`: plain output, or `{dir, msg}` records of both directions, where `>` was sent,
    /// `<` was printed, and a text in `!` came on standard error. The lines of a `.stderr` beside it come last. The
    /// prompt is the first thing that was said, or `Say hello.` when the recording holds only what was printed.
    pub(crate) fn read(path: &str, protocol: Protocol) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path);
        let text = fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let mut parts = Vec::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            match record["dir"].as_str() {
                Some(">") => parts.push(Part::Sent(record["msg"].clone())),
                Some("<") => print(&mut parts, &record["msg"].to_string()),
                Some(_) => {
                    parts.extend(record["msg"].as_str().map(|line| Part::Error(line.to_string())));
                }
                None => print(&mut parts, line),
            }
        }
        if let Ok(errors) = fs::read_to_string(path.with_extension("stderr")) {
            parts.extend(errors.lines().map(|line| Part::Error(line.to_string())));
        }
        let said = parts.iter().find_map(|part| match part {
            Part::Sent(message) => match (protocol.told)(message) {
                Told::Say(text) => Some(text),
                _ => None,
            },
            _ => None,
        });
        let prompt = said.unwrap_or_else(|| "Say hello.".to_string());
        let turn = Turn { prompt, worktree: "/repo".to_string(), ..Turn::default() };
        Self { turn, parts, protocol }
    }

    /// Returns the recording with another turn: a session to go on with, settings.
    pub(crate) fn of(self, change: impl FnOnce(Turn) -> Turn) -> Self {
        Self { turn: change(self.turn), ..self }
    }

    /// Returns the agent that was recorded.
    pub(crate) fn agent(&self) -> &'static dyn Agent {
        agent(self.protocol.agent).unwrap()
    }

    /// Folds the recording with its output cut into chunks of a size, and writes the steps down.
    pub(crate) fn fold(&self, size: usize) -> String {
        let mut play = Play::begin(self);
        for part in &self.parts {
            match part {
                Part::Printed(bytes) => bytes.chunks(size).for_each(|chunk| play.print(chunk)),
                Part::Error(line) => play.print_error(line),
                Part::Sent(message) => play.send(message, self.protocol),
            }
        }
        let (text, unsent) = play.end();
        if self.parts.iter().any(|part| matches!(part, Part::Sent(_))) {
            assert!(unsent.is_empty(), "this was not sent when the recording was made: {unsent:?}");
        }
        text
    }

    /// Returns what is kept of the recording beside a log: every form of every entry, and what the conversation
    /// remembers at the end.
    pub(crate) fn kept(&self) -> String {
        let mut play = Play::begin(self);
        for part in &self.parts {
            match part {
                Part::Printed(bytes) => play.print(bytes),
                Part::Error(line) => play.print_error(line),
                Part::Sent(message) => play.act(&self.told(message)),
            }
        }
        let remembered = play.remembered();
        let steps = play.end().0;
        let entries = steps.lines().filter(|line| line.starts_with("add ") || line.starts_with("replace "));
        entries.chain([remembered.as_str()]).collect::<Vec<_>>().join("\n")
    }

    /// Returns everything that the conversation is given, as text.
    pub(crate) fn given(&self) -> String {
        let mut text = format!("{:?}\n", self.turn);
        for part in &self.parts {
            text += &match part {
                Part::Printed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Part::Error(line) => format!("! {line}\n"),
                Part::Sent(message) => format!("> {message}\n"),
            };
        }
        text
    }

    /// Folds the recording once as a whole and then in chunks of many sizes; all must agree.
    pub(crate) fn fold_any_size(&self) -> String {
        let whole = self.fold(usize::MAX);
        for size in [1, 2, 3, 7, 16, 61, 127, 1000, 4096] {
            assert_eq!(self.fold(size), whole, "in chunks of {size}");
        }
        whole
    }

    /// Returns what a line that was sent tells about the person.
    pub(crate) fn told(&self, message: &Value) -> Told {
        (self.protocol.told)(message)
    }
}

fn print(parts: &mut Vec<Part>, line: &str) {
    let bytes = format!("{line}\n").into_bytes();
    match parts.last_mut() {
        Some(Part::Printed(before)) => before.extend(bytes),
        _ => parts.push(Part::Printed(bytes)),
    }
}

/// A conversation that is being played, with what it did so far.
pub(crate) struct Play {
    agent: &'static dyn Agent,
    conversation: Box<dyn Conversation>,
    lines: Lines,
    written: Written,
    prompted: bool,
}

impl Play {
    /// Opens the conversation.
    pub(crate) fn begin(recording: &Recording) -> Self {
        let agent = recording.agent();
        let mut conversation = agent.conversation(&recording.turn);
        let mut written = Written::default();
        written.steps(conversation.start());
        Self { agent, conversation, lines: Lines::new(), written, prompted: false }
    }

    /// Gives the conversation bytes that the agent printed.
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        let Self { conversation, lines, written, .. } = self;
        lines.push(bytes, |line| written.steps(conversation.read(line.text)));
    }

    /// Gives the conversation a line of standard error.
    pub(crate) fn print_error(&mut self, line: &str) {
        self.written.steps(self.conversation.read_error(line));
    }

    /// Does what a person did.
    pub(crate) fn act(&mut self, told: &Told) {
        let steps = match told {
            // The prompt is what the conversation began with.
            Told::Say(_) if !std::mem::replace(&mut self.prompted, true) => return,
            Told::Say(text) => self.conversation.say(text),
            Told::Answer(ask, answer) => self.conversation.answer(ask, answer),
            Told::Interrupt => self.conversation.interrupt(),
            Told::File(key, came) => {
                self.conversation.file(key, came.as_ref().map(String::as_str).map_err(String::as_str))
            }
            Told::ByItself | Told::NotOurs => return,
        };
        self.written.steps(steps);
    }

    /// Makes the conversation send what was sent when the recording was made.
    fn send(&mut self, message: &Value, protocol: Protocol) {
        let told = (protocol.told)(message);
        if told == Told::NotOurs {
            return;
        }
        self.act(&told);
        let sent = self.written.sent.pop_front().unwrap_or_default();
        let same = (protocol.same)(&sent, message);
        assert!(same, "what is sent differs from what worked:\n{sent}\n{message}");
    }

    /// Writes all that the conversation remembers down as a text, and goes on with one that only has read this.
    pub(crate) fn reopen(&mut self) {
        let text = self.remembered();
        let state = serde_json::from_str(&text).unwrap();
        self.conversation = self.agent.conversation_at(&state).unwrap();
    }

    /// Returns all that the conversation remembers, as text.
    pub(crate) fn remembered(&self) -> String {
        self.conversation.state().to_string()
    }

    /// Returns what the run has used, as it was told last.
    pub(crate) fn used(&self) -> Option<Usage> {
        self.written.used
    }

    /// Ends the output. Returns the steps as text, and what was sent without being asked for.
    pub(crate) fn end(mut self) -> (String, VecDeque<Value>) {
        let Self { conversation, lines, written, .. } = &mut self;
        lines.finish(|line| written.steps(conversation.read(line.text)));
        written.steps(conversation.ended());
        (self.written.text, self.written.sent)
    }
}

/// The steps of a conversation as text.
#[derive(Default)]
struct Written {
    text: String,
    entries: usize,
    /// What was sent and has not been compared yet.
    sent: VecDeque<Value>,
    used: Option<Usage>,
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
                Step::SessionUnknown => "session unknown".to_string(),
                Step::Ask(ask) => {
                    let (key, kind, tool, text) = (ask.key, ask.kind, ask.tool, ask.text);
                    format!("ask {key} {kind} {tool} {} {}", json!(text), ask.input)
                }
                Step::Withdrawn(key) => format!("withdrawn {key}"),
                Step::Send(line) => {
                    assert!(line.ends_with('\n') && line.lines().count() == 1, "one whole line: {line:?}");
                    self.sent.push_back(serde_json::from_str(&line).unwrap_or_else(|_| json!(line)));
                    format!("send {}", line.trim_end())
                }
                Step::CloseInput => "close input".to_string(),
                Step::ReadFile { key, path, line, limit } => {
                    format!("read {key} {path} line={line:?} limit={limit:?}")
                }
                Step::WriteFile { key, path, content } => format!("write {key} {path} {}", json!(content)),
                Step::Usage(usage) => {
                    self.used = Some(usage);
                    format!("{usage:?}")
                }
                Step::Limited { until_ms } => format!("limited until {until_ms:?}"),
                Step::LimitedFor { ms } => format!("limited for {ms} ms"),
                Step::Note(text) => format!("note {text}"),
                Step::Done { ok, error, summary } => {
                    format!("done ok={ok} error={error:?} summary={summary:?}")
                }
            };
            writeln!(self.text, "{line}").unwrap();
        }
    }
}
