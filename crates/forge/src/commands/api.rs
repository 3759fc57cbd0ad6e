//! `forge api`: any call to the server, for what no other command does.

use std::io::Read;

use serde_json::Value;

use crate::cli::Globals;
use crate::client::Content;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::{autostart, prompt};

/// Call any route of the server, with its token where it wants one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The answer is printed as it came. `forge api /api/routes` lists all routes, and /docs tells what they \
                  take.\n\nExample:\n  forge api /api/board\n  forge api -X PUT /api/config --body '{\"theme\": \"DARK\"}'"
)]
pub(crate) struct Args {
    /// Which path, with its query
    path: String,
    /// Call with this method; without one, GET, or POST with a body
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<String>,
    /// Send this; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// What the body is
    #[arg(long, value_name = "TYPE", default_value = "application/json")]
    content_type: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    if !args.path.starts_with('/') {
        return Err(Failure::invalid(format!(
            "a path begins with a slash, as /api/projects; {:?} does not",
            args.path
        )));
    }
    let content = match &args.body {
        Some(body) => {
            Some(Content { kind: args.content_type.clone(), bytes: prompt::read(body)?.into_bytes() })
        }
        None => None,
    };
    let usual = if content.is_some() { "POST" } else { "GET" };
    let method = args.method.as_deref().unwrap_or(usual).to_ascii_uppercase();
    let client = autostart::connect(globals, output)?;
    let response = client.exchange(&method, &args.path, content.as_ref(), false)?;
    let status = response.status();
    let mut reader = response.into_body().into_with_config().limit(u64::MAX).reader();
    let mut whole = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let count = reader
            .read(&mut piece)
            .map_err(|error| Failure::away(format!("the answer broke off: {error}")))?;
        if count == 0 {
            break;
        }
        // What goes on without end is shown while it comes; of a refusal the sentence is wanted.
        match status.is_success() {
            true => output.write(&piece[..count])?,
            false => whole.extend_from_slice(&piece[..count]),
        }
    }
    if status.is_success() {
        return Ok(Exit::Ok);
    }
    output.write(&whole)?;
    let answer: Value = serde_json::from_slice(&whole).unwrap_or_default();
    let exit = match status.as_u16() {
        404 => Exit::NotFound,
        409 => Exit::Conflict,
        401 | 403 | 421 | 500.. => Exit::Away,
        _ => Exit::Invalid,
    };
    let message = answer["message"].as_str().unwrap_or_default();
    Err(Failure { exit, message: format!("\n{method} {} was answered {status}: {message}", args.path) })
}
