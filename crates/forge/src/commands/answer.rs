//! `forge answer`: answers what an agent asks.

use serde_json::json;

use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::wire::{Ask, short_id};
use crate::{autostart, follow, ids};

/// Answer what an agent asks
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge answer 6a0c2f1e \"Use the blue one\"")]
pub(crate) struct Args {
    /// Refuse; the text is the reason the agent is told
    #[arg(long)]
    deny: bool,
    /// The attempt whose agent asks, or the ask
    id: String,
    /// The answer; a permission needs none
    text: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    answer(
        globals,
        output,
        &Answer { id: &args.id, deny: args.deny, text: args.text.as_deref(), for_session: false },
    )
}

/// What is answered to which ask.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: &'a str,
    pub(crate) deny: bool,
    pub(crate) text: Option<&'a str>,
    /// The same thing is not asked again while the agent's process lives.
    pub(crate) for_session: bool,
}

/// Answers an ask.
pub(crate) fn answer(globals: &Globals, output: &Output, given: &Answer<'_>) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let ask = find(&client, given.id)?;
    let text = given.text.map(str::trim).filter(|text| !text.is_empty());
    if text.is_none() && !given.deny && !ask.is_permission() {
        return Err(Failure::invalid(format!(
            "the agent asks {:?}; give the answer as text",
            ask.question()
        )));
    }
    let path = format!("/api/approvals/{}/respond", ask.approval_id);
    let mut body = follow::answer_body(&ask, given.deny, text);
    if given.for_session {
        body["scope"] = json!("session");
    }
    let answer = client.post(&path, Some(&body))?;
    match output.json {
        true => output.value(&answer)?,
        false => output.line(format_args!("told the agent of {}", short_id(&ask.task_attempt_id)))?,
    }
    Ok(Exit::Ok)
}

/// Finds the open ask that is meant: the one of an attempt, else the one with that id.
fn find(client: &Client, typed: &str) -> Result<Ask> {
    let digits = ids::digits(typed)?;
    let open = follow::open_asks(client)?;
    let attempts = ids::attempts(client)?;
    if let Some(attempt) = ids::pick(&attempts, &digits, typed)? {
        let of_attempt: Vec<Ask> = open.into_iter().filter(|ask| ask.task_attempt_id == attempt.id).collect();
        let nothing = || format!("attempt {} ({}) asks nothing right now", attempt.short(), attempt.state);
        return only(of_attempt, typed, || Failure::conflict(nothing()));
    }
    let by_id: Vec<Ask> = open.into_iter().filter(|ask| ids::fits(&ask.approval_id, &digits)).collect();
    if let (true, Some(id)) = (by_id.is_empty(), ids::whole(typed)) {
        // A whole id may be that of an ask which was answered already: the server knows.
        let status = client.get(&format!("/api/approvals/{id}/status"))?;
        let status = status["status"].as_str().unwrap_or("closed");
        return Err(Failure::conflict(format!("ask {id} is {status} already")));
    }
    only(by_id, typed, || Failure::not_found(format!("there is no attempt and no open ask {typed}")))
}

fn only(mut asks: Vec<Ask>, typed: &str, none: impl FnOnce() -> Failure) -> Result<Ask> {
    match asks.len() {
        0 => Err(none()),
        1 => Ok(asks.remove(0)),
        count => {
            let mut message = format!("{typed} fits {count} open asks; name the one you answer:");
            for ask in asks {
                message.push_str(&format!("\n  {}  {}", ask.short(), ask.line()));
            }
            Err(Failure::invalid(message))
        }
    }
}
