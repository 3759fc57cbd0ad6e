//! The rules of projects, in their order.

use forge_model::{ProjectId, Rule, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    OF_PROJECT = "select effect, about, pattern from rules where project_id = $1 order by place";
    INSERT = "insert into rules (project_id, place, effect, about, pattern, created_at)
        values ($1, $2, $3, $4, $5, $6)";
    DELETE = "delete from rules where project_id = $1";
}

/// Returns the rules of a project, in their order.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<Rule>, Error> {
    let rows = conn.query(OF_PROJECT, args![project])?;
    rows.iter()
        .map(|row| Ok(Rule { effect: row.parse(0)?, about: row.parse(1)?, pattern: row.maybe_text(2)? }))
        .collect()
}

/// Puts these in the place of all rules of a project.
pub(crate) fn replace(conn: &Conn, project: ProjectId, rules: &[Rule], now: Time) -> Result<(), Error> {
    delete(conn, project)?;
    for (place, rule) in rules.iter().enumerate() {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        conn.execute(INSERT, args![project, place, rule.effect, rule.about, rule.pattern.clone(), now])?;
    }
    Ok(())
}

/// Deletes the rules of a project.
pub(crate) fn delete(conn: &Conn, project: ProjectId) -> Result<(), Error> {
    conn.execute(DELETE, args![project]).map(drop)
}
