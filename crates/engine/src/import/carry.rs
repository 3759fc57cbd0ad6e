//! Carrying tasks over, some at a time: logs first, then in one transaction the rows that name them.
//!
//! A task comes with all its attempts and runs or not at all, so an import that breaks off leaves whole tasks, and the
//! next one goes on from there. A log whose row never came is written again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use forge_model::{Run, RunId, RunState};
use forge_process::{EndedLog, Exit};

use super::attempts::FoundRun;
use super::bring::{self, Outcome, PlacedRun};
use super::logs::{self, LogFacts, LogPlace};
use super::tasks::{Found, Reader, Unit};
use super::{Importer, report};
use crate::error::io_error;
use crate::launch::process_error;
use crate::store::imports::{self, Hashes, Origin};
use crate::store::{Error as StoreError, Tx, deleted_logs, runs};
use crate::{Error, Result};

/// How many tasks, and how many runs, one transaction has.
const TASKS: usize = 100;
const RUNS: usize = 300;

/// What is known here of a run before it is imported.
#[derive(Debug, Default, Clone)]
struct Known {
    /// It was imported before, and is not there any more.
    is_removed: bool,
    /// Its log had its time here.
    is_deleted: bool,
    is_here: bool,
    log: Option<Origin>,
}

/// A log that is in its place.
type WrittenLogs = Vec<(RunId, Hashes)>;

impl Importer {
    /// Carries everything over that belongs to tasks.
    pub(super) fn carry(&mut self, reader: &Reader<'_>, units: &[Unit]) -> Result<()> {
        let (mut batch, mut runs) = (Vec::new(), 0);
        for (done, unit) in units.iter().enumerate() {
            if let Some(found) = reader.read(unit, &mut self.tally)? {
                runs += found.attempts.iter().map(|found| found.runs.len()).sum::<usize>();
                batch.push(found);
            }
            if batch.len() >= TASKS || runs >= RUNS {
                self.flush(reader, std::mem::take(&mut batch))?;
                runs = 0;
            }
            self.progress(done + 1, units.len());
        }
        self.flush(reader, batch)
    }

    fn flush(&mut self, reader: &Reader<'_>, batch: Vec<Found>) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let written = self.write_logs(reader, &batch)?;
        self.pass("import.logs");
        let dry = self.dry;
        let seen = self.write(move |tx| {
            let mut seen = Vec::new();
            for found in batch {
                carry_one(tx, &found, dry, &mut seen)?;
            }
            for (run, fields) in written {
                let origin = Origin { ours: run.to_string(), fields };
                imports::put(tx.conn(), "log", &run.to_string(), &origin, tx.now())?;
            }
            Ok(seen)
        })?;
        for (kind, name, outcome) in seen {
            self.tally.saw(kind, &name, &outcome);
        }
        self.pass("import.batch");
        Ok(())
    }

    /// Writes the logs that are missing here, and those that grew at their source.
    fn write_logs(&mut self, reader: &Reader<'_>, batch: &[Found]) -> Result<WrittenLogs> {
        let mut written = Vec::new();
        if self.dry {
            return Ok(written);
        }
        let all: Vec<&FoundRun> =
            batch.iter().flat_map(|found| &found.attempts).flat_map(|found| &found.runs).collect();
        let known = self.known(all.iter().map(|found| found.run.id).collect())?;
        for found in all {
            let known = known.get(&found.run.id).cloned().unwrap_or_default();
            if let Some(fields) = self.write_log(reader, found, &known)? {
                written.push((found.run.id, fields));
            }
        }
        if !written.is_empty() {
            forge_process::settle(&self.engine.inner.paths.runs()).map_err(|error| process_error(&error))?;
        }
        Ok(written)
    }

    fn known(&self, ids: Vec<RunId>) -> Result<HashMap<RunId, Known>> {
        self.read(move |conn| {
            let mut all = HashMap::new();
            for id in ids {
                let text = id.to_string();
                let is_here = runs::one(conn, id)?.is_some();
                let is_removed = !is_here && imports::one(conn, "run", &text)?.is_some();
                let (is_deleted, log) = (deleted_logs::has(conn, id)?, imports::one(conn, "log", &text)?);
                all.insert(id, Known { is_here, is_removed, is_deleted, log });
            }
            Ok(all)
        })
    }

