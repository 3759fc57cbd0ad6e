//! Logs that were deleted, and those that may be.

use std::collections::HashSet;

use forge_model::{AttemptId, ProjectId, RunId, Time};

use super::conn::{Conn, Error, Row, args};
use super::removed::{self, Kind};
use super::statements;

macro_rules! closed {
    ($tail:literal) => {
        concat!(
            "select r.id, a.id, a.project_id, r.completed_at, a.updated_at, t.updated_at,
                (select max(i.imported_at) from imported i where i.kind = 'run' and i.our_id = r.id)
            from runs r join attempts a on a.id = r.attempt_id left join tasks t on t.id = a.task_id
            where a.state in ('finished', 'failed', 'stopped')
                and (a.task_id is null or t.status in ('done', 'cancelled', 'archived'))
                and not exists (select 1 from runs l where l.attempt_id = a.id and l.state in ('pending', 'running'))
                and not exists (select 1 from starts s where s.attempt_id = a.id)
                and not exists (select 1 from acts c where c.attempt_id = a.id)",
            $tail
        )
    };
}

statements! {
    CLOSED = closed!("");
    IS_CLOSED = closed!(" and r.id = $1");
    IS_REMOVED = "select exists (select 1 from removed where kind = 'attempt' and id = $1)
        and not exists (select 1 from acts where attempt_id = $1)";
    MARKED = "select run_id from deleted_logs";
    HAS = "select exists (select 1 from deleted_logs where run_id = $1)";
    MARK = "insert into deleted_logs (run_id, deleted_at) values ($1, $2) on conflict (run_id) do nothing";
    FORGET = "delete from deleted_logs where run_id = $1";
}

/// A run whose log nothing needs any more: its attempt is closed, or was removed.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    pub(crate) run: RunId,
    pub(crate) attempt: AttemptId,
    /// None for what was removed.
    pub(crate) project: Option<ProjectId>,
    /// When something last happened to it.
    pub(crate) since: Time,
    pub(crate) removed_at: Option<Time>,
}

/// Returns the runs whose attempts are closed or were removed. An attempt without a task is closed when it is at rest:
/// nothing else can close it.
pub(crate) fn closed(conn: &Conn) -> Result<Vec<Closed>, Error> {
    let mut all: Vec<Closed> = conn.query(CLOSED, &[])?.iter().map(read).collect::<Result<_, _>>()?;
    for aside in removed::all(conn)?.into_iter().filter(|aside| aside.kind == Kind::Attempt) {
        let Ok(attempt) = aside.id.parse() else { continue };
        for run in aside.rows("runs") {
            let Some(Ok(id)) = run.get("id").and_then(|id| id.as_str()).map(str::parse) else { continue };
            let ended = run.get("completed_at").and_then(serde_json::Value::as_i64).unwrap_or_default();
            let removed_at = Some(aside.removed_at);
            let since = aside.removed_at.max(Time::from_millis(ended));
            all.push(Closed { run: id, attempt, project: None, since, removed_at });
        }
    }
    Ok(all)
}

/// Says whether nothing needs the log of a run still.
pub(crate) fn is_closed(conn: &Conn, one: &Closed) -> Result<bool, Error> {
    match one.removed_at {
        Some(_) => conn.query(IS_REMOVED, args![one.attempt])?[0].flag(0),
        None => Ok(!conn.query(IS_CLOSED, args![one.run])?.is_empty()),
    }
}

/// Returns the runs whose logs were deleted.
pub(crate) fn marked(conn: &Conn) -> Result<HashSet<RunId>, Error> {
    conn.query(MARKED, &[])?.iter().map(|row| row.parse(0)).collect()
}

/// Says whether the log of a run was deleted.
pub(crate) fn has(conn: &Conn, run: RunId) -> Result<bool, Error> {
    conn.query(HAS, args![run])?[0].flag(0)
}

/// Writes down that the log of a run is deleted.
pub(crate) fn mark(conn: &Conn, run: RunId, now: Time) -> Result<(), Error> {
    conn.execute(MARK, args![run, now]).map(drop)
}

/// Forgets that the log of a run was deleted, because the run is forgotten.
pub(crate) fn forget(conn: &Conn, run: RunId) -> Result<(), Error> {
    conn.execute(FORGET, args![run]).map(drop)
}

fn read(row: &Row) -> Result<Closed, Error> {
    let happened = [row.maybe_int(3)?, row.maybe_int(4)?, row.maybe_int(5)?, row.maybe_int(6)?];
    Ok(Closed {
        run: row.parse(0)?,
        attempt: row.parse(1)?,
        project: Some(row.parse(2)?),
        since: Time::from_millis(happened.into_iter().flatten().max().unwrap_or_default()),
        removed_at: None,
    })
}
