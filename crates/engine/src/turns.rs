//! One at a time, for each of many things: whoever comes second waits, and finds what the first has made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// The turns that are taken, by the name of the thing.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits until nobody else has the thing; it is free again when the answer is dropped.
    pub(crate) async fn take(&self, thing: impl ToString) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // What nobody waits for is forgotten, or the map would grow for ever.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(thing.to_string()).or_default().clone()
        };
        turn.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_same_thing_is_had_by_one_and_another_by_another() {
        let turns = Turns::default();
        let first = turns.take("a").await;
        let _other = turns.take("b").await;
        let second = tokio::time::timeout(std::time::Duration::from_millis(20), turns.take("a")).await;
        assert!(second.is_err());
        drop(first);
        let _second = turns.take("a").await;
    }
}
