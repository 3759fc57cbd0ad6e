//! An index of our own over somebody's files: a copy of theirs, with git's cache of untracked files in it.
//!
//! Their index is read and never written, and its lock is never taken or waited for.

use std::fs::{self, DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::call::Call;
use crate::checkout::Checkout;
use crate::drivers::Drivers;
use crate::error::{Failure, Result, io_error};
use crate::private::copy_file;

use super::raw::{Status, read_status};

/// After how many questions our index is written anew with what git has learned about directories since.
const WRITTEN_EVERY: u32 = 16;

/// The index, in a directory that goes with it.
#[derive(Debug)]
pub(super) struct PrivateIndex {
    directory: PathBuf,
    path: PathBuf,
    /// How their index looked when it was copied.
    copied: Option<Stamp>,
    /// How often it was asked since it was written.
    asked: u32,
}

#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl PrivateIndex {
    /// Makes its directory, which must not be anybody else's.
    pub(super) fn make(directory: &Path) -> Result<PrivateIndex> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(io_error("make", directory))?;
        let path = directory.join("index");
        Ok(PrivateIndex { directory: directory.to_path_buf(), path, copied: None, asked: 0 })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies their index if it is another than last time. Says whether it is.
    pub(super) fn refresh(&mut self, checkout: &Checkout) -> Result<bool> {
        let theirs = checkout.git_dir.join("index");
        let stamp = match fs::metadata(&theirs) {
            Ok(seen) => Some(Stamp::of(&seen)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("look at", &theirs)(error)),
        };
        // Left by a git that was killed. Nobody else writes here.
        remove(&self.directory.join("index.lock"))?;
        if stamp.is_some() && stamp == self.copied {
            return Ok(false);
        }
        match stamp {
            // The stamp is from before the copy, so an index that is replaced meanwhile is copied again.
            Some(_) => copy_file(&theirs, &self.path).map_err(io_error("copy", &theirs))?,
            None => remove(&self.path)?,
        }
        self.copied = stamp;
        self.asked = 0;
        Ok(true)
    }

    /// Asks git what differs from HEAD, untracked files included.
    pub(super) fn status(&mut self, checkout: &Checkout) -> Result<Status> {
        let drivers = Drivers::of(checkout)?;
        let mut call = self.call(checkout, "status").settings(&drivers.overrides);
        if self.asked.is_multiple_of(WRITTEN_EVERY) || self.is_young() {
            // The lock is that of our own index.
            call = call.without_env("GIT_OPTIONAL_LOCKS");
        }
        self.asked += 1;
        let call = call.args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"]);
        // `dirty` keeps git from running another git inside each submodule, under that repository's own config.
        let answer = call.args(["--ignore-submodules=dirty", "--untracked-files=all"]).run();
        let act = || format!("look for changes in {}", checkout.top.display());
        let answer = answer.map_err(|failure| failure.during(act()))?;
        let wrong = || Failure::answer("status", &String::from_utf8_lossy(&answer)).during(act());
        read_status(&answer).ok_or_else(wrong)
    }

    /// Tells whether our index was written in the second in which theirs was. Git then reads every file of that second
    /// again, each time it is asked, as all of a fresh checkout are; once it is written in a later one it knows them.
    fn is_young(&self) -> bool {
        let written = fs::metadata(&self.path).map(|seen| seen.mtime());
        let theirs = self.copied.as_ref().map(|stamp| stamp.modified.0);
        written.ok().zip(theirs).is_some_and(|(ours, theirs)| ours <= theirs)
    }

    /// Makes a call that looks at the files by this index.
    pub(super) fn call(&self, checkout: &Checkout, verb: &'static str) -> Call {
        let call = checkout.files(verb).env("GIT_INDEX_FILE", &self.path);
        // The cache of untracked files is made for one way of showing them, which is read from the config.
        let call = call.setting("core.untrackedCache", "true").setting("status.showUntrackedFiles", "all");
        call.setting("core.splitIndex", "false").setting("index.skipHash", "true")
    }
}

impl Drop for PrivateIndex {
    fn drop(&mut self) {
        // What stays behind is emptied at the next start.
        let _gone = fs::remove_dir_all(&self.directory);
    }
}

impl Stamp {
    fn of(seen: &Metadata) -> Stamp {
        let modified = (seen.mtime(), seen.mtime_nsec());
        Stamp { inode: seen.ino(), size: seen.size(), modified, changed: (seen.ctime(), seen.ctime_nsec()) }
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("remove", path)(error)),
        _ => Ok(()),
    }
}
