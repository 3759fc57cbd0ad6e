//! A run's log on its way into effects and entries: read a piece at a time, folded, and the entries written down
//! beside the log. Goes on from the newest checkpoint when there is one.
//!
//! The entries are for people. A cache that cannot be written, because the disk is full, is given up and told; what
//! the log means for the run is seen to all the same.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_agents::{Agent, Turn};
use forge_model::entry::ErrorType;
use forge_process::{Exit, Liveness, LogReader};

use crate::activity::{self, Doing};
use crate::entries::{Claim, Writer};
use crate::fold::{Effects, Fold, Outcome};
use crate::{Result, launch};

/// How much of a log is folded at a time: what it becomes is in memory at once, and each thread that folds keeps as
/// much room as it ever needed.
const PIECE: usize = 16 << 10;
/// How many pieces are folded in one go, while nothing comes of them but entries.
const PIECES: usize = 4;

/// What a shell says by its exit code when it finds no such command.
const NOT_FOUND: i32 = 127;

/// Up to this length the log of a run that has ended is looked through for damage: a moment for most, and too long for
/// the largest.
const LOOKED_THROUGH: u64 = 64 * 1024 * 1024;

/// A run's log being folded.
#[derive(Debug)]
pub(crate) struct Folding {
    dir: PathBuf,
    reader: LogReader,
    pub(crate) fold: Fold,
    /// None when it could not be written.
    cache: Option<Writer>,
    claim: Claim,
    caught_up: bool,
    ended: bool,
    /// What the entries show about the agent.
    doing: Doing,
}

/// What one look at the log gave.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) effects: Effects,
    pub(crate) state: Read,
}

#[derive(Debug)]
pub(crate) enum Read {
    /// There may be more.
    More,
    /// Everything was read, and this is how the process was before the last look.
    End(Liveness),
}

impl Folding {
    /// Begins, or goes on where it was left; the effects are what may not have been seen to.
    pub(crate) fn open(
        dir: PathBuf,
        agent: &dyn Agent,
        turn: &Turn,
        claim: Claim,
    ) -> Result<(Self, Effects)> {
        let (cache, resumed) = match resumed(&dir, agent) {
            Some((cache, resumed)) => (Some(cache), resumed),
            None => (created(&dir, &claim), None),
        };
        let Resumed { fold, mut effects, position } = resumed.unwrap_or_else(|| {
            let (fold, effects) = Fold::begin(agent.conversation(turn));
            Resumed { fold, effects, position: 0 }
        });
        let reader = LogReader::open(&dir, position).map_err(|error| launch::process_error(&error))?;
        if let Some(cache) = &cache {
            claim.tell(|news| news.number(cache.number()));
        }
        let doing = Doing::default();
        let mut folding = Self { dir, reader, fold, cache, claim, caught_up: false, ended: false, doing };
        folding.take(&mut effects);
        Ok((folding, effects))
    }

    /// Reads on. Everything that was given before must have been seen to: what is written down now says so.
    ///
    /// Entries that wait for an ask are not shown before [`show`](Self::show).
    pub(crate) fn read(&mut self) -> Result<Seen> {
        self.checkpoint();
        let mut seen = self.look()?;
        for _ in 1..PIECES {
            if matches!(seen.state, Read::End(_)) || seen.effects.is_anything() {
                break;
            }
            self.show();
            seen = self.look()?;
        }
        // An entry that names an ask is nothing without the ask's row.
        if seen.effects.asks.is_empty() {
            self.show();
        }
        if matches!(seen.state, Read::End(_)) && !self.caught_up {
            self.caught_up = true;
            self.claim.tell(|news| news.caught_up());
        }
        Ok(seen)
    }

    /// Writes the entries that were read.
    pub(crate) fn show(&mut self) {
        let position = self.reader.position();
        let mut shown = false;
        self.with_cache(|cache| {
            shown = cache.write(position)?;
            Ok(())
        });
        if shown {
            self.claim.tell(|_| {});
        }
    }

    /// How the conversation went, and how much of its log is missing. `exit` says where the log should end.
    pub(crate) fn outcome(&self, exit: Option<&Exit>) -> Outcome {
        let end = exit.map_or(0, |exit| exit.log_end);
        let passed_over = self.reader.skipped() + end.saturating_sub(self.reader.position());
        // What was read before it was spoiled is known, and yet missing from the log that people open.
        let missing = match end {
            1..=LOOKED_THROUGH => forge_process::missing(&self.dir, end).unwrap_or(passed_over),
            _ => passed_over,
        };
        Outcome { unread: passed_over.max(missing), ..self.fold.outcome() }
    }

