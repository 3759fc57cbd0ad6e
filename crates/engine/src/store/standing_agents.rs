//! Standing agents in the store. Their rows go with their task and with their project.

use forge_model::{ProjectId, StandingAgent, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    OF_PROJECT = "select id, project_id, kind, task_id, created_at, updated_at from standing_agents
        where project_id = $1 order by created_at, id";
    EXISTS = "select exists (select 1 from standing_agents where project_id = $1 and kind = $2)";
    INSERT = "insert into standing_agents (id, project_id, kind, task_id, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6)";
}

/// Returns the standing agents of a project, oldest first.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<StandingAgent>, Error> {
    conn.query(OF_PROJECT, args![project])?.iter().map(agent).collect()
}

/// Says whether a project has a standing agent of a kind.
pub(crate) fn exists(conn: &Conn, project: ProjectId, kind: &str) -> Result<bool, Error> {
    conn.query(EXISTS, args![project, kind])?[0].flag(0)
}

/// Adds a standing agent.
pub(crate) fn insert(conn: &Conn, a: &StandingAgent) -> Result<(), Error> {
    conn.execute(INSERT, args![a.id, a.project, &a.kind, a.task, a.created_at, a.updated_at]).map(drop)
}

fn agent(row: &Row) -> Result<StandingAgent, Error> {
    Ok(StandingAgent {
        id: row.parse(0)?,
        project: row.parse(1)?,
        kind: row.text(2)?,
        task: row.parse(3)?,
        created_at: Time::from_millis(row.int(4)?),
        updated_at: Time::from_millis(row.int(5)?),
    })
}
