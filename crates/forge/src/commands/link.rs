//! `forge link`: tells what the worktree somebody stands in is about, and writes it into SESSION-STATE.md where that is
//! switched on. As a hook it holds no commit up unless it was told to be strict.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::git::{self, Checkout};
use crate::linking::{self, Chain};
use crate::output::Output;
use crate::session_state::{self, Block, FILE};

/// How long the server may take unless somebody says, in milliseconds.
pub(crate) const WITHIN: u64 = 200;
/// The setting of a repository that switches SESSION-STATE.md on.
pub(crate) const SWITCH: &str = "forge.sessionState";

/// Tell what this worktree is about: attempt, task, wish and GitHub issue
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The server is asked for the whole ids and may take 200 ms; when it is away, the name of the branch \
                  has to do. As a hook it is set up by `forge hooks install`.\n\n\
                  Example:\n  forge link --json"
)]
pub(crate) struct Args {
    /// Write the link into SESSION-STATE.md and stage that file; `git config forge.sessionState true` says so for good
    #[arg(long)]
    state: bool,
    /// Fail where there is nothing to link or no wish fits; as a hook, that stops the commit
    #[arg(long)]
    strict: bool,
    /// Say nothing when all is well
    #[arg(long)]
    quiet: bool,
    /// How long the server may take to tell the whole ids, in milliseconds: a commit waits for it
    #[arg(long, value_name = "MS", default_value_t = WITHIN)]
    within: u64,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    match link(globals, output, args) {
        Ok(()) => Ok(Exit::Ok),
        Err(failure) if args.strict => Err(failure),
        Err(failure) => {
            // A commit is worth more than its link.
            if !args.quiet {
                output.remark(format_args!("not linked: {failure}"));
            }
            if output.json {
                output.value(&json!({"linked": false, "reason": failure.message}))?;
            }
            Ok(Exit::Ok)
        }
    }
}

fn link(globals: &Globals, output: &Output, args: &Args) -> Result<()> {
    let checkout = Checkout::find(Path::new("."))?;
    let Some(chain) = linking::chain(globals, &checkout, Duration::from_millis(args.within))? else {
        return Err(Failure::conflict("this is no worktree of an attempt"));
    };
    let switched_on = args.state || checkout.setting(SWITCH).is_some_and(|value| value == "true");
    let changed = if switched_on { write(&checkout, &chain)? } else { false };
    if output.json {
        let mut told = json!(chain);
        told["linked"] = json!(chain.wish.is_some());
        told["worktree"] = json!(checkout.top);
        told["changed"] = json!(changed);
        output.value(&told)?;
    } else if !args.quiet {
        for (label, value) in lines(&chain) {
            output.line(format_args!("{label:<8} {value}"))?;
        }
        if changed {
            output.line(format_args!("written  {FILE}"))?;
        }
    }
    match chain.wish {
        None if args.strict => {
            Err(Failure::conflict(format!("no wish below .genie/wishes fits {}", chain.branch)))
        }
        _ => Ok(()),
    }
}

/// The chain in words, from the branch to the issue.
pub(crate) fn lines(chain: &Chain) -> Vec<(&'static str, String)> {
    let attempt = chain
        .attempt_id
        .clone()
        .unwrap_or_else(|| format!("{}… (the server was not asked)", chain.attempt_prefix));
    let mut lines = vec![("branch", chain.branch.clone()), ("attempt", attempt)];
    if let Some(task) = &chain.task_id {
        let title = chain.task_title.as_deref().unwrap_or_default();
        lines.push(("task", format!("{task}  {}", crate::output::short(title, 80)).trim_end().to_string()));
    }
    lines.push(("wish", chain.wish_path.clone().unwrap_or_else(|| "none fits".to_string())));
    if let Some(issue) = &chain.github_issue {
        lines.push(("issue", crate::output::short(issue, 100)));
    }
    lines
}

/// Writes the link and stages the file, so that it is in the commit that is being made.
fn write(checkout: &Checkout, chain: &Chain) -> Result<bool> {
    let before = session_state::read(&checkout.top)?;
    let links = linking::with_section(&session_state::block(&before, Block::Links)?, chain);
    let after = session_state::with_block(&before, Block::Links, &links)?;
    let changed = session_state::write(&checkout.top, &after)?;
    git::run(&checkout.top, ["add", "--", FILE])?;
    Ok(changed)
}
