//! `forge completions`: what a shell needs to complete the commands.

use clap_complete::Shell;

use crate::cli;
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Print what a shell needs to complete the commands
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  forge completions bash > ~/.local/share/bash-completion/completions/forge\n  \
                  forge completions zsh > ~/.zfunc/_forge\n  \
                  forge completions fish > ~/.config/fish/completions/forge.fish"
)]
pub(crate) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(output: &Output, args: &Args) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "forge", &mut text);
    output.write(&text)?;
    Ok(Exit::Ok)
}
