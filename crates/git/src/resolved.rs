//! Which files of a conflict somebody has resolved.
//!
//! Git keeps what it left in them as a tree called `AUTO_MERGE`. A file is resolved when it is not that any more and has
//! no mark of a conflict; whatever cannot be told apart from what git left is not, so that a side which nobody has
//! looked at is never taken for the answer.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::Worktree;
use crate::drivers::{Drivers, joined};
use crate::error::{Failure, Result};
use crate::scratch::Scratch;

/// Larger files are not looked through for the marks of a conflict.
const LARGEST: u64 = 16 * 1024 * 1024;

impl Worktree {
    /// Stages the files in conflict that somebody has resolved, and returns those that nobody has.
    pub fn stage_resolved(&self) -> Result<Vec<PathBuf>> {
        let conflicted = self.standing()?.conflicted;
        if conflicted.is_empty() {
            return Ok(conflicted);
        }
        let drivers = Drivers::of(&self.checkout)?;
        let act = || format!("look at the conflicts in {}", self.path().display());
        let Some(left) = self.as_git_left(&drivers, &conflicted).map_err(|failure| failure.during(act()))?
        else {
            return Ok(conflicted);
        };
        let (open, resolved): (Vec<_>, Vec<_>) = conflicted
            .into_iter()
            .partition(|path| left.contains(path) || has_marks(&self.path().join(path)));
        drivers.refuse_among(&self.checkout, &resolved)?;
        if !resolved.is_empty() {
            let call = self.files("update-index", &drivers).args(["--add", "--remove", "-z", "--stdin"]);
            call.input(joined(&resolved)).run().map_err(|failure| failure.during(act()))?;
        }
        Ok(open)
    }

    /// Finds which of these files are as git left them; nothing when that is not known.
    ///
    /// The index of the worktree says nothing about a path in conflict, so they are compared by an index that has only
    /// them, as they were left.
    fn as_git_left(&self, drivers: &Drivers, paths: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, Failure> {
        let tree = match self.checkout.refs("ls-tree").args(["-r", "-z", "--full-tree", "AUTO_MERGE"]).run() {
            Ok(tree) => tree,
            Err(Failure::Exit { .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let mut entries = Vec::new();
        let mut left = Vec::new();
        for entry in tree.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            if let Some(path) = paths.iter().find(|path| path.as_os_str().as_bytes() == &entry[tab + 1..]) {
                entries.extend_from_slice(entry);
                entries.push(0);
                left.push(path.clone());
            }
        }
        let Ok(scratch) = Scratch::make(&self.checkout.git_dir) else { return Ok(None) };
        let index = scratch.path().join("index");
        let call = |verb| self.files(verb, drivers).env("GIT_INDEX_FILE", &index);
        call("update-index").args(["-z", "--index-info"]).input(entries).run()?;
        // It tells of those that differ by its exit, which the next call names.
        let _some_differ = call("update-index").args(["-q", "--refresh"]).ask()?;
        let touched =
            call("diff-files").args(["--name-only", "-z", "--no-ext-diff", "--no-renames"]).run()?;
        left.retain(|path| !touched.split(|byte| *byte == 0).any(|name| name == path.as_os_str().as_bytes()));
        Ok(Some(left))
    }
}

/// Tells whether a line of a file looks like a mark of a conflict. What is too large to look through has some.
fn has_marks(path: &Path) -> bool {
    let Ok(kind) = fs::symlink_metadata(path) else { return false };
    if !kind.is_file() {
        return false;
    }
    if kind.len() > LARGEST {
        return true;
    }
    let Ok(bytes) = fs::read(path) else { return true };
    let is_mark = |line: &[u8]| line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ");
    bytes.split(|byte| *byte == b'\n').any(is_mark)
}
