//! One file per agent: a turn becomes a command, lines become steps.
//!
//! Everything here is a function of its input: nothing spawns, reads a file, looks at a clock or draws a
//! random number. The engine does what the steps say, and folding the same bytes again gives the same steps.

mod acp;
mod agent;
mod claude;
mod codex;
mod conversation;
mod cut;
mod entries;
mod headless;
mod lines;
mod mcp;
mod raw;
mod relative;
pub mod scripted;
pub mod settings;
mod wait;

pub use agent::{About, Agent, Capabilities, CommandSpec, Login, Program, Turn};
pub use conversation::{AskRequest, Conversation, Step};
pub use cut::{LONGEST_ENTRY, bounded, is_cut};
pub use lines::{Line, Lines};
pub use mcp::{McpFile, mcp_file};
pub use settings::{check_settings, schemas};

/// The version of what lines become. Entries are kept beside the log they were made of, under this number; when it is
/// another, they are made anew. It goes up by one whenever any agent's lines become other entries, or a conversation
/// remembers something else; `tests/it/fold_version.rs` notices.
pub const FOLD_VERSION: u32 = 4;

/// Every agent Forge can run: one line each.
pub static AGENTS: &[&dyn Agent] = &[
    &scripted::Scripted,
    &claude::Claude,
    &codex::Codex,
    &acp::GEMINI,
    &acp::QWEN_CODE,
    &acp::OPENCODE,
    &acp::COPILOT,
    &acp::KIMI,
    &acp::DROID,
    &acp::CLINE,
    &acp::GOOSE,
    &acp::ANY,
    &headless::Amp,
    &headless::Cursor,
    &raw::Raw,
];

/// Finds an agent by its name in upper case, such as `CLAUDE_CODE`.
pub fn agent(name: &str) -> Option<&'static dyn Agent> {
    AGENTS.iter().copied().find(|agent| agent.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_model::ProfileId;

    #[test]
    fn every_agent_is_found_by_the_name_a_profile_gives_it() {
        for known in AGENTS {
            let profile = ProfileId::new(known.name(), None).unwrap();
            assert_eq!(agent(&profile.agent).unwrap().name(), known.name());
        }
        assert!(agent("NOBODY").is_none());
    }
}
