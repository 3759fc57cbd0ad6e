//! The data directory: where it is, and that nobody else may look inside.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::environment;
use crate::exit::{Failure, Result};

/// Finds the data directory: what was given, else `FORGE_HOME`, else `forge` where the platform keeps data.
/// It need not exist.
pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => match environment::path(environment::FORGE_HOME) {
            Some(path) => path,
            None => platform()?,
        },
    };
    std::path::absolute(&path)
        .map_err(|error| Failure::invalid(format!("could not make {} absolute: {error}", path.display())))
}

/// Says whether a data directory is the one that the platform has for it.
pub(crate) fn is_usual(home: &Path) -> bool {
    platform().is_ok_and(|usual| usual == home)
}

/// Makes the data directory when it is missing, for its owner alone.
pub(crate) fn create(home: &Path) -> Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(home).and_then(|()| close(home));
    made.map_err(|error| {
        let home = home.display();
        Failure::away(format!(
            "could not make the data directory {home}: {error}; name another with --data or {}",
            environment::FORGE_HOME
        ))
    })
}

/// Takes the rights of others away; an existing directory may have been made by hand.
fn close(home: &Path) -> io::Result<()> {
    let metadata = fs::metadata(home)?;
    if !metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(home, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn platform() -> Result<PathBuf> {
    let person = || {
        environment::path(environment::HOME).ok_or_else(|| {
            Failure::invalid(format!(
                "{} is not set, so there is no place for data; name one with --data or {}",
                environment::HOME,
                environment::FORGE_HOME
            ))
        })
    };
    if cfg!(target_os = "macos") {
        return Ok(person()?.join("Library/Application Support/forge"));
    }
    // The specification of this variable says that a relative path is to be ignored.
    match environment::path(environment::XDG_DATA_HOME).filter(|path| path.is_absolute()) {
        Some(path) => Ok(path.join("forge")),
        None => Ok(person()?.join(".local/share/forge")),
    }
}
