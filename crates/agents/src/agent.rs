//! What an agent is to Forge: a name, a command and a conversation. Nothing here runs the command.

use serde_json::Value;

use crate::Conversation;

/// The adapter for one coding agent.
pub trait Agent: Sync {
    /// Returns the name in upper case, as profiles spell it.
    fn name(&self) -> &'static str;

    /// Says what this agent can do beyond one turn.
    fn capabilities(&self) -> Capabilities;

    /// Returns the command that plays a turn. It is data; the engine finds the program and runs it.
    fn command(&self, turn: &Turn) -> CommandSpec;

    /// Opens the conversation with the process that [`Agent::command`] starts.
    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation>;
}

/// What an agent can do beyond one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It takes a further turn while its process runs.
    pub inject: bool,
    /// A new process can go on with an earlier session.
    pub resume: bool,
    /// A new process can branch off an earlier session.
    pub fork: bool,
}

/// What an agent is asked to do, and how the person wants it called.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub prompt: String,
    /// The session to go on with; none starts a new one.
    pub session: Option<String>,
    /// The profile's variant; none means the default one.
    pub variant: Option<String>,
    /// The profile's settings object; null when there is none.
    pub settings: Value,
    /// The directory the agent works in, as an absolute path.
    pub worktree: String,
}

/// A command as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    pub program: Program,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Variables the process must not inherit.
    pub unset: Vec<String>,
}

/// Which program a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The running `forge` binary itself.
    Forge,
    /// A program looked up on PATH; `install` is the command to show when it is not there.
    Named { name: &'static str, install: &'static str },
    /// What the person's profile names: a program and its first arguments. Never empty.
    Given { argv: Vec<String> },
}
