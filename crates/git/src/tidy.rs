//! Making a worktree small: directories that git ignores are moved aside, and can be moved back.
//!
//! Only whole directories go, because those are what builds make; an ignored file such as `.env` stays. Nothing is
//! deleted here.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::checkout::Worktree;
use crate::drivers::joined;
use crate::error::{Error, Result, io_error};

/// Names what was moved, in the directory it was moved to.
const ROOTS: &str = "roots";

/// Where the directories themselves are, beside that list.
const FILES: &str = "files";

impl Worktree {
    /// Lists the directories that git ignores as a whole, relative to the top.
    pub fn ignored_directories(&self) -> Result<Vec<PathBuf>> {
        let call = self.checkout.files("ls-files").args(["-z", "--others", "--ignored"]);
        let answer = call.args(["--exclude-standard", "--directory", "--no-empty-directory"]).run();
        let act = || format!("list what is ignored in {}", self.path().display());
        let answer = answer.map_err(|failure| failure.during(act()))?;
        let names = answer.split(|byte| *byte == 0).filter_map(|name| name.strip_suffix(b"/"));
        let mut found: Vec<PathBuf> = names
            .map(|name| PathBuf::from(OsStr::from_bytes(name)))
            // A repository of its own may hold commits that are nowhere else.
            .filter(|path| fs::symlink_metadata(self.path().join(path).join(".git")).is_err())
            .collect();
        found.sort();
        Ok(found)
    }

    /// Moves directories into `place`, which must be new. The list of them is written first.
    pub fn move_aside(&self, directories: &[PathBuf], place: &Path) -> Result<()> {
        let files = place.join(FILES);
        fs::create_dir_all(&files).map_err(io_error("make", &files))?;
        let list = place.join(ROOTS);
        fs::write(&list, joined(directories)).map_err(io_error("write", &list))?;
        for directory in directories {
            let target = files.join(beneath(directory)?);
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(io_error("make", parent))?;
            }
            let source = self.path().join(directory);
            fs::rename(&source, &target).map_err(io_error("move aside", &source))?;
        }
        Ok(())
    }

    /// Moves back what `move_aside` moved, unless something else has its name by now; that stays in `place`.
    pub fn move_back(&self, place: &Path) -> Result<()> {
        let list = place.join(ROOTS);
        let roots = fs::read(&list).map_err(io_error("read", &list))?;
        let mut is_left = false;
        for name in roots.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let directory = PathBuf::from(OsStr::from_bytes(name));
            let source = place.join(FILES).join(beneath(&directory)?);
            let target = self.path().join(&directory);
            let has_parent = target.parent().is_some_and(|parent| is_plain(self.path(), parent));
            if fs::symlink_metadata(&source).is_err() {
                continue;
            }
            if !has_parent || fs::symlink_metadata(&target).is_ok() {
                is_left = true;
                continue;
            }
            fs::rename(&source, &target).map_err(io_error("move back", &source))?;
        }
        if is_left { Ok(()) } else { fs::remove_dir_all(place).map_err(io_error("remove", place)) }
    }
}

/// Refuses a path that leads anywhere but down.
fn beneath(path: &Path) -> Result<&Path> {
    let is_down = path.components().all(|part| matches!(part, Component::Normal(_)));
    if is_down { Ok(path) } else { Err(Error::NoSuchPath { path: path.to_path_buf() }) }
}

/// Tells whether a directory is reached from the top without following a link.
fn is_plain(top: &Path, directory: &Path) -> bool {
    let Ok(rest) = directory.strip_prefix(top) else { return false };
    let mut place = top.to_path_buf();
    rest.components().all(|part| {
        place.push(part);
        fs::symlink_metadata(&place).is_ok_and(|kind| kind.is_dir())
    })
}
