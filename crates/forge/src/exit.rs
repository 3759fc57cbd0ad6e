//! What a command's exit code means, and the failure that carries one.

use std::fmt;
use std::process::ExitCode;

/// The answer of a command, or of a step of one.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; of an attempt that was waited for: it finished.
    Ok = 0,
    /// The attempt failed; of `doctor`: there is a problem.
    AttemptFailed = 1,
    /// The command line, or what it asks for, cannot be right.
    Invalid = 2,
    /// What was named is not there.
    NotFound = 3,
    /// What was asked for does not fit the state things are in.
    Conflict = 4,
    /// The server is away, refused the call, or could not do it.
    Away = 5,
    /// The attempt was stopped.
    AttemptStopped = 6,
    /// The attempt waits for an answer.
    AttemptWaits = 7,
    /// Ctrl-C.
    Interrupted = 130,
    /// Whoever read the output went away; the code a shell gives for SIGPIPE.
    OutputClosed = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // Every code is below 256 by its declaration.
        ExitCode::from(exit as u8)
    }
}

/// Why a command was not done: one sentence for the person, one code for the shell.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failure {
    /// The command line, or what it asks for, cannot be right.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { exit: Exit::Invalid, message: message.into() }
    }

    /// What was named is not there.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { exit: Exit::NotFound, message: message.into() }
    }

    /// What was asked for does not fit the state things are in.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self { exit: Exit::Conflict, message: message.into() }
    }

    /// The server is away, refused the call, or could not do it.
    pub(crate) fn away(message: impl Into<String>) -> Self {
        Self { exit: Exit::Away, message: message.into() }
    }

    /// Whoever read the output went away. There is nobody to tell, so there is no sentence.
    pub(crate) fn output_closed() -> Self {
        Self { exit: Exit::OutputClosed, message: String::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
