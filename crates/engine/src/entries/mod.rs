//! The entries of runs: made from the log while it is folded, kept beside it, served from there.
//!
//! They are a cache in every sense: a run whose entries are missing, damaged or of an older version has them made
//! anew when somebody wants them, a piece at a time, beside everything else. Deleting them costs only time.

mod asks;
mod deleted;
mod find;
mod format;
mod group;
mod hub;
mod reader;
mod tail;
mod window;
mod writer;

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use forge_model::{Run, RunId, RunKind, RunState};

pub use find::{EntryHit, FoundEntries};
pub(crate) use hub::{Claim, Hub, Room};
pub use tail::{EntriesFrom, EntryBatch, EntryTail};
pub use window::{EntryPlace, EntryWindow, PlacedEntry, RunEntries, WindowAt};
pub(crate) use writer::Writer;

use reader::Reader;

use crate::background::{blocking, is_dir};
use crate::folding::{Folding, Read};
use crate::store::runs;
use crate::{Engine, Error, Result, launch};

impl Engine {
    /// Follows the entries of an agent's run.
    pub async fn entries(&self, run: RunId, from: EntriesFrom) -> Result<EntryTail> {
        self.entry_tail(run, from, true).await
    }

    /// Reads what is there of the entries of an agent's run, without waiting for more.
    pub async fn entries_so_far(&self, run: RunId, from: EntriesFrom) -> Result<EntryTail> {
        self.entry_tail(run, from, false).await
    }

    async fn entry_tail(&self, id: RunId, from: EntriesFrom, follow: bool) -> Result<EntryTail> {
        let run = self.run(id).await?;
        if run.kind != RunKind::Agent {
            return Err(Error::not_found(format!("run {id} is a script: it has a log and no entries")));
        }
        if run.log_deleted_at.is_none() && !is_dir(&self.inner.paths.run(id)).await? {
            return Err(Error::not_found(format!("run {id} has no log any more")));
        }
        Ok(EntryTail::new(self.clone(), run, from, follow))
    }

    /// Makes the entries of a run that is over, unless somebody does; says whether it was begun.
    async fn fold_if_over(&self, run: &Run, room: &Arc<Room>) -> Result<bool> {
        if room.is_claimed() {
            return Ok(false);
        }
        let id = run.id;
        let found = self.inner.store.read(move |conn| runs::one(conn, id)).await?;
        // One that runs is looked after, and whoever does that makes them.
        if found.is_some_and(|live| matches!(live.run.state, RunState::Pending | RunState::Running)) {
            return Ok(false);
        }
        let Some(claim) = room.try_claim() else { return Ok(false) };
        claim.begin();
        let (engine, run, room) = (self.clone(), run.clone(), room.clone());
        let begun = self.aside(async move {
            // The semaphore is never closed.
            let _place = engine.inner.entries.places.clone().acquire_owned().await;
            if let Err(error) = engine.fold_again(&run, claim).await {
                tracing::warn!(run.id = %run.id, "the entries of run {} could not be made: {error}", run.id);
                room.trouble(format!("the entries could not be made: {error}"));
            }
        });
        if !begun {
            return Err(Error::unavailable(format!("run {id}: the server is closing")));
        }
        Ok(true)
    }

    async fn fold_again(&self, run: &Run, claim: Claim) -> Result<()> {
        let turn = self.turn(run).await?;
        let agent = launch::agent(&run.profile)?;
        let dir = self.inner.paths.run(run.id);
        let opened = blocking(move || {
            // Whoever had the turn before may have made them.
            let is_whole = Reader::open(&dir).and_then(|reader| match reader {
                Some(mut reader) => reader.is_whole(),
                None => Ok(false),
            });
            match is_whole.unwrap_or(false) {
                true => Ok(None),
                false => Folding::open(dir, agent, &turn, claim).map(Some),
            }
        });
        let Some((mut folding, _)) = opened.await?? else { return Ok(()) };
        loop {
            // A piece at a time, so that others get their turn between two.
            let (back, seen) = blocking(move || {
                let seen = folding.read();
                folding.show();
                (folding, seen)
            })
            .await?;
            folding = back;
            if matches!(seen?.state, Read::End(_)) {
                return blocking(move || folding.close()).await;
            }
        }
    }

    /// Removes damaged entries, unless a live run writes them.
    async fn forget_damaged(&self, run: &Run, room: &Arc<Room>, error: &io::Error) {
        if error.kind() != io::ErrorKind::InvalidData {
            return;
        }
        let place = writer::place(&self.inner.paths.run(run.id));
        let inode = |place: &Path| std::fs::metadata(place).map(|found| found.ino()).ok();
        let damaged = {
            let place = place.clone();
            blocking(move || inode(&place)).await.ok().flatten()
        };
        // Whoever made the entries of a run that is over tells readers that they are whole a moment before its turn
        // ends. A run that goes on keeps its turn.
        let claim = match run.state.is_over() {
            true => Some(room.wait_for_turn().await),
            false => room.try_claim(),
        };
        let Some(_claim) = claim else { return };
        tracing::warn!(run.id = %run.id, "the entries of run {} are damaged and are made anew: {error}", run.id);
        // Another reader may have had them made anew meanwhile. What cannot be removed is damaged still, and is told of
        // again.
        let _ = blocking(move || match inode(&place) == damaged {
            true => std::fs::remove_dir_all(place),
            false => Ok(()),
        })
        .await;
    }
}
