//! `forge github`: logging in at GitHub, and whether that still holds.

use std::thread;
use std::time::{Duration, Instant};

use clap::Subcommand;
use serde_json::json;

use crate::autostart;
use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::progress::Progress;
use crate::table::text;

/// Log in at GitHub, for pull requests
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge github login\n  forge github status")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Log in with a code that you type at GitHub
    Login,
    /// Say whether the stored token is good; the exit code is 4 when not
    Status,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    match &args.act {
        Some(Act::Login) => login(&client, output),
        None | Some(Act::Status) => {
            let word = client.get("/api/auth/github/check")?;
            let good = word == "VALID";
            match (output.json, good) {
                (true, _) => output.value(&word)?,
                (false, true) => output.line("the token is good")?,
                (false, false) => output.line("there is no good token; log in with `forge github login`")?,
            }
            Ok(if good { Exit::Ok } else { Exit::Conflict })
        }
    }
}

fn login(client: &Client, output: &Output) -> Result<Exit> {
    let begun = client.post("/api/auth/github/device/start", None)?;
    let (code, page) = (printable(text(&begun, "user_code")), printable(text(&begun, "verification_uri")));
    match output.json {
        true => output.value(&begun)?,
        false => output.line(format_args!("open {page} and type {code}"))?,
    }
    let _waiting = Progress::new("waiting for you at GitHub");
    let seconds = |key: &str, usual: u64| Duration::from_secs(begun[key].as_u64().unwrap_or(usual));
    let (mut pause, deadline) = (seconds("interval", 5), Instant::now() + seconds("expires_in", 900));
    while Instant::now() < deadline {
        // GitHub says how often it may be asked; there is nothing to listen to.
        thread::sleep(pause);
        let status = client.post("/api/auth/github/device/poll", None)?;
        match status.as_str() {
            Some("SUCCESS") => {
                match output.json {
                    true => output.value(&json!("SUCCESS"))?,
                    false => output.line("logged in")?,
                }
                return Ok(Exit::Ok);
            }
            Some("SLOW_DOWN") => pause += Duration::from_secs(5),
            _ => {}
        }
    }
    Err(Failure::conflict("the code expired; begin anew with `forge github login`"))
}
