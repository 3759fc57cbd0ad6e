//! Images in the store: what is known of the files, and which tasks they belong to.

use forge_model::{Image, ImageId, TaskId, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! image {
    ($tail:literal) => {
        concat!(
            "select i.id, i.file, i.original_name, i.mime_type, i.size_bytes, i.hash, i.created_at, i.updated_at
             from images i ",
            $tail
        )
    };
}

statements! {
    ONE = image!("where i.id = $1");
    BY_HASH = image!("where i.hash = $1");
    OF_TASK = image!("join task_images t on t.image_id = i.id where t.task_id = $1 order by t.created_at, i.created_at, i.id");
    // What waits to be sent, is being written, is about to start or was removed with its task may still be wanted.
    ORPHANS = image!("where i.updated_at < $1
        and not exists (select 1 from task_images t where t.image_id = i.id)
        and not exists (select 1 from drafts d where d.images like '%' || i.id || '%')
        and not exists (select 1 from queue q where q.images like '%' || i.id || '%')
        and not exists (select 1 from starts s where s.body like '%' || i.id || '%')
        and not exists (select 1 from removed r where r.body like '%' || i.id || '%')");
    FILES = "select file from images";
    INSERT = "insert into images (id, file, original_name, mime_type, size_bytes, hash, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)";
    TOUCH = "update images set updated_at = $2 where id = $1";
    DELETE = "delete from images where id = $1";
    // One that was deleted meanwhile is not missed.
    ADD_TO_TASK = "insert into task_images (task_id, image_id, created_at)
        select $1, id, $3 from images where id = $2 on conflict (task_id, image_id) do nothing";
    CLEAR_TASK = "delete from task_images where task_id = $1";
}

/// Returns one image.
pub(crate) fn one(conn: &Conn, id: ImageId) -> Result<Option<Image>, Error> {
    conn.query(ONE, args![id])?.first().map(image).transpose()
}

/// Returns the image with these bytes.
pub(crate) fn by_hash(conn: &Conn, hash: &str) -> Result<Option<Image>, Error> {
    conn.query(BY_HASH, args![hash])?.first().map(image).transpose()
}

/// Returns the images of a task, in the order they were added.
pub(crate) fn of_task(conn: &Conn, task: TaskId) -> Result<Vec<Image>, Error> {
    conn.query(OF_TASK, args![task])?.iter().map(image).collect()
}

/// Returns images that nothing refers to and nobody gave since a time.
pub(crate) fn orphans(conn: &Conn, before: Time) -> Result<Vec<Image>, Error> {
    conn.query(ORPHANS, args![before])?.iter().map(image).collect()
}

/// Returns the names of all files.
pub(crate) fn files(conn: &Conn) -> Result<Vec<String>, Error> {
    conn.query(FILES, &[])?.iter().map(|row| row.text(0)).collect()
}

/// Adds an image.
pub(crate) fn insert(conn: &Conn, i: &Image) -> Result<(), Error> {
    conn.execute(
        INSERT,
        args![
            i.id,
            &i.file,
            &i.original_name,
            i.mime_type.clone(),
            i.size_bytes,
            &i.hash,
            i.created_at,
            i.updated_at
        ],
    )
    .map(drop)
}

/// Records that the same bytes were given again.
pub(crate) fn touch(conn: &Conn, id: ImageId, now: Time) -> Result<(), Error> {
    conn.execute(TOUCH, args![id, now]).map(drop)
}

/// Deletes an image, for its tasks too.
pub(crate) fn delete(conn: &Conn, id: ImageId) -> Result<(), Error> {
    conn.execute(DELETE, args![id]).map(drop)
}

/// Adds images to a task; those it has already stay where they are.
pub(crate) fn add_to_task(conn: &Conn, task: TaskId, ids: &[ImageId], now: Time) -> Result<(), Error> {
    for (place, id) in (0..).zip(ids) {
        // Given together, they keep their order.
        conn.execute(ADD_TO_TASK, args![task, *id, now.plus_millis(place)])?;
    }
    Ok(())
}

/// Gives a task these images in place of those it has.
pub(crate) fn replace_of_task(conn: &Conn, task: TaskId, ids: &[ImageId], now: Time) -> Result<(), Error> {
    conn.execute(CLEAR_TASK, args![task])?;
    add_to_task(conn, task, ids, now)
}

fn image(row: &Row) -> Result<Image, Error> {
    Ok(Image {
        id: row.parse(0)?,
        file: row.text(1)?,
        original_name: row.text(2)?,
        mime_type: row.maybe_text(3)?,
        size_bytes: row.int(4)?,
        hash: row.text(5)?,
        created_at: Time::from_millis(row.int(6)?),
        updated_at: Time::from_millis(row.int(7)?),
    })
}
