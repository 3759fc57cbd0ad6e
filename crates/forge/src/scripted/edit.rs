//! Writes a file of a script, or reads a script, below the current directory and nowhere else.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};

/// Writes a file and the folders it lies in. A path that leaves the current directory is refused.
pub(super) fn write(path: &str, content: &str) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("could not find the current directory")?;
    write_below(&here, path, content)
}

/// Reads a file. A path that leaves the current directory is refused.
pub(super) fn read(path: &str) -> anyhow::Result<String> {
    let here = std::env::current_dir().context("could not find the current directory")?;
    let full = below(&here, path).with_context(|| format!("cannot play {path}"))?;
    fs::read_to_string(&full).with_context(|| format!("cannot play {path}"))
}

fn write_below(root: &Path, path: &str, content: &str) -> anyhow::Result<()> {
    let full = below(root, path).with_context(|| format!("cannot edit {path}"))?;
    if let Some(folder) = full.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not make the folders of {path}"))?;
    }
    fs::write(&full, content).with_context(|| format!("could not write {path}"))
}

/// Returns where a path is, which must be below the root.
fn below(root: &Path, path: &str) -> anyhow::Result<PathBuf> {
    let wanted = Path::new(path);
    if !wanted.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        bail!("it leaves the directory");
    }
    let full = root.join(wanted);
    // A link inside may still lead outside; what exists already of the path tells.
    let real_root = root.canonicalize().with_context(|| format!("could not find {}", root.display()))?;
    let existing = full.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(root);
    if !existing.canonicalize().is_ok_and(|real| real.starts_with(&real_root)) {
        bail!("it leaves the directory");
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_written_with_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        write_below(dir.path(), "a/b/c.txt", "hi\n").unwrap();
        write_below(dir.path(), "./a/b/c.txt", "again\n").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("a/b/c.txt")).unwrap(), "again\n");
    }

    #[test]
    fn a_path_that_leaves_the_directory_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        symlink(outside.path(), dir.path().join("link")).unwrap();
        symlink(outside.path().join("nothing-yet"), dir.path().join("dangling")).unwrap();
        let absolute = outside.path().join("x").display().to_string();
        for path in ["../x", "a/../../x", &absolute, "link/x", "link/new/x", "dangling"] {
            let error = write_below(dir.path(), path, "hi").unwrap_err();
            assert_eq!(format!("{error:#}"), format!("cannot edit {path}: it leaves the directory"));
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
