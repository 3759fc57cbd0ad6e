//! The watches of one checkout: every directory that git looks into, and the few places where HEAD, the index and
//! a branch are written.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::diff::{Diff, Differ};

use super::Shared;
use super::news::{Heard, News, Place};

/// With more verdicts than this the old ones are forgotten.
const MOST_KNOWN: usize = 20_000;

/// The watches of one checkout; dropping it ends them.
#[derive(Debug)]
pub struct TreeWatch {
    shared: Arc<Shared>,
    id: u64,
    heard: Arc<Heard>,
    /// Whether what was heard of is ignored, as far as git was asked.
    known: HashMap<PathBuf, bool>,
    /// What was heard of and nobody knows about yet.
    unknown: Vec<PathBuf>,
    /// Directories that are watched; more than there are, when some have gone.
    watched: usize,
    /// Everything is watched that should be.
    is_covered: bool,
}

/// Whether a checkout is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    All,
    /// The system has no room for so many watches, or has none at all. Nothing is watched.
    None,
}

/// Watching came to its end.
struct NoRoom;

impl TreeWatch {
    pub(super) fn new(shared: Arc<Shared>, id: u64, heard: Arc<Heard>) -> TreeWatch {
        TreeWatch {
            shared,
            id,
            heard,
            known: HashMap::new(),
            unknown: Vec::new(),
            watched: 0,
            is_covered: false,
        }
    }

    /// Watches everything that matters to a differ, and where a branch points at. What was there before is not
    /// announced: watch first, then look.
    pub fn cover(&mut self, differ: &Differ, branch: Option<&str>) -> Watched {
        // What was watched may be ignored by now.
        self.shared.uncover(self.id);
        self.known.clear();
        self.watched = 0;
        let covered = self.watch_git(differ, branch).and_then(|()| {
            self.watch_directory(&differ.checkout().top, PathBuf::new())?;
            self.walk(differ, directories(&differ.checkout().top, Path::new(""))).map(drop)
        });
        self.settle(covered.is_ok())
    }

    /// Takes in what was heard, and says whether the diff may be another now. Nothing that is ignored makes it so.
    /// Where nothing is watched, it always may.
    pub fn take_in(&mut self, differ: &mut Differ, branch: Option<&str>) -> (bool, Watched) {
        let News { everything, git, paths, directories } = self.heard.take();
        if !self.is_covered {
            differ.forget_base();
            return (true, Watched::None);
        }
        if git {
            differ.forget_base();
        }
        let is_rule = |path: &PathBuf| path.file_name() == Some(OsStr::new(".gitignore"));
        if everything || paths.iter().any(is_rule) {
            return (true, self.cover(differ, branch));
        }
        // A name that came back may be something else now.
        for path in &directories {
            self.known.remove(path);
        }
        let mut matters = git;
        let mut room = Ok(());
        if git {
            // A directory of references may have come or gone.
            room = self.watch_git(differ, branch);
        }
        let walked = self.walk(differ, directories.into_iter().collect());
        matters |= *walked.as_ref().unwrap_or(&true);
        room = room.and(walked.map(drop));
        self.unknown = paths.into_iter().filter(|path| self.known.get(path) != Some(&true)).collect();
        matters |= !self.unknown.is_empty();
        self.unknown.retain(|path| !self.known.contains_key(path));
        (matters, self.settle(room.is_ok()))
    }

    /// Learns which of the paths that were heard of are ignored, so that they matter no more.
    pub fn learn(&mut self, differ: &Differ, diff: &Diff) {
        let unknown = std::mem::take(&mut self.unknown);
        let unknown: Vec<PathBuf> =
            unknown.into_iter().filter(|path| !diff.files.contains_key(path)).collect();
        if unknown.is_empty() {
            return;
        }
        let ignored = differ.ignored(&unknown);
        if self.known.len() > MOST_KNOWN {
            // What is forgotten is only learned again.
            self.known.clear();
        }
        self.known.extend(unknown.into_iter().map(|path| {
            let is_ignored = ignored.contains(&path);
            (path, is_ignored)
        }));
    }

