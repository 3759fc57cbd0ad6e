//! Bringing an attempt's work to where it is wanted: how its branch stands, merging, rebasing, pushing.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::client::Client;
use crate::commands::project::{shown_status, told};
use crate::exit::{Exit, Failure, Result};
use crate::follow::{self, Wishes};
use crate::ids;
use crate::output::Output;
use crate::progress::Progress;
use crate::query::query;
use crate::table::{items, number, text};
use crate::wire::{Attempt, short_id};

/// Land an attempt as one commit on its target; its task is done then
#[derive(Debug, Args)]
pub(crate) struct Merge {
    #[arg(value_name = "ATTEMPT")]
    id: String,
    /// Run none of the repository's own hooks
    #[arg(long)]
    skip_hooks: bool,
    /// Wait until the agent is done first, and land only what it finished
    #[arg(long)]
    wait: bool,
}

/// Build an attempt's commits again on its target, or on another branch that becomes its target
#[derive(Debug, Args)]
pub(crate) struct Rebase {
    #[arg(value_name = "ATTEMPT")]
    id: String,
    /// On this branch
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
    /// Only the commits since this branch
    #[arg(long, value_name = "BRANCH")]
    since: Option<String>,
    /// Run none of the repository's own hooks
    #[arg(long)]
    skip_hooks: bool,
}

