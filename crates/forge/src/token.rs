//! The token in the data directory: made once by the first server, read by clients that need it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::private_file;

/// A token shorter than this was not made by us and could be guessed.
const SHORTEST: usize = 32;

/// Returns the file that holds the token.
pub(crate) fn path(home: &Path) -> PathBuf {
    home.join("token")
}

/// Reads the token, when there is one.
pub(crate) fn read(home: &Path) -> Option<String> {
    let token = fs::read_to_string(path(home)).ok()?.trim().to_string();
    (token.len() >= SHORTEST && token.bytes().all(|byte| byte.is_ascii_graphic())).then_some(token)
}

/// Reads the token, or makes one of 256 random bits. Only the server that holds the data may call this.
pub(crate) fn ensure(home: &Path) -> io::Result<String> {
    let path = path(home);
    if let Some(token) = read(home) {
        if fs::metadata(&path)?.permissions().mode() & 0o077 != 0 {
            warn!(
                "{} could be read by others; it is closed now, delete it to get a new token",
                path.display()
            );
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        }
        return Ok(token);
    }
    let token = private_file::secret(32)?;
    private_file::replace(&path, format!("{token}\n").as_bytes())?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let token = ensure(home.path()).unwrap();
        assert_eq!(token.len(), 64);
        assert_eq!(ensure(home.path()).unwrap(), token);
        let mode = fs::metadata(path(home.path())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_file_that_others_could_read_is_closed() {
        let home = tempfile::tempdir().unwrap();
        let token = ensure(home.path()).unwrap();
        fs::set_permissions(path(home.path()), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(ensure(home.path()).unwrap(), token);
        assert_eq!(fs::metadata(path(home.path())).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_empty_token_file_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        fs::write(path(home.path()), "\n").unwrap();
        assert_eq!(ensure(home.path()).unwrap().len(), 64);
    }
}
