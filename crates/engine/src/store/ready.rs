//! Worktrees that were made ahead: which there are, and who claimed one.

use forge_model::{AttemptId, ProjectId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ALL = "select path, project_id, state, attempt_id, commit_oid from ready_worktrees order by created_at, path";
    INSERT = "insert into ready_worktrees (path, project_id, commit_oid, state, created_at)
        values ($1, $2, $3, 'filling', $4)";
    READY = "update ready_worktrees set state = 'ready', commit_oid = $2, attempt_id = null where path = $1";
    CLAIM = "update ready_worktrees set state = 'claimed', attempt_id = $2 where path = $1 and state = 'ready'";
    DELETE = "delete from ready_worktrees where path = $1";
    LAST_BASE = "select target_branch, created_at from attempts where project_id = $1 and in_place = 0
        order by created_at desc, id limit 1";
}

/// A worktree that was made ahead.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) path: String,
    pub(crate) project: ProjectId,
    /// The commit that the keeper left it at.
    pub(crate) oid: String,
    pub(crate) state: State,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Filling,
    Ready,
    Claimed(AttemptId),
}

/// Returns all of them, oldest first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Made>, Error> {
    let rows = conn.query(ALL, &[])?;
    let made = rows.iter().map(|row| {
        let state = match row.text(2)?.as_str() {
            "ready" => State::Ready,
            "claimed" => State::Claimed(row.parse(3)?),
            _ => State::Filling,
        };
        Ok(Made { path: row.text(0)?, project: row.parse(1)?, oid: row.text(4)?, state })
    });
    made.collect()
}

/// Announces one before it is made.
pub(crate) fn insert(conn: &Conn, path: &str, project: ProjectId, oid: &str, now: Time) -> Result<(), Error> {
    conn.execute(INSERT, args![path, project, oid, now]).map(drop)
}

/// Records that one waits at a commit.
pub(crate) fn ready(conn: &Conn, path: &str, oid: &str) -> Result<(), Error> {
    conn.execute(READY, args![path, oid]).map(drop)
}

/// Claims one for an attempt; says whether it still waited.
pub(crate) fn claim(conn: &Conn, path: &str, attempt: AttemptId) -> Result<bool, Error> {
    Ok(conn.execute(CLAIM, args![path, attempt])? == 1)
}

/// Forgets one that is gone or was handed over.
pub(crate) fn delete(conn: &Conn, path: &str) -> Result<(), Error> {
    conn.execute(DELETE, args![path]).map(drop)
}

/// Returns the branch that the newest attempt of a project started from, and when it was made.
pub(crate) fn last_base(conn: &Conn, project: ProjectId) -> Result<Option<(String, Time)>, Error> {
    let rows = conn.query(LAST_BASE, args![project])?;
    rows.first().map(|row| Ok((row.text(0)?, Time::from_millis(row.int(1)?)))).transpose()
}
