//! Tasks in the store, with what their attempts say about them.

use std::collections::HashMap;

use forge_model::{AttemptId, ProfileId, ProjectId, RunId, RunState, Task, TaskId, TaskStatus, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::TaskView;

/// A task's columns and what follows from its attempts and their runs; dev servers do not count.
macro_rules! view {
    ($tail:literal) => {
        concat!(
            "select t.id, t.project_id, t.title, t.description, t.status, t.parent_attempt_id, t.created_at,
                t.updated_at,
                (select r.id from runs r join attempts a on a.id = r.attempt_id where a.task_id = t.id
                    and r.kind = 'dev_server' and r.state in ('pending', 'running')
                    order by r.started_at desc, r.id limit 1),
                (select count(*) from attempts a where a.task_id = t.id),
                exists (select 1 from runs r join attempts a on a.id = r.attempt_id
                    where a.task_id = t.id and r.state in ('pending', 'running') and r.kind <> 'dev_server'),
                (select r.state from runs r join attempts a on a.id = r.attempt_id
                    where a.task_id = t.id and r.kind <> 'dev_server' order by r.started_at desc, r.id limit 1),
                (select a.agent from attempts a where a.task_id = t.id order by a.created_at desc, a.id limit 1),
                (select a.variant from attempts a where a.task_id = t.id order by a.created_at desc, a.id limit 1),
                t.status = 'agent' or exists (select 1 from standing_agents s where s.task_id = t.id),
                exists (select 1 from merges m join attempts a on a.id = m.attempt_id where a.task_id = t.id
                    and (m.kind = 'direct' or m.pr_status = 'merged')),
                t.position,
                (select a.id from attempts a where a.task_id = t.id order by a.created_at desc, a.id limit 1)
             from tasks t ",
            $tail
        )
    };
}

statements! {
    OF_PROJECT = "select t.id, t.project_id, t.title, t.description, t.status, t.parent_attempt_id, t.created_at,
        t.updated_at, null, t.position from tasks t where t.project_id = $1 and t.status <> 'agent'
        and not exists (select 1 from standing_agents s where s.task_id = t.id) order by t.created_at desc, t.id";
    ATTEMPTS_OF_PROJECT = "select a.task_id, a.agent, a.variant, a.id from attempts a
        where a.project_id = $1 and a.task_id is not null order by a.created_at desc, a.id";
    RUNS_OF_PROJECT = "select a.task_id, r.state from attempts a join runs r on r.attempt_id = a.id
        where a.project_id = $1 and a.task_id is not null and r.kind <> 'dev_server'
        order by r.started_at desc, r.id";
    MERGED_OF_PROJECT = "select distinct a.task_id from attempts a join merges m on m.attempt_id = a.id
        where a.project_id = $1 and a.task_id is not null and (m.kind = 'direct' or m.pr_status = 'merged')";
    DEV_SERVERS_OF_PROJECT = "select a.task_id, r.id from runs r join attempts a on a.id = r.attempt_id
        where r.state in ('pending', 'running') and r.kind = 'dev_server' and a.project_id = $1
        and a.task_id is not null order by r.started_at desc, r.id";
    ONE = view!("where t.id = $1");
    BARE = "select t.id, t.project_id, t.title, t.description, t.status, t.parent_attempt_id, t.created_at,
        t.updated_at, (select r.id from runs r join attempts a on a.id = r.attempt_id where a.task_id = t.id
            and r.kind = 'dev_server' and r.state in ('pending', 'running')
            order by r.started_at desc, r.id limit 1) from tasks t where t.id = $1";
    WITH_ATTEMPTS = "select t.id, t.project_id, t.title, t.description, t.status, t.parent_attempt_id, t.created_at,
        t.updated_at, null from tasks t where t.id in (select a.task_id from attempts a)";
    DEV_SERVERS = "select a.task_id, r.id from runs r join attempts a on a.id = r.attempt_id
        where r.state in ('pending', 'running') and r.kind = 'dev_server' and a.task_id is not null
        order by r.started_at desc, r.id";
    OF_PARENT = view!("where t.parent_attempt_id = $1 order by t.created_at desc, t.id");
    COUNT_OF_PARENT = "select count(*) from tasks where parent_attempt_id = $1";
    IDS_OF_PROJECT = "select id from tasks where project_id = $1";
    // A new task stands above all others.
    INSERT = "insert into tasks (id, project_id, title, description, status, parent_attempt_id, created_at, updated_at,
        position) values ($1, $2, $3, $4, $5, $6, $7, $8, (select coalesce(min(position), 0) - 1048576 from tasks))";
    UPDATE = "update tasks set title = $2, description = $3, status = $4, parent_attempt_id = $5, updated_at = $6
        where id = $1";
    SET_STATUS = "update tasks set status = $2, updated_at = $3 where id = $1";
    ORPHAN = "update tasks set parent_attempt_id = null where parent_attempt_id = $1 returning id, project_id";
    DELETE = "delete from tasks where id = $1";
    COUNT = "select count(*) from tasks t where t.status <> 'agent'
        and not exists (select 1 from standing_agents s where s.task_id = t.id)";
}

