//! A conversation with one agent process, without any IO: lines in, steps out.

use forge_model::{Answer, AskKind, Entry, Usage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A conversation with one agent process.
///
/// It is a function of what it is given, in order: rebuilding one from a journal of the same inputs gives the
/// same steps, so an agent that waits for an answer survives the server.
pub trait Conversation: Send {
    /// Opens the conversation: what to send first, the prompt included.
    fn start(&mut self) -> Vec<Step>;

    /// Reads one line of the agent's standard output, without its newline.
    fn read(&mut self, line: &str) -> Vec<Step>;

    /// Reads one line of the agent's standard error, without its newline.
    fn read_error(&mut self, line: &str) -> Vec<Step>;

    /// Says something further to the running agent.
    fn say(&mut self, prompt: &str) -> Vec<Step>;

    /// Gives the answer to an ask, named by its key.
    fn answer(&mut self, ask: &str, answer: &Answer) -> Vec<Step>;

    /// Asks the agent to stop in its own way; no steps when it has none but a signal.
    fn interrupt(&mut self) -> Vec<Step>;

    /// Hears that the process has ended, after its last line: what is left to tell is told now.
    fn ended(&mut self) -> Vec<Step> {
        Vec::new()
    }

    /// Gives what came of a [`Step::ReadFile`] or [`Step::WriteFile`], named by its key: the text that was read, or
    /// nothing for what was written, or why it was refused.
    fn file(&mut self, _key: &str, _came: Result<&str, &str>) -> Vec<Step> {
        Vec::new()
    }

    /// Returns all that it remembers, for [`Agent::conversation_at`](crate::Agent::conversation_at): given the same
    /// inputs from there on, both give the same steps.
    fn state(&self) -> Value;
}

/// Writes down all that a conversation remembers.
pub(crate) fn remembered(conversation: &impl Serialize) -> Value {
    // A state that cannot be written is one of no version; folding from the beginning is always right.
    serde_json::to_value(conversation).unwrap_or_default()
}

/// Opens a conversation with what [`remembered`] wrote down.
pub(crate) fn resumed<T: Conversation + DeserializeOwned + 'static>(
    state: &Value,
) -> Option<Box<dyn Conversation>> {
    Some(Box::new(T::deserialize(state).ok()?))
}

/// Something the engine does for a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Shows an entry. Indexes count from 0 without gaps; the same index again replaces the entry.
    Entry { index: usize, entry: Entry },
    /// Remembers the agent's own name for the session.
    Session(String),
    /// Opens an ask.
    Ask(AskRequest),
    /// Closes the ask with this key: the agent no longer waits for it.
    Withdrawn(String),
    /// Writes this text to the agent's standard input; its newline is included.
    Send(String),
    /// Closes the agent's standard input, after what was sent before: it reads to the end before it begins.
    CloseInput,
    /// Reads a text file of the worktree for the agent: `limit` lines from `line`, counted from 1.
    ReadFile { key: String, path: String, line: Option<u32>, limit: Option<u32> },
    /// Writes a text file of the worktree for the agent.
    WriteFile { key: String, path: String, content: String },
    /// Replaces what the run has used so far.
    Usage(Usage),
    /// Notes that the provider refuses to serve, until a moment in milliseconds since 1970 when it tells.
    Limited { until_ms: Option<i64> },
    /// The same, for so many milliseconds from when this was said.
    LimitedFor { ms: i64 },
    /// Notes that the agent does not know the session it was to go on with; the turn fails because of it.
    SessionUnknown,
    /// Logs something a person debugging Forge may want to know.
    Note(String),
    /// Ends a turn: there is one for each text that was told, even where the agent reads several together. The summary
    /// is the last thing the agent said.
    Done { ok: bool, error: Option<String>, summary: Option<String> },
}

/// Something the agent waits for.
///
/// The tool call it is about is an entry whose metadata holds `{"ask": key}`.
#[derive(Debug, Clone, PartialEq)]
pub struct AskRequest {
    /// The agent's own name for the ask, unique within the run.
    pub key: String,
    pub kind: AskKind,
    /// The tool that wants permission, or `question`, or `plan`.
    pub tool: String,
    /// What is asked, in words.
    pub text: String,
    /// The tool's input, as the agent gave it.
    pub input: Value,
}
