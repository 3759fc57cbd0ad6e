//! What agents said and did, entry by entry.

use axum::extract::State;
use axum::response::Response;
use forge_engine::EntriesFrom;
use forge_model::{AttemptId, RunId};

use crate::api::{Api, may, op};
use crate::decode::{Id, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::{self, EntriesMessage, Upgrade};
use crate::wire::{self, TaskAttemptEntries};

/// How many entries a window has unless somebody says, and how many at most.
const SOME: usize = 200;
const MOST: usize = 1000;

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/execution-processes/{run_id}/normalized-logs/ws",
            follow,
            op(
                "followNormalizedLogs",
                "Follows what an agent said and did: all entries of a run, or those from an index on, or its last \
                 ones; then what is added and what changes.",
            )
            .query(may(names::FROM))
            .query(may(names::LAST))
            .query(may(names::FOLLOW))
            .becomes_socket::<EntriesMessage>(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/entries",
            window,
            op(
                "listTaskAttemptEntries",
                "Returns the last entries of an attempt, or those before, after or around a place: across all of its \
                 agent's runs, newest last. `find` gives where a text is found instead, newest first.",
            )
            .query(may(names::BEFORE))
            .query(may(names::AFTER_PLACE))
            .query(may(names::AROUND))
            .query(may(names::FIND))
            .query(may(names::LIMIT))
            .gives::<TaskAttemptEntries>(),
        )
}

/// Follows the entries of a run; `?follow=false` gives only what is there.
async fn follow(
    State(app): State<App>,
    Id(id): Id<RunId>,
    query: Query,
    upgrade: Upgrade,
) -> Result<Response, Problem> {
    let from = match (query.optional("from")?, query.optional("last")?) {
        (Some(_), Some(_)) => {
            return Err(Problem::bad_request("the query has either `from` or `last`, not both".to_string()));
        }
        (_, Some(last)) => EntriesFrom::Last(last),
        (from, None) => EntriesFrom::Index(from.unwrap_or(0)),
    };
    let tail = match query.optional("follow")?.unwrap_or(true) {
        true => app.engine.entries(id, from).await?,
        false => app.engine.entries_so_far(id, from).await?,
    };
    upgrade.serve(&app, move |socket| streams::entries(socket, tail))
}

/// Returns a window on the conversation of an attempt.
async fn window(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<TaskAttemptEntries> {
    let limit = query.optional("limit")?.unwrap_or(SOME);
    if limit == 0 || limit > MOST {
        return Err(Problem::bad_request(format!("the query parameter `limit` must be from 1 to {MOST}")));
    }
    let (before, after, around) =
        (query.optional("before")?, query.optional("after")?, query.optional("around")?);
    let at = wire::window_at(before, after, around).map_err(Problem::bad_request)?;
    let Some(text) = query.text(names::FIND)? else {
        return Ok(Envelope(app.engine.attempt_entries(id, at, limit).await?.into()));
    };
    let before = wire::searched_before(at).map_err(Problem::bad_request)?;
    Ok(Envelope(app.engine.find_entries(id, &text, before, limit).await?.into()))
}
