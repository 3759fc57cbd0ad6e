//! Claude Code, by the stream-json control protocol of its command line.

mod command;
mod fold;
mod partial;
mod tools;
mod wire;

use crate::{Agent, Capabilities, CommandSpec, Conversation, Turn};

/// The adapter of Claude Code. One process plays one turn; a follow-up resumes the session.
#[derive(Debug)]
pub(crate) struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "CLAUDE_CODE"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: false, resume: true, fork: true }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        command::command(turn)
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        Box::new(fold::Fold::new(turn))
    }
}
