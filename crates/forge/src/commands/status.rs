//! `forge status`: where the server is, what runs, and who waits for an answer.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, printable};
use crate::wire::short_id;
use crate::{autostart, follow, ids, server_file};

/// Show where the server is, what runs, and who waits for an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge status --json")]
pub(crate) struct Args {}

pub(crate) fn run(globals: &Globals, output: &Output, _args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let health = client.health()?;
    let projects = client.get("/api/projects")?.as_array().map_or(0, Vec::len);
    let attempts = ids::attempts(&client)?;
    let asks = follow::open_asks(&client)?;
    let pid =
        server_file::find(client.home()).filter(|found| found.url == client.url()).map(|found| found.pid);
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for attempt in &attempts {
        *states.entry(&attempt.state).or_default() += 1;
    }
    if output.json {
        let asks = client.get("/api/approvals/pending")?;
        output.value(&json!({
            "url": client.url(),
            "version": health["version"],
            "pid": pid,
            "data": client.home(),
            "projects": projects,
            "attempts": states,
            "asks": asks,
        }))?;
        return Ok(Exit::Ok);
    }
    let version = health["version"].as_str().unwrap_or("of an unknown version");
    let process = pid.map(|pid| format!(" (process {pid}, data in {})", client.home().display()));
    output.line(format_args!("Forge {version} on {}{}", client.url(), process.unwrap_or_default()))?;
    let states: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let states = if states.is_empty() { "no attempt yet".to_string() } else { states.join(", ") };
    output
        .line(format_args!("{projects} {}; {states}", if projects == 1 { "project" } else { "projects" }))?;
    for attempt in &attempts {
        if let Some(stalled) = &attempt.stalled {
            output.line(format_args!("{} is stalled: {}", attempt.short(), printable(stalled)))?;
        } else if let Some(until) = &attempt.limited_until {
            output.line(format_args!("{} is limited until {}", attempt.short(), printable(until)))?;
        }
    }
    for ask in asks {
        let (id, ask_id) = (short_id(&ask.task_attempt_id), ask.short());
        output.line(format_args!("{id} asks: {} (ask {ask_id})", ask.line()))?;
        output.write(ask.whole().as_bytes())?;
        output.line(format_args!("    {}", ask.how()))?;
    }
    Ok(Exit::Ok)
}