/// Commit what is left and push an attempt's branch to the project's remote; never forced
#[derive(Debug, Args)]
pub(crate) struct Push {
    #[arg(value_name = "ATTEMPT")]
    id: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum Act {
    /// Show how an attempt's branch stands to its target
    #[command(alias = "branch-status")]
    Status {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    Merge(Merge),
    /// Take the last merge of an attempt back, unless somebody has built on it or was given it
    Unmerge {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    Rebase(Rebase),
    /// Take back a rebase or merge that waits for its conflicts; the files are snapshotted first
    Abort {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Go on with a rebase whose conflicts you have resolved in its files; they are snapshotted first
    Continue {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    Push(Push),
    /// Change where an attempt lands; no commit moves
    Target {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        branch: String,
    },
    /// Delete a file of an attempt's worktree and commit that alone
    DeleteFile {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// From the top of the worktree
        path: String,
    },
}

/// What a person can do about a rebase that stopped.
const OUT_OF_A_CONFLICT: [(&str, &str); 3] = [
    ("follow-up ID \"Resolve the conflicts\"", "lets the agent resolve them"),
    ("attempt continue ID", "goes on when you have resolved them in its files"),
    ("attempt abort ID", "takes the rebase back"),
];

pub(super) fn run(client: &Client, output: &Output, act: &Act) -> Result<Exit> {
    match act {
        Act::Status { id } => {
            let attempt = ids::attempt(client, id)?;
            shown_status(output, &client.get(&at(&attempt, "branch-status"))?)
        }
        Act::Merge(args) => merge(client, output, args),
        Act::Unmerge { id } => {
            let attempt = ids::attempt(client, id)?;
            client.post(&at(&attempt, "merge/undo"), None)?;
            standing(client, output, &attempt, |status| {
                let target = text(status, "target_branch_name");
                format!("{target} is as it was before; the work is on {}", attempt.branch)
            })
        }
        Act::Rebase(args) => rebase(client, output, args),
        Act::Continue { id } => {
            let attempt = ids::attempt(client, id)?;
            let went = client.post(&at(&attempt, "conflicts/continue"), None).map_err(Failure::from);
            went.map_err(|failure| hinted(failure, &attempt, &OUT_OF_A_CONFLICT))?;
            on_top(client, output, &attempt)
        }
        Act::Abort { id } => {
            let attempt = ids::attempt(client, id)?;
            client.post(&at(&attempt, "conflicts/abort"), None)?;
            standing(client, output, &attempt, |_| format!("{} is as it was before", attempt.short()))
        }
        Act::Push(args) => push(client, output, args),
        Act::Target { id, branch } => {
            let attempt = ids::attempt(client, id)?;
            let changed = client
                .post(&at(&attempt, "change-target-branch"), Some(&json!({"new_target_branch": branch})))?;
            let (ahead, behind) = (&changed["status"][0], &changed["status"][1]);
            let words = format!("{} lands on {branch}: {ahead} ahead, {behind} behind", attempt.short());
            told(output, &changed, &words)
        }
        Act::DeleteFile { id, path } => {
            let attempt = ids::attempt(client, id)?;
            let query = query(&[("file_path", Some(path))]);
            let gone = client.post(&format!("{}{query}", at(&attempt, "delete-file")), None)?;
            told(output, &gone, &format!("{path} is deleted and committed on {}", attempt.branch))
        }
    }
}

pub(super) fn merge(client: &Client, output: &Output, args: &Merge) -> Result<Exit> {
    let attempt = ids::attempt(client, &args.id)?;
    if args.wait {
        let followed = follow::follow(client, output, &attempt.id, Wishes::default())?;
        if followed.exit != Exit::Ok {
            output.remark(follow::ending(&followed.attempt));
            return Ok(followed.exit);
        }
    }
    let working = Progress::new("landing");
    let merged = client.post(&at(&attempt, "merge"), Some(&json!({"skip_hooks": args.skip_hooks})));
    drop(working);
    merged.map_err(|trouble| {
        let status = ("attempt status ID", "shows how it stands");
        let rebase = ("attempt rebase ID", "brings it up to date with its target");
        hinted(Failure::from(trouble), &attempt, &[status, rebase])
    })?;
    standing(client, output, &attempt, |status| {
        let commit =
            items(&status["merges"]).iter().map(|merge| text(merge, "merge_commit")).find(|c| !c.is_empty());
        let commit = commit.map(|commit| format!(" as {}", short_id(commit))).unwrap_or_default();
        format!("{} landed on {}{commit}", attempt.short(), text(status, "target_branch_name"))
    })
}

pub(super) fn rebase(client: &Client, output: &Output, args: &Rebase) -> Result<Exit> {
    let attempt = ids::attempt(client, &args.id)?;
    let body = json!({
        "new_base_branch": args.onto, "old_base_branch": args.since, "skip_hooks": args.skip_hooks,
    });
    let working = Progress::new("rebasing");
    let rebased = client.post(&at(&attempt, "rebase"), Some(&body)).map_err(Failure::from);
    drop(working);
    rebased.map_err(|failure| hinted(failure, &attempt, &OUT_OF_A_CONFLICT))?;
    on_top(client, output, &attempt)
}

pub(super) fn push(client: &Client, output: &Output, args: &Push) -> Result<Exit> {
    let attempt = ids::attempt(client, &args.id)?;
    let working = Progress::new("pushing");
    let pushed = client.post(&at(&attempt, "push"), None);
    drop(working);
    pushed?;
    standing(client, output, &attempt, |_| format!("{} is pushed", attempt.branch))
}

/// Says what to do about what is in the way, after the server's own sentence.
fn hinted(failure: Failure, attempt: &Attempt, acts: &[(&str, &str)]) -> Failure {
    if failure.exit != Exit::Conflict {
        return failure;
    }
    let hints =
        acts.iter().map(|(act, what)| format!("\n  forge {}  {what}", act.replace("ID", attempt.short())));
    Failure { message: failure.message + &hints.collect::<String>(), ..failure }
}

fn on_top(client: &Client, output: &Output, attempt: &Attempt) -> Result<Exit> {
    standing(client, output, attempt, |status| {
        let stands = if status["commits_behind"] == 0 { "on top of" } else { "behind" };
        format!("{} is {stands} {}", attempt.short(), text(status, "target_branch_name"))
    })
}

/// Tells how the branch stands after something was done to it.
fn standing(
    client: &Client,
    output: &Output,
    attempt: &Attempt,
    words: impl FnOnce(&serde_json::Value) -> String,
) -> Result<Exit> {
    let status = client.get(&at(attempt, "branch-status"))?;
    if output.json {
        output.value(&status)?;
        return Ok(Exit::Ok);
    }
    output.line(words(&status))?;
    if status["commits_behind"].as_u64().is_some_and(|behind| behind > 0) {
        output
            .remark(format_args!("its target is {} commits ahead of it", number(&status, "commits_behind")));
    }
    Ok(Exit::Ok)
}

pub(super) fn at(attempt: &Attempt, what: &str) -> String {
    format!("/api/task-attempts/{}/{what}", attempt.id)
}
