//! The command line as it is typed. What the words mean is in `commands`, one file a verb.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    agents, answer, asks, diff, disk, findings, follow_up, gc, list, logs, queue, recover, restore, rules,
    run, serve, snapshots, status, stop, trust, usage, wait,
};
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Run many coding agents on your git repositories, each on a branch and in a worktree of its own.
#[derive(Debug, Parser)]
#[command(
    name = "forge",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  forge run --agent CLAUDE_CODE \"Make the tests pass\""
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Globals {
    /// Print JSON, one value a line: the objects of the API
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Talk to the server at this URL
    #[arg(long, global = true, value_name = "URL", conflicts_with_all = ["host", "port"])]
    pub(crate) url: Option<String>,
    /// Talk to the server at this host; with `serve`, listen on this IP address
    #[arg(long, global = true, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Talk to the server at this port; with `serve`, listen on it (0 takes any free one)
    #[arg(long, short, global = true, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Keep data in this directory instead of FORGE_HOME
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Run(run::Args),
    Logs(logs::Args),
    Diff(diff::Args),
    List(list::Args),
    Stop(stop::Args),
    FollowUp(follow_up::Args),
    Queue(queue::Args),
    Asks(asks::Args),
    Answer(answer::Args),
    Rules(rules::Args),
    Usage(usage::Args),
    Wait(wait::Args),
    Findings(findings::Args),
    Status(status::Args),
    Agents(agents::Args),
    Disk(disk::Args),
    Gc(gc::Args),
    Snapshots(snapshots::Args),
    Restore(restore::Args),
    Recover(recover::Args),
    Trust(trust::Args),
}

impl Cli {
    /// Does what was typed.
    pub(crate) fn run(&self) -> Result<Exit> {
        let globals = &self.globals;
        let output = &Output::new(globals.json);
        match &self.command {
            Command::Serve(args) => serve::run(globals, output, args),
            Command::Run(args) => run::run(globals, output, args),
            Command::Logs(args) => logs::run(globals, output, args),
            Command::Diff(args) => diff::run(globals, output, args),
            Command::List(args) => list::run(globals, output, args),
            Command::Stop(args) => stop::run(globals, output, args),
            Command::FollowUp(args) => follow_up::run(globals, output, args),
            Command::Queue(args) => queue::run(globals, output, args),
            Command::Asks(args) => asks::run(globals, output, args),
            Command::Answer(args) => answer::run(globals, output, args),
            Command::Rules(args) => rules::run(globals, output, args),
            Command::Usage(args) => usage::run(globals, output, args),
            Command::Wait(args) => wait::run(globals, output, args),
            Command::Findings(args) => findings::run(globals, output, args),
            Command::Status(args) => status::run(globals, output, args),
            Command::Agents(args) => agents::run(globals, output, args),
            Command::Disk(args) => disk::run(globals, output, args),
            Command::Gc(args) => gc::run(globals, output, args),
            Command::Snapshots(args) => snapshots::run(globals, output, args),
            Command::Restore(args) => restore::run(globals, output, args),
            Command::Recover(args) => recover::run(globals, output, args),
            Command::Trust(args) => trust::run(globals, output, args),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
