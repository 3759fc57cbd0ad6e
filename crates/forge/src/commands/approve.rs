//! `forge approve`: lets an agent do what it asks for.

use crate::cli::Globals;
use crate::commands::answer::{Answer, answer};
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Let an agent do what it asks for
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge approve 6a0c2f1e")]
pub(crate) struct Args {
    /// The attempt whose agent asks, or the ask
    id: String,
    /// Something to tell the agent with it
    text: Option<String>,
    /// Do not ask for the same again while its process lives
    #[arg(long)]
    session: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let text = args.text.as_deref();
    answer(globals, output, &Answer { id: &args.id, deny: false, text, for_session: args.session })
}
