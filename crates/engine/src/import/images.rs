//! Foreign images: their bytes are copied when they are what their row says, and kept under our own name.
//!
//! The cache of the two products is one directory, and anybody may have cleaned it up: a file that is missing or has
//! other bytes leaves a row without bytes. A name that leads out of the directory is refused.

use std::path::{Path, PathBuf};

use forge_model::{Image, TaskId, Time};
use sha2::{Digest, Sha256};

use super::report::Tally;
use super::source::Source;
use crate::images::LARGEST_IMAGE;
use crate::{Result, image_kind};

/// An image, and its bytes when they were found.
#[derive(Debug)]
pub(super) struct FoundImage {
    pub(super) key: String,
    pub(super) image: Image,
    /// What its file is called there.
    pub(super) file: String,
    pub(super) bytes: Option<Vec<u8>>,
}

/// Lists the images, without their bytes.
pub(super) fn list(source: &Source, tally: &mut Tally) -> Result<Vec<FoundImage>> {
    let table = if source.has("attachments") { "attachments" } else { "images" };
    let columns = ["id", "file_path", "original_name", "mime_type", "size_bytes", "hash", "created_at"];
    let mut all = Vec::new();
    for row in source.rows(table, &columns)? {
        let name = row[2].some_text().unwrap_or_else(|| "image".to_string());
        let file = row[1].some_text().unwrap_or_default();
        if file.is_empty() || file.contains(['/', '\\']) || file.contains("..") {
            tally.skipped("images", &name, "the name of their file leads elsewhere");
            continue;
        }
        let hash = row[5].text().unwrap_or_default().to_ascii_lowercase();
        let key = row[0].id();
        let (Some(key), Some(id)) = (key.clone(), key.and_then(|key| key.parse().ok())) else {
            tally.skipped("images", &name, "their id cannot be read");
            continue;
        };
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            tally.skipped("images", &name, "their row has no hash");
            continue;
        }
        let created_at = row[6].time().unwrap_or(Time::from_millis(0));
        let image = Image {
            id,
            file: format!("{hash}.{}", ending(&file)),
            original_name: name,
            mime_type: row[3].some_text(),
            size_bytes: row[4].int().unwrap_or(0),
            hash,
            created_at,
            updated_at: created_at,
        };
        all.push(FoundImage { key, image, file, bytes: None });
    }
    Ok(all)
}

/// Finds the bytes of an image in one of some directories.
pub(super) fn load(found: &mut FoundImage, places: &[PathBuf], tally: &mut Tally) {
    let name = found.image.original_name.clone();
    let mut is_other = false;
    for path in places.iter().map(|place| place.join(&found.file)) {
        let Some(bytes) = bytes_of(&path) else { continue };
        if format!("{:x}", Sha256::digest(&bytes)) != found.image.hash {
            is_other = true;
            continue;
        }
        match image_kind::of(&name, &bytes) {
            // What the bytes are counts, not what somebody called them.
            Ok(kind) => {
                found.image.file = format!("{}.{}", found.image.hash, kind.ending);
                found.image.mime_type = Some(kind.mime.to_string());
            }
            Err(_) => found.image.mime_type = Some("application/octet-stream".to_string()),
        }
        found.bytes = Some(bytes);
        return;
    }
    let why = match is_other {
        true => "The files of these images hold other bytes than they should; they are known by name only",
        false => "The files of these images were not found; they are known by name only",
    };
    tally.about(why, &name);
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > LARGEST_IMAGE as u64 {
        return None;
    }
    std::fs::read(path).ok()
}

fn ending(file: &str) -> String {
    let ending = file.rsplit_once('.').map_or("bin", |(_, ending)| ending);
    let plain: String = ending.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    if plain.is_empty() { "bin".to_string() } else { plain.to_ascii_lowercase() }
}

/// Reads which images belong to which tasks.
pub(super) fn of_tasks(source: &Source) -> Result<Vec<(TaskId, String, Time)>> {
    let mut all = Vec::new();
    for (table, image) in [("task_images", "image_id"), ("task_attachments", "attachment_id")] {
        for row in source.rows(table, &["task_id", image, "created_at"])? {
            all.push((row[0].id(), row[1].id(), row[2].time()));
        }
    }
    for row in source.rows("workspace_attachments", &["workspace_id", "attachment_id", "created_at"])? {
        let Some(workspace) = row[0].id() else { continue };
        let task = source.rows_of("workspaces", &["task_id"], "id", &workspace)?;
        let task = task.first().and_then(|task| task[0].id());
        // The task of one whose own is missing has the workspace's id.
        let task = match task {
            Some(task) if !source.rows_of("tasks", &["id"], "id", &task)?.is_empty() => task,
            _ => workspace,
        };
        all.push((Some(task), row[1].id(), row[2].time()));
    }
    let whole = all.into_iter().filter_map(|(task, image, at)| {
        Some((task?.parse().ok()?, image?, at.unwrap_or(Time::from_millis(0))))
    });
    Ok(whole.collect())
}
