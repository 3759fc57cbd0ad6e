//! How much of the disk is taken, on the wire.

use forge_engine::DiskUse;
use forge_model::{AttemptId, ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Disk {
    /// Free where the data is.
    free_bytes: Option<u64>,
    /// Free where the worktrees are.
    worktrees_free_bytes: Option<u64>,
    /// Below this nothing is started.
    floor_bytes: u64,
    worktrees_bytes: u64,
    runs_bytes: u64,
    /// Of these, the logs of attempts that were removed.
    removed_runs_bytes: u64,
    trash_bytes: u64,
    images_bytes: u64,
    database_bytes: u64,
    projects: Vec<ProjectDisk>,
    /// False when there was not time to count everything: each figure is at least what it says.
    complete: bool,
    measured_at: Option<Time>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectDisk {
    project_id: ProjectId,
    name: String,
    worktrees_bytes: u64,
    runs_bytes: u64,
    attempts: Vec<AttemptDisk>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttemptDisk {
    attempt_id: AttemptId,
    worktree_bytes: u64,
    runs_bytes: u64,
}

impl From<DiskUse> for Disk {
    fn from(seen: DiskUse) -> Self {
        let projects = seen.projects.into_iter().map(|of| ProjectDisk {
            project_id: of.project,
            name: of.name,
            worktrees_bytes: of.worktrees,
            runs_bytes: of.runs,
            attempts: of
                .attempts
                .into_iter()
                .map(|one| AttemptDisk {
                    attempt_id: one.attempt,
                    worktree_bytes: one.worktree,
                    runs_bytes: one.runs,
                })
                .collect(),
        });
        Self {
            free_bytes: seen.free,
            worktrees_free_bytes: seen.free_for_worktrees,
            floor_bytes: seen.floor,
            worktrees_bytes: seen.worktrees,
            runs_bytes: seen.runs,
            removed_runs_bytes: seen.removed_runs,
            trash_bytes: seen.trash,
            images_bytes: seen.images,
            database_bytes: seen.database,
            projects: projects.collect(),
            complete: seen.is_complete,
            measured_at: seen.measured_at,
        }
    }
}
