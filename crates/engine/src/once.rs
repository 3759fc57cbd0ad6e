//! Calls that may be repeated: the same key repeats the answer, not the act.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::store::calls::{self, Call};
use crate::store::{Error as StoreError, Tx};
use crate::{Engine, Error, Result};

/// How long a key is remembered.
pub(crate) const REMEMBERED_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Names a call, so that repeating it repeats the answer instead of the act.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Key {
    pub key: String,
    /// A hash of the method, the path and the body.
    pub fingerprint: String,
}

/// The keys whose call is under way in this process.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    under_way: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// The turn of a key: while it is held, no other call with that key goes on.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    calls: &'a Calls,
    key: String,
    guard: Option<tokio::sync::OwnedMutexGuard<()>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.guard.take());
        let mut under_way = self.calls.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            under_way.remove(&self.key);
        }
    }
}

/// What a call with a key should do.
#[derive(Debug)]
pub(crate) enum Once<'a> {
    /// It has not happened: do it while holding the turn.
    Do(Option<Turn<'a>>),
    /// It has happened: repeat its answer.
    Repeat(Call),
}

impl Engine {
    /// Waits for the turn of a key and says whether its call has happened.
    pub(crate) async fn once(&self, key: Option<&Key>) -> Result<Once<'_>> {
        let Some(key) = key else { return Ok(Once::Do(None)) };
        let name = key.key.trim().to_string();
        if name.is_empty() || name.len() > 255 {
            return Err(Error::invalid("an Idempotency-Key must have 1 to 255 characters"));
        }
        let lock = {
            let mut under_way = self.inner.calls.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            under_way.entry(name.clone()).or_default().clone()
        };
        let turn = Turn { calls: &self.inner.calls, key: name.clone(), guard: Some(lock.lock_owned().await) };
        match self.inner.store.read(move |conn| calls::one(conn, &name)).await? {
            None => Ok(Once::Do(Some(turn))),
            Some(call) if call.fingerprint == key.fingerprint => Ok(Once::Repeat(call)),
            Some(_) => Err(Error::invalid(format!(
                "the Idempotency-Key {:?} was used for another call; use a new key for a new call",
                key.key
            ))),
        }
    }
}

/// Remembers, in the transaction that did it, that the call with this key has happened.
pub(crate) fn remember(tx: &Tx<'_>, key: &Key, call: Call) -> std::result::Result<(), StoreError> {
    calls::insert(tx.conn(), key.key.trim(), &call, tx.now())
}
