//! What the card of an attempt shows, on the wire: keys of the attempt itself, all of them additions to the contract.

use forge_engine::Card;
use forge_model::{AttemptId, PullRequestStatus, RunId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::landing::PullRequestChecks;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttemptCard {
    /// When it came into the state it is in, into a conflict, or to seem stuck.
    state_since: Time,
    /// What its agent does now, in a few words; null when none runs or nobody knows.
    activity: Option<String>,
    /// The first line of the setup script that runs; null when none does.
    preparing: Option<String>,
    /// How much of its agent's newest to-do list is done; null when there was none.
    todos_done: Option<i64>,
    todos_total: Option<i64>,
    /// What differs from where its branch left the target, as it was last computed; null until then.
    files_changed: Option<i64>,
    lines_added: Option<i64>,
    lines_deleted: Option<i64>,
    /// The newest one.
    pull_request: Option<CardPullRequest>,
    /// When a person last looked at it.
    seen_at: Option<Time>,
    /// When a person put it aside.
    dismissed_at: Option<Time>,
    /// Until when a person put it aside.
    later_until: Option<Time>,
    /// Review comments that were not sent yet.
    comments: i64,
    /// Its dev server that runs.
    dev_server: Option<CardDevServer>,
    /// The newest run but dev servers.
    last_run_id: Option<RunId>,
    /// How often its agent was told something.
    turns: i64,
}

/// A pull request as a card shows it.
#[derive(Debug, Serialize, JsonSchema)]
struct CardPullRequest {
    number: i64,
    url: String,
    status: PullRequestStatus,
    /// Null until the host was asked.
    checks: Option<PullRequestChecks>,
}

/// A dev server as a card shows it.
#[derive(Debug, Serialize, JsonSchema)]
struct CardDevServer {
    run_id: RunId,
    port: u16,
    url: String,
}

impl AttemptCard {
    pub(super) fn new(id: AttemptId, card: Card) -> Self {
        // A host of its own for each attempt: what one preview keeps in the browser, another never sees.
        let host: String = id.to_string().chars().take(8).collect();
        Self {
            state_since: card.state_since,
            activity: card.activity,
            preparing: card.preparing,
            todos_done: card.todos.map(|todos| todos.done),
            todos_total: card.todos.map(|todos| todos.total),
            files_changed: card.changes.map(|sum| sum.files),
            lines_added: card.changes.map(|sum| sum.added),
            lines_deleted: card.changes.map(|sum| sum.deleted),
            pull_request: card.pull_request.map(|request| CardPullRequest {
                number: request.number,
                url: request.url,
                status: request.status,
                checks: request.checks.map(Into::into),
            }),
            seen_at: card.seen_at,
            dismissed_at: card.dismissed_at,
            later_until: card.later_until,
            comments: card.comments,
            dev_server: card.dev_server.map(|(run_id, port)| CardDevServer {
                run_id,
                port,
                url: format!("http://{host}.localhost:{port}/"),
            }),
            last_run_id: card.last_run,
            turns: card.turns,
        }
    }
}
