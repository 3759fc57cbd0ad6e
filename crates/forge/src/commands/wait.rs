//! `forge wait`: returns when an attempt comes to rest.

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::follow::{self, Wishes};
use crate::output::Output;
use crate::{autostart, ids};

/// Wait until an attempt comes to rest
#[derive(Debug, clap::Args)]
#[command(after_help = "The exit code is 0 when it finished, 1 when it failed, 6 when it was stopped.\n\n\
                  Example:\n  forge wait 6a0c2f1e && git merge forge/6a0c-fix-login")]
pub(crate) struct Args {
    /// Return with exit code 7 as soon as the agent asks something
    #[arg(long)]
    or_ask: bool,
    /// The attempt
    id: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let wishes = Wishes { until_ask: args.or_ask, ..Wishes::default() };
    let followed = follow::follow(&client, output, &attempt.id, wishes)?;
    match output.json {
        true => output.value(&followed.value)?,
        false => output.line(follow::ending(&followed.attempt))?,
    }
    Ok(followed.exit)
}
