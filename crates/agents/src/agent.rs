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

    /// Says what the agent is as a program: how it is found, installed and logged in to.
    fn about(&self) -> About;

    /// Returns what a person runs to log in to it; none where there is nothing to log in to, or many ways.
    fn log_in(&self) -> Option<&'static str> {
        None
    }

    /// Opens the conversation with the process that [`Agent::command`] starts.
    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation>;

    /// Opens a conversation where [`Conversation::state`] left it; none when the state is of another version.
    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>>;
}

/// What an agent is as a program. Nothing here is run: a file that is there is evidence enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// What people call it.
    pub title: &'static str,
    /// The program on PATH; none when it is Forge itself or whatever a profile names.
    pub program: Option<&'static str>,
    /// The command that installs it, to show to a person.
    pub install: &'static str,
    /// The package and version that `install: npx` in a profile runs.
    pub npx: Option<&'static str>,
    /// What shows that somebody has logged in to it.
    pub login: &'static [Login],
    /// It was played here against the real program; otherwise only against what its documentation shows.
    pub tried: bool,
}

/// Something that shows a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// A variable of the environment that holds a key.
    Variable(&'static str),
    /// A file below the home directory.
    File(&'static str),
    /// A file below the directory that a variable names.
    FileBelow { variable: &'static str, file: &'static str },
}

/// What an agent can do beyond one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It takes a further turn while one is being played.
    pub inject: bool,
    /// Its process takes a further turn once the one before has ended.
    pub go_on: bool,
    /// It has a way of its own to be asked to stop.
    pub interrupt: bool,
    /// A new process can go on with an earlier session.
    pub resume: bool,
    /// A new process can branch off an earlier session.
    pub fork: bool,
}

/// What an agent is asked to do, and how the person wants it called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    pub prompt: String,
    /// The session to go on with; none starts a new one.
    pub session: Option<String>,
    /// The session is branched off, and stays as it is itself.
    pub fork: bool,
    /// The profile's variant; none means the default one.
    pub variant: Option<String>,
    /// The profile's settings object; null when there is none.
    pub settings: Value,
    /// The directory the agent works in, as an absolute path.
    pub worktree: String,
    /// The command by which it reaches Forge's own tools, a server of MCP; empty when it is not to.
    pub forge_tools: Vec<String>,
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
    /// None: the profile must name one in this setting, and does not.
    Unnamed { setting: &'static str },
}
