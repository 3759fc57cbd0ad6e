//! How much may run at once, and how much of the disk must stay free. Nothing here waits: it says what there is
//! room for.

use std::collections::HashMap;
use std::path::Path;

use forge_model::{AttemptId, ProjectId};
use serde_json::Value;

use crate::background::blocking;
use crate::intent::Intent;
use crate::paths::free_bytes;
use crate::store::{Conn, Error as StoreError, held, starts};
use crate::{Engine, Error, Result};

/// Below this much free room nothing is started, whatever the settings say: what runs already needs it.
const LEAST_ROOM: u64 = 64 << 20;

/// How many attempts may run at once; none means as many as anybody starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) running: Option<i64>,
    pub(crate) running_per_project: Option<i64>,
}

/// The attempts that run now: those with a process, and those that are being started.
#[derive(Debug, Default)]
pub(crate) struct Running {
    all: i64,
    of_project: HashMap<ProjectId, i64>,
}

impl Limits {
    /// Says whether there is no limit at all.
    pub(crate) fn is_off(self) -> bool {
        self == Self::default()
    }

    /// Says whether one more attempt of a project may run beside those that do.
    pub(crate) fn leave_room(self, running: &Running, project: ProjectId) -> bool {
        let here = running.of_project.get(&project).copied().unwrap_or(0);
        self.running.is_none_or(|most| running.all < most)
            && self.running_per_project.is_none_or(|most| here < most)
    }
}

impl Running {
    /// Counts what runs besides one attempt, which does not stand in its own way.
    pub(crate) fn besides(conn: &Conn, attempt: AttemptId) -> std::result::Result<Self, StoreError> {
        let mut running = Self::default();
        for (project, count) in held::running(conn, attempt)? {
            running.add(project, count);
        }
        let under_way = starts::all(conn)?;
        for intent in under_way.iter().filter_map(|body| serde_json::from_str::<Intent>(body).ok()) {
            // Between two turns an attempt runs and is being started.
            if intent.attempt != attempt && !intent.is_dev_server() && !held::is_live(conn, intent.attempt)? {
                running.add(intent.project, 1);
            }
        }
        Ok(running)
    }

    fn add(&mut self, project: ProjectId, count: i64) {
        self.all += count;
        *self.of_project.entry(project).or_default() += count;
    }
}

impl Engine {
    /// Returns the limits as the settings have them now.
    pub(crate) async fn limits(&self) -> Result<Limits> {
        let engine = self.clone();
        let config = blocking(move || engine.stored_config()).await??;
        let limits = config.get("limits");
        let limit = |key: &str| limits.and_then(|limits| limits.get(key)).and_then(Value::as_i64);
        Ok(Limits { running: limit("max_running"), running_per_project: limit("max_running_per_project") })
    }

    /// How many bytes must be free for something to be started. Settings that make no sense change no floor.
    /// Blocks.
    pub(crate) fn floor(&self) -> u64 {
        let config = self.stored_config().unwrap_or_default();
        let limits = config.get("limits").and_then(|limits| limits.get("min_free_mb"));
        limits.and_then(Value::as_u64).unwrap_or(0).saturating_mul(1 << 20).max(LEAST_ROOM)
    }

    /// Refuses to start anything when the disk is nearly full.
    pub(crate) async fn check_room(&self, path: &Path) -> Result<()> {
        let (engine, path) = (self.clone(), path.to_path_buf());
        blocking(move || engine.look_for_room(&path)).await?
    }

    fn look_for_room(&self, path: &Path) -> Result<()> {
        let floor = self.floor();
        let nearest = path.ancestors().find(|path| path.exists()).unwrap_or(path);
        for place in [self.inner.paths.home.as_path(), nearest] {
            if let Some(free) = free_bytes(place).filter(|free| *free < floor) {
                return Err(Error::unavailable(format!(
                    "only {} MB are free on the disk that holds {}; make room ({} MB at least, as \
                     `limits.min_free_mb` of the settings says) and try again",
                    free >> 20,
                    place.display(),
                    floor >> 20
                ))
                .with_code("disk_floor"));
            }
        }
        Ok(())
    }
}
