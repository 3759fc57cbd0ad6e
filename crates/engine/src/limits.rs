//! How much may run at once, and how much of the disk must stay free. Nothing here waits: it says what there is
//! room for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_model::{AttemptId, ProjectId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::background::blocking;
use crate::config::defaults;
use crate::intent::Intent;
use crate::paths::free_bytes;
use crate::store::{Conn, Error as StoreError, held, settings, starts};
use crate::{Engine, Error, Result};

/// Below this much free room nothing is started, whatever the settings say: what runs already needs it.
const LEAST_ROOM: u64 = 64 << 20;

/// Where the limits are kept for a server that finds settings it cannot read.
const SCOPE: &str = "limits";

/// How many attempts may run at once, and what must stay free; none means as many as anybody starts, and the least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) running: Option<i64>,
    pub(crate) running_per_project: Option<i64>,
    min_free_mb: Option<u64>,
}

/// The limits that could be read last. Settings that make no sense switch no limit off, and stop no conversation.
#[derive(Debug)]
pub(crate) struct LastLimits(Mutex<Limits>);

impl Default for LastLimits {
    fn default() -> Self {
        Self(Mutex::new(Limits::of(&defaults())))
    }
}

impl LastLimits {
    fn get(&self) -> Limits {
        *self.lock()
    }

    /// Says whether they were others before.
    fn set(&self, limits: Limits) -> bool {
        std::mem::replace(&mut *self.lock(), limits) != limits
    }

    fn lock(&self) -> MutexGuard<'_, Limits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The attempts that run now: those with a process, and those that are being started.
#[derive(Debug, Default)]
pub(crate) struct Running {
    all: i64,
    of_project: HashMap<ProjectId, i64>,
}

impl Limits {
    fn of(config: &Map<String, Value>) -> Self {
        let limit = |key: &str| config.get("limits").and_then(|limits| limits.get(key));
        Self {
            running: limit("max_running").and_then(Value::as_i64),
            running_per_project: limit("max_running_per_project").and_then(Value::as_i64),
            min_free_mb: limit("min_free_mb").and_then(Value::as_u64),
        }
    }

    /// Says whether anything may run beside whatever else does.
    pub(crate) fn is_off(self) -> bool {
        self.running.is_none() && self.running_per_project.is_none()
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
        let limits = Limits::of(&blocking(move || engine.stored_config()).await??);
        if self.inner.last_limits.set(limits) {
            let body = serde_json::to_string(&limits)
                .map_err(|error| Error::internal(format!("the limits cannot be written: {error}")))?;
            let kept = self.inner.store.write(move |tx| settings::put(tx.conn(), SCOPE, &body, tx.now()));
            if let Err(error) = kept.await {
                // They hold for this server; only the next would not know them, and only with spoiled settings.
                tracing::warn!("the limits could not be remembered: {error}");
            }
        }
        Ok(limits)
    }

    /// Returns the limits as the settings have them now, or had them when they could last be read.
    pub(crate) async fn limits_or_last(&self) -> Limits {
        match self.limits().await {
            Ok(limits) => limits,
            Err(error) => {
                tracing::debug!("the limits that could be read last go on: {error}");
                self.inner.last_limits.get()
            }
        }
    }

    /// Reads which limits the server before this one knew, and which there are now.
    pub(crate) async fn read_limits(&self) -> Result<()> {
        let kept = self.inner.store.read(|conn| settings::one(conn, SCOPE)).await?;
        if let Some(limits) = kept.and_then(|body| serde_json::from_str(&body).ok()) {
            self.inner.last_limits.set(limits);
        }
        if let Err(error) = self.limits().await {
            tracing::warn!("{error}; until then the limits that could be read last go on");
        }
        Ok(())
    }

    /// How many bytes must be free for something to be started. Settings that make no sense change no floor.
    /// Blocks.
    pub(crate) fn floor(&self) -> u64 {
        let limits = match self.stored_config() {
            Ok(config) => Limits::of(&config),
            Err(_) => self.inner.last_limits.get(),
        };
        limits.min_free_mb.unwrap_or(0).saturating_mul(1 << 20).max(LEAST_ROOM)
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
