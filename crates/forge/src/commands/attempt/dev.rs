//! The dev server of an attempt.

use clap::Subcommand;
use serde_json::Value;

use super::landing::at;
use crate::cli::Globals;
use crate::client::Client;
use crate::commands::{logs, project::told};
use crate::exit::{Exit, Failure, Result};
use crate::ids;
use crate::output::Output;
use crate::table::{details, items, number, text};
use crate::wire::Attempt;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Start it anew, on ports of its own
    Start {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Stop it
    Stop {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Show where it is
    Show {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Show what it prints
    Logs {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Go on until it ends
        #[arg(short, long)]
        follow: bool,
    },
}

pub(super) fn run(globals: &Globals, client: &Client, output: &Output, args: &Args) -> Result<Exit> {
    match &args.act {
        Act::Start { id } => {
            let attempt = ids::attempt(client, id)?;
            client.post(&at(&attempt, "start-dev-server"), None)?;
            show(client, output, &attempt)
        }
        Act::Stop { id } => {
            let attempt = ids::attempt(client, id)?;
            let run = newest(client, &attempt)?;
            let stopped =
                client.post(&format!("/api/execution-processes/{}/stop", text(&run, "id")), None)?;
            told(output, &stopped, &format!("the dev server of {} is stopped", attempt.short()))
        }
        Act::Show { id } => show(client, output, &ids::attempt(client, id)?),
        Act::Logs { id, follow } => {
            let run = newest(client, &ids::attempt(client, id)?)?;
            let args = logs::Args { follow: *follow, raw: false, id: text(&run, "id").to_string() };
            logs::run(globals, output, &args)
        }
    }
}

fn show(client: &Client, output: &Output, attempt: &Attempt) -> Result<Exit> {
    let value = client.get(&format!("/api/task-attempts/{}", attempt.id))?;
    let server = &value["dev_server"];
    if output.json {
        output.value(server)?;
        return Ok(Exit::Ok);
    }
    if server.is_null() {
        output.remark(format_args!(
            "no dev server runs; `forge attempt dev start {}` starts it",
            attempt.short()
        ));
        return Ok(Exit::Ok);
    }
    details(
        output,
        &[
            ("dev server", text(server, "run_id")),
            ("port", &number(server, "port")),
            ("url", text(server, "url")),
        ],
    )?;
    Ok(Exit::Ok)
}

/// Finds the newest run of a dev server.
fn newest(client: &Client, attempt: &Attempt) -> Result<Value> {
    let runs = client.get(&format!("/api/execution-processes?task_attempt_id={}", attempt.id))?;
    let newest = items(&runs).iter().rfind(|run| text(run, "run_reason") == "devserver");
    newest.cloned().ok_or_else(|| {
        let id = attempt.short();
        Failure::not_found(format!("{id} never had a dev server; `forge attempt dev start {id}` starts it"))
    })
}
