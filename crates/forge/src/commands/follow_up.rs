//! `forge follow-up`: tells an attempt's agent something further.

use serde_json::json;

use crate::cli::Globals;
use crate::commands::attempt::start::waited;
use crate::exit::{Exit, Result};
use crate::output::Output;
use crate::{autostart, ids, prompt};

/// Tell an attempt's agent something further
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge follow-up 6a0c2f1e \"Now add a test for it\"")]
pub(crate) struct Args {
    /// Wait until it comes to rest; the exit code says how
    #[arg(long)]
    wait: bool,
    /// The attempt
    id: String,
    /// What to tell it; `-` reads it from standard input
    prompt: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let prompt = prompt::read(&args.prompt)?;
    let mut client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, &args.id)?;
    let path = format!("/api/task-attempts/{}/follow-up", attempt.id);
    let run = client.post_once(&path, &json!({"prompt": prompt}))?;
    if args.wait {
        return waited(&client, output, &attempt.id);
    }
    if output.json {
        output.value(&run)?;
        return Ok(Exit::Ok);
    }
    let id = attempt.short();
    output.line(match run["delivered"].as_str() {
        Some("injected") => format!("told the running agent of {id}"),
        Some("queued") => format!("{id} is told when its turn ends"),
        _ => format!("{id} runs again; see it with `forge logs -f {id}`"),
    })?;
    Ok(Exit::Ok)
}
