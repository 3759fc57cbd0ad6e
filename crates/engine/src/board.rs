//! Everything that a board draws first, at one position, in one reading.
//!
//! It holds no logs and no runs, and says nothing of a task twice: an attempt whose task is in the list beside it
//! does not carry it again, or the descriptions of thousands would be sent with every attempt at them.

use std::collections::HashSet;

use forge_model::{Ask, Project};

use crate::store::{asks, attempts, events, projects, tasks};
use crate::{AttemptView, Engine, Result, TaskView};

/// A board as it was at a position: [`Engine::changes`] after it tells everything that is not in here.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    pub seq: i64,
    pub projects: Vec<Project>,
    /// The tasks of all projects; chats with agents are on no board.
    pub tasks: Vec<TaskView>,
    /// All attempts that have a task. The task itself comes with one only where `tasks` has it not.
    pub attempts: Vec<AttemptView>,
    /// What agents wait for, oldest first.
    pub asks: Vec<Ask>,
}

impl Engine {
    /// Returns what a board draws first.
    pub async fn board(&self) -> Result<Board> {
        let read = self.inner.store.read(|conn| {
            let seq = events::newest(conn)?;
            let projects = projects::all(conn)?;
            let mut tasks = Vec::new();
            for project in &projects {
                tasks.extend(tasks::of_project(conn, project.id)?);
            }
            let listed: HashSet<_> = tasks.iter().map(|view| view.task.id).collect();
            let attempts = attempts::beside(conn, &listed)?;
            Ok(Board { seq, projects, tasks, attempts, asks: asks::open(conn)? })
        });
        let mut board = read.await?;
        self.lay_stalled(board.attempts.iter_mut()).await;
        Ok(board)
    }
}
