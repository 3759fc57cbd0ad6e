//! Claude Code, by the stream-json control protocol of its command line.

mod asks;
mod command;
mod fold;
mod outcome;
mod partial;
mod tools;
mod turns;
mod wire;

pub(crate) use fold::Fold;
use serde_json::Value;

use crate::conversation::resumed;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Login, Turn};

/// The adapter of Claude Code. One process plays as many turns as it is told; a new one resumes the session.
#[derive(Debug)]
pub(crate) struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "CLAUDE_CODE"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: true, go_on: true, interrupt: true, resume: true, fork: true }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        command::command(turn)
    }

    fn about(&self) -> About {
        About {
            title: "Claude Code",
            program: Some("claude"),
            install: command::INSTALL,
            npx: Some(command::PINNED),
            login: &[
                Login::FileBelow { variable: "CLAUDE_CONFIG_DIR", file: ".credentials.json" },
                Login::File(".claude/.credentials.json"),
                Login::File(".claude.json"),
                Login::Variable("ANTHROPIC_API_KEY"),
                Login::Variable("ANTHROPIC_AUTH_TOKEN"),
                Login::Variable("CLAUDE_CODE_OAUTH_TOKEN"),
            ],
            tried: true,
        }
    }

    fn log_in(&self) -> Option<&'static str> {
        Some("claude auth login")
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        Box::new(Fold::new(turn))
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<Fold>(state)
    }
}
