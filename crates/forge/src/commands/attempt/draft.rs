//! What an agent is to be told, kept until somebody sends it.

use clap::Subcommand;
use serde_json::{Value, json};

use super::landing::at;
use crate::client::Client;
use crate::commands::project::told;
use crate::exit::{Exit, Result};
use crate::output::{Output, printable};
use crate::table::text;
use crate::{ids, prompt};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The draft of a retry instead of a follow-up
    #[arg(long, global = true)]
    retry: bool,
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show it
    Show {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Write it
    Save {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// The text; `-` reads it from standard input
        text: String,
        /// With --retry: the whole id of the process to take back
        #[arg(long, value_name = "RUN")]
        process: Option<String>,
    },
    /// Send it when the agent is done, at once if it is
    Send {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Take it back before it is sent
    Hold {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Drop the draft of a retry
    Drop {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
}

pub(super) fn run(client: &Client, output: &Output, args: &Args) -> Result<Exit> {
    let kind = if args.retry { "retry" } else { "follow_up" };
    let place = |typed: &str, what: &str| -> Result<String> {
        Ok(format!("{}?type={kind}", at(&ids::attempt(client, typed)?, what)))
    };
    match &args.act {
        Act::Show { id } => shown(output, &client.get(&place(id, "draft")?)?),
        Act::Save { id, text, process } => {
            let path = place(id, "draft")?;
            let mut body = json!({"prompt": prompt::read(text)?, "version": client.get(&path)?["version"]});
            if let Some(process) = process {
                body["retry_process_id"] = json!(process);
            }
            shown(output, &client.put(&path, &body)?)
        }
        Act::Send { id } => {
            shown(output, &client.post(&place(id, "draft/queue")?, Some(&json!({"queued": true})))?)
        }
        Act::Hold { id } => {
            shown(output, &client.post(&place(id, "draft/queue")?, Some(&json!({"queued": false})))?)
        }
        Act::Drop { id } => {
            // Only a retry can be dropped; a draft of a follow-up is emptied instead.
            let path = format!("{}?type=retry", at(&ids::attempt(client, id)?, "draft"));
            let gone = client.delete(&path)?;
            told(output, &gone, "the retry is dropped")
        }
    }
}

fn shown(output: &Output, draft: &Value) -> Result<Exit> {
    if output.json {
        output.value(draft)?;
        return Ok(Exit::Ok);
    }
    match text(draft, "prompt") {
        "" => output.remark("there is no draft"),
        words => output.line(printable(words).trim_end())?,
    }
    if draft["queued"] == true {
        output.remark("it is sent when the agent is done");
    }
    Ok(Exit::Ok)
}
