//! Tasks in the store, with what their attempts say about them.

use forge_model::{AttemptId, ProfileId, ProjectId, Task, TaskId, TaskStatus, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::TaskView;

/// A task's columns and what follows from its attempts and their runs; dev servers do not count.
macro_rules! view {
    ($tail:literal) => {
        concat!(
            "select t.id, t.project_id, t.title, t.description, t.status, t.parent_attempt_id, t.created_at,
                t.updated_at,
                (select count(*) from attempts a where a.task_id = t.id),
                exists (select 1 from runs r join attempts a on a.id = r.attempt_id
                    where a.task_id = t.id and r.state in ('pending', 'running') and r.kind <> 'dev_server'),
                (select r.state from runs r join attempts a on a.id = r.attempt_id
                    where a.task_id = t.id and r.kind <> 'dev_server' order by r.started_at desc, r.id limit 1),
                (select a.agent from attempts a where a.task_id = t.id order by a.created_at desc, a.id limit 1),
                (select a.variant from attempts a where a.task_id = t.id order by a.created_at desc, a.id limit 1),
                t.status = 'agent' or exists (select 1 from standing_agents s where s.task_id = t.id)
             from tasks t ",
            $tail
        )
    };
}

statements! {
    OF_PROJECT = view!("where t.project_id = $1 and t.status <> 'agent'
        and not exists (select 1 from standing_agents s where s.task_id = t.id) order by t.created_at desc, t.id");
    ONE = view!("where t.id = $1");
    OF_PARENT = view!("where t.parent_attempt_id = $1 order by t.created_at desc, t.id");
    IDS_OF_PROJECT = "select id from tasks where project_id = $1";
    INSERT = "insert into tasks (id, project_id, title, description, status, parent_attempt_id, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    UPDATE = "update tasks set title = $2, description = $3, status = $4, parent_attempt_id = $5, updated_at = $6
        where id = $1";
    SET_STATUS = "update tasks set status = $2, updated_at = $3 where id = $1";
    ORPHAN = "update tasks set parent_attempt_id = null where parent_attempt_id = $1 returning id, project_id";
    DELETE = "delete from tasks where id = $1";
    COUNT = "select count(*) from tasks t where t.status <> 'agent'
        and not exists (select 1 from standing_agents s where s.task_id = t.id)";
}

/// Returns the tasks of a project, newest first; those of standing agents are left out.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<TaskView>, Error> {
    conn.query(OF_PROJECT, args![project])?.iter().map(view).collect()
}

/// Returns the tasks that grew out of an attempt, newest first.
pub(crate) fn of_parent(conn: &Conn, parent: AttemptId) -> Result<Vec<Task>, Error> {
    conn.query(OF_PARENT, args![parent])?.iter().map(|row| Ok(view(row)?.task)).collect()
}

/// Returns the ids of all tasks of a project.
pub(crate) fn ids_of_project(conn: &Conn, project: ProjectId) -> Result<Vec<TaskId>, Error> {
    conn.query(IDS_OF_PROJECT, args![project])?.iter().map(|row| row.parse(0)).collect()
}

/// Returns one task.
pub(crate) fn one(conn: &Conn, id: TaskId) -> Result<Option<TaskView>, Error> {
    conn.query(ONE, args![id])?.first().map(view).transpose()
}

/// Adds a task.
pub(crate) fn insert(conn: &Conn, t: &Task) -> Result<(), Error> {
    conn.execute(
        INSERT,
        args![
            t.id,
            t.project,
            &t.title,
            t.description.clone(),
            t.status,
            t.parent,
            t.created_at,
            t.updated_at
        ],
    )?;
    Ok(())
}

/// Writes a task over.
pub(crate) fn update(conn: &Conn, t: &Task) -> Result<(), Error> {
    conn.execute(UPDATE, args![t.id, &t.title, t.description.clone(), t.status, t.parent, t.updated_at])?;
    Ok(())
}

/// Sets a task's status.
pub(crate) fn set_status(conn: &Conn, id: TaskId, status: TaskStatus, now: Time) -> Result<(), Error> {
    conn.execute(SET_STATUS, args![id, status, now]).map(drop)
}

/// Frees the tasks that grew out of an attempt, and returns them.
pub(crate) fn orphan(conn: &Conn, parent: AttemptId) -> Result<Vec<(TaskId, ProjectId)>, Error> {
    conn.query(ORPHAN, args![parent])?.iter().map(|row| Ok((row.parse(0)?, row.parse(1)?))).collect()
}

/// Deletes a task's row.
pub(crate) fn delete(conn: &Conn, id: TaskId) -> Result<(), Error> {
    conn.execute(DELETE, args![id]).map(drop)
}

/// Counts the tasks that stand on a board.
pub(crate) fn count(conn: &Conn) -> Result<i64, Error> {
    conn.query(COUNT, &[])?[0].int(0)
}

fn view(row: &Row) -> Result<TaskView, Error> {
    let newest_run: Option<forge_model::RunState> = row.maybe_parse(10)?;
    let executor = match row.maybe_text(11)? {
        Some(agent) => ProfileId { agent, variant: row.maybe_text(12)? }.to_string(),
        None => String::new(),
    };
    Ok(TaskView {
        task: Task {
            id: row.parse(0)?,
            project: row.parse(1)?,
            title: row.text(2)?,
            description: row.maybe_text(3)?,
            status: row.parse(4)?,
            parent: row.maybe_parse(5)?,
            created_at: Time::from_millis(row.int(6)?),
            updated_at: Time::from_millis(row.int(7)?),
        },
        attempt_count: row.int(8)?,
        has_in_progress_attempt: row.flag(9)?,
        has_merged_attempt: false,
        last_attempt_failed: newest_run
            .is_some_and(|state| state.is_over() && state != forge_model::RunState::Completed),
        executor,
        is_chat: row.flag(13)?,
    })
}