    /// Writes one log, unless what is here is as good; returns what is to be remembered of it.
    fn write_log(&mut self, reader: &Reader<'_>, found: &FoundRun, known: &Known) -> Result<Option<Hashes>> {
        let id = found.run.id;
        let place = self.engine.inner.paths.run(id);
        let is_there = place.is_dir();
        match &known.log {
            _ if known.is_removed || known.is_deleted => return Ok(None),
            // It came by another way, with its log.
            None if known.is_here && is_there => return Ok(None),
            None => {}
            Some(origin) if is_there => {
                let text = |key: &str| origin.fields.get(key).cloned().unwrap_or_default();
                let before = text("bytes").parse().ok();
                let (now, prefix) = match logs::read(reader.source, &found.log, before, &mut |_, _| Ok(())) {
                    Ok(read) => read,
                    Err(error) => return self.unreadable(found, &error),
                };
                if now.sha256 == text("sha256") {
                    return Ok(None);
                }
                if prefix.is_none_or(|prefix| prefix != text("sha256")) {
                    self.tally.about(
                        "The logs of these runs are others there by now; they stay as they are here",
                        &id.to_string(),
                    );
                    return Ok(None);
                }
            }
            Some(_) => {}
        }
        let draft = self.staging().join(format!("log-{id}"));
        let facts = match write(reader, found, &draft) {
            Ok(facts) => facts,
            Err(error) => {
                // Nobody refers to it; what is left goes with the copy.
                let _ = fs::remove_dir_all(&draft);
                return self.unreadable(found, &error);
            }
        };
        if is_there {
            // Everything in there is in the new one too, or is made of it.
            let old = self.staging().join(format!("old-{id}"));
            fs::rename(&place, &old).map_err(io_error("move", &place))?;
        }
        fs::rename(&draft, &place).map_err(io_error("move", &place))?;
        let count: &mut report::ImportedLogs = &mut self.tally.logs;
        count.written += 1;
        count.bytes += facts.bytes;
        count.bad_lines += facts.bad;
        count.other_records += facts.other;
        Ok(Some(
            [("bytes".to_string(), facts.bytes.to_string()), ("sha256".to_string(), facts.sha256)].into(),
        ))
    }

    /// A log that cannot be read is told of; a disk that is full ends everything.
    fn unreadable(&mut self, found: &FoundRun, error: &Error) -> Result<Option<Hashes>> {
        let free = crate::paths::free_bytes(&self.staging());
        if free.is_some_and(|free| free < 16 << 20) {
            return Err(Error::unavailable(format!(
                "{error}; make room and import again: what came so far stays"
            )));
        }
        let id = found.run.id;
        tracing::warn!(run.id = %id, "the log of run {id} was not imported: {error}");
        self.tally.about(format!("The logs of these runs could not be read ({error})"), &id.to_string());
        Ok(None)
    }
}

/// Writes a log of ours from a foreign one.
fn write(reader: &Reader<'_>, found: &FoundRun, dir: &Path) -> Result<LogFacts> {
    let mut log = EndedLog::create(dir).map_err(|error| process_error(&error))?;
    // There is no other time in it.
    let at_us = u64::try_from(found.run.started_at.millis()).unwrap_or(0).saturating_mul(1000);
    let facts = match &found.log {
        LogPlace::Nowhere => LogFacts::default(),
        place => {
            let mut sink = |stream, piece: &[u8]| {
                log.append(stream, at_us, piece).map_err(|error| process_error(&error))
            };
            logs::read(reader.source, place, None, &mut sink)?.0
        }
    };
    log.end(exit(&found.run)).map_err(|error| process_error(&error))?;
    Ok(facts)
}

fn exit(run: &Run) -> Exit {
    Exit {
        code: run.exit_code.and_then(|code| i32::try_from(code).ok()),
        signal: None,
        stopped: run.state == RunState::Killed,
        at_ms: run.completed_at.unwrap_or(run.started_at).millis(),
        log_end: 0,
        swept: 0,
    }
}

type Seen = Vec<(&'static str, String, Outcome)>;

fn carry_one(
    tx: &mut Tx<'_>,
    found: &Found,
    dry: bool,
    seen: &mut Seen,
) -> std::result::Result<(), StoreError> {
    let mut name = String::new();
    if let Some(task) = &found.task {
        let outcome = bring::bring(tx, &task.id.to_string(), task, dry)?;
        let is_removed = outcome == Outcome::RemovedHere;
        name.clone_from(&task.title);
        seen.push(("tasks", task.title.clone(), outcome));
        if is_removed {
            // What belongs to it went with it.
            for found in &found.attempts {
                seen.push(("attempts", found.attempt.branch.clone(), Outcome::RemovedHere));
                seen.extend(found.runs.iter().map(|_| ("runs", name.clone(), Outcome::RemovedHere)));
            }
            return Ok(());
        }
    }
    for attempt in &found.attempts {
        let outcome = bring::bring(tx, &attempt.attempt.id.to_string(), &attempt.attempt, dry)?;
        let is_removed = outcome == Outcome::RemovedHere;
        seen.push(("attempts", attempt.attempt.branch.clone(), outcome));
        for found_run in &attempt.runs {
            let outcome = match is_removed {
                true => Outcome::RemovedHere,
                false => {
                    let placed = PlacedRun { run: Cow::Borrowed(&found_run.run), project: found.project };
                    bring::bring(tx, &found_run.run.id.to_string(), &placed, dry)?
                }
            };
            seen.push(("runs", name.clone(), outcome));
        }
    }
    Ok(())
}
