//! After a restart: git work of several steps that an earlier server had under way is finished or taken back.

use forge_model::AttemptId;

use crate::keep_again::KEEP;
use crate::land::LAND;
use crate::rebase::{OPEN, REBASE};
use crate::store::acts::{self, Act};
use crate::undo_landing::UNDO_LANDING;
use crate::{Engine, Result};

impl Engine {
    /// Takes up the acts that an earlier server had under way. One that cannot be taken up now stays written down, and
    /// nothing else begins in that worktree before it is.
    pub(crate) async fn reconcile_acts(&self) -> Result<()> {
        for act in self.inner.store.read(acts::all).await? {
            if let Err(error) = self.reconcile_act(&act).await {
                let (kind, id): (_, AttemptId) = (&act.kind, act.attempt);
                tracing::warn!(attempt.id = %id, "the {kind} of attempt {id} that broke off stays as it is: {error}");
            }
        }
        Ok(())
    }

    async fn reconcile_act(&self, act: &Act) -> Result<()> {
        match act.kind.as_str() {
            LAND => self.reconcile_landing(act).await,
            UNDO_LANDING => self.reconcile_undoing(act).await,
            REBASE => self.reconcile_rebase(act).await,
            OPEN => self.settle_rebase(act.attempt).await,
            // One git call each, which has happened or has not; how a rebase stands is told by its own act.
            "abort" | "continue" | "delete" | KEEP => {
                let id = act.id.clone();
                Ok(self.inner.store.write(move |tx| acts::delete(tx.conn(), &id)).await?)
            }
            _ => Ok(()),
        }
    }
}
