//! Where the attempts of all projects have their files.

use std::path::PathBuf;

use forge_model::{AttemptId, ProjectId, RunId};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ATTEMPTS = "select a.id, a.project_id, p.name, a.worktree, a.in_place = 0 and a.worktree_deleted = 0
        from attempts a join projects p on p.id = a.project_id order by a.created_at desc, a.id";
    RUNS = "select id from runs where attempt_id = $1";
}

/// Where an attempt has its files.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) attempt: AttemptId,
    pub(crate) project: ProjectId,
    /// What the project is called.
    pub(crate) name: String,
    /// None when it has none, or works in the person's checkout.
    pub(crate) worktree: Option<PathBuf>,
    pub(crate) runs: Vec<RunId>,
}

/// Returns the places of all attempts, the newest first.
pub(crate) fn places(conn: &Conn) -> Result<Vec<Place>, Error> {
    let rows = conn.query(ATTEMPTS, &[])?;
    let places = rows.iter().map(|row| {
        let attempt: AttemptId = row.parse(0)?;
        let runs = conn.query(RUNS, args![attempt])?;
        let worktree = PathBuf::from(row.text(3)?);
        Ok(Place {
            attempt,
            project: row.parse(1)?,
            name: row.text(2)?,
            worktree: row.flag(4)?.then_some(worktree),
            runs: runs.iter().map(|row| row.parse(0)).collect::<Result<_, Error>>()?,
        })
    });
    places.collect()
}
