//! Pull requests of an attempt's branch.

use clap::Subcommand;
use serde_json::{Value, json};

use super::landing::at;
use crate::client::Client;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::ids;
use crate::output::Output;
use crate::progress::Progress;
use crate::prompt;
use crate::table::{details, items, number, text};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Push the branch and open a pull request for it
    Create {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Its title; without one, that of the task
        #[arg(long)]
        title: Option<String>,
        /// What it says; `-` reads it from standard input
        #[arg(long, value_name = "TEXT")]
        body: Option<String>,
        /// Ask for it on this branch instead of the attempt's target
        #[arg(long, value_name = "BRANCH")]
        target: Option<String>,
    },
    /// Take up the pull request of the branch, or the one with a number
    Attach {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        number: Option<u64>,
    },
    /// Show how the pull request stands
    Status {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
}

pub(super) fn run(client: &Client, output: &Output, args: &Args) -> Result<Exit> {
    match &args.act {
        Act::Create { id, title, body, target } => {
            let attempt = ids::attempt(client, id)?;
            let title = title.clone().unwrap_or_else(|| attempt.title().to_string());
            let text = body.as_deref().map(prompt::read).transpose()?;
            let body = json!({"title": title, "body": text, "target_branch": target});
            let working = Progress::new("pushing and opening a pull request");
            let page = client.post(&at(&attempt, "pr"), Some(&body));
            drop(working);
            let page = page?;
            told(output, &page, page.as_str().unwrap_or_default())
        }
        Act::Attach { id, number } => {
            let attempt = ids::attempt(client, id)?;
            let body = json!({"pr_number": number});
            let taken = client.post(&at(&attempt, "pr/attach"), Some(&body))?;
            if taken["pr_attached"] != true && !output.json {
                return Err(Failure::not_found(format!(
                    "there is no pull request of {}; open one with `forge attempt pr create {}`",
                    attempt.branch,
                    attempt.short()
                )));
            }
            told(output, &taken, text(&taken, "pr_url"))
        }
        Act::Status { id } => status(client, output, id),
    }
}

fn status(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let attempt = ids::attempt(client, typed)?;
    let standing = client.get(&at(&attempt, "branch-status"))?;
    let found: Vec<&Value> =
        items(&standing["merges"]).iter().filter(|merge| merge["pr_info"].is_object()).collect();
    if output.json {
        output.value(&found.into_iter().cloned().collect())?;
        return Ok(Exit::Ok);
    }
    if found.is_empty() {
        output.remark(format_args!(
            "there is no pull request; `forge attempt pr create {}` opens one",
            attempt.short()
        ));
    }
    for merge in found {
        let request = &merge["pr_info"];
        details(
            output,
            &[
                ("pull request", &number(request, "number")),
                ("status", text(request, "status")),
                ("target", text(merge, "target_branch_name")),
                ("page", text(request, "url")),
            ],
        )?;
    }
    Ok(Exit::Ok)
}
