//! Checks that the server answers: whether it is there, its agents, logins and room.

use serde_json::Value;

use super::Check;
use super::here;
use crate::cli::Globals;
use crate::client::{Client, Target};
use crate::commands::gc::in_words;
use crate::exit::Failure;
use crate::table::{items, text};
use crate::{address, autostart, home};

/// Looks for the server without starting one.
pub(super) fn server(globals: &Globals) -> (Check, Option<Client>) {
    let away = |found: String, remedy: &str| (Check::problem("server", found, remedy), None);
    let home = match home::locate(globals.data.as_deref()) {
        Ok(home) => home,
        Err(failure) => return away(failure.message, "name a directory with --data"),
    };
    let client = match address::to_call(globals) {
        Err(failure) => return away(failure.message, "correct the address"),
        Ok(Some(url)) => Client::new(Target::Url(url.clone()), home, url),
        Ok(None) => match autostart::running(&home) {
            Some(client) => client,
            None if here::died(&home) => {
                let found = "the last server ended without a word; agents run on without it";
                return (
                    Check::remark("server", found, "`forge status` starts another, which finds them again"),
                    None,
                );
            }
            None => return (Check::ok("server", "none runs; the first command starts one"), None),
        },
    };
    match client.health() {
        Err(trouble) => away(
            Failure::from(trouble).message,
            "`forge serve --stop` ends a server that hangs, `forge serve` starts one",
        ),
        Ok(health) => {
            let version = text(&health, "version");
            let found = format!("{version} on {}", client.url());
            match version == env!("CARGO_PKG_VERSION") {
                true => (Check::ok("server", found), Some(client)),
                false => {
                    let remedy = "`forge serve --stop`, then any command; agents run on meanwhile";
                    let found = format!("{found}, and this is {}", env!("CARGO_PKG_VERSION"));
                    (Check::remark("server", found, remedy), Some(client))
                }
            }
        }
    }
}

/// What the server can tell.
pub(super) fn checks(client: &Client) -> Vec<Check> {
    let mut checks = Vec::new();
    match client.get("/api/info") {
        Ok(info) => {
            checks.extend(agents(&info));
            checks.extend(warnings(&info));
        }
        Err(trouble) => {
            let message = Failure::from(trouble).message;
            checks.push(Check::problem("access", message, "give the token with FORGE_TOKEN"));
            return checks;
        }
    }
    checks.push(match client.get("/api/auth/github/check") {
        Ok(word) if word == "VALID" => Check::ok("github", "logged in"),
        Ok(_) => Check::remark("github", "not logged in", "`forge github login`, for pull requests"),
        Err(trouble) => {
            Check::remark("github", Failure::from(trouble).message, "`forge github login`, for pull requests")
        }
    });
    if let Ok(disk) = client.get("/api/disk") {
        checks.extend(room(&disk));
    }
    checks
}

fn agents(info: &Value) -> Vec<Check> {
    let agents = items(&info["agents"]);
    let is_ready = |agent: &&Value| agent["installed"] == true && agent["remedy"].is_null();
    let ready: Vec<&str> = agents.iter().filter(is_ready).map(|agent| text(agent, "executor")).collect();
    let mut checks = vec![here::agents_ready(&ready)];
    for agent in agents.iter().filter(|agent| agent["installed"] == true && agent["logged_in"] == false) {
        let found = format!("{} is not logged in to", text(agent, "title"));
        checks.push(Check::remark("login", found, text(agent, "remedy")));
    }
    checks
}

/// What the server warns of: its database, its disk, whose data it serves. A server of an older version warns of nothing.
fn warnings(info: &Value) -> Vec<Check> {
    let sentences: Vec<&str> = items(&info["warnings"]).iter().filter_map(Value::as_str).collect();
    if sentences.is_empty() {
        return vec![Check::ok("warnings", "the server found nothing wrong with its database and its disk")];
    }
    let one =
        |sentence: &&str| Check::problem("warnings", *sentence, "the board shows it until it is settled");
    sentences.iter().map(one).collect()
}

fn room(disk: &Value) -> Option<Check> {
    let (free, floor) = (disk["worktrees_free_bytes"].as_u64()?, disk["floor_bytes"].as_u64()?);
    let found =
        format!("{} are free for worktrees; below {} nothing is started", in_words(free), in_words(floor));
    Some(match free < floor {
        true => Check::problem("room", found, "`forge disk` says what takes it, `forge gc` gives some back"),
        false => Check::ok("room", found),
    })
}
