//! `forge deny`: keeps an agent from what it asks for.

use crate::cli::Globals;
use crate::commands::answer::{Answer, answer};
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Keep an agent from what it asks for
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge deny 6a0c2f1e \"Use the test database\"")]
pub(crate) struct Args {
    /// The attempt whose agent asks, or the ask
    id: String,
    /// Why, as the agent is told
    reason: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let text = args.reason.as_deref();
    answer(globals, output, &Answer { id: &args.id, deny: true, text, for_session: false })
}
