//! Contents that may be wanted back, each in a file named by its hash. Only the owner may read them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::Result;
use crate::ages::Ages;
use crate::error::io_error;

/// How long a content is kept after it was last wanted.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// How old a time may be before it is set anew.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// A directory of contents.
#[derive(Debug, Clone)]
pub(crate) struct Objects(PathBuf);

impl Objects {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self(dir)
    }

    /// Keeps a content, and returns its hash. Not synced: it matters only while the files it is a copy of are there.
    pub(crate) fn keep(&self, content: &[u8]) -> Result<String> {
        let hash = hash(content);
        let path = self.0.join(&hash);
        if let Ok(there) = fs::metadata(&path) {
            let is_old = there.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > FRESH));
            if is_old {
                let touched = fs::File::options().append(true).open(&path);
                touched
                    .and_then(|file| file.set_modified(SystemTime::now()))
                    .map_err(io_error("touch", &path))?;
            }
            return Ok(hash);
        }
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)
            .map_err(io_error("create", &self.0))?;
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = self.0.join(format!(".{hash}.{}.{number}", std::process::id()));
        let written = fs::File::options().write(true).create_new(true).mode(0o600).open(&draft);
        let written = written.and_then(|mut file| file.write_all(content));
        written.and_then(|()| fs::rename(&draft, &path)).map_err(io_error("write", &path))?;
        Ok(hash)
    }

    /// Reads a content; none when it is not kept any more.
    pub(crate) fn read(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let path = self.0.join(hash);
        match fs::read(&path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error("read", &path)(error)),
        }
    }

    /// Forgets what nobody wanted for its time.
    pub(crate) fn purge(&self, ages: &Ages) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let old = modified.is_ok_and(|at| ages.of_file(at) > KEPT_MILLIS);
            if old && let Err(error) = fs::remove_file(entry.path()) {
                tracing::warn!("could not purge {}: {error}", entry.path().display());
            }
        }
    }
}

/// The hash that names a content.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_kept_once_and_for_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let objects = Objects::new(dir.path().join("objects"));
        let name = objects.keep(b"one").unwrap();
        assert_eq!(objects.keep(b"one").unwrap(), name);
        assert_eq!(objects.read(&name).unwrap().as_deref(), Some(&b"one"[..]));
        let now = crate::store::now();
        objects.purge(&Ages::right_at(now));
        assert!(objects.read(&name).unwrap().is_some());
        let later = now.plus_millis(KEPT_MILLIS + 1000);
        objects.purge(&Ages::right_at(now).jumped_to(later));
        assert!(objects.read(&name).unwrap().is_some(), "a jump of the clock makes nothing older");
        objects.purge(&Ages::right_at(later));
        assert!(objects.read(&name).unwrap().is_none());
    }
}
