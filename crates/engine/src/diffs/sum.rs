//! What a diff comes to: files and lines, for the card of its attempt.

use std::sync::Arc;
use std::time::Duration;

use forge_git::Holds;
use forge_model::AttemptId;

use super::{DiffOf, DiffSet};
use crate::background::blocking;
use crate::store::snapshots::Taken;
use crate::{ChangeSum, Engine, Result};

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

/// What is added up.
#[derive(Debug)]
pub(crate) enum Summed {
    /// The files as they are, which have to be looked through.
    Files,
    /// A snapshot of them, which tells the same without a look at any.
    Snapshot { oid: String, head: String, holds_head: bool },
}

impl Summed {
    /// What tells the least costly after a turn.
    pub(crate) fn of(taken: Option<&Taken>) -> Self {
        match taken {
            Some(Taken { oid, head: Some(head), holds: holds @ (Holds::Head | Holds::Files), .. }) => {
                let (oid, head) = (oid.clone(), head.clone());
                Summed::Snapshot { oid, head, holds_head: *holds == Holds::Head }
            }
            _ => Summed::Files,
        }
    }
}

impl Engine {
    /// Has what the diff of an attempt comes to worked out, when there is time: its files are others now.
    pub(crate) fn sum_later(&self, id: AttemptId, summed: Summed) {
        let engine = self.clone();
        self.aside(async move {
            // The attempt may be gone by now.
            let Ok(facts) = engine.diff_facts(id).await else { return };
            // One after the other: nobody waits for it, and a crowd that ends together has others to serve first.
            let _turn = engine.inner.diffs.summing.take(facts.repository.display()).await;
            engine.inner.calm.wait(STAND_BACK).await;
            // Whoever follows it works it out anyway.
            if engine.inner.diffs.live(id).is_some() {
                return;
            }
            match engine.summed(id, summed).await {
                Ok(Some(set)) => engine.tell_sum(id, set).await,
                Ok(None) => engine.differs(id, ChangeSum::default()),
                // The attempt may be gone by now, or its files; then there is nothing to tell.
                Err(error) => {
                    tracing::debug!(attempt.id = %id, "the diff of attempt {id} has no sum: {error}");
                }
            }
        });
    }

    /// Compares what is to be added up; none when nothing differs.
    async fn summed(&self, id: AttemptId, summed: Summed) -> Result<Option<Arc<DiffSet>>> {
        let Summed::Snapshot { oid, head, holds_head } = summed else {
            return self.diff_now(id).await.map(Some);
        };
        let facts = self.diff_facts(id).await?;
        if facts.in_place || facts.has_landed() {
            return self.diff_now(id).await.map(Some);
        }
        if holds_head && head == facts.began_at {
            return Ok(None);
        }
        let engine = self.clone();
        blocking(move || {
            let repo = engine.repo(&facts.repository)?;
            let diff = repo.snapshot_diff(&oid, &head, &facts.base())?;
            Ok(Some(Arc::new(engine.inner.diffs.computed(DiffOf::Files, &diff))))
        })
        .await?
    }

    /// Tells what a diff that was computed comes to.
    pub(super) async fn tell_sum(&self, id: AttemptId, set: Arc<DiffSet>) {
        if let Ok(sum) = blocking(move || set.sum()).await {
            self.differs(id, sum);
        }
    }
}
