//! What a diff comes to: files and lines, for the card of its attempt.

use std::time::Duration;

use forge_model::AttemptId;

use super::DiffSet;
use crate::background::blocking;
use crate::{ChangeSum, Engine};

/// How long starts go first: somebody waits for those.
const STAND_BACK: Duration = Duration::from_secs(1);

impl DiffSet {
    /// Adds up what differs. What has no lines counts as a file alone. Takes its time with what was not counted yet.
    fn sum(&self) -> ChangeSum {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let mut sum = ChangeSum { files: whole(self.files.len() as u64), added: 0, deleted: 0 };
        for counts in self.files.values().filter_map(|change| change.counts()) {
            sum.added = sum.added.saturating_add(whole(counts.additions));
            sum.deleted = sum.deleted.saturating_add(whole(counts.deletions));
        }
        sum
    }
}

impl Engine {
    /// Has what the diff of an attempt comes to worked out, when there is time: its files are others now.
    pub(crate) fn sum_later(&self, id: AttemptId) {
        let engine = self.clone();
        self.aside(async move {
            // One after the other: nobody waits for it, and a crowd that ends together has others to serve first.
            let _turn = engine.inner.diffs.summing.lock().await;
            engine.inner.calm.wait(STAND_BACK).await;
            // Whoever follows it works it out anyway.
            if engine.inner.diffs.live(id).is_some() {
                return;
            }
            match engine.diff_now(id).await {
                Ok(set) => engine.tell_sum(id, set).await,
                // The attempt may be gone by now, or its files; then there is nothing to tell.
                Err(error) => {
                    tracing::debug!(attempt.id = %id, "the diff of attempt {id} has no sum: {error}");
                }
            }
        });
    }

    /// Tells what a diff that was computed comes to.
    pub(super) async fn tell_sum(&self, id: AttemptId, set: std::sync::Arc<DiffSet>) {
        if let Ok(sum) = blocking(move || set.sum()).await {
            self.differs(id, sum);
        }
    }
}