/// Returns the tasks of a project, newest first; those of standing agents are left out.
///
/// What follows from attempts and runs is read once for all tasks: asked for each of ten thousand, it takes longer
/// than everything else together, and the more so the more agents run.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<TaskView>, Error> {
    let mut tries: HashMap<String, Tries> = HashMap::new();
    // The newest comes first in both.
    for row in conn.query(ATTEMPTS_OF_PROJECT, args![project])? {
        let tries = tries.entry(row.text(0)?).or_default();
        if tries.count == 0 {
            tries.executor = executor(row.text(1)?, row.maybe_text(2)?);
            tries.last = Some(row.parse(3)?);
        }
        tries.count += 1;
    }
    for row in conn.query(RUNS_OF_PROJECT, args![project])? {
        let tries = tries.entry(row.text(0)?).or_default();
        let state: RunState = row.parse(1)?;
        tries.live |= matches!(state, RunState::Pending | RunState::Running);
        tries.newest_run.get_or_insert(state);
    }
    for row in conn.query(MERGED_OF_PROJECT, args![project])? {
        tries.entry(row.text(0)?).or_default().merged = true;
    }
    let mut servers: HashMap<String, RunId> = HashMap::new();
    for row in conn.query(DEV_SERVERS_OF_PROJECT, args![project])? {
        servers.entry(row.text(0)?).or_insert(row.parse(1)?);
    }
    let whole = |row: &Row| {
        let id = row.text(0)?;
        let task = Task { dev_server: servers.remove(&id), ..task(row)? };
        Ok(seen(task, tries.remove(&id).unwrap_or_default(), false, row.int(9)?))
    };
    conn.query(OF_PROJECT, args![project])?.iter().map(whole).collect()
}

/// Returns the tasks that grew out of an attempt, newest first.
pub(crate) fn of_parent(conn: &Conn, parent: AttemptId) -> Result<Vec<Task>, Error> {
    conn.query(OF_PARENT, args![parent])?.iter().map(|row| Ok(view(row)?.task)).collect()
}

