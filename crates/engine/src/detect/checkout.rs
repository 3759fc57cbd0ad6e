//! The files of the person's checkout before and after a run, and what is different.
//!
//! A file is told from a changed one by what the filesystem says of it; only then is its content compared. The list is
//! made shortly after the run has started, so a file whose times are later than the start counts as changed: it was not
//! seen before. A file without changes can be had again from the repository; one with changes, or an untracked one, from
//! a copy, when it was small enough. Ignored files are not looked at.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use forge_git::{FileState, Marks, Repo};
use forge_model::{FindingKind, Side};
use serde::{Deserialize, Serialize};

use super::before;
use super::compare::Found;
use super::objects::{Objects, hash};
use crate::Result;
use crate::error::io_error;

/// More changed files than this are told as one finding, which is the person's own work in all likelihood.
pub(super) const MOST_FILES: usize = 100;

/// A larger file is told by its size and time.
const LARGEST_READ: u64 = 64 << 20;

/// How coarse the times of a filesystem may be, in nanoseconds.
const COARSE: i64 = 20_000_000;

/// How much is copied of files that have changes or are untracked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    files: usize,
    file_bytes: u64,
    bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { files: 500, file_bytes: 1 << 20, bytes: 16 << 20 }
    }
}

/// The files of a checkout.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct List(BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Mode, size, inode, modified, changed.
    marks: Option<(u32, u64, u64, i64, i64)>,
    /// Mode and blob in the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    staged: Option<(u32, String)>,
    clean: bool,
    /// The hash of its copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
}

impl List {
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        before::write(path, self)
    }

    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        before::read(path)
    }
}

/// Lists the files of a checkout, and copies within a budget what the repository does not have. With one, nobody waits
/// for the list.
pub(super) fn list(repo: &Repo, objects: &Objects, scratch: &Path, budget: Option<Budget>) -> Result<List> {
    fs::create_dir_all(scratch).map_err(io_error("create", scratch))?;
    let mut left = budget.unwrap_or(Budget { files: 0, file_bytes: 0, bytes: 0 });
    let mut list = BTreeMap::new();
    for (path, state) in repo.file_states(scratch, budget.is_some())? {
        // A name that is no text cannot be shown or asked for.
        let Some(name) = path.to_str() else { continue };
        let mut entry = entry(&state);
        if let (false, Some((mode, size, ..))) = (state.is_clean, entry.marks)
            && left.files > 0
            && size <= left.file_bytes.min(left.bytes)
            && is_copied(mode)
        {
            // A file that vanishes under our eyes is found to have vanished.
            if let Ok(content) = content(&repo.top().join(&path)) {
                entry.copy = Some(objects.keep(&content)?);
                left.files -= 1;
                left.bytes -= size;
            }
        }
        list.insert(name.to_string(), entry);
    }
    Ok(List(list))
}

/// Compares the files of a checkout. `without_move` leaves out files that were and are what their commit says, and what
/// is staged: the checkout is on another commit than before, and that is told by itself.
pub(super) fn compare(repo: &Repo, at: i64, was: Option<&List>, is: &List, without_move: bool) -> Vec<Found> {
    let start = at.saturating_mul(1_000_000).saturating_sub(COARSE);
    let nothing = List::default();
    let before = was.unwrap_or(&nothing);
    let mut found = Vec::new();
    let mut staged = (Vec::new(), Vec::new());
    let names: std::collections::BTreeSet<&String> = before.0.keys().chain(is.0.keys()).collect();
    for name in names {
        let full = repo.top().join(name);
        let (old, new) = (before.0.get(name), is.0.get(name));
        if !without_move
            && was.is_some()
            && old.and_then(|old| old.staged.as_ref()) != new.and_then(|new| new.staged.as_ref())
        {
            staged.0.push((name, old.and_then(|old| old.staged.clone())));
            staged.1.push((name, new.and_then(|new| new.staged.clone())));
        }
        let now = match new {
            Some(new) => new.marks,
            // It may only be ignored now.
            None => Marks::of(&full).map(|marks| tuple(&marks)),
        };
        let seen = old.filter(|old| old.marks.is_some_and(|marks| marks.4 < start));
        let is_same = match (seen, now) {
            (Some(seen), now) => seen.marks == now,
            // Not listed before: new, or changed before the list was made.
            (None, Some(now)) => now.4 < start,
            // Staged since, and never there.
            (None, None) if was.is_some() && old.is_none() => true,
            (None, None) => {
                let parent = full.ancestors().skip(1).find_map(Marks::of);
                old.is_none_or(|old| old.marks.is_none())
                    && parent.is_none_or(|parent| parent.changed < start)
            }
        };
        let was_clean = old.is_none_or(|old| old.clean || old.marks.is_none());
        let is_clean = new.is_none_or(|new| new.clean) && (new.is_some() || now.is_none());
        if is_same || (without_move && was_clean && is_clean) {
            continue;
        }
        // Without a list, what the index says now is the best there is.
        let side = old_side(seen, if was.is_some() { old } else { new });
        let after = now.map(|marks| new_side(&full, marks));
        if !is_equal(repo, Path::new(name), side.as_ref(), after.as_ref(), &full) {
            found.push(Found::new(FindingKind::File, name, side, after));
        }
    }
    if !staged.0.is_empty() {
        let side = |entries: &[(&String, Option<(u32, String)>)]| {
            let names: Vec<&str> = entries.iter().take(10).map(|(name, _)| name.as_str()).collect();
            let shown = format!("{} entries: {}", entries.len(), names.join(", "));
            Side { shown, value: serde_json::to_string(entries).ok(), ..Side::default() }
        };
        found.push(Found::new(FindingKind::Index, "index", Some(side(&staged.0)), Some(side(&staged.1))));
    }
    found
}

