//! Looking at attempts and their runs.

use forge_model::{AttemptId, Merge, Run, RunId, TaskId};

use crate::store::{asks, attempts, events, merges, projects, runs, tasks};
use crate::{AttemptView, Engine, Error, Family, Overview, Result};

impl Engine {
    /// Returns attempts, newest first: all that have a task, or those at a task.
    pub async fn attempts(&self, task: Option<TaskId>) -> Result<Vec<AttemptView>> {
        let mut views = self.inner.store.read(move |conn| attempts::all(conn, task)).await?;
        self.lay_stalled(views.iter_mut()).await;
        Ok(views)
    }

    /// Returns one attempt.
    pub async fn attempt(&self, id: AttemptId) -> Result<AttemptView> {
        let found = self.inner.store.read(move |conn| attempts::one(conn, id)).await?;
        let mut found = found.ok_or_else(|| Error::not_found(format!("there is no attempt {id}")))?;
        self.lay_stalled(std::iter::once(&mut found)).await;
        Ok(found)
    }

    /// Returns the attempt whose worktree is exactly at a path.
    pub async fn attempt_at(&self, worktree: String) -> Result<AttemptView> {
        let path = worktree.clone();
        let found = self.inner.store.read(move |conn| attempts::at(conn, &path)).await?;
        found.ok_or_else(|| Error::not_found(format!("no attempt has its worktree at {worktree:?}")))
    }

    /// Returns an attempt, the task that its own task grew out of, and the tasks that grew out of it.
    pub async fn family(&self, id: AttemptId) -> Result<Family> {
        let looked = self.inner.store.read(move |conn| {
            let Some(attempt) = attempts::one(conn, id)? else { return Ok(None) };
            let parent = attempt.task.as_ref().and_then(|task| task.parent);
            let parent = parent.map(|parent| attempts::one(conn, parent)).transpose()?.flatten();
            let children = tasks::of_parent(conn, id)?;
            Ok(Some(Family { parent: parent.and_then(|view| view.task), attempt, children }))
        });
        looked.await?.ok_or_else(|| Error::not_found(format!("there is no attempt {id}")))
    }

    /// Returns the runs of an attempt, oldest first; none when there is no such attempt.
    pub async fn runs(&self, attempt: AttemptId, with_dropped: bool) -> Result<Vec<Run>> {
        let mut runs = self.inner.store.read(move |conn| runs::of_attempt(conn, attempt)).await?;
        runs.retain(|run| with_dropped || !run.dropped);
        Ok(runs)
    }

    /// Returns the merges of an attempt, newest first.
    pub async fn merges(&self, attempt: AttemptId) -> Result<Vec<Merge>> {
        Ok(self.inner.store.read(move |conn| merges::of_attempt(conn, attempt)).await?)
    }

    /// Returns one run.
    pub async fn run(&self, id: RunId) -> Result<Run> {
        let found = self.inner.store.read(move |conn| runs::one(conn, id)).await?;
        found.map(|live| live.run).ok_or_else(|| Error::not_found(format!("there is no run {id}")))
    }

    /// Counts everything.
    pub async fn overview(&self) -> Result<Overview> {
        let seen = self.inner.store.read(|conn| {
            let (attempts, running, waiting) = attempts::counts(conn)?;
            Ok(Overview {
                projects: projects::count(conn)?,
                tasks: tasks::count(conn)?,
                attempts,
                running,
                waiting,
                open_asks: asks::count_open(conn)?,
                seq: events::newest(conn)?,
            })
        });
        Ok(seen.await?)
    }
}
