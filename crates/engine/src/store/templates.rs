//! Templates in the store.

use forge_model::{ProjectId, Template, TemplateId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "select id, project_id, name, title, description, created_at, updated_at from templates ",
            $tail
        )
    };
}

statements! {
    ALL = select!("order by project_id is not null, name, id");
    GLOBAL = select!("where project_id is null order by name, id");
    OF_PROJECT = select!("where project_id = $1 order by name, id");
    ONE = select!("where id = $1");
    INSERT = "insert into templates (id, project_id, name, title, description, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7)";
    UPDATE = "update templates set name = $2, title = $3, description = $4, updated_at = $5 where id = $1";
    DELETE = "delete from templates where id = $1";
}

/// Returns every template: those for all projects first, then by name.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Template>, Error> {
    conn.query(ALL, &[])?.iter().map(template).collect()
}

/// Returns the templates for all projects, by name.
pub(crate) fn global(conn: &Conn) -> Result<Vec<Template>, Error> {
    conn.query(GLOBAL, &[])?.iter().map(template).collect()
}

/// Returns the templates of one project, by name.
pub(crate) fn of_project(conn: &Conn, project: ProjectId) -> Result<Vec<Template>, Error> {
    conn.query(OF_PROJECT, args![project])?.iter().map(template).collect()
}

/// Returns one template.
pub(crate) fn one(conn: &Conn, id: TemplateId) -> Result<Option<Template>, Error> {
    conn.query(ONE, args![id])?.first().map(template).transpose()
}

/// Adds a template; a project that is not there is [`Error::ForeignKey`].
pub(crate) fn insert(conn: &Conn, t: &Template) -> Result<(), Error> {
    let values = args![t.id, t.project, &t.name, &t.title, t.description.clone(), t.created_at, t.updated_at];
    conn.execute(INSERT, values).map(drop)
}

/// Writes a template over; it stays with its project.
pub(crate) fn update(conn: &Conn, t: &Template) -> Result<(), Error> {
    conn.execute(UPDATE, args![t.id, &t.name, &t.title, t.description.clone(), t.updated_at]).map(drop)
}

/// Deletes a template; says whether it was there.
pub(crate) fn delete(conn: &Conn, id: TemplateId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![id])? == 1)
}

fn template(row: &Row) -> Result<Template, Error> {
    Ok(Template {
        id: row.parse(0)?,
        project: row.maybe_parse(1)?,
        name: row.text(2)?,
        title: row.text(3)?,
        description: row.maybe_text(4)?,
        created_at: Time::from_millis(row.int(5)?),
        updated_at: Time::from_millis(row.int(6)?),
    })
}
