//! Forgetting what has had its time: old keys, old events, and which trash is old.

use std::path::{Path, PathBuf};
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
        self.aside(async move {
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
        self.trash_temporary_files().await?;
        let objects = self.objects();
        blocking(move || objects.purge(SystemTime::now())).await?;
        self.drop_old_snapshots().await
    }
}

/// Finds what has been in the trash for its time. Everything in there was renamed into it by Forge. Blocks.
pub(crate) fn expired(trash: &Path, now: SystemTime) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(trash).into_iter().flatten().flatten();
    let old = entries.filter(|entry| {
        // A rename keeps the old times of a file but sets the change time, so that is the age in the trash.
        entry.metadata().is_ok_and(|meta| {
            let moved = SystemTime::UNIX_EPOCH + Duration::from_secs(meta.ctime().unsigned_abs());
            now.duration_since(moved).is_ok_and(|age| age > TRASH)
        })
    });
    old.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trash_keeps_things_for_a_week() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("worktree")).unwrap();
        assert_eq!(expired(dir.path(), SystemTime::now()), Vec::<PathBuf>::new());
        let later = SystemTime::now() + TRASH + Duration::from_secs(60);
        assert_eq!(expired(dir.path(), later), [dir.path().join("worktree")]);
    }
}
