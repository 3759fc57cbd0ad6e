//! Tags in the store.

use forge_model::{Tag, TagId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    ALL = "select id, name, content, created_at, updated_at from tags order by name, id";
    ONE = "select id, name, content, created_at, updated_at from tags where id = $1";
    INSERT = "insert into tags (id, name, content, created_at, updated_at) values ($1, $2, $3, $4, $5)";
    UPDATE = "update tags set name = $2, content = $3, updated_at = $4 where id = $1";
    DELETE = "delete from tags where id = $1";
}

/// Returns every tag, by name.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Tag>, Error> {
    conn.query(ALL, &[])?.iter().map(tag).collect()
}

/// Returns one tag.
pub(crate) fn one(conn: &Conn, id: TagId) -> Result<Option<Tag>, Error> {
    conn.query(ONE, args![id])?.first().map(tag).transpose()
}

/// Adds a tag.
pub(crate) fn insert(conn: &Conn, t: &Tag) -> Result<(), Error> {
    conn.execute(INSERT, args![t.id, &t.name, &t.content, t.created_at, t.updated_at]).map(drop)
}

/// Writes a tag over.
pub(crate) fn update(conn: &Conn, t: &Tag) -> Result<(), Error> {
    conn.execute(UPDATE, args![t.id, &t.name, &t.content, t.updated_at]).map(drop)
}

/// Deletes a tag; says whether it was there.
pub(crate) fn delete(conn: &Conn, id: TagId) -> Result<bool, Error> {
    Ok(conn.execute(DELETE, args![id])? == 1)
}

fn tag(row: &Row) -> Result<Tag, Error> {
    Ok(Tag {
        id: row.parse(0)?,
        name: row.text(1)?,
        content: row.text(2)?,
        created_at: Time::from_millis(row.int(3)?),
        updated_at: Time::from_millis(row.int(4)?),
    })
}
