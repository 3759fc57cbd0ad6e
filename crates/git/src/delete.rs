//! Deleting one file of a worktree and committing that, and nothing else.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::checkout::{Checkout, Worktree, linked_git_dir};
use crate::commit::{CommitRequest, Committed, make};
use crate::drivers::Drivers;
use crate::error::{Error, Result, io_error};
use crate::scratch::Scratch;

impl Worktree {
    /// Refuses a path that is not a file of this worktree: one that leads out of it, through a link or into git's own
    /// directory, a directory, or a file that git ignores and no snapshot has.
    pub fn check_deletable(&self, path: &str) -> Result<PathBuf> {
        let refuse = |why: &str| Error::NotDeletable { path: path.to_string(), why: why.to_string() };
        let relative = Path::new(path);
        let mut place = self.path().to_path_buf();
        let parts: Vec<Component<'_>> = relative.components().collect();
        for (index, part) in parts.iter().enumerate() {
            let Component::Normal(name) = part else {
                return Err(refuse("it is no path below the worktree"));
            };
            if name.eq_ignore_ascii_case(".git") {
                return Err(refuse("git's own files are no files of the worktree"));
            }
            place.push(name);
            let Ok(kind) = fs::symlink_metadata(&place) else { return Err(refuse("there is no such file")) };
            let is_last = index + 1 == parts.len();
            if is_last && kind.is_dir() {
                return Err(refuse("it is a directory"));
            }
            if !is_last && !kind.is_dir() {
                return Err(refuse("a part of it is a link or a file"));
            }
        }
        if parts.is_empty() {
            return Err(refuse("it is empty"));
        }
        let relative: PathBuf = parts.iter().collect();
        if !is_tracked(&self.checkout, &relative)? && is_ignored(&self.checkout, &relative)? {
            return Err(refuse("git ignores it, so that it could not be brought back"));
        }
        Ok(relative)
    }

    /// Deletes a file and commits that alone. When a hook refuses, the file is there again.
    pub fn delete_file(&self, path: &Path, request: &CommitRequest) -> Result<Committed> {
        let checkout = &self.checkout;
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
        let drivers = Drivers::of(checkout)?;
        let head = checkout.head()?;
        let full = checkout.top.join(path);
        let scratch = Scratch::make(&checkout.git_dir)?;
        let aside = scratch.path().join("file");
        let tracked = is_tracked(checkout, path)?;
        fs::rename(&full, &aside).map_err(io_error("delete", &full))?;
        if !tracked {
            return Ok(Committed::Nothing);
        }
        let made = make(checkout, &drivers, request, head.as_deref(), Some(path), &[]);
        if !matches!(made, Ok(Committed::Commit { .. })) {
            fs::rename(&aside, &full).map_err(io_error("bring back", &full))?;
        }
        made
    }
}

fn is_tracked(checkout: &Checkout, path: &Path) -> Result<bool> {
    let call = checkout.files("ls-files").global("--literal-pathspecs").args(["-z", "--cached", "--"]);
    let answer = call.arg(path).run();
    let answer = answer.map_err(|failure| failure.during(format!("look for {}", path.display())))?;
    Ok(!answer.is_empty())
}

fn is_ignored(checkout: &Checkout, path: &Path) -> Result<bool> {
    let mut list = path.as_os_str().as_encoded_bytes().to_vec();
    list.push(0);
    let answer = checkout.files("check-ignore").args(["--quiet", "-z", "--stdin"]).input(list).ask();
    Ok(answer.map_err(|failure| failure.during(format!("look for {}", path.display())))?.is_some())
}
