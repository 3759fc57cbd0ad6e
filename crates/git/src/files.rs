//! The files of the person's checkout, each with what tells it from a changed one, and its content from before.
//!
//! Tracked and untracked files; ignored ones are not looked at. Nothing that the repository's config names is run, and
//! neither the index nor its lock is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::drivers::Drivers;
use crate::error::Result;
use crate::limit::WRITING;
use crate::names::is_oid;
use crate::private::{Private, Settings};
use crate::repo::Repo;

/// A tracked or untracked file of a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// What the filesystem says; none when a tracked file is not there.
    pub marks: Option<Marks>,
    /// What the index says, when it is tracked.
    pub staged: Option<Staged>,
    /// It is what the index says.
    pub is_clean: bool,
}

/// What tells a file from a changed one without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    pub mode: u32,
    pub size: u64,
    pub inode: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
    pub changed: i64,
}

/// An entry of an index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Staged {
    pub mode: u32,
    pub oid: String,
}

impl Marks {
    /// Reads them; none when nothing is there.
    pub fn of(path: &Path) -> Option<Marks> {
        let kind = fs::symlink_metadata(path).ok()?;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Some(Marks {
            mode: kind.mode(),
            size: kind.len(),
            inode: kind.ino(),
            modified: nanoseconds(kind.mtime(), kind.mtime_nsec()),
            changed: nanoseconds(kind.ctime(), kind.ctime_nsec()),
        })
    }
}

impl Repo {
    /// Lists the tracked and untracked files of the person's checkout. `scratch` is a directory of the caller's, for the
    /// length of the call. Gently: everything else on the machine goes first.
    pub fn file_states(&self, scratch: &Path, gently: bool) -> Result<BTreeMap<PathBuf, FileState>> {
        let (head, settings) = (self.checkout.head()?, Settings::of(&self.checkout)?);
        let mut private = Private::make(scratch, &self.checkout, head.as_deref(), settings)?;
        if gently {
            private = private.gently();
        }
        let staged = private.staged()?;
        let changes = private.changes()?;
        let unclean: BTreeSet<&PathBuf> = changes.unstaged.iter().collect();
        let mut files = BTreeMap::new();
        for (path, staged) in staged {
            let marks = Marks::of(&self.top().join(&path));
            let is_clean = marks.is_some() && !unclean.contains(&path);
            files.insert(path, FileState { marks, staged: Some(staged), is_clean });
        }
        for path in changes.unstaged.iter().chain(&changes.nested) {
            let marks = Marks::of(&self.top().join(path));
            files.entry(path.clone()).or_insert(FileState { marks, staged: None, is_clean: false });
        }
        Ok(files)
    }

    /// Returns the content of a blob as a checkout would write it at a path.
    pub fn checked_out(&self, path: &Path, oid: &str) -> Result<Vec<u8>> {
        self.check_oid(oid)?;
        let drivers = Drivers::of(&self.checkout)?;
        if let Some((path, driver)) = drivers.among(&self.checkout, &[path.to_path_buf()])?.into_iter().next()
        {
            return Err(crate::Error::LocalFilter { driver, path });
        }
        let mut option = std::ffi::OsString::from("--path=");
        option.push(path);
        let call = self.checkout.files("cat-file").within(WRITING).settings(&drivers.overrides);
        let content = call.arg("--filters").arg(option).arg(oid).run();
        content.map_err(|failure| failure.during(format!("read {} as it was", path.display())))
    }
}

/// Reads `100644 <oid> 0<tab>path` entries; of a path in conflict, the last stage.
pub(crate) fn read_staged(answer: &[u8]) -> Vec<(PathBuf, Staged)> {
    let entries = answer.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let text = std::str::from_utf8(&entry[..tab]).ok()?;
        let mut fields = text.split(' ');
        let mode = u32::from_str_radix(fields.next()?, 8).ok()?;
        let oid = fields.next().filter(|oid| is_oid(oid))?.to_string();
        Some((PathBuf::from(OsStr::from_bytes(&entry[tab + 1..])), Staged { mode, oid }))
    });
    entries.collect()
}
