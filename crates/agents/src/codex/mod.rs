//! Codex, by the JSON-RPC of its `app-server`.

mod asking;
mod asks;
mod command;
mod fold;
mod items;
mod refusal;
mod stderr;
mod text;
mod tokens;
mod turns;
mod wire;

use serde_json::Value;

use crate::conversation::resumed;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Login, Turn};

/// The adapter of Codex. One process holds one thread and plays its turns one after the other; what is said meanwhile
/// steers the turn that runs.
#[derive(Debug)]
pub(crate) struct Codex;

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "CODEX"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: true, go_on: true, interrupt: true, resume: true, fork: true }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        command::command(turn)
    }

    fn about(&self) -> About {
        About {
            title: "Codex",
            program: Some("codex"),
            install: command::INSTALL,
            npx: Some(command::PINNED),
            login: &[
                Login::FileBelow { variable: "CODEX_HOME", file: "auth.json" },
                Login::File(".codex/auth.json"),
                Login::Variable("OPENAI_API_KEY"),
                Login::Variable("CODEX_API_KEY"),
            ],
            tried: true,
        }
    }

    fn log_in(&self) -> Option<&'static str> {
        Some("codex login")
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        Box::new(fold::Fold::new(turn))
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<fold::Fold>(state)
    }
}
