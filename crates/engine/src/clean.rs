//! Forgetting what has had its time: old keys, old events, old trash.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::background::blocking;
use crate::once::forget_before;
use crate::store::{calls, events, notices};
use crate::{Engine, Result};

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// How long events are kept for readers that were away.
const EVENTS_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;

/// How long notices are kept for people who ask what was sent.
const NOTICES_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// How long the trash is kept.
const TRASH: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Engine {
    /// Cleans up now and then, for as long as the engine lives.
    pub(crate) fn keep_clean(&self) {
        let inner = std::sync::Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            let mut hours = tokio::time::interval(EVERY);
            loop {
                hours.tick().await;
                let Some(inner) = inner.upgrade() else { return };
                if let Err(error) = (Engine { inner }).clean().await {
                    tracing::warn!("could not clean up: {error}");
                }
            }
        });
    }

    async fn clean(&self) -> Result<()> {
        let cleaned = self.inner.store.write(|tx| {
            calls::forget(tx.conn(), forget_before(tx.now()))?;
            notices::forget(tx.conn(), tx.now().plus_millis(-NOTICES_MILLIS))?;
            events::forget(tx.conn(), tx.now().plus_millis(-EVENTS_MILLIS))?;
            Ok(())
        });
        cleaned.await?;
        self.clean_images().await?;
        let trash = self.inner.paths.trash();
        blocking(move || purge(&trash, SystemTime::now())).await
    }
}

/// Removes what has been in the trash for its time. Everything in there was renamed into it by Forge.
fn purge(trash: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(trash) else { return };
    for entry in entries.flatten() {
        // A rename keeps the old times of a file but sets the change time, so that is the age in the trash.
        let old = entry.metadata().is_ok_and(|meta| {
            use std::os::unix::fs::MetadataExt;
            let moved = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.ctime().unsigned_abs());
            now.duration_since(moved).is_ok_and(|age| age > TRASH)
        });
        if old && let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::warn!("could not purge {}: {error}", entry.path().display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trash_keeps_things_for_a_week() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("worktree")).unwrap();
        purge(dir.path(), SystemTime::now());
        assert!(dir.path().join("worktree").exists());
        purge(dir.path(), SystemTime::now() + TRASH + Duration::from_secs(60));
        assert!(!dir.path().join("worktree").exists());
    }
}
