//! `forge agents`: which agents are on the server's machine, what is missing before they can be used, and how they are
//! called.

use clap::Subcommand;
use serde_json::Value;

use crate::autostart;
use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Result};
use crate::output::{Output, Tone};

mod mcp;
mod profiles;

/// List the agents: whether each is installed and logged in to, and what to do when not
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge agents\n  forge agents profiles edit\n  \
                  forge agents mcp CLAUDE_CODE set db npx -y some-mcp-server")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List the agents
    List,
    /// Show and change the profiles: named ways to call an agent
    #[command(subcommand)]
    Profiles(profiles::Act),
    /// Show and change the MCP servers in an agent's own settings
    Mcp(mcp::Args),
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    match &args.act {
        None | Some(Act::List) => list(&client, output),
        Some(Act::Profiles(act)) => profiles::run(&client, output, act),
        Some(Act::Mcp(args)) => mcp::run(&client, output, args),
    }
}

fn list(client: &Client, output: &Output) -> Result<Exit> {
    let info = client.get("/api/info")?;
    let agents = info["agents"].as_array().cloned().unwrap_or_default();
    if output.json {
        output.value(&agents.into())?;
        return Ok(Exit::Ok);
    }
    let heading = row("AGENT", "VERSION", "LOGIN", "PROGRAM");
    output.line(output.tone(Tone::Dim, &heading))?;
    for agent in &agents {
        output.line(shown(agent))?;
        if let Some(remedy) = agent["remedy"].as_str() {
            output.line(output.tone(Tone::Dim, &format!("    {remedy}")))?;
        }
    }
    output.remark(
        "found by files and variables; nothing was started. untried: known by its documentation only",
    );
    Ok(Exit::Ok)
}

fn shown(agent: &Value) -> String {
    let text = |key: &str| agent[key].as_str().unwrap_or_default();
    let program = match text("found") {
        "built_in" => "comes with Forge".to_string(),
        "missing" => "not installed".to_string(),
        "no_command" => "no command in its profile".to_string(),
        "npx" => format!("fetched by {}", text("path")),
        _ => text("path").to_string(),
    };
    let untried = if agent["tried"] == false { " (untried)" } else { "" };
    let login = match agent["logged_in"].as_bool() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    let version = agent["version"].as_str().unwrap_or("-");
    row(text("executor"), version, login, &format!("{program}{untried}"))
}

fn row(agent: &str, version: &str, login: &str, program: &str) -> String {
    format!("{agent:<14} {version:<20} {login:<6} {program}").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_is_one_row_and_an_untried_one_says_so() {
        let agent = json!({"executor": "AMP", "found": "program", "path": "/usr/bin/amp", "version": "1.2",
            "logged_in": true, "tried": false});
        assert_eq!(shown(&agent), "AMP            1.2                  yes    /usr/bin/amp (untried)");
        let agent = json!({"executor": "SCRIPTED", "found": "built_in", "logged_in": null, "tried": true});
        assert_eq!(shown(&agent), "SCRIPTED       -                    -      comes with Forge");
    }
}
