//! What an attempt has changed, on the wire.

use std::collections::BTreeMap;
use std::sync::Arc;

use forge_engine::{ChangeKind, Content, DiffFile, DiffOf, DiffSet, DiffTurn, DiffWanted, FileVersion};
use schemars::JsonSchema;
use serde::Serialize;

use crate::decode::{Query, names};
use crate::error::Problem;

/// How many files may be asked for at once.
const MOST_PATHS: usize = 500;

/// One file that differs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diff {
    change: DiffChangeKind,
    old_path: Option<String>,
    new_path: Option<String>,
    /// None when there is none, it is binary, or it is omitted.
    old_content: Option<String>,
    new_content: Option<String>,
    /// Contents are too long, too many, behind a filter, or were not asked for.
    content_omitted: bool,
    /// Lines, when contents are omitted and can be counted.
    additions: Option<u64>,
    deletions: Option<u64>,
    /// As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a repository inside.
    old_mode: Option<String>,
    new_mode: Option<String>,
    is_binary: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum DiffChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed,
    PermissionChange,
}

/// A file as the streams tell it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffEntry {
    r#type: DiffTag,
    content: Diff,
}

#[derive(Debug, Serialize, JsonSchema)]
enum DiffTag {
    #[serde(rename = "DIFF")]
    Diff,
}

/// One file under its path, or all of them by path.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DiffValue {
    One(Box<DiffEntry>),
    Whole(BTreeMap<String, DiffEntry>),
}

/// Everything that an attempt has changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAttemptDiff {
    of: ComparedWhat,
    /// The commit that was compared with; null means an empty tree.
    base_commit: Option<String>,
    diffs: Vec<Diff>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ComparedWhat {
    /// The files of the worktree.
    Files,
    /// What the branch has committed: the worktree is gone.
    Branch,
    /// The commit that landed.
    Landing,
    /// One snapshot and another, or the files as they are now.
    Snapshots,
}

/// Reads what of a diff is wanted.
pub(crate) fn diff_wanted(query: &Query) -> Result<DiffWanted, Problem> {
    let (from, to) = (query.text(names::FROM_SNAPSHOT)?, query.text(names::TO_SNAPSHOT)?);
    let turn = match (from, to) {
        (None, None) => None,
        (Some(from), to) => Some(DiffTurn {
            from: Some(from).filter(|from| from != "start"),
            to: to.filter(|to| to != "now"),
        }),
        (None, Some(_)) => {
            return Err(Problem::bad_request("the query parameter `to` needs `from` beside it"));
        }
    };
    let paths = query.texts(names::DIFF_PATH, MOST_PATHS)?;
    Ok(DiffWanted { stats_only: query.flag("stats_only")?, paths, turn })
}

impl From<&DiffFile> for Diff {
    fn from(file: &DiffFile) -> Self {
        let (old, new) = (file.before(), file.after());
        let content_omitted = !file.with_content || file.change.is_left_out();
        let text = |version: &Option<FileVersion<'_>>| match version.as_ref()?.content {
            Content::Text(text) if !content_omitted => Some(text.to_string()),
            Content::Text(_) | Content::Binary | Content::LeftOut => None,
        };
        let is_binary = |version: &Option<FileVersion<'_>>| {
            version.as_ref().is_some_and(|version| version.content == Content::Binary)
        };
        let mode = |version: &Option<FileVersion<'_>>| {
            version.as_ref().map(|version| format!("{:06o}", version.mode))
        };
        let counts = if content_omitted { file.change.counts() } else { None };
        Self {
            change: file.change.kind.into(),
            old_content: text(&old),
            new_content: text(&new),
            content_omitted,
            additions: counts.map(|counts| counts.additions),
            deletions: counts.map(|counts| counts.deletions),
            old_mode: mode(&old),
            new_mode: mode(&new),
            is_binary: is_binary(&old) || is_binary(&new),
            old_path: old.map(|version| version.path),
            new_path: new.map(|version| version.path),
        }
    }
}

impl From<ChangeKind> for DiffChangeKind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Added => Self::Added,
            ChangeKind::Deleted => Self::Deleted,
            ChangeKind::Modified => Self::Modified,
            ChangeKind::Renamed => Self::Renamed,
            ChangeKind::PermissionChange => Self::PermissionChange,
        }
    }
}

impl From<&DiffFile> for DiffEntry {
    fn from(file: &DiffFile) -> Self {
        Self { r#type: DiffTag::Diff, content: file.into() }
    }
}

impl From<(Arc<DiffSet>, Vec<DiffFile>)> for TaskAttemptDiff {
    fn from((set, files): (Arc<DiffSet>, Vec<DiffFile>)) -> Self {
        let of = match set.of {
            DiffOf::Files => ComparedWhat::Files,
            DiffOf::Branch => ComparedWhat::Branch,
            DiffOf::Landing => ComparedWhat::Landing,
            DiffOf::Snapshots => ComparedWhat::Snapshots,
        };
        Self { of, base_commit: set.base.clone(), diffs: files.iter().map(Diff::from).collect() }
    }
}
