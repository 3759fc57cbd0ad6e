//! `forge logs`: what an attempt's runs printed.

use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Result};
use crate::follow::{self, Wishes};
use crate::output::Output;
use crate::render::Renderer;
use crate::wire::{self, Run};
use crate::{autostart, ids, log_stream};

/// Show what an attempt's agent did
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge logs -f 6a0c2f1e")]
pub(crate) struct Args {
    /// Go on until the attempt comes to rest
    #[arg(short, long)]
    pub(super) follow: bool,
    /// Print the bytes of standard output as the agent wrote them
    #[arg(long)]
    pub(super) raw: bool,
    /// The attempt, or the whole id of one run
    pub(super) id: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let attempt = match ids::attempt(&client, &args.id) {
        Ok(attempt) => attempt,
        Err(failure) if failure.exit == Exit::NotFound => {
            return match ids::run(&client, &args.id)? {
                Some(run) => show_run(&client, output, args, &wire::read(&run)?, None),
                None => Err(failure),
            };
        }
        Err(failure) => return Err(failure),
    };
    if args.follow {
        let wishes = Wishes { logs: true, raw: args.raw, ..Wishes::default() };
        follow::follow(&client, output, &attempt.id, wishes)?;
        return Ok(Exit::Ok);
    }
    let runs = client.get(&format!("/api/execution-processes?task_attempt_id={}", attempt.id))?;
    for run in runs.as_array().into_iter().flatten() {
        let run: Run = wire::read(run)?;
        if run.run_reason != "devserver" {
            show_run(&client, output, args, &run, attempt.worktree_path.as_deref())?;
        }
    }
    if !args.raw && !output.json && attempt.open_asks > 0 {
        for ask in follow::open_asks(&client)?.iter().filter(|ask| ask.task_attempt_id == attempt.id) {
            output.remark(format_args!("? {} (ask {})", ask.question(), ask.short()));
            output.remark_whole(&ask.whole());
            output.remark(format_args!("  {}", ask.how()));
        }
    }
    Ok(Exit::Ok)
}

fn show_run(
    client: &Client,
    output: &Output,
    args: &Args,
    run: &Run,
    worktree: Option<&str>,
) -> Result<Exit> {
    let mut renderer = Renderer::new(output, run, worktree, args.raw);
    renderer.heading(run)?;
    let mut printed = Ok(());
    let take = |chunks: Vec<wire::LogChunk>| {
        printed = renderer.print(&chunks);
        printed.is_ok()
    };
    match args.follow {
        true => log_stream::follow(client, &run.id, take)?,
        false => log_stream::read_once(client, &run.id, take)?,
    };
    printed?;
    renderer.finish()?;
    Ok(Exit::Ok)
}