/// Makes one finding of too many files.
pub(super) fn gathered(found: Vec<Found>) -> Vec<Found> {
    let (files, mut others): (Vec<Found>, Vec<Found>) =
        found.into_iter().partition(|found| found.kind == FindingKind::File);
    if files.len() <= MOST_FILES {
        others.extend(files);
        return others;
    }
    let names: Vec<&str> = files.iter().take(MOST_FILES).map(|found| found.subject.as_str()).collect();
    let shown = format!("{} and {} more", names[..10].join(", "), files.len() - 10);
    let after = Side { shown, value: serde_json::to_string(&names).ok(), ..Side::default() };
    let before = Side { shown: "others".to_string(), ..Side::default() };
    let subject = format!("{} files", files.len());
    others.push(Found::new(FindingKind::File, &subject, Some(before), Some(after)));
    others
}

/// How a file was, as far as is known.
fn old_side(seen: Option<&Entry>, old: Option<&Entry>) -> Option<Side> {
    if let Some(seen) = seen {
        let (mode, size, ..) = seen.marks?;
        let side = Side { shown: format!("{size} bytes"), mode: Some(mode), ..Side::default() };
        return Some(match (&seen.copy, &seen.staged) {
            (Some(copy), _) => Side { hash: Some(copy.clone()), kept: true, ..side },
            (None, Some((_, blob))) if seen.clean => Side { blob: Some(blob.clone()), ..side },
            _ => side,
        });
    }
    // It was changed before it was listed. A tracked file was most likely what the index says.
    let (mode, blob) = old?.staged.clone()?;
    let shown = "what is staged".to_string();
    Some(Side { shown, mode: Some(mode), blob: Some(blob), ..Side::default() })
}

fn new_side(path: &Path, (mode, size, _, modified, _): (u32, u64, u64, i64, i64)) -> Side {
    let hash =
        if size <= LARGEST_READ && is_copied(mode) { content(path).ok().map(|c| hash(&c)) } else { None };
    let hash = hash.unwrap_or_else(|| format!("{size} bytes at {modified}"));
    Side { shown: format!("{size} bytes"), hash: Some(hash), mode: Some(mode), ..Side::default() }
}

/// Says whether both sides have the same content after all.
fn is_equal(repo: &Repo, path: &Path, was: Option<&Side>, is: Option<&Side>, full: &Path) -> bool {
    let (Some(was), Some(is)) = (was, is) else { return was.is_none() && is.is_none() };
    let modes = (was.mode.unwrap_or_default(), is.mode.unwrap_or_default());
    let same_kind = (modes.0 ^ modes.1) & 0o170_100 == 0;
    let same_content = match (&was.blob, &was.hash) {
        (_, Some(hash)) => Some(hash) == is.hash.as_ref(),
        (Some(blob), None) => match (repo.checked_out(path, blob), content(full)) {
            (Ok(was), Ok(is)) => was == is,
            _ => false,
        },
        (None, None) => false,
    };
    same_kind && same_content
}

/// The content of a file, or where a link leads.
pub(crate) fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Ok(fs::read_link(path)?.as_os_str().as_bytes().to_vec());
    }
    fs::read(path)
}

fn is_copied(mode: u32) -> bool {
    matches!(mode & 0o170_000, 0o100_000 | 0o120_000)
}

fn entry(state: &FileState) -> Entry {
    Entry {
        marks: state.marks.as_ref().map(tuple),
        staged: state.staged.as_ref().map(|staged| (staged.mode, staged.oid.clone())),
        clean: state.is_clean,
        copy: None,
    }
}

fn tuple(marks: &Marks) -> (u32, u64, u64, i64, i64) {
    (marks.mode, marks.size, marks.inode, marks.modified, marks.changed)
}

/// The entries of an index as they are written into a finding.
pub(crate) fn read_entries(value: &str) -> Option<forge_git::Entries> {
    let entries: Vec<(String, Option<(u32, String)>)> = serde_json::from_str(value).ok()?;
    let read = |(name, staged): (String, Option<(u32, String)>)| {
        (PathBuf::from(name), staged.map(|(mode, oid)| forge_git::Staged { mode, oid }))
    };
    Some(entries.into_iter().map(read).collect())
}
