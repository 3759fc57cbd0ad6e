//! Files that only their owner may read, written whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::Result;
use crate::error::io_error;

/// Reads a file; none when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", path)(error)),
    }
}

/// Puts a file in place of whatever has that name. A link there is replaced, never followed. Two at a time
/// for the same path would take each other's draft, so callers take turns.
pub(crate) fn replace(path: &Path, content: &str) -> Result<()> {
    let draft = path.with_extension("draft");
    // A draft can only be left over from a server that died while it wrote it.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_error("remove", &draft)(error));
        }
        _ => {}
    }
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(content.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What matters is why it was not written; the draft is at worst replaced next time.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(io_error("write", path))
}