    /// Watches directories and what is in them, level by level, except what is ignored. Says whether any is not.
    fn walk(&mut self, differ: &Differ, mut level: Vec<PathBuf>) -> Result<bool, NoRoom> {
        let top = &differ.checkout().top;
        let mut matters = false;
        while !level.is_empty() {
            let ignored = differ.ignored_directories(&level);
            let mut next = Vec::new();
            for directory in level {
                if ignored.contains(&directory) {
                    self.known.insert(directory, true);
                    continue;
                }
                matters = true;
                if let Some(git_dir) = nested(&top.join(&directory)) {
                    // Of a repository inside, only the commit counts that is checked out.
                    self.watch_names(&git_dir.join("logs"), ["HEAD"])?;
                    continue;
                }
                // Watched before it is listed, so that nothing appears in between.
                if self.watch_directory(&top.join(&directory), directory.clone())? {
                    next.extend(directories(top, &directory));
                }
            }
            level = next;
        }
        Ok(matters)
    }

    fn watch_git(&mut self, differ: &Differ, branch: Option<&str>) -> Result<(), NoRoom> {
        let checkout = differ.checkout();
        self.watch_names(&checkout.git_dir, ["HEAD", "index"])?;
        self.watch_names(&checkout.git_dir.join("logs"), ["HEAD"])?;
        self.watch_names(&checkout.git_dir.join("reftable"), ["tables.list"])?;
        self.watch_names(&checkout.common_dir, ["packed-refs"])?;
        self.watch_names(&checkout.common_dir.join("reftable"), ["tables.list"])?;
        self.watch_names(&checkout.common_dir.join("info"), ["exclude", "attributes"])?;
        for kind in ["refs/heads", "refs/remotes"] {
            // The nearest directory that is there: a reference may be packed, or not made yet.
            let Some(branch) = branch else { continue };
            let mut place = checkout.common_dir.join(kind).join(branch);
            while let (Some(parent), Some(name)) = (place.parent().map(Path::to_path_buf), place.file_name())
            {
                if parent.is_dir() {
                    self.watch_names(&parent, [name])?;
                    break;
                }
                place = parent;
            }
        }
        Ok(())
    }

    fn watch_names<N: AsRef<OsStr>, const M: usize>(
        &mut self,
        directory: &Path,
        names: [N; M],
    ) -> Result<(), NoRoom> {
        let names: BTreeSet<_> = names.iter().map(|name| name.as_ref().to_os_string()).collect();
        self.add(directory, Place::Git(names)).map(drop)
    }

    fn watch_directory(&mut self, full: &Path, path: PathBuf) -> Result<bool, NoRoom> {
        self.add(full, Place::Files(path))
    }

    /// Watches a directory; says whether it is there.
    fn add(&mut self, directory: &Path, place: Place) -> Result<bool, NoRoom> {
        if self.watched >= self.shared.most.load(Ordering::Relaxed) {
            return Err(NoRoom);
        }
        match self.shared.add(self.id, directory, place) {
            Ok(_) => {
                self.watched += 1;
                Ok(true)
            }
            Err(error) if is_gone(&error) => Ok(false),
            Err(_) => Err(NoRoom),
        }
    }

    /// Gives back what was watched when not everything could be.
    fn settle(&mut self, has_room: bool) -> Watched {
        self.is_covered = has_room;
        if has_room {
            return Watched::All;
        }
        self.shared.uncover(self.id);
        self.watched = 0;
        Watched::None
    }
}

impl Drop for TreeWatch {
    fn drop(&mut self) {
        self.shared.forget(self.id);
    }
}

/// It went, is no directory any more, or may not be looked into.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Lists the directories in a directory, from the top.
fn directories(top: &Path, path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(top.join(path)) else { return Vec::new() };
    let entries = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = entries.map(|entry| entry.file_name()).filter(|name| name.as_bytes() != b".git");
    names.map(|name| if path.as_os_str().is_empty() { name.into() } else { path.join(name) }).collect()
}

/// Finds the git directory of a repository inside another.
fn nested(directory: &Path) -> Option<PathBuf> {
    let file = directory.join(".git");
    let kind = fs::symlink_metadata(&file).ok()?;
    if kind.is_dir() {
        return Some(file);
    }
    crate::checkout::read_path(&file, "gitdir: ").map(|target| directory.join(target))
}
