//! What was heard since somebody last asked, and what a watched directory is to them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// With more paths than this nobody looks at each.
const MOST: usize = 2000;

/// What a watched directory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A directory of the checkout, by its path from the top.
    Files(PathBuf),
    /// A directory of git's own, where these names say that HEAD, the index or a branch moved.
    Git(BTreeSet<OsString>),
}

/// What was heard since somebody last asked.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Notices were lost, or there were too many.
    pub(super) everything: bool,
    /// HEAD, the index or a branch moved.
    pub(super) git: bool,
    /// Files that came, changed or went, and directories that went.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Directories that came.
    pub(super) directories: BTreeSet<PathBuf>,
}

/// Where news gather for one who listens.
pub(super) struct Heard {
    news: Mutex<News>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Place {
    /// Tells whether a directory can be only one of them.
    pub(super) fn is_like(&self, other: &Place) -> bool {
        matches!((self, other), (Place::Files(_), Place::Files(_)) | (Place::Git(_), Place::Git(_)))
    }

    /// A directory that was moved has a new path; one of git's own may be watched for several names.
    pub(super) fn become_also(&mut self, other: Place) {
        match (self, other) {
            (Place::Git(names), Place::Git(more)) => names.extend(more),
            (known, other) => *known = other,
        }
    }
}

impl Heard {
    pub(super) fn new(wake: impl Fn() + Send + Sync + 'static) -> Heard {
        Heard { news: Mutex::default(), wake: Box::new(wake) }
    }

    /// Notes a change; says whether it is any news.
    pub(super) fn note(&self, place: &Place, name: &OsStr, is_directory: bool, is_new: bool) -> bool {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        match place {
            Place::Git(names) if names.contains(name) => news.git = true,
            Place::Files(_) if name != ".git" && news.paths.len() + news.directories.len() >= MOST => {
                news.everything = true;
            }
            Place::Files(directory) if name != ".git" => {
                let path = join(directory, name);
                let kind = if is_directory && is_new { &mut news.directories } else { &mut news.paths };
                return kind.insert(path);
            }
            Place::Files(_) | Place::Git(_) => return false,
        }
        true
    }

    pub(super) fn note_everything(&self) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).everything = true;
    }

    pub(super) fn take(&self) -> News {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn wake(&self) {
        (self.wake)();
    }
}

impl fmt::Debug for Heard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Heard").field("news", &self.news).finish_non_exhaustive()
    }
}

fn join(directory: &Path, name: &OsStr) -> PathBuf {
    if directory.as_os_str().is_empty() { PathBuf::from(name) } else { directory.join(name) }
}
