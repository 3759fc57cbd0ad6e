//! Removing a worktree without deleting a file: its directory is renamed into a trash.
//!
//! Refuses everything that is not a linked worktree under the root that the caller owns, and never prunes entries
//! in general: a person's own worktree may be on a disk that is not mounted today.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::bring_back::MODULES;
use crate::checkout::{linked_git_dir, read_path};
use crate::error::{Error, Result, io_error};
use crate::repo::Repo;

impl Repo {
    /// Moves the worktree at `path`, which must lie under `root`, into `trash_dir`, and drops its entry.
    ///
    /// Returns where it is now, or nothing when the directory was gone already. The branch stays.
    pub fn remove_worktree_to_trash(
        &self,
        path: &Path,
        trash_dir: &Path,
        root: &Path,
    ) -> Result<Option<PathBuf>> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let settled = self.check_is_inside(path, root)?;
        self.queued(|| {
            let is_there = fs::symlink_metadata(path).is_ok();
            let trash = if is_there {
                let git_dir = linked_git_dir(self.common_dir(), path)?;
                let trash = move_into(path, trash_dir)?;
                keep_modules(&git_dir, &trash)?;
                Some(trash)
            } else {
                None
            };
            match self.entry_of(&settled) {
                Some((git_dir, _)) if !is_there && git_dir.join("modules").exists() => {
                    Err(refuse(&format!("repositories of submodules are still in {}", git_dir.display())))
                }
                Some((git_dir, listed)) => self.drop_entry(&git_dir, &listed).map(|()| trash),
                None => Ok(trash),
            }
        })
    }

    /// Refuses what does not lie under `root`, or holds the person's own checkout. Returns the path without links.
    pub(crate) fn check_is_inside(&self, path: &Path, root: &Path) -> Result<PathBuf> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let settled = settle(path).ok_or_else(|| refuse("its path cannot be followed"))?;
        let root = fs::canonicalize(root).map_err(io_error("resolve", root))?;
        if !settled.starts_with(&root) || settled == root {
            return Err(refuse(&format!("it is not under {}", root.display())));
        }
        // The person's checkout is never touched, not even as something inside what is removed.
        if self.top().starts_with(&settled) || self.common_dir().starts_with(&settled) {
            return Err(refuse("it holds the person's own checkout"));
        }
        Ok(settled)
    }

    /// Finds the entry of a worktree whose directory may be gone: its git directory, and its path as git has it.
    pub(crate) fn entry_of(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let wanted = settle(path)?;
        let entries = fs::read_dir(self.common_dir().join("worktrees")).ok()?;
        entries.flatten().find_map(|entry| {
            let git_dir = entry.path();
            let file = git_dir.join(read_path(&git_dir.join("gitdir"), "")?);
            let listed = file.parent()?.to_path_buf();
            (settle(&listed)? == wanted).then_some((git_dir, listed))
        })
    }

    /// Drops the entry of a worktree whose directory is gone. Without `--force` git does only that.
    pub(crate) fn drop_entry(&self, git_dir: &Path, listed: &Path) -> Result<()> {
        let drop_it = |verb: &str| {
            let call = self.checkout.refs("worktree").args([verb, "--end-of-options"]).arg(listed);
            let act = || format!("{verb} the entry of worktree {}", listed.display());
            call.run().map(drop).map_err(|failure| failure.during(act()))
        };
        if git_dir.join("locked").exists() {
            drop_it("unlock")?;
        }
        drop_it("remove")
    }
}

/// Renames a directory into the trash, under a name that nothing there has.
fn move_into(path: &Path, trash_dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(trash_dir).map_err(io_error("make", trash_dir))?;
    let name = path.file_name().unwrap_or_default();
    for number in 0_u64.. {
        let mut unique = name.to_os_string();
        if number > 0 {
            unique.push(format!(".{number}"));
        }
        let place = trash_dir.join(unique);
        // Making the directory claims the name; renaming onto an empty directory replaces it.
        match fs::create_dir(&place) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(io_error("make", &place)(error)),
        }
        if let Err(error) = fs::rename(path, &place) {
            let _empty = fs::remove_dir(&place);
            return Err(io_error("move into the trash", path)(error));
        }
        return Ok(place);
    }
    unreachable!("a directory has fewer names than there are numbers")
}

/// Saves the repositories of submodules, which live in the entry and hold commits that exist nowhere else.
fn keep_modules(git_dir: &Path, trash: &Path) -> Result<()> {
    let modules = git_dir.join("modules");
    if !modules.exists() {
        return Ok(());
    }
    fs::rename(&modules, trash.join(MODULES)).map_err(io_error("move into the trash", &modules))
}

/// Follows the links of the part of a path that exists, and takes the rest as it stands.
fn settle(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| matches!(part, Component::ParentDir)) || !path.is_absolute() {
        return None;
    }
    let name = path.file_name()?;
    // The last part is not followed: a link is not the worktree that it leads to.
    let parent = path.parent()?;
    match fs::canonicalize(parent) {
        Ok(parent) => Some(parent.join(name)),
        Err(_) => Some(settle(parent)?.join(name)),
    }
}
