//! `forge resume`: goes on with an attempt, an execution run included, and tells it something further.

use serde_json::json;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::{autostart, ids, prompt};

/// Go on with an attempt: tell its agent something further
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge resume 6a0c2f1e \"Now add a test for it\"")]
pub(crate) struct Args {
    /// The attempt: its id, the first digits of it, or its name
    pub(crate) id: String,
    /// What to tell it, in one word or many; `-` reads it from standard input
    #[arg(required = true)]
    pub(crate) prompt: Vec<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let prompt = prompt::read(&args.prompt.join(" "))?;
    let mut client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let told = client.post_once(&format!("{}/follow-up", attempt.path()), &json!({"prompt": prompt}))?;
    if output.json {
        output.value(&told)?;
        return Ok(Exit::Ok);
    }
    let id = attempt.short();
    output.line(match told["delivered"].as_str() {
        Some("injected") => format!("told the running agent of {id}"),
        Some("queued") => format!("{id} is told when its turn ends"),
        _ => format!("{id} runs again; see it with `forge view --live {id}`"),
    })?;
    Ok(Exit::Ok)
}
