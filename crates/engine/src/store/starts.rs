//! Starts under way: written before anything is made, gone when it has happened or was undone.

use std::path::PathBuf;

use forge_model::{AttemptId, ProjectId, RunId, Time};
use serde_json::Value as Json;

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    INSERT = "insert into starts (run_id, attempt_id, project_id, worktree, branch, in_place, body, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    UPDATE = "update starts set body = $2, branch = $3 where run_id = $1";
    MARKS = "select run_id, attempt_id, project_id, worktree, branch, in_place, body from starts
        order by created_at, run_id";
    ALL = "select body from starts order by created_at, run_id";
    OF_ATTEMPT = "select exists (select 1 from starts where attempt_id = $1)";
    BODIES = "select body from starts where attempt_id = $1 order by created_at, run_id";
    DELETE = "delete from starts where run_id = $1";
}

/// What a start under way takes for itself. It is known also when its body cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) run: RunId,
    pub(crate) attempt: AttemptId,
    pub(crate) project: Option<ProjectId>,
    pub(crate) worktree: Option<PathBuf>,
    /// The branch that it makes; none for a further run of an attempt.
    pub(crate) branch: Option<String>,
    pub(crate) in_place: bool,
}

/// Records that a start is under way.
pub(crate) fn insert(conn: &Conn, mark: &Mark, body: &str, now: Time) -> Result<(), Error> {
    let worktree = mark.worktree.as_ref().map(|path| path.to_string_lossy().into_owned());
    let (project, branch) = (mark.project, mark.branch.clone());
    let row = args![mark.run, mark.attempt, project, worktree, branch, mark.in_place, body, now];
    conn.execute(INSERT, row).map(drop)
}

/// Writes down more of a start under way.
pub(crate) fn update(conn: &Conn, run: RunId, branch: Option<&str>, body: &str) -> Result<(), Error> {
    conn.execute(UPDATE, args![run, body, branch]).map(drop)
}

/// Returns what every start under way takes for itself.
pub(crate) fn marks(conn: &Conn) -> Result<Vec<Mark>, Error> {
    conn.query(MARKS, &[])?.iter().map(mark).collect()
}

fn mark(row: &Row) -> Result<Mark, Error> {
    // A row of an older Forge has all of it in its body alone.
    let body: Json = match row.maybe_int(5)? {
        Some(_) => Json::Null,
        None => serde_json::from_str(&row.text(6)?).unwrap_or_default(),
    };
    let text = |value: &Json| value.as_str().map(str::to_string);
    Ok(Mark {
        run: row.parse(0)?,
        attempt: row.parse(1)?,
        project: row.maybe_parse(2)?.or_else(|| body["project"].as_str()?.parse().ok()),
        worktree: row.maybe_text(3)?.or_else(|| text(&body["worktree"])).map(PathBuf::from),
        branch: row.maybe_text(4)?.or_else(|| text(&body["what"]["branch"])),
        in_place: row.maybe_int(5)?.map_or(body["in_place"] == true, |flag| flag != 0),
    })
}

/// Returns every start under way.
pub(crate) fn all(conn: &Conn) -> Result<Vec<String>, Error> {
    conn.query(ALL, &[])?.iter().map(|row| row.text(0)).collect()
}

/// Says whether a start of this attempt is under way.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?[0].flag(0)
}

/// Returns the starts of an attempt that are under way.
pub(crate) fn bodies(conn: &Conn, attempt: AttemptId) -> Result<Vec<String>, Error> {
    conn.query(BODIES, args![attempt])?.iter().map(|row| row.text(0)).collect()
}

/// Forgets a start; says whether it was there.
pub(crate) fn delete(conn: &Conn, run: RunId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![run])? == 1)
}
