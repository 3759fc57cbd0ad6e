//! Images: pictures that people give, kept once each, and what tasks they belong to.
//!
//! The bytes are files named by their hash; a row says what is known of them. A file is there before its row
//! and goes after it, so a crash leaves at worst a file that nobody knows, which is cleaned up.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use forge_model::{Image, ImageId, TaskId};
use sha2::{Digest, Sha256};

use crate::ages::Ages;
use crate::background::{blocking, detached};
use crate::error::io_error;
use crate::image_kind;
use crate::store::images;
use crate::{Engine, Error, Result};

/// The largest picture that is kept, in bytes.
pub const LARGEST_IMAGE: usize = 20 * 1024 * 1024;

/// How long a picture may wait for somebody to refer to it.
const ORPHAN_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// The longest name that is remembered, in characters.
const LONGEST_NAME: usize = 255;

/// A picture to keep.
#[derive(Clone)]
pub struct NewImage {
    /// What the person calls it; its ending says what it is.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The task that it is for.
    pub task: Option<TaskId>,
}

impl std::fmt::Debug for NewImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewImage").field("name", &self.name).field("bytes", &self.bytes.len()).finish()
    }
}

impl Engine {
    /// Keeps a picture. The same bytes are the same image, also when they are given twice at once.
    pub async fn add_image(&self, new: NewImage) -> Result<Image> {
        let name = checked_name(&new.name)?;
        let kind = image_kind::of(&name, &new.bytes)?;
        if new.bytes.len() > LARGEST_IMAGE {
            return Err(Error::invalid(format!(
                "the image has {} bytes; {LARGEST_IMAGE} are the most that is kept",
                new.bytes.len()
            )));
        }
        if let Some(task) = new.task {
            self.task(task).await?;
        }
        let engine = self.clone();
        detached(async move {
            let size_bytes = i64::try_from(new.bytes.len()).unwrap_or(i64::MAX);
            let _turn = engine.inner.images.lock().await;
            let dir = engine.inner.paths.images();
            let (hash, bytes) =
                blocking(move || (format!("{:x}", Sha256::digest(&new.bytes)), new.bytes)).await?;
            let wanted = hash.clone();
            let known = engine.inner.store.read(move |conn| images::by_hash(conn, &wanted)).await?;
            let file = known.map_or_else(|| format!("{hash}.{}", kind.ending), |image| image.file);
            let place = file.clone();
            blocking(move || write(&dir, &place, &bytes)).await??;
            engine.inner.seam.pass("image.written", "").await;
            let written = engine.inner.store.write(move |tx| {
                let now = tx.now();
                let image = match images::by_hash(tx.conn(), &hash)? {
                    Some(image) => {
                        images::touch(tx.conn(), image.id, now)?;
                        Image { updated_at: now, ..image }
                    }
                    None => {
                        let mime_type = Some(kind.mime.to_string());
                        let image = Image {
                            id: ImageId::random(),
                            file,
                            original_name: name,
                            mime_type,
                            size_bytes,
                            hash,
                            created_at: now,
                            updated_at: now,
                        };
                        images::insert(tx.conn(), &image)?;
                        image
                    }
                };
                if let Some(task) = new.task {
                    images::add_to_task(tx.conn(), task, &[image.id], now)?;
                }
                Ok(image)
            });
            Ok(written.await?)
        })
        .await
    }

    /// Returns an image and its bytes.
    pub async fn image(&self, id: ImageId) -> Result<(Image, Vec<u8>)> {
        let found = self.inner.store.read(move |conn| images::one(conn, id)).await?;
        let image = found.ok_or_else(not_found)?;
        let path = self.inner.paths.images().join(&image.file);
        let read = blocking(move || match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not_found()),
            read => read.map_err(io_error("read", &path)),
        });
        Ok((image, read.await??))
    }

    /// Returns the images of a task, in the order they were added; none when there is no such task.
    pub async fn images_of_task(&self, task: TaskId) -> Result<Vec<Image>> {
        Ok(self.inner.store.read(move |conn| images::of_task(conn, task)).await?)
    }

    /// Deletes an image for all its tasks. One that is not there is deleted already.
    pub async fn delete_image(&self, id: ImageId) -> Result<()> {
        let engine = self.clone();
        detached(async move {
            let _turn = engine.inner.images.lock().await;
            let deleted = engine.inner.store.write(move |tx| {
                let image = images::one(tx.conn(), id)?;
                images::delete(tx.conn(), id)?;
                Ok(image)
            });
            let Some(image) = deleted.await? else { return Ok(()) };
            let path = engine.inner.paths.images().join(image.file);
            blocking(move || remove_if_there(&path).map_err(io_error("remove", &path))).await?
        })
        .await
    }

    /// Refuses ids that name no image; `image_ids` is what clients call the list.
    pub(crate) async fn check_images(&self, ids: &[ImageId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.to_vec();
        let missing = self.inner.store.read(move |conn| {
            for id in ids {
                if images::one(conn, id)?.is_none() {
                    return Ok(Some(id));
                }
            }
            Ok(None)
        });
        match missing.await? {
            Some(id) => Err(Error::invalid(format!("`image_ids` names no image: {id}"))),
            None => Ok(()),
        }
    }

    /// Deletes images that nothing refers to and files that no row knows.
    pub(crate) async fn clean_images(&self, ages: &Ages) -> Result<()> {
        // Nobody is between a file and its row while this is held.
        let _turn = self.inner.images.lock().await;
        let before = ages.before(ORPHAN_MILLIS);
        let cleaned = self.inner.store.write(move |tx| {
            for orphan in images::orphans(tx.conn(), before)? {
                tracing::info!(image.id = %orphan.id, "image {} belongs to nothing and is deleted", orphan.id);
                images::delete(tx.conn(), orphan.id)?;
            }
            images::files(tx.conn())
        });
        let known = cleaned.await?;
        let dir = self.inner.paths.images();
        blocking(move || remove_unknown(&dir, &known)).await
    }
}

fn not_found() -> Error {
    Error::not_found("Image not found.")
}

/// Keeps the last part of a name: a browser may send a whole path.
fn checked_name(name: &str) -> Result<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    match name.trim() {
        "" => Err(Error::invalid("the image must have a file name")),
        name => Ok(name.to_string()),
    }
}

/// Writes a file whole or not at all. One that is there already has these bytes, unless the disk lost them.
pub(crate) fn write(dir: &Path, file: &str, bytes: &[u8]) -> Result<()> {
    let path = dir.join(file);
    if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io_error("create", dir))?;
    let draft = dir.join(format!("{file}.part"));
    let written = remove_if_there(&draft).and_then(|()| {
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        out.write_all(bytes)?;
        out.sync_all()?;
        fs::rename(&draft, &path)?;
        fs::File::open(dir)?.sync_all()
    });
    if written.is_err() {
        // What matters is why it was not written; what is left is cleaned up later.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(io_error("write", &path))
}

fn remove_if_there(draft: &Path) -> io::Result<()> {
    match fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes files that no row knows: a server died between the two, or in the middle of one.
fn remove_unknown(dir: &Path, known: &[String]) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Only what bears such a name was made here.
        let ours = name.split('.').next().is_some_and(|hash| hash.len() == 64);
        if ours
            && !known.iter().any(|file| *file == name)
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!("could not remove {}: {error}", entry.path().display());
        }
    }
}
