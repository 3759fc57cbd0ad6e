//! Limits of agents' providers: an attempt that hit one says until when, and goes on by itself then if it is meant to.
//!
//! What is waited for is a row, so it survives the server; the time is compared with the clock again and again, so a
//! clock that jumps is noticed. Going on is a follow-up in the attempt's queue that is put there once.

use std::sync::Arc;
use std::time::Duration;

use forge_model::state::AttemptHappened;
use forge_model::{AttemptId, Noun, Op, RunId, Time};
use serde_json::Value;
use tokio::sync::Notify;

use crate::background::{blocking, detached};
use crate::fold::Limit;
use crate::store::limited::{self, Hit};
use crate::store::queue::{self, Waiting};
use crate::store::{Error as StoreError, Tx, attempts};
use crate::{Engine, Result, chain, moves};

/// What an agent is told when its limit is over.
pub(crate) const GO_ON: &str = "continue";

/// How long the clock is trusted while something waits for a time of it.
const LOOK_AGAIN: Duration = Duration::from_secs(20);

/// What may keep going wrong here, as the log calls it.
const LOOK: &str = "the look at limits that may be over";

/// Wakes the task that looks after limits.
#[derive(Debug, Default)]
pub(crate) struct Bell(Notify);

impl Bell {
    /// Has the limits looked at again.
    pub(crate) fn ring(&self) {
        self.0.notify_one();
    }
}

/// Notes in a transaction what a running agent told about a limit.
pub(crate) fn heard(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    run: RunId,
    limit: Option<Limit>,
) -> std::result::Result<(), StoreError> {
    match limit {
        Some(limit) => {
            limited::put(tx.conn(), attempt, run, limit.until, tx.now())?;
            moves::attempt(tx, attempt, AttemptHappened::LimitHit, Some(sentence(limit.until)))?;
        }
        None => {
            limited::delete(tx.conn(), attempt)?;
            moves::attempt(tx, attempt, AttemptHappened::LimitOver, None)?;
        }
    }
    Ok(())
}

/// Notes in a transaction that a run has ended, by a limit or not.
pub(crate) fn ended(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    run: RunId,
    limit: Option<Limit>,
) -> std::result::Result<(), StoreError> {
    match limit {
        Some(limit) => limited::put(tx.conn(), attempt, run, limit.until, tx.now()),
        None => limited::delete(tx.conn(), attempt).map(drop),
    }
}

/// Says what is the matter.
pub(crate) fn sentence(until: Option<Time>) -> String {
    match until {
        Some(until) => format!("a usage limit of the agent's provider is reached until {until}"),
        None => "a usage limit of the agent's provider is reached".to_string(),
    }
}

impl Engine {
    /// Lets attempts go on when their limits are over, for as long as the engine is there.
    pub(crate) fn keep_resuming(&self) {
        let (inner, bell) = (Arc::downgrade(&self.inner), self.inner.limited.clone());
        self.aside(async move {
            let mut first = true;
            loop {
                let Some(inner) = inner.upgrade() else { return };
                let engine = Engine { inner };
                let next = match engine.resume_due(first).await {
                    Ok(next) => {
                        engine.inner.troubles.is_over(LOOK);
                        next
                    }
                    Err(error) => {
                        let trouble = format!("limits that may be over could not be looked at: {error}");
                        engine.inner.troubles.meet(LOOK, &trouble);
                        Some(LOOK_AGAIN)
                    }
                };
                first = false;
                drop(engine);
                match next {
                    // Whoever gets a limit rings.
                    None => bell.0.notified().await,
                    // The bell or the time, whichever comes first.
                    Some(wait) => drop(tokio::time::timeout(wait, bell.0.notified()).await),
                }
            }
        });
    }

    /// Has those go on whose limit is over; says when to look again, if anything waits.
    async fn resume_due(&self, first: bool) -> Result<Option<Duration>> {
        let waiting = self.inner.store.read(limited::all).await?;
        if waiting.is_empty() {
            return Ok(None);
        }
        let (now, general) = (crate::store::now(), self.resumes_when_limited().await);
        let mut soonest = None;
        for hit in waiting {
            let Some(until) = hit.until else { continue };
            if hit.resumed && !first {
                continue;
            }
            if until > now {
                let wait = u64::try_from(until.millis() - now.millis()).unwrap_or(0);
                let wait = Duration::from_millis(wait).min(LOOK_AGAIN);
                soonest = Some(soonest.map_or(wait, |soonest: Duration| soonest.min(wait)));
                continue;
            }
            let queued = self.inner.store.write(move |tx| queue_going_on(tx, hit, general)).await?;
            if queued {
                self.inner.seam.pass("limit.queued", "").await;
                tracing::info!(attempt.id = %hit.attempt, "the limit of attempt {} is over; it goes on", hit.attempt);
                let engine = self.clone();
                // A start that is under way is not broken off.
                detached(async move {
                    engine.start_next(hit.attempt).await;
                    Ok(())
                })
                .await?;
            }
        }
        // One that is not meant to go on may be told to at any time, by the settings.
        Ok(Some(soonest.unwrap_or(LOOK_AGAIN)))
    }

    /// Says whether attempts go on by themselves when a limit is over, unless they are told otherwise.
    async fn resumes_when_limited(&self) -> bool {
        let engine = self.clone();
        // Settings that make no sense start nothing.
        let config = blocking(move || engine.stored_config()).await.ok().and_then(Result::ok);
        let agents = config.as_ref().and_then(|config| config.get("agents"));
        agents.and_then(|agents| agents.get("resume_when_limited")).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Puts going on into the queue of an attempt at rest, once; says whether it is there and can be sent.
fn queue_going_on(tx: &mut Tx<'_>, hit: Hit, general: bool) -> std::result::Result<bool, StoreError> {
    let id = hit.attempt;
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(false) };
    let at_rest = !view.attempt.state.is_live()
        && chain::work_run(tx.conn(), id)?.is_none()
        && !chain::is_starting(tx.conn(), id)?;
    if !at_rest || !view.attempt.manner.resume_when_limited.unwrap_or(general) {
        return Ok(false);
    }
    let item = format!("limit-{}", hit.run);
    if hit.resumed {
        // A server that died in between has put it there and not sent it.
        return Ok(queue::next(tx.conn(), id)?.is_some_and(|next| next.id == item));
    }
    if !limited::resumed(tx.conn(), id, tx.now())? {
        return Ok(false);
    }
    let waiting = Waiting { id: item, prompt: GO_ON.to_string(), variant: None, images: None };
    queue::add_first(tx.conn(), id, &waiting, tx.now())?;
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    Ok(true)
}