/// Counts the tasks that grew out of an attempt.
pub(crate) fn count_of_parent(conn: &Conn, parent: AttemptId) -> Result<usize, Error> {
    let count = conn.query(COUNT_OF_PARENT, args![parent])?[0].int(0)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Returns the ids of all tasks of a project.
pub(crate) fn ids_of_project(conn: &Conn, project: ProjectId) -> Result<Vec<TaskId>, Error> {
    conn.query(IDS_OF_PROJECT, args![project])?.iter().map(|row| row.parse(0)).collect()
}

/// Returns one task.
pub(crate) fn one(conn: &Conn, id: TaskId) -> Result<Option<TaskView>, Error> {
    conn.query(ONE, args![id])?.first().map(view).transpose()
}

/// Returns one task without what its attempts say about it.
pub(crate) fn bare(conn: &Conn, id: TaskId) -> Result<Option<Task>, Error> {
    conn.query(BARE, args![id])?.first().map(task).transpose()
}

/// Returns all tasks that have attempts, by their ids, without what those say about them.
pub(crate) fn with_attempts(conn: &Conn) -> Result<HashMap<TaskId, Task>, Error> {
    let mut tasks = HashMap::new();
    for row in conn.query(WITH_ATTEMPTS, &[])? {
        let task = task(&row)?;
        tasks.insert(task.id, task);
    }
    for row in conn.query(DEV_SERVERS, &[])? {
        if let Some(task) = tasks.get_mut(&row.parse(0)?) {
            task.dev_server.get_or_insert(row.parse(1)?);
        }
    }
    Ok(tasks)
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

/// What a task's attempts and their runs say about it; dev servers do not count.
#[derive(Debug, Default)]
struct Tries {
    count: i64,
    live: bool,
    newest_run: Option<RunState>,
    executor: String,
    last: Option<AttemptId>,
    merged: bool,
}

fn view(row: &Row) -> Result<TaskView, Error> {
    let tries = Tries {
        count: row.int(9)?,
        live: row.flag(10)?,
        newest_run: row.maybe_parse(11)?,
        executor: match row.maybe_text(12)? {
            Some(agent) => executor(agent, row.maybe_text(13)?),
            None => String::new(),
        },
        merged: row.flag(15)?,
        last: row.maybe_parse(17)?,
    };
    Ok(seen(task(row)?, tries, row.flag(14)?, row.int(16)?))
}

fn task(row: &Row) -> Result<Task, Error> {
    Ok(Task {
        id: row.parse(0)?,
        project: row.parse(1)?,
        title: row.text(2)?,
        description: row.maybe_text(3)?,
        status: row.parse(4)?,
        parent: row.maybe_parse(5)?,
        created_at: Time::from_millis(row.int(6)?),
        updated_at: Time::from_millis(row.int(7)?),
        dev_server: row.maybe_parse(8)?,
    })
}

fn executor(agent: String, variant: Option<String>) -> String {
    ProfileId { agent, variant }.to_string()
}

fn seen(task: Task, tries: Tries, is_chat: bool, position: i64) -> TaskView {
    let failed = |state: RunState| state.is_over() && state != RunState::Completed;
    TaskView {
        task,
        attempt_count: tries.count,
        has_in_progress_attempt: tries.live,
        has_merged_attempt: tries.merged,
        last_attempt_failed: tries.newest_run.is_some_and(failed),
        executor: tries.executor,
        is_chat,
        position,
        last_attempt: tries.last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn a_list_says_of_each_task_what_is_said_of_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let project = ProjectId::random();
        let written = store.write(move |tx| {
            let conn = tx.conn();
            conn.execute(
                "insert into projects (id, name, path, created_at, updated_at) values ($1, 'p', '/p', 0, 0)",
                args![project],
            )?;
            let runs: [&[(&str, &str, i64)]; 6] = [
                &[],
                &[("agent", "running", 5)],
                &[("agent", "completed", 5), ("agent", "failed", 9)],
                &[("agent", "failed", 5), ("agent", "completed", 9), ("dev_server", "running", 10)],
                &[("agent", "failed", 5), ("agent", "failed", 5), ("agent", "pending", 5)],
                &[("dev_server", "failed", 5)],
            ];
            for (number, runs) in (0_i64..).zip(runs) {
                let task = TaskId::random();
                conn.execute(
                    "insert into tasks (id, project_id, title, status, created_at, updated_at)
                        values ($1, $2, 't', 'todo', $3, 0)",
                    args![task, project, number],
                )?;
                for (kind, state, at) in runs {
                    let attempt = AttemptId::random();
                    conn.execute(
                        "insert into attempts (id, project_id, task_id, agent, variant, state, branch, target_branch,
                            base_commit, worktree, worktree_deleted, prompt, created_at, updated_at)
                            values ($1, $2, $3, $4, 'V', 'running', $1, 'm', 'c', $1, 0, 'hi', $5, 0)",
                        args![attempt, project, task, format!("{kind}-{state}"), *at],
                    )?;
                    conn.execute(
                        "insert into runs (id, attempt_id, kind, state, agent, prompt, dropped, closing,
                            stop_requested, started_at, created_at, updated_at)
                            values ($1, $2, $3, $4, 'A', 'hi', 0, 0, 0, $5, 0, 0)",
                        args![forge_model::RunId::random(), attempt, *kind, *state, *at],
                    )?;
                }
            }
            let list = of_project(conn, project)?;
            let alone: Vec<_> = list.iter().map(|view| one(conn, view.task.id)).collect::<Result<_, _>>()?;
            Ok((list, alone))
        });
        let (list, alone) = written.await.unwrap();
        assert_eq!(list.len(), 6);
        assert!(list[4].has_in_progress_attempt || list[3].last_attempt_failed);
        let list: Vec<_> = list.iter().map(|view| format!("{view:?}")).collect();
        let alone: Vec<_> = alone.iter().map(|view| format!("{:?}", view.as_ref().unwrap())).collect();
        assert_eq!(list, alone);
    }
}
