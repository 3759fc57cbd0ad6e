//! After a restart: what was broken off on the way to another time is finished, or forgotten where it had not begun.

use crate::recover::RECOVER;
use crate::replace::REPLACE;
use crate::restore::RESTORE;
use crate::retention::RETAIN;
use crate::store::acts;
use crate::{Engine, Result};

impl Engine {
    /// Takes up restores, recoveries, replaced turns and chains of snapshots that an earlier server left half-done.
    pub(crate) async fn resume_travel(&self) -> Result<()> {
        for act in self.inner.store.read(acts::all).await? {
            let resumed = match act.kind.as_str() {
                RESTORE => self.resume_restore(&act).await,
                RETAIN => self.resume_retain(&act).await,
                RECOVER => self.resume_recover(&act).await,
                REPLACE => self.resume_replace(&act).await,
                _ => continue,
            };
            if let Err(error) = resumed {
                // Nobody could open this data again otherwise; the next start tries it once more.
                tracing::warn!(attempt.id = %act.attempt, "{} could not be finished: {error}", act.kind);
            }
        }
        Ok(())
    }
}
