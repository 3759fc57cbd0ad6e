//! Work that could not be kept because the machine was short of room, memory or descriptors: it is kept when that is
//! over.
//!
//! What is owed is written down with the end of the run, so it survives the server. It is tried again while the attempt
//! rests, and before anything else happens to its files. The next run that is kept settles it too.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forge_model::{AttemptId, Noun, Op, RunId};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::keep::Work;
use crate::store::acts::{self, Act};
use crate::store::{Conn, Error as StoreError, Tx, attempts, runs, settings, snapshots};
use crate::{Engine, Error, ErrorKind, Result};

/// How the act is called in the store.
pub(crate) const KEEP: &str = "keep";

/// Where it is written down.
const SCOPE: &str = "unkept";

/// Descriptors come back at once, room does not.
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);

/// Work of a run that is still to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unkept {
    pub(crate) run: RunId,
    /// What the commit says; none for a run that did not end well, which is not committed.
    pub(crate) message: Option<String>,
    /// What the reason of the run and of the attempt say of it.
    pub(crate) trouble: String,
}

type All = BTreeMap<String, Unkept>;

/// Tells whether anything is owed, and wakes the task that pays.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    any: AtomicBool,
    bell: Notify,
}

fn all(conn: &Conn) -> std::result::Result<All, StoreError> {
    let body = settings::one(conn, SCOPE)?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default())
}

/// Writes down in a transaction what is owed to an attempt now, in place of what was.
pub(crate) fn note(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    unkept: Option<&Unkept>,
) -> std::result::Result<(), StoreError> {
    let mut all = all(tx.conn())?;
    let before = all.remove(&attempt.to_string());
    if before.as_ref() == unkept {
        return Ok(());
    }
    if let Some(unkept) = unkept {
        all.insert(attempt.to_string(), unkept.clone());
    }
    if all.is_empty() {
        return settings::delete(tx.conn(), SCOPE);
    }
    // Text, numbers and ids can always be written.
    let body = serde_json::to_string(&all).unwrap_or_default();
    settings::put(tx.conn(), SCOPE, &body, tx.now())
}

