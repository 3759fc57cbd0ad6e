//! `forge events`: everything that changes, a line of JSON each, from a position on.

use std::io::BufRead;
use std::time::Duration;

use serde_json::{Value, json};

use crate::autostart;
use crate::cli::Globals;
use crate::client::{Client, Trouble};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::sse::{Event, Events};

/// How long to wait before another try; short, because a restart takes a fraction of a second.
const PAUSE: Duration = Duration::from_millis(100);

/// Follow everything that changes, one line of JSON for each event
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A line has `position`, `event` and `data`, a list of JSON Patch operations. To go on where you were, give the \
                  last position with --after. `resync` says that the position is too old: read anew what you show.\n\n\
                  Example:\n  forge events --after 4711"
)]
pub(crate) struct Args {
    /// Begin after this position instead of now
    #[arg(long, value_name = "POSITION")]
    after: Option<u64>,
    /// End after this many events
    #[arg(long, value_name = "COUNT")]
    count: Option<u64>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let mut client = autostart::connect(globals, output)?;
    let mut position = args.after;
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut told_away = false;
    loop {
        match client.events_after(position) {
            Ok(stream) => {
                if std::mem::take(&mut told_away) {
                    output.remark("server is back");
                }
                if read(stream, output, &mut position, &mut left)? {
                    return Ok(Exit::Ok);
                }
            }
            Err(Trouble::Refused(failure)) => return Err(failure),
            Err(Trouble::Away(_)) if !told_away => {
                told_away = true;
                output.remark("server is away, waiting… (`forge serve` starts it)");
            }
            Err(Trouble::Away(_)) => {}
        }
        std::thread::sleep(PAUSE);
        client.relocate();
        if position.is_none() {
            // Without a position, what happened in between would be missed: begin where the server is now.
            position = now(&client);
        }
    }
}

fn now(client: &Client) -> Option<u64> {
    client.get("/api/board").ok()?["position"].as_u64()
}

/// Prints events until the connection ends; true when there were enough.
fn read(stream: impl BufRead, output: &Output, position: &mut Option<u64>, left: &mut u64) -> Result<bool> {
    for event in Events::new(stream) {
        let Event { id, name, data } = event;
        *position = id.or(*position);
        let data: Value = serde_json::from_str(&data)
            .map_err(|error| Failure::away(format!("the server's event is not understood: {error}")))?;
        output.value(&json!({"position": position, "event": name, "data": data}))?;
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
