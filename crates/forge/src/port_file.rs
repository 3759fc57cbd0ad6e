//! The port file where older tools look for the server: `automagik-forge/automagik-forge.port` among the
//! temporary files. That place may be shared with other users, so nothing there is trusted or followed, and
//! failing to write it never keeps a server from serving.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::private_file;

/// A port file that this process wrote.
#[derive(Debug)]
pub(crate) struct PortFile {
    path: PathBuf,
    port: u16,
}

impl PortFile {
    /// Writes the port below `temporary`, unless the directory there belongs to somebody else.
    pub(crate) fn write(temporary: &Path, port: u16) -> io::Result<Self> {
        let directory = temporary.join("automagik-forge");
        match fs::DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(&directory)?;
        if !found.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory is another user's"));
        }
        let path = directory.join("automagik-forge.port");
        private_file::replace(&path, port.to_string().as_bytes())?;
        Ok(Self { path, port })
    }

    /// Removes the file, unless another server has written its own port since.
    pub(crate) fn remove(self) -> io::Result<()> {
        match fs::read_to_string(&self.path) {
            Ok(text) if text.trim() == self.port.to_string() => fs::remove_file(&self.path),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(temporary: &Path) -> PathBuf {
        temporary.join("automagik-forge/automagik-forge.port")
    }

    #[test]
    fn the_port_is_written_as_text_and_removed_at_the_end() {
        let temporary = tempfile::tempdir().unwrap();
        let written = PortFile::write(temporary.path(), 8887).unwrap();
        assert_eq!(fs::read_to_string(file(temporary.path())).unwrap(), "8887");
        written.remove().unwrap();
        assert!(!file(temporary.path()).exists());
    }

    #[test]
    fn the_port_of_a_newer_server_is_left_alone() {
        let temporary = tempfile::tempdir().unwrap();
        let older = PortFile::write(temporary.path(), 1).unwrap();
        let newer = PortFile::write(temporary.path(), 2).unwrap();
        older.remove().unwrap();
        assert_eq!(fs::read_to_string(file(temporary.path())).unwrap(), "2");
        newer.remove().unwrap();
    }

    #[test]
    fn a_link_in_place_of_the_file_is_replaced_and_its_target_kept() {
        let temporary = tempfile::tempdir().unwrap();
        let precious = temporary.path().join("precious");
        fs::write(&precious, "mine").unwrap();
        fs::create_dir(temporary.path().join("automagik-forge")).unwrap();
        std::os::unix::fs::symlink(&precious, file(temporary.path())).unwrap();
        PortFile::write(temporary.path(), 8887).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
        assert_eq!(fs::read_to_string(file(temporary.path())).unwrap(), "8887");
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), temporary.path().join("automagik-forge")).unwrap();
        assert!(PortFile::write(temporary.path(), 8887).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
