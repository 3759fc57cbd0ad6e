//! Time travel on the wire: snapshots, restored files, what was removed, and turns that are run again.

use forge_engine::{
    LeftOut, Recovered, RemovedThing, Replace, Replaced, RestoreFiles, RestoredFiles, SnapshotView, Tally,
    Told,
};
use forge_model::{ProjectId, RunId, TaskId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

/// A snapshot of an attempt's files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttemptSnapshot {
    id: String,
    /// The process at whose end it was taken.
    execution_process_id: Option<RunId>,
    /// Why it was taken: `turn`, or what was about to happen.
    why: String,
    /// The commit that was checked out.
    head: Option<String>,
    /// What is not in it.
    left_out: Vec<LeftOutFile>,
    /// What differs from the snapshot before, or from what the attempt began with; null when it cannot be told any more.
    changes: Option<ChangedFiles>,
    created_at: Time,
}

/// A file that is not in a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LeftOutFile {
    path: String,
    why: String,
}

/// How many files differ.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedFiles {
    added: u64,
    changed: u64,
    deleted: u64,
}

/// What going back changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilesRestored {
    /// The snapshot of the files as they were before: restore it to undo this.
    undo_snapshot_id: String,
    written: Vec<String>,
    removed: Vec<String>,
    /// What was left as it is, because a snapshot does not hold it.
    left_alone: Vec<LeftOutFile>,
}

/// Something that was removed and can be brought back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RemovedEntry {
    /// `project`, `task` or `attempt`.
    kind: &'static str,
    id: String,
    name: String,
    project_id: Option<ProjectId>,
    task_id: Option<TaskId>,
    /// Where the files of an attempt are: `trash` with ignored ones, `snapshot` without, or only on its `branch`.
    files: Option<&'static str>,
    removed_at: Time,
}

/// What was brought back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecoveredEntry {
    kind: &'static str,
    id: String,
    tasks: usize,
    attempts: usize,
    /// What is not as it was, in sentences.
    notes: Vec<String>,
}

/// What became of a turn that was replaced.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReplaceProcessResult {
    deleted_count: usize,
    git_reset_needed: bool,
    git_reset_applied: bool,
    target_before_oid: Option<String>,
    new_execution_id: Option<RunId>,
}

pub(crate) const RESTORE_FILES: Body =
    Body::new("RestoreFilesRequest", &[need(names::SNAPSHOT_ID), may(names::PATHS)]);

pub(crate) const REPLACE_PROCESS: Body = Body::new(
    "ReplaceProcessRequest",
    &[
        may(names::PROCESS_ID),
        need(names::PROMPT),
        may(names::VARIANT),
        may(names::MAYBE_PROFILE),
        may(names::FORCE_WHEN_DIRTY),
        may(names::PERFORM_GIT_RESET),
    ],
);

impl From<SnapshotView> for AttemptSnapshot {
    fn from(view: SnapshotView) -> Self {
        Self {
            id: view.id,
            execution_process_id: view.run,
            why: view.why,
            head: view.head,
            left_out: super::list(view.left_out),
            changes: view.changes.map(ChangedFiles::from),
            created_at: view.created_at,
        }
    }
}

impl From<LeftOut> for LeftOutFile {
    fn from(left: LeftOut) -> Self {
        Self { path: left.path, why: left.why }
    }
}

impl From<Tally> for ChangedFiles {
    fn from(tally: Tally) -> Self {
        Self { added: tally.added, changed: tally.changed, deleted: tally.deleted }
    }
}

impl From<RestoredFiles> for FilesRestored {
    fn from(restored: RestoredFiles) -> Self {
        Self {
            undo_snapshot_id: restored.undo,
            written: restored.written,
            removed: restored.removed,
            left_alone: super::list(restored.left_alone),
        }
    }
}

impl From<RemovedThing> for RemovedEntry {
    fn from(thing: RemovedThing) -> Self {
        Self {
            kind: thing.kind.as_str(),
            id: thing.id,
            name: thing.name,
            project_id: thing.project,
            task_id: thing.task,
            files: thing.files.map(|files| files.as_str()),
            removed_at: thing.removed_at,
        }
    }
}

impl From<Recovered> for RecoveredEntry {
    fn from(recovered: Recovered) -> Self {
        let Recovered { kind, id, tasks, attempts, notes } = recovered;
        Self { kind: kind.as_str(), id, tasks, attempts, notes }
    }
}

impl From<Replaced> for ReplaceProcessResult {
    fn from(replaced: Replaced) -> Self {
        Self {
            deleted_count: replaced.dropped,
            git_reset_needed: replaced.reset_needed,
            git_reset_applied: replaced.reset_applied,
            target_before_oid: replaced.target,
            new_execution_id: Some(replaced.run.id),
        }
    }
}

impl TryFrom<Fields> for RestoreFiles {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(RestoreFiles { snapshot: fields.line(names::SNAPSHOT_ID)?, paths: fields.texts(names::PATHS)? })
    }
}

impl TryFrom<Fields> for Replace {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let run = fields.optional_id(names::PROCESS_ID)?;
        replace(&fields, run)
    }
}

/// Reads what to tell an agent: with a process to run again, something else in its place.
pub(crate) fn told(fields: Fields) -> Result<Told, Problem> {
    match fields.optional_id(names::RETRY_PROCESS_ID)? {
        Some(run) => Ok(Told::Again(replace(&fields, Some(run))?)),
        None => Ok(Told::More(fields.try_into()?)),
    }
}

fn replace(fields: &Fields, run: Option<RunId>) -> Result<Replace, Problem> {
    let profile = match fields.value(names::MAYBE_PROFILE).is_null() {
        true => None,
        false => Some(fields.profile(names::MAYBE_PROFILE)?),
    };
    Ok(Replace {
        run,
        prompt: fields.text(names::PROMPT)?,
        variant: fields.variant(names::VARIANT)?,
        profile,
        images: fields.ids(names::IMAGE_IDS)?.unwrap_or_default(),
        reset: fields.flag(names::PERFORM_GIT_RESET)?.unwrap_or(true),
        discard: fields.flag(names::FORCE_WHEN_DIRTY)?.unwrap_or(false),
    })
}
