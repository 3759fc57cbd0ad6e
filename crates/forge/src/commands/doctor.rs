//! `forge doctor`: what keeps Forge from working here, and what to do about it. It changes nothing, starts no server, and
//! works without one.

use serde::Serialize;
use serde_json::json;

use crate::cli::Globals;
use crate::exit::{Exit, Result};
use crate::output::{Output, Tone, printable};

mod here;
mod served;

/// Check git, the agents, logins, the disk, the port and the data, each with its remedy
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The exit code is 1 when there is a problem. A remark is none.\n\nExample:\n  forge doctor"
)]
pub(crate) struct Args {}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    name: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// Worth knowing; nothing is wrong.
    Remark,
    Problem,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Ok, found: found.into(), remedy: None }
    }

    fn remark(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Remark, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn problem(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Problem, found: found.into(), remedy: Some(remedy.into()) }
    }
}

pub(crate) fn run(globals: &Globals, output: &Output, _: &Args) -> Result<Exit> {
    let mut checks = here::checks(globals);
    let (server, client) = served::server(globals);
    checks.push(server);
    match client {
        Some(client) => checks.extend(served::checks(&client)),
        None => checks.extend(here::without_server(globals)),
    }
    let problems = checks.iter().filter(|check| check.state == State::Problem).count();
    if output.json {
        output.value(&json!({"problems": problems, "checks": checks}))?;
        return Ok(if problems == 0 { Exit::Ok } else { Exit::AttemptFailed });
    }
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    for check in &checks {
        let (word, tone) = match check.state {
            State::Ok => ("ok", Tone::Plain),
            State::Remark => ("remark", Tone::Bold),
            State::Problem => ("problem", Tone::Red),
        };
        let word = output.tone(tone, &format!("{word:<7}"));
        output.line(format_args!("{word}  {:<width$}  {}", check.name, printable(&check.found)))?;
        if let Some(remedy) = &check.remedy {
            output
                .line(output.tone(Tone::Dim, &format!("         {:<width$}  {}", "", printable(remedy))))?;
        }
    }
    output.remark(match problems {
        0 => "nothing is wrong".to_string(),
        1 => "there is a problem".to_string(),
        count => format!("there are {count} problems"),
    });
    Ok(if problems == 0 { Exit::Ok } else { Exit::AttemptFailed })
}
