//! `forge stop`: ends an attempt's processes; its work stays.

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::wire::{self, Attempt};
use crate::{autostart, ids};

/// Stop an attempt; its branch and worktree stay
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge stop 6a0c2f1e")]
pub(crate) struct Args {
    /// The attempt: its id, the first digits of it, or its name
    pub(crate) id: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    client.post(&format!("{}/stop", attempt.path()), None)?;
    let value = client.get(&attempt.path())?;
    let after: Attempt = wire::read(&value)?;
    match output.json {
        true => output.value(&value)?,
        false if attempt.is_at_rest() => {
            output.line(format_args!("{} was {} already", after.short(), after.state))?;
        }
        false => output.line(format_args!(
            "{} is {}; its work is on {}",
            after.short(),
            after.state,
            after.branch
        ))?,
    }
    Ok(Exit::Ok)
}