impl Engine {
    /// Keeps what could not be kept, for as long as the engine lives.
    pub(crate) fn keep_keeping(&self) {
        // What an earlier server owed counts too.
        self.inner.owed.any.store(true, Ordering::Relaxed);
        let inner = std::sync::Arc::downgrade(&self.inner);
        let owed = self.inner.owed.clone();
        self.aside(async move {
            let mut pause = FIRST;
            loop {
                {
                    let Some(inner) = inner.upgrade() else { return };
                    if (Engine { inner }).keep_owed().await {
                        pause = FIRST;
                    }
                }
                if owed.any.load(Ordering::Relaxed) {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST);
                } else {
                    owed.bell.notified().await;
                    pause = FIRST;
                    tokio::time::sleep(pause).await;
                }
            }
        });
    }

    /// Has what was just written down tried again.
    pub(crate) fn owe(&self) {
        self.inner.owed.any.store(true, Ordering::Relaxed);
        self.inner.owed.bell.notify_one();
    }

    /// Tries everything that is owed. Says whether any of it came to an end.
    async fn keep_owed(&self) -> bool {
        let owed = match self.inner.store.read(all).await {
            Ok(owed) => owed,
            Err(error) => {
                tracing::warn!("what is still to be kept could not be read: {error}");
                return false;
            }
        };
        self.inner.owed.any.store(!owed.is_empty(), Ordering::Relaxed);
        let mut any = false;
        for name in owed.keys() {
            let Ok(id) = name.parse::<AttemptId>() else { continue };
            match self.keep_again(id).await {
                Ok(done) => any |= done,
                // Its run ends later, and is kept then.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => {
                    tracing::warn!(attempt.id = %id, "the work of attempt {id} is still to be kept: {error}");
                }
            }
        }
        any
    }

    /// Tries once more to keep what is owed to an attempt at rest, before something else happens to its files. What
    /// does not succeed stays owed.
    pub(crate) async fn keep_before(&self, id: AttemptId) {
        if self.inner.owed.any.load(Ordering::Relaxed)
            && let Err(error) = self.keep_again(id).await
        {
            tracing::debug!(attempt.id = %id, "the work of attempt {id} is still to be kept: {error}");
        }
    }

    /// Tries once more to keep what is owed to an attempt whose next run is about to start, which keeps others away.
    pub(crate) async fn keep_before_run(&self, id: AttemptId) {
        if self.inner.owed.any.load(Ordering::Relaxed)
            && let Err(error) = self.pay(id, None).await
        {
            tracing::debug!(attempt.id = %id, "the work of attempt {id} is still to be kept: {error}");
        }
    }

    async fn keep_again(&self, id: AttemptId) -> Result<bool> {
        let owed = self.inner.store.read(all).await?;
        if !owed.contains_key(&id.to_string()) {
            return Ok(false);
        }
        let act = Act::new(KEEP, id, &serde_json::json!({}))?;
        if let Err(error) = self.begin_act(&act, "kept").await {
            if self.attempt(id).await.is_ok_and(|_| true) {
                return Err(error);
            }
            self.inner.store.write(move |tx| note(tx, id, None)).await?;
            return Ok(true);
        }
        let paid = self.pay(id, Some(act.id.clone())).await;
        if !matches!(paid, Ok(true)) {
            self.end_act(&act).await?;
        } else {
            self.start_next(id).await;
        }
        paid
    }

    /// Commits and snapshots what is owed, and takes what was said of it out of the reasons.
    async fn pay(&self, id: AttemptId, act: Option<String>) -> Result<bool> {
        let owed = self.inner.store.read(all).await?;
        let Some(unkept) = owed.get(&id.to_string()).cloned() else { return Ok(false) };
        let Ok(view) = self.attempt(id).await else {
            self.inner.store.write(move |tx| note(tx, id, None)).await?;
            return Ok(true);
        };
        let Work { snapshot, trouble, unkept: still, .. } =
            self.keep_late(&view, unkept.run, unkept.message.clone()).await?;
        if still.is_some() {
            return Err(Error::unavailable(trouble.unwrap_or_default()));
        }
        let project = view.attempt.project;
        let written = self.inner.store.write(move |tx| {
            if let Some(taken) = &snapshot {
                snapshots::insert(tx.conn(), id, Some(unkept.run), taken, "turn", tx.now())?;
            }
            let instead = |reason: Option<String>| without(reason, &unkept.trouble, trouble.as_deref());
            if let Some(run) = runs::one(tx.conn(), unkept.run)? {
                runs::set_reason(tx.conn(), unkept.run, instead(run.run.reason), tx.now())?;
                tx.changed(Noun::Run, unkept.run, Op::Change, Some(project), Some(id));
            }
            if let Some(view) = attempts::one(tx.conn(), id)? {
                attempts::set_reason(tx.conn(), id, instead(view.attempt.reason), tx.now())?;
                tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            }
            note(tx, id, None)?;
            if let Some(act) = &act {
                acts::delete(tx.conn(), act)?;
            }
            Ok(())
        });
        written.await?;
        tracing::info!(attempt.id = %id, "the work of attempt {id} is kept now");
        Ok(true)
    }
}

/// Takes a sentence out of a reason, or puts another in its place.
fn without(reason: Option<String>, sentence: &str, instead: Option<&str>) -> Option<String> {
    let reason = reason?;
    let Some(at) = reason.find(sentence) else { return Some(reason) };
    let (before, after) = (&reason[..at], &reason[at + sentence.len()..]);
    let parts = [before.trim_end_matches("; "), instead.unwrap_or_default(), after.trim_start_matches("; ")];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_leaves_the_others_of_a_reason_as_they_are() {
        let taken = |reason: &str| without(Some(reason.into()), "no room; at all", None);
        assert_eq!(taken("no room; at all"), None);
        assert_eq!(taken("stopped; no room; at all; told late").as_deref(), Some("stopped; told late"));
        assert_eq!(taken("stopped").as_deref(), Some("stopped"));
        assert_eq!(without(Some("a; b".into()), "b", Some("c")).as_deref(), Some("a; c"));
    }
}
