//! What a checkout's files, a branch or a commit differ in, file by file and with contents.
//!
//! Files are read as they lie on disk and no filter is run; only line ends are brought to what git would store, so
//! that one touched line of a CRLF file is one changed line. A link is its target and is never followed.

mod blobs;
mod differ;
mod files;
mod ignored;
mod index;
mod raw;
mod reader;
mod renames;
mod rules;
mod sides;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub use differ::{DiffBase, Differ};

use sides::Side;

/// Longer contents are left out.
pub const LARGEST_CONTENT: u64 = 2 * 1024 * 1024;

/// Lines are counted in contents up to this length.
const LARGEST_COUNTED: u64 = 32 * 1024 * 1024;

/// The contents of one diff together; what comes after is left out.
pub const MOST_CONTENT: u64 = 200 * 1024 * 1024;

/// Everything that differs.
#[derive(Debug, Clone, Default)]
pub struct Diff {
    /// The commit that was compared with; none means an empty tree.
    pub base: Option<String>,
    /// By the path that a file has now, or had when it is gone.
    pub files: BTreeMap<PathBuf, Arc<FileChange>>,
}

/// How one file differs.
#[derive(Debug)]
pub struct FileChange {
    pub kind: ChangeKind,
    pub old: Option<Version>,
    pub new: Option<Version>,
    counts: OnceLock<Option<Counts>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed,
    /// Only the right to execute it differs.
    PermissionChange,
}

/// A file as it was or is.
#[derive(Debug, Clone)]
pub struct Version {
    pub path: PathBuf,
    /// As git writes it: `0o100644`, `0o100755`, `0o120000` for a link, `0o160000` for a repository inside.
    pub mode: u32,
    side: Arc<Side>,
}

/// How many lines were added and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub additions: u64,
    pub deletions: u64,
}

/// What can be told of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    Text(&'a str),
    Binary,
    /// There is some, and it is not told: it is too long, cannot be read, or stands behind a filter.
    LeftOut,
}

impl FileChange {
    /// Returns the path that the file has now, or had when it is gone.
    pub fn path(&self) -> &Path {
        let version = self.new.as_ref().or(self.old.as_ref());
        version.map_or(Path::new(""), |version| &version.path)
    }

    /// Tells whether a content that exists is left out.
    pub fn is_left_out(&self) -> bool {
        [&self.old, &self.new].into_iter().flatten().any(|version| version.content() == Content::LeftOut)
    }

    /// Counts lines, once. None for what has no lines, or was never read.
    pub fn counts(&self) -> Option<Counts> {
        *self.counts.get_or_init(|| {
            let text = |version: &Option<Version>| match version {
                None => Some(String::new()),
                Some(version) => version.side.text().map(str::to_string),
            };
            Some(counted(&text(&self.old)?, &text(&self.new)?))
        })
    }

    /// Returns how many bytes of contents it has.
    pub fn content_bytes(&self) -> u64 {
        let bytes = |version: &Version| version.side.text().map_or(0, str::len) as u64;
        [&self.old, &self.new].into_iter().flatten().map(bytes).sum()
    }

    /// Tells whether both say the same.
    fn says_the_same_as(&self, other: &FileChange) -> bool {
        let same = |a: &Option<Version>, b: &Option<Version>| match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => a.path == b.path && a.mode == b.mode && a.side.is_known_to_equal(&b.side),
            _ => false,
        };
        self.kind == other.kind && same(&self.old, &other.old) && same(&self.new, &other.new)
    }
}

impl Version {
    /// Returns its content, as far as it is told.
    pub fn content(&self) -> Content<'_> {
        self.side.content()
    }
}

fn counted(old: &str, new: &str) -> Counts {
    let input = imara_diff::InternedInput::new(old, new);
    let diff = imara_diff::Diff::compute(imara_diff::Algorithm::Histogram, &input);
    Counts { additions: diff.count_additions().into(), deletions: diff.count_removals().into() }
}
