//! One who looks at a diff: is told everything, then what differs from what it was told.

use std::collections::BTreeMap;
use std::sync::Arc;

use forge_git::{Content, FileChange, Version};
use tokio::sync::watch;

use crate::background::blocking;
use crate::{Error, Result};

use super::{DiffOf, DiffSet, State, shown};

/// Follows the diff of an attempt.
#[derive(Debug)]
pub struct DiffView {
    seen: watch::Receiver<State>,
    told: Told,
    has_begun: bool,
    is_over: bool,
}

/// What differs from what a viewer was told before.
#[derive(Debug)]
pub struct DiffStep {
    pub generation: u64,
    /// Files that are new or other than before.
    pub files: Vec<DiffFile>,
    /// Paths that do not differ any more.
    pub gone: Vec<String>,
    /// Nothing more will come.
    pub is_last: bool,
}

/// A file that differs.
#[derive(Debug, Clone)]
pub struct DiffFile {
    /// Its path, as it is shown.
    pub path: String,
    pub change: Arc<FileChange>,
    /// Whether its contents are to be told, or only its counts.
    pub with_content: bool,
}

/// A file on one side of a diff.
#[derive(Debug)]
pub struct FileVersion<'a> {
    /// Its path, as it is shown.
    pub path: String,
    pub mode: u32,
    pub content: Content<'a>,
}

/// What a viewer has, and how much of contents it was told.
#[derive(Debug)]
pub(super) struct Told {
    stats_only: bool,
    /// How many bytes of contents it is told at most.
    most: u64,
    bytes: u64,
    files: BTreeMap<String, Arc<FileChange>>,
}

impl DiffView {
    pub(super) fn new(seen: watch::Receiver<State>, stats_only: bool, most: u64) -> DiffView {
        DiffView { seen, told: Told::new(stats_only, most), has_begun: false, is_over: false }
    }

    /// Waits for the next step; the first one comes even when nothing differs. None when there are no more. May be
    /// dropped while it waits; nothing is lost.
    pub async fn next(&mut self) -> Result<Option<DiffStep>> {
        while !self.is_over {
            let state = self.seen.borrow_and_update().clone();
            match state {
                Some(Ok(set)) => {
                    let step = self.told.step(&set);
                    let is_news =
                        !self.has_begun || step.is_last || !(step.files.is_empty() && step.gone.is_empty());
                    if is_news {
                        let DiffStep { generation, files, gone, is_last } = step;
                        let files = counted(files).await?;
                        // Noted last: what is dropped before this is told again.
                        self.told.note(&files, &gone);
                        (self.has_begun, self.is_over) = (true, is_last);
                        return Ok(Some(DiffStep { generation, files, gone, is_last }));
                    }
                }
                Some(Err(error)) => {
                    self.is_over = true;
                    return Err(Error::conflict(error.to_string()));
                }
                None => {}
            }
            if self.seen.changed().await.is_err() {
                self.is_over = true;
                return Err(Error::internal("the computation of the diff broke off"));
            }
        }
        Ok(None)
    }
}

impl DiffFile {
    /// The file as it was.
    pub fn before(&self) -> Option<FileVersion<'_>> {
        self.change.old.as_ref().map(side)
    }

    /// The file as it is.
    pub fn after(&self) -> Option<FileVersion<'_>> {
        self.change.new.as_ref().map(side)
    }
}

fn side(version: &Version) -> FileVersion<'_> {
    FileVersion { path: shown(&version.path), mode: version.mode, content: version.content() }
}

impl Told {
    pub(super) fn new(stats_only: bool, most: u64) -> Told {
        Told { stats_only, most, bytes: 0, files: BTreeMap::new() }
    }

    /// Finds what differs from what was told.
    fn step(&mut self, set: &DiffSet) -> DiffStep {
        let is_new = |(path, change): &(&String, &Arc<FileChange>)| {
            self.files.get(*path).is_none_or(|known| !Arc::ptr_eq(known, change))
        };
        let changed: Vec<(String, Arc<FileChange>)> =
            set.files.iter().filter(is_new).map(|(path, change)| (path.clone(), change.clone())).collect();
        let gone = self.files.keys().filter(|path| !set.files.contains_key(*path)).cloned().collect();
        let files = self.choose(changed);
        DiffStep { generation: set.generation, files, gone, is_last: set.of == DiffOf::Landing }
    }

    /// Chooses whose contents are told: until there were too many, or none.
    pub(super) fn choose(&mut self, files: Vec<(String, Arc<FileChange>)>) -> Vec<DiffFile> {
        let mut bytes = self.bytes;
        let mut choose = |change: &FileChange| {
            bytes = bytes.saturating_add(change.content_bytes());
            !self.stats_only && bytes <= self.most
        };
        let file = |(path, change): (String, Arc<FileChange>)| {
            let with_content = choose(&change);
            DiffFile { path, change, with_content }
        };
        files.into_iter().map(file).collect()
    }

    fn note(&mut self, files: &[DiffFile], gone: &[String]) {
        for file in files {
            self.bytes = self.bytes.saturating_add(file.change.content_bytes());
            self.files.insert(file.path.clone(), file.change.clone());
        }
        for path in gone {
            self.files.remove(path);
        }
    }
}

/// Counts the lines of those that are told without contents, where that may take its time.
pub(super) async fn counted(files: Vec<DiffFile>) -> Result<Vec<DiffFile>> {
    if files.iter().all(|file| file.with_content && !file.change.is_left_out()) {
        return Ok(files);
    }
    blocking(move || {
        for file in files.iter().filter(|file| !file.with_content) {
            file.change.counts();
        }
        files
    })
    .await
}
