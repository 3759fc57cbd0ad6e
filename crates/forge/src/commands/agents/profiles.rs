//! The profiles of agents: named ways to call them.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::client::Client;
use crate::edited::edited;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::prompt;
use crate::table::{Table, text};

#[derive(Debug, Subcommand)]
pub(super) enum Act {
    /// List the names of the profiles
    List,
    /// Print all profiles, as JSON
    Show,
    /// Replace all profiles by those in a file of JSON
    Set {
        /// The JSON; `-` reads it from standard input
        #[arg(value_name = "JSON")]
        text: String,
    },
    /// Change the profiles in your editor
    Edit,
    /// Print where they are kept
    Path,
}

pub(super) fn run(client: &Client, output: &Output, act: &Act) -> Result<Exit> {
    let answer = client.get("/api/profiles")?;
    let content = text(&answer, "content");
    match act {
        Act::List => list(output, content),
        Act::Show => {
            let all: Value = serde_json::from_str(content).unwrap_or_default();
            match output.json {
                true => output.value(&all)?,
                false => output.line(format_args!("{all:#}"))?,
            }
            Ok(Exit::Ok)
        }
        Act::Set { text } => replace(client, output, &prompt::read(text)?),
        Act::Edit => match edited("profiles.json", content)? {
            Some(changed) => replace(client, output, &changed),
            None => {
                output.remark("nothing is changed");
                Ok(Exit::Ok)
            }
        },
        Act::Path => {
            match output.json {
                true => output.value(&json!({"path": text(&answer, "path")}))?,
                false => output.line(text(&answer, "path"))?,
            }
            Ok(Exit::Ok)
        }
    }
}

fn replace(client: &Client, output: &Output, changed: &str) -> Result<Exit> {
    let saved = client.put_text("/api/profiles", changed)?;
    match output.json {
        true => output.value(&saved)?,
        false => output.line("the profiles are changed")?,
    }
    Ok(Exit::Ok)
}

fn list(output: &Output, content: &str) -> Result<Exit> {
    let all: Value = serde_json::from_str(content).unwrap_or_default();
    let names = |of_agent: &Value| -> Vec<String> {
        of_agent.as_object().map(|names| names.keys().cloned().collect()).unwrap_or_default()
    };
    let agents = all["executors"].as_object();
    if output.json {
        let named =
            agents.into_iter().flatten().map(|(agent, of_agent)| (agent.clone(), json!(names(of_agent))));
        output.value(&Value::Object(named.collect()))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["AGENT", "PROFILES"]);
    for (agent, of_agent) in agents.into_iter().flatten() {
        table.row([agent, &names(of_agent).join(" ")]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}
