//! The database is looked after: checked soon after the start and then daily, and copied daily.
//!
//! A damaged page may lie where nobody reads for weeks, and by then it is in every copy. So the whole database is read
//! now and then, on a thread and a connection of its own; what is found is told on the board and by `forge doctor`, and a
//! damaged database is not copied: the copies that are there are worth more.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::background::blocking;
use crate::error::whole;
use crate::paths::{free_bytes, free_files};
use crate::store::copies;
use crate::{Engine, Error, Result, reserve};

/// After a start others need the disk first.
const FIRST: Duration = Duration::from_secs(30);
/// How often somebody looks whether it is time again.
const LOOK: Duration = Duration::from_secs(10 * 60);
/// How often the database is checked and copied.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What must stay free on the disk beside two copies.
const SPARE: u64 = 256 << 20;
/// Below this the disk counts as full: a commit, a log and a snapshot want more.
const ROOM: u64 = 16 << 20;
/// Below so many files that can still be made it counts as full too.
const FILES: u64 = 64;

/// What warnings are about.
const DATABASE: &str = "database";
const DISK: &str = "disk";

impl Engine {
    /// Looks after the database for as long as the engine lives.
    pub(crate) fn keep_checking(&self) {
        let inner = std::sync::Arc::downgrade(&self.inner);
        self.aside(async move {
            let mut checked: Option<tokio::time::Instant> = None;
            let mut pause = FIRST;
            loop {
                if let Some(inner) = inner.upgrade() {
                    (Engine { inner }).keep_room().await;
                }
                tokio::time::sleep(pause).await;
                pause = LOOK;
                let Some(inner) = inner.upgrade() else { return };
                let engine = Engine { inner };
                if checked.is_none_or(|at| at.elapsed() >= DAY) {
                    checked = Some(tokio::time::Instant::now());
                    if let Err(error) = engine.check_database().await {
                        tracing::warn!("the database could not be checked: {error}");
                    }
                }
                match engine.copy_database_daily().await {
                    Ok(_) => {}
                    Err(error) => tracing::warn!("the daily copy of the database was not made: {error}"),
                }
            }
        });
    }

    /// Reads the whole database, and returns what is wrong with it; none when nothing is. What is found becomes a warning.
    pub async fn check_database(&self) -> Result<Option<String>> {
        let (engine, held) = (self.clone(), crate::aside::at_work());
        let (told, hears) = tokio::sync::oneshot::channel();
        let look = move || {
            let _held = held;
            // It has all day. Where that cannot be said, it is as quick as anything else.
            let _ = rustix::process::nice(19);
            // Whoever asked may have gone away.
            let _ = told.send(engine.inner.store.damage());
        };
        let thread = std::thread::Builder::new().name("database-check".into()).spawn(look);
        thread.map_err(|error| Error::unavailable(format!("could not check the database: {error}")))?;
        let looked = hears.await.map_err(|_| Error::internal("the check of the database broke off"))?;
        let damage = looked?;
        let home = &self.inner.paths.home;
        let warning = damage.as_ref().map(|detail| {
            let remedy = copies::remedy(&home.join("forge.db"), &home.join("backups"));
            format!("The database is damaged ({detail}): `forge serve --stop`, then {remedy}")
        });
        if let Some(warning) = &warning {
            tracing::error!("{warning}");
        }
        self.warn_of(DATABASE, warning);
        Ok(damage)
    }

    /// Copies the database into `backups/`, unless that was done within a day, the disk is short of room, or the
    /// database is known to be damaged. Says whether it was.
    pub async fn copy_database_daily(&self) -> Result<bool> {
        if self.copy().is_some() || self.is_warned_of(DATABASE) {
            return Ok(false);
        }
        let home = self.inner.paths.home.clone();
        let backups = home.join("backups");
        let place = backups.clone();
        let draft = blocking(move || match is_due(&place) && has_room(&home) {
            true => crate::backup::place(&place).map(Some),
            false => Ok(None),
        });
        let Some(draft) = draft.await?? else { return Ok(false) };
        let taken = self.inner.store.copy_to(draft.path().to_path_buf()).await;
        taken
            .map_err(|error| Error::unavailable(format!("could not copy the database: {}", whole(&error))))?;
        let to = copies::daily(&backups, crate::store::now());
        blocking(move || {
            draft.keep_as(&to)?;
            copies::drop_old(&backups);
            Ok(true)
        })
        .await?
    }

    /// Keeps room for a start on a full disk, as long as there is some.
    async fn keep_room(&self) {
        if !self.look_at_room().await && self.copy().is_none() {
            let home = self.inner.paths.home.clone();
            // Without it the next start on a full disk is harder, and nothing else is.
            let _ = blocking(move || reserve::fill(&home)).await;
        }
    }

    /// Says whether the disk of the data is full; then that becomes a warning.
    pub(crate) async fn look_at_room(&self) -> bool {
        let home = self.inner.paths.home.clone();
        // What cannot be found out is no reason to warn.
        let is_full = blocking(move || is_full(&home)).await.unwrap_or(false);
        let home = self.inner.paths.home.display();
        self.warn_of(
            DISK,
            is_full.then(|| {
                format!(
                    "The disk that holds {home} is full: what exists can be read, and what agents do may not be kept. \
                     Make room; `forge disk` says what takes it, `forge gc` gives some back"
                )
            }),
        );
        is_full
    }
}

/// Says whether nearly nothing can be written any more.
pub(crate) fn is_full(home: &Path) -> bool {
    free_bytes(home).is_some_and(|free| free < ROOM) || free_files(home).is_some_and(|free| free < FILES)
}

/// A clock that was set back makes it due too.
fn is_due(backups: &Path) -> bool {
    let newest = copies::newest_daily(backups);
    newest.is_none_or(|at| !SystemTime::now().duration_since(at).is_ok_and(|age| age < DAY))
}

fn has_room(home: &Path) -> bool {
    let size = fs::metadata(home.join("forge.db")).map_or(0, |found| found.len());
    free_bytes(home).is_none_or(|free| free >= SPARE + 2 * size)
}
