//! What can be said about this machine without an engine: whether git is good enough, which agents are here, how much
//! room there is. It opens no data and starts nothing but `git version`.

use std::path::{Path, PathBuf};

use crate::availability::{self, Availability};
use crate::paths;

/// Finds git, and returns its version and where it is; or says what is wrong with it, and the remedy.
pub fn git_here() -> std::result::Result<(String, PathBuf), String> {
    let git = forge_git::Git::find().map_err(|error| error.to_string())?;
    let (major, minor, patch) = git.version();
    Ok((format!("{major}.{minor}.{patch}"), git.program().to_path_buf()))
}

/// Returns what is known of every agent, called as it is without profiles, in the order of their names.
pub fn agents_here(home: Option<&Path>) -> Vec<Availability> {
    availability::here(home)
}

/// Returns the free bytes of the disk that holds a path.
pub fn free_bytes(path: &Path) -> Option<u64> {
    paths::free_bytes(path)
}
