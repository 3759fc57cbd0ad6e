//! `forge mcp`: speaks MCP on standard input and output for clients that start their servers themselves.
//!
//! It is a bridge and nothing more: every message goes to the server's `/mcp`, every answer comes from there. Standard
//! output carries the protocol and nothing else, and no port is opened or taken.

use forge_model::AttemptId;

use crate::bridge;
use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Speak MCP on standard input and output, for the settings of an IDE or an agent
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Claude Code is told with `claude mcp add forge -- forge mcp`.\n\nExample:\n  forge mcp"
)]
pub(crate) struct Args {
    /// Speak for the agent of this attempt, with its token: its task, subtasks that it makes, and nothing else
    #[arg(long, value_name = "ID")]
    attempt: Option<AttemptId>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    bridge::run(globals, *output, args.attempt)?;
    Ok(Exit::Ok)
}
