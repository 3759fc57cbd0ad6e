//! Where worktrees go, and where they have gone before.
//!
//! The person may move the root, in the environment or by `workspace_dir` in the settings; that counts for new attempts
//! from the next start of the server on. Worktrees that exist stay where they are, so every root that was ever used is
//! remembered: what lies there is ours to look after, and nothing outside of them is.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::io_error;
use crate::paths::Paths;
use crate::store::{Store, settings};
use crate::{Result, private_file};

/// Where the roots are kept in the store.
const SCOPE: &str = "worktree_roots";

/// Settles the root for new worktrees: what was given, what the settings say, or the usual place. Blocks.
pub(crate) fn present(home: &Path, given: Option<&Path>, user_home: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return std::path::absolute(given).map_err(io_error("open", given));
    }
    let usual = home.join("worktrees");
    // A file that makes no sense is told to whoever asks for the settings.
    let text = private_file::read(&home.join("config.json"))?.unwrap_or_default();
    let config: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(wanted) = config.get("workspace_dir").and_then(Value::as_str).map(str::trim) else {
        return Ok(usual);
    };
    let wanted = match (wanted.strip_prefix("~/"), user_home) {
        (Some(below), Some(user_home)) => user_home.join(below),
        _ => PathBuf::from(wanted),
    };
    if wanted.is_absolute() {
        return Ok(wanted);
    }
    if !wanted.as_os_str().is_empty() {
        tracing::warn!(
            "`workspace_dir` must be an absolute path, and {:?} is none; worktrees go to {}",
            wanted,
            usual.display()
        );
    }
    Ok(usual)
}

/// Remembers the present root, and returns all there were: the present one first.
pub(crate) async fn remember(store: &Store, paths: &Paths) -> Result<Vec<PathBuf>> {
    let known = store.read(|conn| settings::one(conn, SCOPE)).await?;
    let known: Vec<PathBuf> = known.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default();
    let mut roots = vec![paths.worktrees.clone()];
    let others = known.iter().cloned().chain([paths.home.join("worktrees")]);
    roots.extend(others.filter(|root| *root != paths.worktrees));
    roots.dedup();
    if !known.contains(&paths.worktrees) {
        let body = serde_json::to_string(&roots).map_err(|error| {
            crate::Error::internal(format!("the roots of worktrees cannot be written: {error}"))
        })?;
        store.write(move |tx| settings::put(tx.conn(), SCOPE, &body, tx.now())).await?;
    }
    Ok(roots)
}

impl Paths {
    /// The root that a worktree lies in; the present one for what lies in none.
    pub(crate) fn root_of(&self, worktree: &Path) -> PathBuf {
        self.roots.iter().find(|root| worktree.starts_with(root)).unwrap_or(&self.worktrees).clone()
    }

    /// What nobody but Forge has any business in.
    pub(crate) fn own(&self) -> Vec<PathBuf> {
        [&self.home].into_iter().chain(&self.roots).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_what_was_given_or_what_the_settings_say_when_that_is_a_whole_path() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let root = |given: Option<&str>| present(home, given.map(Path::new), Some(Path::new("/p"))).unwrap();
        assert_eq!(root(None), home.join("worktrees"));
        for (setting, wanted) in [
            ("\"/elsewhere/w\"", PathBuf::from("/elsewhere/w")),
            ("\"~/w\"", PathBuf::from("/p/w")),
            ("\"w\"", home.join("worktrees")),
            ("\"\"", home.join("worktrees")),
            ("null", home.join("worktrees")),
        ] {
            std::fs::write(home.join("config.json"), format!("{{\"workspace_dir\": {setting}}}")).unwrap();
            assert_eq!(root(None), wanted, "{setting}");
        }
        assert_eq!(root(Some("/given")), Path::new("/given"));
    }
}
