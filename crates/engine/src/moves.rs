//! Moving an attempt, and its task with it, because something happened.
//!
//! The state machine of `model` decides; this writes down its answer and the events, inside the
//! transaction of whatever happened.

use forge_model::state::{AttemptHappened, TaskHappened, attempt_after, task_after};
use forge_model::{AttemptId, AttemptState, Noun, Op, Task};

use crate::notices;
use crate::store::{Error, Tx, attempts, tasks};

/// Moves an attempt and its task. What cannot happen in its state leaves both as they are: the answer is
/// none, and somebody else has moved it first.
pub(crate) fn attempt(
    tx: &mut Tx<'_>,
    id: AttemptId,
    happened: AttemptHappened,
    reason: Option<String>,
) -> Result<Option<AttemptState>, Error> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(None) };
    let Ok(next) = attempt_after(view.attempt.state, happened) else { return Ok(None) };
    attempts::shift(tx.conn(), id, view.attempt.state, next, reason.clone(), tx.now())?;
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    if let (Some(task), Some(happened)) = (&view.task, on_task(happened)) {
        self::task(tx, task, happened)?;
    }
    if matches!(happened, AttemptHappened::Asked | AttemptHappened::RunEnded { .. }) {
        notices::intend(tx, &view, next, reason.as_deref())?;
    }
    Ok(Some(next))
}

/// Moves a task and says that it changed, even when its status stays: what its attempts say has changed.
pub(crate) fn task(tx: &mut Tx<'_>, task: &Task, happened: TaskHappened) -> Result<(), Error> {
    let status = task_after(task.status, happened);
    if status != task.status {
        tasks::set_status(tx.conn(), task.id, status, tx.now())?;
    }
    tx.changed(Noun::Task, task.id, Op::Change, Some(task.project), None);
    Ok(())
}

/// What something that happens to an attempt means for its task.
fn on_task(happened: AttemptHappened) -> Option<TaskHappened> {
    match happened {
        AttemptHappened::Started => Some(TaskHappened::RunStarted),
        AttemptHappened::Asked => Some(TaskHappened::Asked),
        AttemptHappened::Answered { still_open: false } => Some(TaskHappened::Answered),
        AttemptHappened::RunEnded { more: false, .. } => Some(TaskHappened::AttemptRested),
        AttemptHappened::RunEnded { more: true, .. } => Some(TaskHappened::RunStarted),
        AttemptHappened::Answered { still_open: true }
        | AttemptHappened::LimitHit
        | AttemptHappened::LimitOver
        | AttemptHappened::GivenUp => None,
    }
}