    /// What the agent does now, in words; none when it has nothing to do.
    pub(crate) fn activity(&self) -> Option<String> {
        self.doing.words().filter(|_| !self.fold.progress().idle)
    }

    /// Says when entries that were held back may be shown.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.cache.as_ref().and_then(Writer::due)
    }

    /// Notes that the run is over and its entries are whole.
    pub(crate) fn close(&mut self) {
        let position = self.reader.position();
        self.with_cache(|cache| cache.finish(position));
        self.claim.tell(|_| {});
    }

    fn look(&mut self) -> Result<Seen> {
        let records = self.records()?;
        if !records.is_empty() {
            return Ok(Seen { effects: self.folded(&records), state: Read::More });
        }
        // The process is looked at before the last read, or its last words could fall between the two.
        let liveness = forge_process::liveness(&self.dir).map_err(|error| launch::process_error(&error))?;
        if matches!(liveness, Liveness::Alive) {
            return Ok(Seen { effects: Effects::default(), state: Read::End(liveness) });
        }
        let records = self.records()?;
        if !records.is_empty() {
            return Ok(Seen { effects: self.folded(&records), state: Read::More });
        }
        let mut effects = Effects::default();
        if !self.ended {
            self.ended = true;
            effects = self.fold.end();
            self.take(&mut effects);
            if let Liveness::Exited(Exit { code: Some(NOT_FOUND), .. }) = liveness {
                let text =
                    "The agent's command was not found (exit code 127): it is not installed, or not on PATH.";
                let mut told = self.fold.complain(ErrorType::SetupRequired, text);
                self.take(&mut told);
            }
        }
        Ok(Seen { effects, state: Read::End(liveness) })
    }

    fn records(&mut self) -> Result<Vec<forge_process::Record>> {
        self.reader.read(PIECE).map_err(|error| launch::process_error(&error))
    }

    fn folded(&mut self, records: &[forge_process::Record]) -> Effects {
        let mut effects = self.fold.read(records);
        self.take(&mut effects);
        effects
    }

    fn take(&mut self, effects: &mut Effects) {
        let entries = std::mem::take(&mut effects.entries);
        self.doing.see(&entries);
        effects.todos = activity::todos(&entries).or(effects.todos);
        if let Some(cache) = &mut self.cache {
            cache.take(entries);
        }
    }

    fn checkpoint(&mut self) {
        let position = self.reader.position();
        if !self.cache.as_ref().is_some_and(|cache| cache.wants_checkpoint(position)) || self.ended {
            return;
        }
        if let Some(state) = self.fold.state() {
            self.with_cache(|cache| cache.checkpoint(position, &state));
        }
    }

    fn with_cache(&mut self, act: impl FnOnce(&mut Writer) -> io::Result<()>) {
        let Some(cache) = &mut self.cache else { return };
        if let Err(error) = act(cache) {
            self.cache = None;
            give_up(&self.dir, &self.claim, &error);
        }
    }
}

/// A fold, what it wants seen to, and where in the log it is.
struct Resumed {
    fold: Fold,
    effects: Effects,
    position: u64,
}

/// Takes up a cache, with the fold of its newest checkpoint; one that cannot be gone on with is as good as none.
fn resumed(dir: &Path, agent: &dyn Agent) -> Option<(Writer, Option<Resumed>)> {
    match Writer::resume(dir).ok().flatten()? {
        (cache, Some(checkpoint)) => {
            let (fold, effects) = Fold::resume(agent, &checkpoint.state)?;
            Some((cache, Some(Resumed { fold, effects, position: checkpoint.log })))
        }
        (cache, None) => Some((cache, None)),
    }
}

fn created(dir: &Path, claim: &Claim) -> Option<Writer> {
    Writer::create(dir).map_err(|error| give_up(dir, claim, &error)).ok()
}

fn give_up(dir: &Path, claim: &Claim, error: &io::Error) {
    tracing::warn!("the entries of {} cannot be kept: {error}", dir.display());
    claim.tell(|news| news.trouble(format!("the entries could not be written: {error}")));
}
