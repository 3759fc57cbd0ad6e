//! Forgetting what was removed long ago: from then on it cannot be recovered.
//!
//! The logs of its runs go first, so that no log stays whose run nobody knows. Branches and snapshots are in the
//! repository and stay there.

use std::collections::HashSet;

use forge_model::{AttemptId, RunId, Time};

use crate::ages::Ages;
use crate::background::blocking;
use crate::gc::{Cleaned, Swept, What};
use crate::store::removed::{self, Aside, Kind};
use crate::store::{Error as StoreError, Tx, acts, deleted_logs};
use crate::{Engine, Result, old_logs};

impl Engine {
    /// Forgets what was removed so long ago that nobody can recover it any more, or says what that is.
    pub(crate) async fn sweep_removed(
        &self,
        ages: &Ages,
        dry_run: bool,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let Some(limit) = self.kept().await?.removed else { return Ok(()) };
        let mut old = self.inner.store.read(removed::all).await?;
        old.retain(|aside| ages.of(aside.removed_at) >= limit);
        // Attempts go before their tasks, and tasks before their projects: what stays could not be recovered alone.
        old.sort_by_key(|aside| std::cmp::Reverse(aside.kind));
        let runs = self.inner.paths.runs();
        let present = blocking(move || old_logs::present(&runs)).await?.unwrap_or_default();
        let mut stays: HashSet<Time> = HashSet::new();
        for aside in old {
            let (kind, removed_at) = (aside.kind, aside.removed_at);
            let reason = format!("it was removed on {} and cannot be recovered any more", removed_at.day());
            let name = format!("{} {}", kind.as_str(), aside.id);
            let attempt = if kind == Kind::Attempt { aside.id.parse().ok() } else { None };
            let has_logs = !dry_run && runs_of(&aside).any(|run| present.contains(&run));
            let is_held = has_logs || stays.contains(&removed_at);
            if is_held || !(dry_run || self.forget_removed(aside).await?) {
                stays.insert(removed_at);
                continue;
            }
            cleaned.swept.push(Swept {
                what: What::Removed,
                path: name.into(),
                attempt,
                bytes: None,
                reason,
            });
        }
        Ok(())
    }

    async fn forget_removed(&self, aside: Aside) -> Result<bool> {
        Ok(self.inner.store.write(move |tx| forget(tx, &aside)).await?)
    }
}

fn forget(tx: &Tx<'_>, aside: &Aside) -> std::result::Result<bool, StoreError> {
    let id: Option<AttemptId> = aside.id.parse().ok();
    if let Some(id) = id
        && acts::under_way(tx.conn(), id)?
    {
        // It is being recovered.
        return Ok(false);
    }
    if !removed::forget(tx.conn(), aside)? {
        return Ok(false);
    }
    for run in runs_of(aside) {
        deleted_logs::forget(tx.conn(), run)?;
    }
    Ok(true)
}

/// Returns the runs of an attempt that was removed.
pub(crate) fn runs_of(aside: &Aside) -> impl Iterator<Item = RunId> {
    aside.rows("runs").iter().filter_map(|run| run.get("id")?.as_str()?.parse().ok())
}
