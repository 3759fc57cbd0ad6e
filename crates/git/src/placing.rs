//! Writing and removing files below a directory without ever following a link.
//!
//! Every step from the top down is opened by itself and must be a directory, so that nothing outside is reached
//! whatever lies in between.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Error, Result, io_error};
use crate::staged::Staged;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory to write below.
#[derive(Debug)]
pub(crate) struct Place {
    top: PathBuf,
    directory: OwnedFd,
}

impl Place {
    pub(crate) fn open(top: &Path) -> Result<Place> {
        let opened = rustix::fs::open(top, DIRECTORY, Mode::empty());
        let directory = opened.map_err(|error| io_error("open", top)(error.into()))?;
        Ok(Place { top: top.to_path_buf(), directory })
    }

    /// Removes a file or a link, and the directories that are empty without it. Fine when there is none.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        let Some((parent, name)) = self.parent(path, false)? else { return Ok(()) };
        match rustix::fs::unlinkat(&parent, &name, AtFlags::empty()) {
            // A directory is not what was to be removed.
            Ok(()) | Err(Errno::NOENT | Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(io_error("remove", &self.top.join(path))(error.into())),
        }
        for directory in path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()) {
            let Some((parent, name)) = self.parent(directory, false)? else { break };
            if rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Writes a file anew, in place of whatever file, link or empty directory is there.
    pub(crate) fn write(&self, path: &Path, content: &[u8], executable: bool) -> Result<()> {
        let mode = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
        self.put(path, "write", |parent| Staged::file(parent, content, mode))
    }

    /// Makes a link in place of whatever file, link or empty directory is there.
    pub(crate) fn link(&self, path: &Path, target: &[u8]) -> Result<()> {
        self.put(path, "link", |parent| Staged::link(parent, target))
    }

    fn put(
        &self,
        path: &Path,
        act: &'static str,
        stage: impl for<'a> FnOnce(&'a OwnedFd) -> io::Result<Staged<'a>>,
    ) -> Result<()> {
        let full = self.top.join(path);
        let (parent, name) = self.made_parent(path)?;
        let staged = stage(&parent).map_err(io_error(act, &full))?;
        let put = match staged.put(&name) {
            Err(Errno::ISDIR) => {
                self.remove_hollow(path)?;
                staged.put(&name)
            }
            put => put,
        };
        put.map_err(|error| io_error("replace", &full)(error.into()))
    }

    /// Makes a directory, unless there is one.
    pub(crate) fn directory(&self, path: &Path) -> Result<()> {
        let (parent, name) = self.made_parent(path)?;
        match rustix::fs::mkdirat(&parent, &name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(io_error("make", &self.top.join(path))(error.into())),
        }
    }

    /// Removes a directory that holds nothing but directories.
    fn remove_hollow(&self, path: &Path) -> Result<()> {
        let full = self.top.join(path);
        for entry in fs::read_dir(&full).map_err(io_error("list", &full))? {
            let entry = entry.map_err(io_error("list", &full))?;
            self.remove_hollow(&path.join(entry.file_name()))?;
        }
        let Some((parent, name)) = self.parent(path, false)? else { return Ok(()) };
        let removed = rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR);
        removed.map_err(|error| io_error("replace", &full)(error.into()))
    }

    fn made_parent(&self, path: &Path) -> Result<(OwnedFd, OsString)> {
        self.parent(path, true)?.ok_or_else(|| Error::NoSuchPath { path: self.top.join(path) })
    }

    /// Opens the directory that a path is in, step by step; nothing when it is not there and not to be made.
    fn parent(&self, path: &Path, make: bool) -> Result<Option<(OwnedFd, OsString)>> {
        let full = self.top.join(path);
        let refuse = || Error::OutOfBounds { path: path.to_path_buf() };
        if !is_inside(path) {
            return Err(refuse());
        }
        let name = path.file_name().ok_or_else(refuse)?.to_os_string();
        let duplicate = rustix::io::fcntl_dupfd_cloexec(self.directory.as_fd(), 0);
        let mut directory = duplicate.map_err(|error| io_error("open", &full)(error.into()))?;
        for step in path.parent().into_iter().flat_map(Path::components) {
            let step = step.as_os_str();
            let opened = match rustix::fs::openat(&directory, step, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    match rustix::fs::mkdirat(&directory, step, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(io_error("make", &full)(error.into())),
                    }
                    rustix::fs::openat(&directory, step, DIRECTORY, Mode::empty())
                }
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !make => return Ok(None),
                opened => opened,
            };
            directory = opened.map_err(|error| io_error("open", &full)(error.into()))?;
        }
        Ok(Some((directory, name)))
    }
}

/// Says whether a path leads down from where it starts, and not into a repository's own directory.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.file_name().is_some()
        && path.components().all(|part| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (top, outside) = (dir.path().join("top"), dir.path().join("outside"));
        fs::create_dir(&top).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "theirs").unwrap();
        symlink(&outside, top.join("way")).unwrap();
        let place = Place::open(&top).unwrap();
        assert!(place.write(Path::new("way/file"), b"ours", false).is_err());
        place.remove(Path::new("way/file")).unwrap();
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
        // The link itself is replaced.
        place.write(Path::new("way"), b"ours", false).unwrap();
        assert_eq!(fs::read_to_string(top.join("way")).unwrap(), "ours");
        assert!(outside.join("file").exists());
    }

    #[test]
    fn a_path_that_leads_out_or_into_a_repository_is_refused() {
        for path in ["../x", "/x", "a/../x", ".git/config", "a/.GIT/config", ""] {
            assert!(!is_inside(Path::new(path)), "{path}");
        }
        assert!(is_inside(Path::new("a/.gitignore")));
    }
}
