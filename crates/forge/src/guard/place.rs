//! Which repository git is at work in, found as git finds it and without calling it.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository that a hook was called for.
pub(super) struct Place {
    pub(super) git_dir: PathBuf,
    /// The git directory that all checkouts of the repository share, without links.
    pub(super) common_dir: PathBuf,
}

impl Place {
    /// Finds it from the environment that git gives its hooks, and from the directory it calls them in.
    pub(super) fn find() -> Option<Place> {
        let here = std::env::current_dir().ok()?;
        let git_dir = match std::env::var_os("GIT_DIR") {
            Some(given) => here.join(given),
            None => here.ancestors().find_map(git_dir_of)?,
        };
        let common_dir = match std::env::var_os("GIT_COMMON_DIR") {
            Some(given) => here.join(given),
            None => match fs::read_to_string(git_dir.join("commondir")) {
                Ok(path) => git_dir.join(path.trim_end_matches('\n')),
                Err(_) => git_dir.clone(),
            },
        };
        Some(Place { common_dir: fs::canonicalize(common_dir).ok()?, git_dir })
    }
}

/// The git directory of a checkout whose top this is, or of a repository without a checkout.
fn git_dir_of(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    match fs::symlink_metadata(&dot_git) {
        Ok(kind) if kind.is_file() => {
            let text = fs::read_to_string(&dot_git).ok()?;
            Some(top.join(text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r'])))
        }
        Ok(_) => Some(dot_git),
        Err(_) => {
            let bare = top.join("HEAD").exists() && top.join("objects").is_dir() && top.join("refs").is_dir();
            bare.then(|| top.to_path_buf())
        }
    }
}
