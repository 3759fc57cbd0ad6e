//! Loose attempts: attempts without a task, in a project. An attempt that has a task is not found here.

use forge_model::{AttemptId, ProjectId, Run};

use crate::once::Key;
use crate::store::{attempts, runs};
use crate::{AttemptView, Engine, Error, FollowUp, FollowedUp, LogTail, Result};

impl Engine {
    /// Returns the attempts without a task, newest first: all, or those of a project.
    pub async fn loose_attempts(&self, project: Option<ProjectId>) -> Result<Vec<AttemptView>> {
        let mut found = self.inner.store.read(attempts::loose).await?;
        found.retain(|view| project.is_none_or(|project| project == view.attempt.project));
        self.lay_stalled(found.iter_mut()).await;
        Ok(found)
    }

    /// Returns one attempt without a task.
    pub async fn loose_attempt(&self, id: AttemptId) -> Result<AttemptView> {
        let found = self.inner.store.read(move |conn| attempts::one(conn, id)).await?;
        found
            .filter(|view| view.attempt.task.is_none())
            .ok_or_else(|| Error::not_found(format!("there is no attempt without a task {id}")))
    }

    /// Tells the agent of an attempt without a task more.
    pub async fn follow_up_loose(
        &self,
        id: AttemptId,
        follow: FollowUp,
        key: Option<Key>,
    ) -> Result<FollowedUp> {
        self.loose_attempt(id).await?;
        self.follow_up(id, follow, key).await
    }

    /// Stops an attempt without a task; refused when nothing of it runs.
    pub async fn stop_loose(&self, id: AttemptId) -> Result<()> {
        let view = self.loose_attempt(id).await?;
        let live = self.inner.store.read(move |conn| runs::live_of_attempt(conn, id)).await?;
        if live.is_empty() && !view.attempt.state.is_live() && view.place.is_none() {
            let state = view.attempt.state;
            return Err(Error::conflict(format!("attempt {id} is not running: it is {state}")));
        }
        self.stop_attempt(id).await
    }

    /// Returns the runs of an attempt without a task, oldest first.
    pub async fn runs_of_loose(&self, id: AttemptId) -> Result<Vec<Run>> {
        self.loose_attempt(id).await?;
        self.runs(id, true).await
    }

    /// Follows the log of the newest run of an attempt without a task.
    pub async fn log_of_loose(&self, id: AttemptId) -> Result<LogTail> {
        match self.runs_of_loose(id).await?.last() {
            Some(run) => self.log(run.id, 0).await,
            None => Err(Error::not_found(format!("attempt {id} has no run yet"))),
        }
    }
}
