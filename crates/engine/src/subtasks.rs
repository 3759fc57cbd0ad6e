//! What an agent makes below its own attempt: subtasks, and attempts at them. Against a runaway agent both are bounded,
//! and both are counted in the transaction that adds one, so that calls at the same moment do not pass the bound.

use forge_model::AttemptId;

use crate::intent::{Intent, What};
use crate::once::Key;
use crate::start::{NewAttempt, StartTask, Started};
use crate::store::{Conn, Error as StoreError, attempts, starts, tasks};
use crate::{Engine, Error, NewTask, Result, TaskView};

/// How many subtasks an attempt may have when an agent makes one more.
pub const MOST_SUBTASKS: usize = 20;

/// How many attempts there may be at the subtasks of an attempt when an agent starts one more: three at each.
const MOST_ATTEMPTS: usize = 3 * MOST_SUBTASKS;

/// What an agent has too many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooMany {
    Subtasks,
    Attempts,
}

impl TooMany {
    /// Says so to the agent of an attempt.
    pub(crate) fn refusal(self, own: Option<AttemptId>) -> Error {
        let own = own.map(|own| format!("attempt {own}")).unwrap_or_default();
        Error::conflict(match self {
            TooMany::Subtasks => format!(
                "{own} has {MOST_SUBTASKS} subtasks, which is the most that an agent may make; a user can add more"
            ),
            TooMany::Attempts => format!(
                "{own} has {MOST_ATTEMPTS} attempts at its subtasks, which is the most that an agent may start; a user \
                 can start more"
            ),
        })
    }
}

impl Engine {
    /// Adds a task below the attempt of the agent that asks for it, unless it has too many.
    pub async fn create_subtask(&self, own: AttemptId, new: NewTask) -> Result<TaskView> {
        self.add_task(NewTask { parent: Some(own), ..new }, Some(own)).await
    }

    /// Creates and starts a task below the attempt of the agent that asks for it, unless it has too many.
    pub async fn create_and_start_subtask(
        &self,
        own: AttemptId,
        mut start: StartTask,
        key: Option<Key>,
    ) -> Result<Started> {
        start.task.parent = Some(own);
        self.create_and_start_for(Some(own), start, key).await
    }

    /// Starts an attempt at a subtask for the agent above it, unless it has too many.
    pub async fn start_attempt_at_subtask(
        &self,
        own: AttemptId,
        new: NewAttempt,
        key: Option<Key>,
    ) -> Result<Started> {
        self.start_attempt_for(Some(own), new, key).await
    }
}

/// Says what an attempt has too many of for one more subtask.
pub(crate) fn one_more(conn: &Conn, own: AttemptId) -> std::result::Result<Option<TooMany>, StoreError> {
    let there = tasks::count_of_parent(conn, own)? + under_way(conn, own, Counted::Tasks)?;
    Ok((there >= MOST_SUBTASKS).then_some(TooMany::Subtasks))
}

/// Says what an attempt has too many of for what is about to be started below it.
pub(crate) fn one_more_start(
    conn: &Conn,
    own: AttemptId,
    intent: &Intent,
) -> std::result::Result<Option<TooMany>, StoreError> {
    if let What::Attempt { new_task: Some(_), .. } = &intent.what
        && let Some(too_many) = one_more(conn, own)?
    {
        return Ok(Some(too_many));
    }
    let there = attempts::count_below(conn, own)? + under_way(conn, own, Counted::Attempts)?;
    Ok((there >= MOST_ATTEMPTS).then_some(TooMany::Attempts))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Tasks,
    Attempts,
}

/// Counts what is being started below an attempt and has no row of its own yet.
fn under_way(conn: &Conn, own: AttemptId, counted: Counted) -> std::result::Result<usize, StoreError> {
    let mut count = 0;
    for body in starts::all(conn)? {
        let Ok(Intent { what: What::Attempt { task, new_task, held: false, .. }, .. }) =
            serde_json::from_str(&body)
        else {
            continue;
        };
        let is_below = match (new_task, task) {
            (Some(new), _) => new.parent == Some(own),
            (None, Some(task)) if counted == Counted::Attempts => {
                tasks::bare(conn, task)?.is_some_and(|task| task.parent == Some(own))
            }
            (None, _) => false,
        };
        count += usize::from(is_below);
    }
    Ok(count)
}
