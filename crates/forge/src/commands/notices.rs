//! `forge notices`: how notices reach a person's phone, and which were sent.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::autostart;
use crate::cli::Globals;
use crate::commands::project;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::table::{Table, items, text};

/// Show and change how notices are sent through a messaging gateway
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  forge notices set enabled=true host=http://127.0.0.1:8882 instance=me recipient=+491701\n  \
                  forge notices list"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Say whether notices are sent
    Status,
    /// List the newest 50 notices
    List,
    /// Show or change the settings that hold for every project
    Set {
        /// `enabled`, `host`, `instance`, `api_key`, `recipient` or `recipient_type`; an empty value takes it away
        #[arg(value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// List what the gateway can send through
    Instances,
    /// Try a gateway and a key
    Try {
        gateway: String,
        /// The key; `-` reads it from standard input
        key: String,
    },
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    match &args.act {
        None | Some(Act::Status) => {
            let status = client.bare("GET", "/api/forge/omni/status", None)?;
            let words = match status["enabled"] == true {
                true => "notices are sent",
                false => "no notices are sent; `forge notices set enabled=true` and a gateway change that",
            };
            project::told(output, &status, words)
        }
        Some(Act::List) => {
            let all = client.bare("GET", "/api/forge/omni/notifications", None)?;
            let heading = ["TIME", "STATUS", "ABOUT", "TEXT"];
            let keys = ["created_at", "status", "notification_type", "message"];
            listed(output, &all, &all["notifications"], heading, keys)
        }
        Some(Act::Set { changes }) => project::notices(&client, output, "/api/forge/config", changes),
        Some(Act::Instances) => {
            let all = client.bare("GET", "/api/forge/omni/instances", None)?;
            if let Some(error) = all["error"].as_str() {
                return Err(Failure::away(error));
            }
            instances(output, &all)
        }
        Some(Act::Try { gateway, key }) => {
            let key = crate::prompt::read(key)?;
            let body = json!({"host": gateway, "api_key": key.trim()});
            let tried = client.bare("POST", "/api/forge/omni/validate", Some(&body))?;
            if tried["valid"] != true {
                return Err(Failure::away(text(&tried, "error")));
            }
            instances(output, &tried)
        }
    }
}

fn instances(output: &Output, answer: &Value) -> Result<Exit> {
    let heading = ["INSTANCE", "CHANNEL", "STATUS", "NAME"];
    let keys = ["instance_name", "channel_type", "status", "display_name"];
    listed(output, answer, &answer["instances"], heading, keys)
}

fn listed(
    output: &Output,
    answer: &Value,
    list: &Value,
    heading: [&str; 4],
    keys: [&str; 4],
) -> Result<Exit> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&heading);
    for one in items(list) {
        table.row(keys.map(|key| text(one, key)));
    }
    if table.is_empty() {
        output.remark("there is none");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}
