//! Which files of a conflict somebody has resolved.
//!
//! Git keeps what it left in them as a tree called `AUTO_MERGE`. A file is resolved when it is not that any more and has
//! no mark of a conflict; whatever cannot be told apart from what git left is not, so that a side which nobody has
//! looked at is never taken for the answer. Whoever stages a file has decided about it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::call::paths;
use crate::checkout::Worktree;
use crate::drivers::{Drivers, joined};
use crate::error::{Failure, Result};
use crate::limit::WRITING;
use crate::scratch::Scratch;

/// Larger files are not looked through for the marks of a conflict.
const LARGEST: u64 = 16 * 1024 * 1024;

/// So long is a mark at least; an attribute can make it longer.
const MARK: usize = 7;

impl Worktree {
    /// Stages the files in conflict that somebody has resolved, and returns those that nobody has. Where none is left,
    /// every other change of a tracked file is staged, too: it was made to go with them, and git goes on over none.
    pub fn stage_resolved(&self) -> Result<Vec<PathBuf>> {
        let conflicted = self.standing()?.conflicted;
        let drivers = Drivers::of(&self.checkout)?;
        let open = match conflicted.is_empty() {
            true => conflicted,
            false => self.stage_among(&drivers, conflicted)?,
        };
        if open.is_empty() {
            let call = self.files("diff-files", &drivers).args(["--name-only", "-z", "--no-ext-diff"]);
            let changed = call.args(["--no-renames", "--ignore-submodules=all"]).run();
            let changed = changed.map_err(|failure| failure.during(self.looking()))?;
            self.stage_these(&drivers, &paths(&changed))?;
        }
        Ok(open)
    }

    fn stage_among(&self, drivers: &Drivers, conflicted: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
        let left = self.as_git_left(drivers, &conflicted);
        let Some(left) = left.map_err(|failure| failure.during(self.looking()))? else {
            return Ok(conflicted);
        };
        let (open, resolved): (Vec<_>, Vec<_>) = conflicted
            .into_iter()
            .partition(|path| left.contains(path) || has_marks(&self.path().join(path)));
        self.stage_these(drivers, &resolved)?;
        Ok(open)
    }

    fn stage_these(&self, drivers: &Drivers, these: &[PathBuf]) -> Result<()> {
        if these.is_empty() {
            return Ok(());
        }
        drivers.refuse_among(&self.checkout, these)?;
        let call = self.files("update-index", drivers).args(["--add", "--remove", "-z", "--stdin"]);
        call.input(joined(these)).run().map(drop).map_err(|failure| failure.during(self.looking()))
    }

    fn looking(&self) -> String {
        format!("look at the conflicts in {}", self.path().display())
    }

    /// Finds which of these files are as git left them; nothing when that is not known.
    ///
    /// The index of the worktree says nothing about a path in conflict, so they are compared by an index that has only
    /// them, as they were left.
    fn as_git_left(
        &self,
        drivers: &Drivers,
        conflicted: &[PathBuf],
    ) -> Result<Option<Vec<PathBuf>>, Failure> {
        let tree = match self.checkout.refs("ls-tree").args(["-r", "-z", "--full-tree", "AUTO_MERGE"]).run() {
            Ok(tree) => tree,
            Err(Failure::Exit { .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let (mut entries, mut left, mut linked) = (Vec::new(), Vec::new(), Vec::new());
        for entry in tree.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let Some(path) = conflicted.iter().find(|path| path.as_os_str().as_bytes() == &entry[tab + 1..])
            else {
                continue;
            };
            // Git moves no checkout of another repository, so how that one stands tells nothing.
            if entry.starts_with(b"160000 ") {
                linked.push(path.clone());
                continue;
            }
            entries.extend_from_slice(entry);
            entries.push(0);
            left.push(path.clone());
        }
        let Ok(scratch) = Scratch::make(&self.checkout.git_dir) else { return Ok(None) };
        let index = scratch.path().join("index");
        let call = |verb| self.files(verb, drivers).env("GIT_INDEX_FILE", &index);
        call("update-index").args(["-z", "--index-info"]).input(entries).run()?;
        // It tells of those that differ by its exit, which the next call names.
        let _some_differ = call("update-index").args(["-q", "--refresh"]).ask()?;
        let differ = call("diff-files").args(["--name-only", "-z", "--no-ext-diff", "--no-renames"]).run()?;
        for path in paths(&differ) {
            if !self.is_as_written(drivers, &path)? {
                left.retain(|other| *other != path);
            }
        }
        left.append(&mut linked);
        Ok(Some(left))
    }

    /// Tells whether a file is byte for byte what git wrote there. One whose line ends the attributes change is that
    /// and would be stored as another.
    fn is_as_written(&self, drivers: &Drivers, path: &Path) -> Result<bool, Failure> {
        let file = self.path().join(path);
        let Ok(kind) = fs::symlink_metadata(&file) else { return Ok(false) };
        if !kind.is_file() || kind.len() > LARGEST {
            return Ok(false);
        }
        let mut name = OsString::from("AUTO_MERGE:");
        name.push(path);
        let written = self.files("cat-file", drivers).within(WRITING).arg("--filters").arg(name).run()?;
        Ok(fs::read(&file).is_ok_and(|bytes| bytes == written))
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
    bytes.split(|byte| *byte == b'\n').any(is_mark)
}

fn is_mark(line: &[u8]) -> bool {
    let begins = |with: u8| {
        let long = line.iter().take_while(|byte| **byte == with).count();
        long >= MARK && line.get(long) == Some(&b' ')
    };
    begins(b'<') || begins(b'>')
}
