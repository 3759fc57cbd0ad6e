//! `forge attempt`: everything about one try at a task. The verbs that stand by themselves are the same ones here.

use clap::Subcommand;

use crate::autostart;
use crate::cli::Globals;
use crate::commands::{diff, findings, follow_up, list, logs, queue, restore, snapshots, stop, wait};
use crate::exit::{Exit, Result};
use crate::output::Output;

mod comments;
mod dev;
mod draft;
pub(crate) mod landing;
mod look;
mod pull_request;
mod retry;
pub(crate) mod start;

/// Do anything with an attempt: look at it, talk to it, land it, put it aside
#[derive(Debug, clap::Args)]
#[command(after_help = "An attempt is named by its id, or the first digits of it or of its task's.\n\n\
                  Example:\n  forge attempt start 6a0c --agent CODEX --wait\n  forge attempt diff 91d2 --stat\n  \
                  forge attempt merge 91d2\n  cd \"$(forge attempt path 91d2)\"")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    List(list::Args),
    /// Start a further attempt at a task, or one without a task
    Start(start::Args),
    #[command(flatten)]
    Look(look::Act),
    Logs(logs::Args),
    Diff(diff::Args),
    Wait(wait::Args),
    Stop(stop::Args),
    FollowUp(follow_up::Args),
    Queue(queue::Args),
    /// Keep what the agent is to be told, without telling it yet
    Draft(draft::Args),
    /// Take back the last process and what came after it, and tell the agent something else
    Retry(retry::Args),
    /// Show, write and send review comments on the diff
    Comments(comments::Args),
    #[command(flatten)]
    Landing(landing::Act),
    /// Open or take up a pull request, or show how it stands
    Pr(pull_request::Args),
    /// Start, stop and watch the dev server of an attempt
    Dev(dev::Args),
    Findings(findings::Args),
    Snapshots(snapshots::Args),
    Restore(restore::Args),
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let connect = || autostart::connect(globals, output);
    match &args.act {
        None => list::run(globals, output, &list::Args::default()),
        Some(Act::List(args)) => list::run(globals, output, args),
        Some(Act::Start(args)) => start::run(&mut connect()?, output, args),
        Some(Act::Look(act)) => look::run(&connect()?, output, act),
        Some(Act::Logs(args)) => logs::run(globals, output, args),
        Some(Act::Diff(args)) => diff::run(globals, output, args),
        Some(Act::Wait(args)) => wait::run(globals, output, args),
        Some(Act::Stop(args)) => stop::run(globals, output, args),
        Some(Act::FollowUp(args)) => follow_up::run(globals, output, args),
        Some(Act::Queue(args)) => queue::run(globals, output, args),
        Some(Act::Draft(args)) => draft::run(&connect()?, output, args),
        Some(Act::Retry(args)) => retry::run(&mut connect()?, output, args),
        Some(Act::Comments(args)) => comments::run(&mut connect()?, output, args),
        Some(Act::Landing(act)) => landing::run(&connect()?, output, act),
        Some(Act::Pr(args)) => pull_request::run(&connect()?, output, args),
        Some(Act::Dev(args)) => dev::run(globals, &connect()?, output, args),
        Some(Act::Findings(args)) => findings::run(globals, output, args),
        Some(Act::Snapshots(args)) => snapshots::run(globals, output, args),
        Some(Act::Restore(args)) => restore::run(globals, output, args),
    }
}

/// `forge merge`: the short form of `forge attempt merge`.
pub(crate) fn merge(globals: &Globals, output: &Output, args: &landing::Merge) -> Result<Exit> {
    landing::merge(&autostart::connect(globals, output)?, output, args)
}

/// `forge rebase`: the short form of `forge attempt rebase`.
pub(crate) fn rebase(globals: &Globals, output: &Output, args: &landing::Rebase) -> Result<Exit> {
    landing::rebase(&autostart::connect(globals, output)?, output, args)
}

/// `forge push`: the short form of `forge attempt push`.
pub(crate) fn push(globals: &Globals, output: &Output, args: &landing::Push) -> Result<Exit> {
    landing::push(&autostart::connect(globals, output)?, output, args)
}
