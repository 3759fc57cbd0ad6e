//! Projects in the store.

use std::path::PathBuf;

use forge_model::{Project, ProjectId, Time};

use super::conn::{Conn, Error, Row, Value, args};
use super::statements;

statements! {
    ALL = "select id, name, path, setup_script, dev_script, cleanup_script, copy_files, commit_prompt,
        default_base_branch, created_at, updated_at, trust_filters from projects order by created_at desc, id";
    ONE = "select id, name, path, setup_script, dev_script, cleanup_script, copy_files, commit_prompt,
        default_base_branch, created_at, updated_at, trust_filters from projects where id = $1";
    INSERT = "insert into projects (id, name, path, setup_script, dev_script, cleanup_script, copy_files,
        commit_prompt, default_base_branch, created_at, updated_at, trust_filters)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    UPDATE = "update projects set name = $2, path = $3, setup_script = $4, dev_script = $5, cleanup_script = $6,
        copy_files = $7, commit_prompt = $8, default_base_branch = $9, created_at = $10, updated_at = $11,
        trust_filters = $12 where id = $1";
    DELETE = "delete from projects where id = $1";
    COUNT = "select count(*) from projects";
}

/// Returns every project, newest first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Project>, Error> {
    conn.query(ALL, &[])?.iter().map(project).collect()
}

/// Returns one project.
pub(crate) fn one(conn: &Conn, id: ProjectId) -> Result<Option<Project>, Error> {
    conn.query(ONE, args![id])?.first().map(project).transpose()
}

/// Adds a project; a path that is taken is [`Error::Unique`].
pub(crate) fn insert(conn: &Conn, p: &Project) -> Result<(), Error> {
    conn.execute(INSERT, &columns(p)).map(drop)
}

/// Writes a project over; a path that is taken is [`Error::Unique`].
pub(crate) fn update(conn: &Conn, p: &Project) -> Result<(), Error> {
    conn.execute(UPDATE, &columns(p)).map(drop)
}

/// A project's columns, in the order of both statements.
fn columns(p: &Project) -> [Value; 12] {
    [
        p.id.into(),
        (&p.name).into(),
        p.path.to_string_lossy().into_owned().into(),
        p.setup_script.clone().into(),
        p.dev_script.clone().into(),
        p.cleanup_script.clone().into(),
        p.copy_files.clone().into(),
        p.commit_prompt.clone().into(),
        p.default_base_branch.clone().into(),
        p.created_at.into(),
        p.updated_at.into(),
        p.trust_filters.into(),
    ]
}

/// Deletes a project's row.
pub(crate) fn delete(conn: &Conn, id: ProjectId) -> Result<(), Error> {
    conn.execute(DELETE, args![id]).map(drop)
}

/// Counts the projects.
pub(crate) fn count(conn: &Conn) -> Result<i64, Error> {
    conn.query(COUNT, &[])?[0].int(0)
}

fn project(row: &Row) -> Result<Project, Error> {
    Ok(Project {
        id: row.parse(0)?,
        name: row.text(1)?,
        path: PathBuf::from(row.text(2)?),
        setup_script: row.maybe_text(3)?,
        dev_script: row.maybe_text(4)?,
        cleanup_script: row.maybe_text(5)?,
        copy_files: row.maybe_text(6)?,
        commit_prompt: row.maybe_text(7)?,
        default_base_branch: row.maybe_text(8)?,
        created_at: Time::from_millis(row.int(9)?),
        updated_at: Time::from_millis(row.int(10)?),
        trust_filters: row.flag(11)?,
    })
}
