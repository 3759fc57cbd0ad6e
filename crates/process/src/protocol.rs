//! What is said on the control socket: one JSON object a line, question and answer in turn.
//!
//! The first question is always `hello` with the versions the client speaks, in every version of
//! the protocol; the shim picks the highest common one or refuses with its own range.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::Exit;
use crate::frame::MAX_PAYLOAD;

/// The versions this program speaks.
pub(crate) const VERSIONS: (u32, u32) = (1, 1);

/// JSON may need six bytes for one of the payload (`\u0000`).
const MAX_LINE: u64 = 6 * MAX_PAYLOAD as u64 + 1024;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    Hello { min: u32, max: u32 },
    Input { ordinal: u64, text: String },
    Note { ordinal: u64, text: String },
    CloseInput { ordinal: u64 },
    Status {},
    Signal { signal: Signal },
    Stop(Ladder),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Hello { version: u32 },
    Refused { min: u32, max: u32 },
    Accepted { already: bool },
    Status(Status),
    Signalled {},
    Exit(Exit),
    Error(Problem),
}

/// Why something was not done.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Problem {
    Ordinal { given: u64, expected: u64 },
    InputClosed {},
    Ended {},
    Other { message: String },
}

/// What became of an input or a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    New,
    /// It had been accepted before; nothing was done.
    Duplicate,
}

/// What the shim says about its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether the agent itself still runs.
    pub running: bool,
    /// The ordinal of the last note.
    pub notes: u64,
    /// The ordinal of the last input.
    pub inputs: u64,
    pub input_closed: bool,
    pub log_end: u64,
    /// Why the log cannot be written at present, such as a full disk. The agent waits meanwhile.
    pub blocked: Option<String>,
    pub agent_pid: u32,
}

/// A signal for the agent's process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Hup,
    Int,
    Quit,
    Term,
    Kill,
}

/// How long each step of a stop waits for the exit. A step of zero is left out; the last is KILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    pub int_ms: u64,
    pub term_ms: u64,
}

pub(crate) fn write_line(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads one line; `None` at the end of the conversation.
pub(crate) fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    io::Read::take(&mut *from, MAX_LINE).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() as u64 + 1 == MAX_LINE => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"))
        }
        Some(_) => Ok(None),
    }
}
