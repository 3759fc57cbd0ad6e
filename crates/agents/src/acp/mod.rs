//! Every agent that speaks the Agent Client Protocol, by one driver: an agent is a row of [`agents`].

mod agents;
mod choice;
mod command;
mod diff;
mod failure;
mod fold;
mod modes;
mod text;
mod tools;
mod updates;
mod usage;
mod wire;

use serde_json::Value;

pub(crate) use agents::{ANY, CLINE, COPILOT, CURSOR, DROID, GEMINI, GOOSE, KIMI, OPENCODE, QWEN_CODE};

use crate::conversation::resumed;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Turn};

/// An agent that speaks the protocol. Its process takes one prompt after the other.
#[derive(Debug)]
pub(crate) struct Acp {
    name: &'static str,
    about: About,
    row: Row,
}

/// How one agent is called, and what is its own about it.
#[derive(Debug)]
struct Row {
    /// What makes the program speak the protocol.
    args: &'static [&'static str],
    /// The flag that names the model; none where it is told by the protocol.
    model: Option<&'static str>,
    env: &'static [(&'static str, &'static str)],
    /// What its environment holds besides when a person wants to be asked.
    env_asking: &'static [(&'static str, &'static str)],
    quirks: fold::Quirks,
}

impl Agent for Acp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: false, go_on: true, interrupt: true, resume: true, fork: false }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        command::command(self, turn)
    }

    fn about(&self) -> About {
        self.about
    }

    fn log_in(&self) -> Option<&'static str> {
        match self.name {
            "GEMINI" => Some("gemini"),
            "QWEN_CODE" => Some("qwen"),
            "OPENCODE" => Some("opencode auth login"),
            "COPILOT" => Some("copilot login"),
            "KIMI" => Some("kimi login"),
            "DROID" => Some("droid"),
            "CLINE" => Some("cline auth"),
            "GOOSE" => Some("goose configure"),
            _ => None,
        }
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        let wanted = command::wanted(self, turn);
        Box::new(fold::Fold::new(self.about.title, turn, self.row.quirks, wanted))
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<fold::Fold>(state)
    }
}
