//! What changes too often to be told each time: what agents do, and what their diffs come to. It is gathered here and
//! told once a second, so that a hundred agents at work cost one commit a second.
//!
//! What is told again about an attempt takes the place of what was told before, so that the list of events does not
//! grow with the hours that agents work: whoever reads on from before either of them misses nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forge_model::{AttemptId, Noun, Op};
use tokio::sync::Notify;

use crate::store::{Error as StoreError, Tx, cards, events};
use crate::{AttemptView, ChangeSum, Engine};

/// How long is waited after something was told.
const REST: Duration = Duration::from_secs(1);

/// What may keep going wrong here, as the log calls it.
const TELLING: &str = "the news of what attempts show";

/// Of how many attempts it is remembered where they were told of last. Beyond it an event too many is kept.
const REMEMBERED: usize = 1000;

/// What is to be told at the next beat.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    news: Mutex<BTreeMap<AttemptId, News>>,
    bell: Notify,
}

/// What there is to tell about an attempt.
#[derive(Debug, Default, Clone, Copy)]
struct News {
    /// Its agent does something else.
    acts: bool,
    /// Its diff may come to something else.
    sum: Option<ChangeSum>,
}

impl Pulse {
    fn news(&self) -> MutexGuard<'_, BTreeMap<AttemptId, News>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// The agent of an attempt does something else than before.
    pub(crate) fn acts(&self, attempt: AttemptId) {
        self.inner.pulse.news().entry(attempt).or_default().acts = true;
        self.inner.pulse.bell.notify_one();
    }

    /// The diff of an attempt was computed, and this is what it comes to.
    pub(crate) fn differs(&self, attempt: AttemptId, sum: ChangeSum) {
        self.inner.pulse.news().entry(attempt).or_default().sum = Some(sum);
        self.inner.pulse.bell.notify_one();
    }

    /// Lays over the view of an attempt what its agent does now.
    pub(crate) fn lay_activity(&self, view: &mut AttemptView) {
        if view.attempt.state.is_live() {
            view.card.activity = self.activity(view.attempt.id);
        }
    }

    /// Tells what attempts show, once a second at most, for as long as the engine is there.
    pub(crate) fn keep_telling(&self) {
        let (pulse, inner) = (self.inner.pulse.clone(), Arc::downgrade(&self.inner));
        self.aside(async move {
            // Where the last that was told about an attempt stands among the events.
            let mut told = HashMap::new();
            loop {
                pulse.bell.notified().await;
                let Some(inner) = inner.upgrade() else { return };
                let news = std::mem::take(&mut *pulse.news());
                let known = told.clone();
                match inner.store.write(move |tx| beat(tx, news, known)).await {
                    Ok(places) => {
                        inner.troubles.is_over(TELLING);
                        told = places;
                    }
                    // What was to be written is written with the next diff, and others say what is wrong.
                    Err(error) => {
                        inner.troubles.meet(TELLING, &format!("could not tell what attempts show: {error}"));
                    }
                }
                drop(inner);
                tokio::time::sleep(REST).await;
            }
        });
    }
}

/// Writes down and tells what is news; returns where each of it stands among the events.
fn beat(
    tx: &mut Tx<'_>,
    news: BTreeMap<AttemptId, News>,
    told: HashMap<AttemptId, i64>,
) -> Result<HashMap<AttemptId, i64>, StoreError> {
    let mut next = events::newest(tx.conn())?;
    let mut places = HashMap::new();
    for (attempt, News { acts, sum }) in news {
        let Some(project) = cards::project(tx.conn(), attempt)? else { continue };
        let differs = match sum {
            Some(sum) => cards::set_changes(tx.conn(), attempt, sum)?,
            None => false,
        };
        if !acts && !differs {
            continue;
        }
        if let Some(place) = told.get(&attempt) {
            events::forget_one(tx.conn(), *place)?;
        }
        tx.changed(Noun::Attempt, attempt, Op::Change, Some(project), Some(attempt));
        next += 1;
        places.insert(attempt, next);
    }
    if told.len() < REMEMBERED {
        for (attempt, place) in told {
            places.entry(attempt).or_insert(place);
        }
    }
    Ok(places)
}
