//! Reading what an attempt has said and changed, and waiting for it, as tools.

use std::time::Duration;

use forge_engine::{AttemptView, DiffWanted};
use forge_model::{AttemptId, AttemptState};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::super::call::Call;
use super::super::names::{AFTER, AROUND, ATTEMPT_ID, BEFORE, FIND, LIMIT, OR_ASK, TIMEOUT};
use super::super::reach::Reach;
use super::super::tool::{Tool, may, need, reads};
use super::super::transcript;
use crate::decode::names::{PATHS, STATS_ONLY};
use crate::error::Problem;
use crate::streams::ChangesTail;
use crate::wire::{TaskAttempt, TaskAttemptDiff, TaskAttemptEntries, searched_before, window_at};

/// How many entries a window has unless somebody says, and how many at most.
const SOME: i64 = 50;
const MOST: i64 = 1000;

/// How long somebody waits who does not say, which clients do not lose their patience with, and how long at most.
const PATIENCE: i64 = 50;
const LONGEST: i64 = 600;

/// How often a caller that waits hears that it still does.
const STILL_THERE: Duration = Duration::from_secs(10);

pub(super) fn tools() -> Vec<Tool> {
    vec![
        reads(
            "read_transcript",
            "Read transcript",
            "Returns what an attempt's agent said and did: the last entries, or those before, after or around a place that \
             an earlier answer named. `find` gives where a text is found instead.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            may(LIMIT, "How many entries at most, from 1 to 1000; 50 unless said."),
            may(BEFORE, "Entries before this place."),
            may(AFTER, "Entries after this place."),
            may(AROUND, "Entries around this place."),
            may(FIND, "Looks for this text, newest first."),
        ])
        .does(transcript),
        reads(
            "wait_for_attempt",
            "Wait for attempt",
            "Waits until an attempt comes to rest or its agent asks something, and returns where it stands and what its \
             agent said last. `timed_out` says that it still works: wait again.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            may(TIMEOUT, "How many seconds to wait at most, up to 600; 50 unless said."),
            may(OR_ASK, "False goes on waiting when the agent asks something."),
        ])
        .reached(Reach::Attempt)
        .does(wait),
        reads(
            "read_diff",
            "Read diff",
            "Returns what an attempt has changed since it left its target branch: files with their contents before and \
             after, or with counts only.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            may(STATS_ONLY, "Only counts of lines, no contents."),
            may(PATHS, "Only these files."),
        ])
        .does(diff),
    ]
}

/// Where an attempt stands that somebody waited for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waited {
    attempt_id: AttemptId,
    state: AttemptState,
    /// It finished, failed or was stopped.
    is_at_rest: bool,
    /// It still works, and the caller's time is over.
    timed_out: bool,
    open_asks: i64,
    /// What its agent said last.
    last_message: Option<String>,
    attempt: TaskAttempt,
}

impl Waited {
    pub(super) fn state(&self) -> AttemptState {
        self.state
    }

    pub(super) fn last_message(&self) -> Option<&str> {
        self.last_message.as_deref()
    }
}

async fn transcript(call: Call) -> Result<TaskAttemptEntries, Problem> {
    let (id, fields) = (call.attempt()?, &call.fields);
    let limit = fields.number(LIMIT)?.unwrap_or(SOME);
    if !(1..=MOST).contains(&limit) {
        return Err(fields.refuse(LIMIT, &format!("must be from 1 to {MOST}")));
    }
    let limit = usize::try_from(limit).unwrap_or_default();
    let place = |name| -> Result<Option<forge_engine::EntryPlace>, Problem> {
        let Some(text) = fields.filled_text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|why: &str| fields.refuse(name, &format!("cannot be {text:?}: {why}")))
    };
    let at = window_at(place(BEFORE)?, place(AFTER)?, place(AROUND)?).map_err(Problem::invalid)?;
    let Some(text) = fields.filled_text(FIND)? else {
        return Ok(call.app.engine.attempt_entries(id, at, limit).await?.into());
    };
    let before = searched_before(at).map_err(Problem::invalid)?;
    Ok(call.app.engine.find_entries(id, &text, before, limit).await?.into())
}

async fn wait(call: Call) -> Result<Waited, Problem> {
    let seconds = call.fields.number(TIMEOUT)?.unwrap_or(PATIENCE);
    if !(0..=LONGEST).contains(&seconds) {
        return Err(call.fields.refuse(TIMEOUT, &format!("must be from 0 to {LONGEST}")));
    }
    let or_ask = call.fields.flag(OR_ASK)?.unwrap_or(true);
    let patience = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    until_rest(&call, call.attempt()?, patience, or_ask).await
}

async fn diff(call: Call) -> Result<TaskAttemptDiff, Problem> {
    let wanted = DiffWanted {
        stats_only: call.fields.flag(STATS_ONLY)?.unwrap_or(false),
        paths: call.fields.texts(PATHS)?.unwrap_or_default(),
        turn: None,
    };
    Ok(call.app.engine.diff(call.attempt()?, wanted).await?.into())
}

/// Waits for an attempt, and tells a caller who wants to know what it does meanwhile.
pub(super) async fn until_rest(
    call: &Call,
    id: AttemptId,
    patience: Duration,
    or_ask: bool,
) -> Result<Waited, Problem> {
    let engine = &call.app.engine;
    let deadline = Instant::now() + patience;
    let mut closing = call.app.closing.guard();
    let mut steps = 0;
    loop {
        // The tail begins before the look, so that nothing falls in between.
        let mut tail = ChangesTail::now(engine.clone());
        let view = engine.attempt(id).await?;
        let is_done = is_at_rest(&view) || (or_ask && view.open_asks > 0);
        if is_done || Instant::now() >= deadline {
            return waited(call, view, !is_done).await;
        }
        steps += 1;
        call.progress.tell(steps, doing(&view)).await;
        let pause = deadline.min(Instant::now() + STILL_THERE);
        tokio::select! {
            () = closing.closed() => return waited(call, view, true).await,
            // Either something changed, or it is time to say that nothing did.
            _ = timeout_at(pause, changed(&mut tail, id)) => {}
        }
    }
}

/// Waits for a change of an attempt.
async fn changed(tail: &mut ChangesTail, id: AttemptId) {
    use forge_engine::Change;
    while let Some(changes) = tail.next().await {
        let is_it = |change: &Change| matches!(change, Change::Attempt { id: changed, .. } if *changed == id);
        if changes.resync || changes.items.iter().any(|item| is_it(&item.change)) {
            return;
        }
    }
}

async fn waited(call: &Call, view: AttemptView, timed_out: bool) -> Result<Waited, Problem> {
    let id = view.attempt.id;
    let last_message = transcript::last_message(&call.app.engine, id).await?;
    Ok(Waited {
        attempt_id: id,
        state: view.state(),
        is_at_rest: is_at_rest(&view),
        timed_out,
        open_asks: view.open_asks,
        last_message,
        attempt: view.into(),
    })
}

fn is_at_rest(view: &AttemptView) -> bool {
    !view.attempt.state.is_live() && view.attempt.state != AttemptState::Queued
}

fn doing(view: &AttemptView) -> String {
    match &view.card.activity {
        Some(activity) => format!("{}: {activity}", view.state()),
        None => view.state().to_string(),
    }
}
