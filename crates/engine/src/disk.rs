//! How much of the disk Forge takes, by project and attempt. The look is bounded in time and shared: a tree of a
//! million files keeps nobody waiting, and what was not reached is said to be missing.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_model::{AttemptId, ProjectId, RunId, Time};

use crate::background::blocking;
use crate::paths::free_bytes;
use crate::store::disk::{self, Place};
use crate::{Engine, Result, old_logs};

/// How long one look may take.
const BUDGET: Duration = Duration::from_secs(5);

/// How long what was seen is told again without another look.
const FRESH: Duration = Duration::from_secs(15);

/// What the data directory and the worktrees take, in bytes on the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Free where the data is, and where the worktrees are; none when nobody can tell.
    pub free: Option<u64>,
    pub free_for_worktrees: Option<u64>,
    /// Below this nothing is started.
    pub floor: u64,
    pub worktrees: u64,
    /// The logs of all runs, those of removed attempts included.
    pub runs: u64,
    /// The logs of attempts that were removed.
    pub removed_runs: u64,
    pub trash: u64,
    pub images: u64,
    /// The database and the copies of it that were made before it was changed.
    pub database: u64,
    /// The largest first.
    pub projects: Vec<ProjectUse>,
    /// Everything was counted; otherwise each figure is at least what it says.
    pub is_complete: bool,
    pub measured_at: Option<Time>,
}

/// What the attempts of a project take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectUse {
    pub project: ProjectId,
    pub name: String,
    pub worktrees: u64,
    pub runs: u64,
    /// The largest first; those that take nothing are left out.
    pub attempts: Vec<AttemptUse>,
}

/// What an attempt takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptUse {
    pub attempt: AttemptId,
    pub worktree: u64,
    pub runs: u64,
}

/// The newest look.
#[derive(Debug, Default)]
pub(crate) struct LastLook(tokio::sync::Mutex<Option<(Instant, DiskUse)>>);

impl Engine {
    /// Says how much room everything takes. Callers at the same time share one look.
    pub async fn disk_use(&self) -> Result<DiskUse> {
        let mut last = self.inner.disk.0.lock().await;
        if let Some((at, seen)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return Ok(seen.clone());
        }
        let places = self.inner.store.read(disk::places).await?;
        let engine = self.clone();
        let seen = blocking(move || engine.look_at_disk(places)).await?;
        *last = Some((Instant::now(), seen.clone()));
        Ok(seen)
    }

    fn look_at_disk(&self, places: Vec<Place>) -> DiskUse {
        let paths = &self.inner.paths;
        let mut scale = Scale { until: Instant::now() + BUDGET, is_complete: true };
        let mut seen = DiskUse {
            free: free_bytes(&paths.home),
            free_for_worktrees: free_bytes(paths.worktrees.as_path()).or_else(|| free_bytes(&paths.home)),
            floor: self.floor(),
            measured_at: Some(crate::store::now()),
            ..DiskUse::default()
        };
        for file in ["forge.db", "forge.db-wal", "forge.db-shm", "backups"] {
            seen.database += scale.weigh(&paths.home.join(file));
        }
        seen.images = scale.weigh(&paths.images());
        let mut projects: HashMap<ProjectId, ProjectUse> = HashMap::new();
        for place in &places {
            let worktree = place.worktree.as_ref().map_or(0, |path| scale.weigh(path));
            let runs = place.runs.iter().map(|run| scale.weigh(&paths.run(*run))).sum();
            seen.worktrees += worktree;
            seen.runs += runs;
            let (project, name) = (place.project, place.name.clone());
            let of = projects.entry(project).or_insert_with(|| ProjectUse {
                project,
                name,
                worktrees: 0,
                runs: 0,
                attempts: Vec::new(),
            });
            of.worktrees += worktree;
            of.runs += runs;
            if worktree + runs > 0 {
                of.attempts.push(AttemptUse { attempt: place.attempt, worktree, runs });
            }
        }
        let known: HashSet<RunId> = places.iter().flat_map(|place| &place.runs).copied().collect();
        for run in old_logs::present(&paths.runs()).into_iter().flatten().filter(|run| !known.contains(run)) {
            seen.removed_runs += scale.weigh(&paths.run(run));
        }
        seen.runs += seen.removed_runs;
        // The trash last: it goes by itself.
        seen.trash = scale.weigh(&paths.trash());
        seen.projects = projects.into_values().collect();
        seen.projects.sort_by_key(|of| (std::cmp::Reverse(of.worktrees + of.runs), of.project));
        for of in &mut seen.projects {
            of.attempts.sort_by_key(|one| (std::cmp::Reverse(one.worktree + one.runs), one.attempt));
        }
        seen.is_complete = scale.is_complete;
        seen
    }
}

/// Adds up what directories take, for as long as there is time.
struct Scale {
    until: Instant,
    is_complete: bool,
}

impl Scale {
    /// Weighs a file or everything below a directory. Links are not followed, and what cannot be read counts nothing.
    fn weigh(&mut self, path: &Path) -> u64 {
        let mut bytes = 0;
        let mut todo: Vec<PathBuf> = vec![path.to_path_buf()];
        while let Some(path) = todo.pop() {
            if Instant::now() >= self.until {
                self.is_complete = false;
                return bytes;
            }
            let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
            bytes += meta.blocks() * 512;
            if meta.is_dir()
                && let Ok(entries) = std::fs::read_dir(&path)
            {
                todo.extend(entries.flatten().map(|entry| entry.path()));
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_runs_out_of_time_says_so() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), vec![1; 100_000]).unwrap();
        let mut scale = Scale { until: Instant::now() + BUDGET, is_complete: true };
        assert!(scale.weigh(dir.path()) >= 100_000 && scale.is_complete);
        let mut scale = Scale { until: Instant::now(), is_complete: true };
        assert_eq!((scale.weigh(dir.path()), scale.is_complete), (0, false));
    }
}
