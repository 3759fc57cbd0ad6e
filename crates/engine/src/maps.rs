//! Whole sets together with the position they are true at: what a stream of changes starts from.
//!
//! Set and position are read in one transaction, so [`Engine::changes`] after the position tells everything
//! that the set does not show, and nothing is missed in between.

use forge_model::{AttemptId, ProjectId, Run};

use crate::store::{events, projects, runs, tasks};
use crate::{Engine, Error, Result, TaskView};

/// A whole set at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Positioned<T> {
    pub seq: i64,
    pub items: Vec<T>,
}

impl Engine {
    /// Returns the tasks of a project, chats with agents left out.
    pub async fn tasks_and_position(&self, project: ProjectId) -> Result<Positioned<TaskView>> {
        let seen = self.inner.store.read(move |conn| {
            let seq = events::newest(conn)?;
            let items = match projects::one(conn, project)? {
                Some(_) => tasks::of_project(conn, project)?,
                None => return Ok(None),
            };
            Ok(Some(Positioned { seq, items }))
        });
        seen.await?.ok_or_else(|| Error::not_found(format!("there is no project {project}")))
    }

    /// Returns the runs of an attempt, those that a retry left out of the history included. There are none when
    /// there is no such attempt.
    pub async fn runs_and_position(&self, attempt: AttemptId) -> Result<Positioned<Run>> {
        let seen = self.inner.store.read(move |conn| {
            let seq = events::newest(conn)?;
            Ok(Positioned { seq, items: runs::of_attempt(conn, attempt)? })
        });
        Ok(seen.await?)
    }
}
