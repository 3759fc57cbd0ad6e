//! The MCP servers in an agent's own settings file.

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::query::query;
use crate::table::{Table, text};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent
    agent: String,
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List the agent's MCP servers
    List,
    /// Add one, or put it in the place of the one that has its name
    Set {
        name: String,
        /// The command that starts it, with its arguments
        #[arg(required_unless_present = "json_text", trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
        /// What the agent's settings say about it, as JSON, instead of a command
        #[arg(long = "as", value_name = "JSON", conflicts_with = "command")]
        json_text: Option<String>,
    },
    /// Remove one
    Remove { name: String },
}

pub(super) fn run(client: &Client, output: &Output, args: &Args) -> Result<Exit> {
    let path = format!("/api/mcp-config{}", query(&[("executor", Some(&args.agent))]));
    let answer = client.get(&path)?;
    let mut servers = answer["mcp_config"]["servers"].as_object().cloned().unwrap_or_default();
    match &args.act {
        None | Some(Act::List) => return list(output, &answer, &servers),
        Some(Act::Set { name, command, json_text }) => {
            let server = match (json_text, command.split_first()) {
                (Some(text), _) => serde_json::from_str(text)
                    .map_err(|error| Failure::invalid(format!("--as is no JSON: {error}")))?,
                (None, Some((program, rest))) => json!({"command": program, "args": rest}),
                (None, None) => return Err(Failure::invalid("a command or --as JSON is wanted")),
            };
            servers.insert(name.clone(), server);
        }
        Some(Act::Remove { name }) => {
            if servers.remove(name).is_none() {
                return Err(Failure::not_found(format!(
                    "{} has no MCP server {name}; `forge agents mcp {}` lists them",
                    args.agent, args.agent
                )));
            }
        }
    }
    let saved = client.post(&path, Some(&json!({"servers": servers})))?;
    match output.json {
        true => output.value(&saved)?,
        false => output.line(crate::output::printable(saved.as_str().unwrap_or_default()))?,
    }
    Ok(Exit::Ok)
}

fn list(output: &Output, answer: &Value, servers: &Map<String, Value>) -> Result<Exit> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["SERVER", "HOW"]);
    for (name, server) in servers {
        table.row([name, &server.to_string()]);
    }
    match table.is_empty() {
        true => output.remark(format_args!("none is in {}", text(answer, "config_path"))),
        false => table.print(output)?,
    }
    Ok(Exit::Ok)
}
