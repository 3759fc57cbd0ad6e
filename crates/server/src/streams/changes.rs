//! The tail of everything that changes: what every stream of changes follows, whatever it makes of it.

use std::sync::Arc;

use forge_engine::{Changes, Engine};
use tokio::sync::watch;

/// Follows changes from a position.
#[derive(Debug)]
pub(crate) struct ChangesTail {
    engine: Engine,
    bell: watch::Receiver<i64>,
    after: i64,
}

impl ChangesTail {
    /// Follows what changes from now on.
    pub(crate) fn now(engine: Engine) -> Self {
        let after = *engine.bell().borrow();
        Self::after(engine, after)
    }

    /// Follows what changed after a position.
    pub(crate) fn after(engine: Engine, after: i64) -> Self {
        Self { bell: engine.bell(), engine, after }
    }

    /// Where to go on after what was given so far.
    pub(crate) fn position(&self) -> i64 {
        self.after
    }

    /// Waits for changes and returns them: some, or the news that the position has expired. None when they
    /// cannot be read any more. May be dropped while it waits; nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<Arc<Changes>> {
        loop {
            // The bell is marked as heard before the changes are read, so that none falls in between.
            if *self.bell.borrow_and_update() != self.after {
                let changes = match self.engine.changes(self.after).await {
                    Ok(changes) => changes,
                    Err(error) => {
                        tracing::error!("could not read changes after event {}: {error}", self.after);
                        return None;
                    }
                };
                let moved = changes.seq > self.after;
                self.after = changes.seq;
                if changes.resync || !changes.items.is_empty() {
                    return Some(changes);
                }
                // A long tail comes in pieces, and the bell rings only once for all of it.
                if moved {
                    continue;
                }
            }
            self.bell.changed().await.ok()?;
        }
    }
}
