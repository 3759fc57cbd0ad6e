//! Forgetting what has had its time: old keys, old events, and which trash is old.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_model::Time;

use crate::ages::Ages;
use crate::background::blocking;
use crate::once::REMEMBERED_MILLIS;
use crate::store::{calls, events, notices};
use crate::{Engine, Result};

/// How often it is looked at.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// How long events are kept for readers that were away.
const EVENTS_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;

/// How long notices are kept for people who ask what was sent.
const NOTICES_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// How long the trash is kept.
const TRASH_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;

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
        let ages = self.ages().await?;
        let (calls, notices) = (ages.before(REMEMBERED_MILLIS), ages.before(NOTICES_MILLIS));
        let events = ages.before(EVENTS_MILLIS);
        let cleaned = self.inner.store.write(move |tx| {
            calls::forget(tx.conn(), calls)?;
            notices::forget(tx.conn(), notices)?;
            events::forget(tx.conn(), events)?;
            Ok(())
        });
        cleaned.await?;
        self.clean_images(&ages).await?;
        self.trash_temporary_files().await?;
        let objects = self.objects();
        let clock = ages.clone();
        blocking(move || objects.purge(&clock)).await?;
        self.drop_old_snapshots(&ages).await
    }
}

/// Finds what has been in the trash for its time. Everything in there was renamed into it by Forge. Blocks.
pub(crate) fn expired(trash: &Path, ages: &Ages) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(trash).into_iter().flatten().flatten();
    let old = entries.filter(|entry| {
        // A rename keeps the old times of a file but sets the change time, so that is the age in the trash.
        let moved = entry.metadata().map(|meta| Time::from_millis(meta.ctime().saturating_mul(1000)));
        moved.is_ok_and(|moved| ages.of(moved) > TRASH_MILLIS)
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
        let now = crate::store::now();
        assert_eq!(expired(dir.path(), &Ages::right_at(now)), Vec::<PathBuf>::new());
        let later = Ages::right_at(now.plus_millis(TRASH_MILLIS + 60_000));
        assert_eq!(expired(dir.path(), &later), [dir.path().join("worktree")]);
    }

    #[test]
    fn a_clock_that_jumps_ahead_does_not_empty_the_trash() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("worktree")).unwrap();
        let now = crate::store::now();
        let jumped = Ages::right_at(now).jumped_to(now.plus_millis(10 * 365 * 24 * 60 * 60 * 1000));
        assert_eq!(expired(dir.path(), &jumped), Vec::<PathBuf>::new());
    }
}
