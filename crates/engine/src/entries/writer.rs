//! Writing the entry cache of a run. It is written by one at a time, never synced and never trusted: what a crash
//! leaves is cut to what is whole, and what cannot be gone on with is made anew from the log.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_agents::FOLD_VERSION;
use forge_model::Entry;
use serde_json::Value;

use super::format::{self, Kind, OPENING, Records};
use super::group::{Filling, Group};

/// How much of changed entries is written in a second. An agent that streams its words changes one entry many times;
/// whoever looks at it needs a few of these forms and always the last.
const CHANGES: f64 = 256.0 * 1024.0;
/// How much may be written ahead of that, and how much a large change may delay the next ones: half a second.
const AHEAD: f64 = 128.0 * 1024.0;
/// How much may be held back.
const MOST_HELD: usize = 1 << 20;
/// How much of a log is folded between two checkpoints: so much is folded again after a restart.
const CHECKPOINTS: u64 = 4 << 20;

/// The directory of a run's entry cache.
pub(super) fn place(run: &Path) -> PathBuf {
    run.join(format!("entries-v{FOLD_VERSION}"))
}

/// Writes the entry cache of a run.
#[derive(Debug)]
pub(crate) struct Writer {
    records: File,
    slots: File,
    number: u64,
    /// Where the next record goes.
    end: u64,
    /// How many entries there are.
    count: u32,
    /// What is not written yet, by index.
    held: BTreeMap<usize, Entry>,
    held_bytes: usize,
    /// What may be written of changes; less than nothing after a large one.
    allowance: f64,
    refilled: Instant,
    /// Up to here in the log the cache has everything already: a fold that was taken up at a checkpoint is behind.
    known_to: u64,
    checkpointed: u64,
    /// How much of the log lies between two checkpoints.
    every: u64,
}

/// What a fold remembered, and where in the log that was.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) state: Value,
    pub(crate) log: u64,
}

impl Writer {
    /// Takes up the cache of a run at its newest checkpoint, or, as long as there is none, at its beginning; none when
    /// there is nothing to take up. What the cache has is not written again while the fold catches up with it.
    pub(crate) fn resume(run: &Path) -> io::Result<Option<(Self, Option<Checkpoint>)>> {
        let place = place(run);
        let open = |name| OpenOptions::new().read(true).write(true).open(place.join(name));
        let (records, slots) = match (open("records"), open("slots")) {
            (Ok(records), Ok(slots)) => (records, slots),
            _ => return Ok(None),
        };
        let Some(number) = format::number(&records)? else { return Ok(None) };
        let opening = format::longs(&slots, 0, 2)?;
        if opening.first() != Some(&number) {
            return Ok(None);
        }
        let mut found = Records::new(records.try_clone()?);
        let named = opening.get(1).copied().unwrap_or_default();
        let (mut at, count, checkpoint) = match newest_checkpoint(&mut found, named)? {
            Some((at, count, checkpoint)) => (at, count, Some(checkpoint)),
            None => (OPENING, 0, None),
        };
        let log = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.log);
        // After a power cut there may be fewer slots than there were entries.
        if slots.metadata()?.len() < OPENING + u64::from(count) * 8 {
            return Ok(None);
        }
        let mut writer = Self {
            records,
            slots,
            number,
            end: 0,
            count,
            held: BTreeMap::new(),
            held_bytes: 0,
            allowance: AHEAD,
            refilled: Instant::now(),
            known_to: log,
            checkpointed: log,
            every: CHECKPOINTS,
        };
        // Slots are written after records: a crash in between is made good.
        while let Some(record) = found.at(at)?.filter(|record| record.kind != Kind::End) {
            at += record.size;
            writer.known_to = record.log;
            if record.kind == Kind::Entries {
                // One that cannot be read was never written so: whoever comes to it makes everything anew.
                let group = Group::read(record.payload).unwrap_or_default();
                writer.point(&group.indexes().collect::<Vec<_>>(), at - record.size)?;
            }
        }
        writer.records.set_len(at)?;
        writer.end = at;
        // Slots whose records did not reach the disk name nothing.
        writer.slots.set_len(OPENING + u64::from(writer.count) * 8)?;
        Ok(Some((writer, checkpoint)))
    }

    /// Begins a cache anew, in the place of whatever is there, of other versions too.
    pub(crate) fn create(run: &Path) -> io::Result<Self> {
        for entry in fs::read_dir(run)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("entries-v") {
                fs::remove_dir_all(entry.path())?;
            }
        }
        let place = place(run);
        DirBuilder::new().mode(0o700).create(&place)?;
        let new = |name: &str| {
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(place.join(name))
        };
        let (records, slots) = (new("records")?, new("slots")?);
        // Positions that clients hold name the cache, so that those of another are known as such. Twelve bits of it
        // leave room for an offset in a number that JavaScript can count to.
        let number = RandomState::new().build_hasher().finish() & 0xFFF;
        slots.write_all_at(&format::pair(number, 0), 0)?;
        records.write_all_at(&format::opening(number), 0)?;
        Ok(Self {
            records,
            slots,
            number,
            end: OPENING,
            count: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            allowance: AHEAD,
            refilled: Instant::now(),
            known_to: 0,
            checkpointed: 0,
            every: CHECKPOINTS,
        })
    }

    /// Returns the number by which positions name this cache.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Says whether it is time for a checkpoint, the log having been folded up to `log`.
    pub(crate) fn wants_checkpoint(&self, log: u64) -> bool {
        log >= self.known_to && log >= self.checkpointed + self.every
    }

    /// Takes entries to be written: of one that changed again meanwhile, its newest form.
    pub(crate) fn take(&mut self, entries: Vec<(usize, Entry)>) {
        for (index, entry) in entries {
            self.held_bytes += entry.content.len();
            self.held.insert(index, entry);
        }
    }

    /// Writes what was taken, the log having been folded up to `log`; says whether anything was written. What is
    /// new is written at once; what only changes, as fast as it may be.
    pub(crate) fn write(&mut self, log: u64) -> io::Result<bool> {
        let now = Instant::now();
        let earned = now.duration_since(self.refilled).as_secs_f64() * CHANGES;
        (self.allowance, self.refilled) = ((self.allowance + earned).min(AHEAD), now);
        let is_new = self.held.last_key_value().is_some_and(|(index, _)| *index >= self.count as usize);
        let may = is_new || self.allowance >= 0.0 || self.held_bytes > MOST_HELD;
        match may && log >= self.known_to {
            true => self.write_all(log),
            false => Ok(false),
        }
    }

    /// Says when what is held back may be written; none when there is nothing.
    pub(crate) fn due(&self) -> Option<Duration> {
        if self.held.is_empty() {
            return None;
        }
        let missing = Duration::from_secs_f64((-self.allowance).max(0.0) / CHANGES);
        Some(missing.saturating_sub(self.refilled.elapsed()).max(Duration::from_millis(10)))
    }

    /// Writes everything that was taken, and what the fold remembers now.
    pub(crate) fn checkpoint(&mut self, log: u64, state: &Value) -> io::Result<()> {
        self.write_all(log)?;
        let at = self.append(Kind::Checkpoint, log, &serde_json::to_vec(state)?)?;
        self.slots.write_all_at(&at.to_le_bytes(), 8)?;
        self.checkpointed = log;
        self.known_to = self.known_to.max(log);
        Ok(())
    }

    /// Writes everything that was taken, and that this is all.
    pub(crate) fn finish(&mut self, log: u64) -> io::Result<()> {
        self.write_all(log)?;
        self.append(Kind::End, log, b"").map(drop)
    }

    fn write_all(&mut self, log: u64) -> io::Result<bool> {
        let held = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        if held.is_empty() {
            return Ok(false);
        }
        let (mut bytes, mut filling, mut pointers) = (Vec::new(), Filling::default(), Vec::new());
        let mut held = held.into_iter().peekable();
        while let Some((index, entry)) = held.next() {
            let index = u32::try_from(index).map_err(io::Error::other)?;
            let length = filling.push(index, &entry)?;
            if index < self.count {
                self.allowance -= length as f64;
            }
            if filling.is_full() || held.peek().is_none() {
                let at = self.end + bytes.len() as u64;
                let count = self.count.max(index + 1);
                format::encode(&mut bytes, at, Kind::Entries, count, log, filling.bytes());
                pointers.push((filling.indexes().to_vec(), at));
                filling.clear();
            }
        }
        self.allowance = self.allowance.max(-AHEAD);
        self.records.write_all_at(&bytes, self.end)?;
        self.end += bytes.len() as u64;
        for (indexes, at) in pointers {
            self.point(&indexes, at)?;
        }
        Ok(true)
    }

    fn append(&mut self, kind: Kind, log: u64, payload: &[u8]) -> io::Result<u64> {
        let (mut bytes, at) = (Vec::new(), self.end);
        format::encode(&mut bytes, at, kind, self.count, log, payload);
        self.records.write_all_at(&bytes, at)?;
        self.end += bytes.len() as u64;
        Ok(at)
    }

    /// Points the slots of entries, in the order of their indexes, to a record.
    fn point(&mut self, indexes: &[u32], at: u64) -> io::Result<()> {
        for run in indexes.chunk_by(|before, next| before + 1 == *next) {
            let slots = at.to_le_bytes().repeat(run.len());
            self.slots.write_all_at(&slots, OPENING + u64::from(run[0]) * 8)?;
        }
        self.count = self.count.max(indexes.last().map_or(0, |last| last + 1));
        Ok(())
    }
}

/// Finds the newest checkpoint: where it was said to be, else by looking through everything. Returns it with the place
/// after it and how many entries there were.
fn newest_checkpoint(records: &mut Records, named: u64) -> io::Result<Option<(u64, u32, Checkpoint)>> {
    let read = |record: format::Record, after: u64| {
        let state = serde_json::from_slice(&record.payload).ok()?;
        Some((after, record.count, Checkpoint { state, log: record.log }))
    };
    if let Some(record) = records.at(named)?.filter(|record| record.kind == Kind::Checkpoint) {
        let after = named + record.size;
        return Ok(read(record, after));
    }
    let (mut at, mut newest) = (OPENING, None);
    while let Some(record) = records.at(at)? {
        at += record.size;
        if record.kind == Kind::Checkpoint {
            newest = read(record, at);
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forge_agents::{Agent, Turn, scripted::Scripted};
    use forge_process::{Record, Stream};
    use proptest::prelude::*;

    use super::*;
    use crate::entries::reader::Reader;
    use crate::fold::{Effects, Fold, Progress};
    use crate::input::Input;

    /// What folding a log came to: its entries, how far it is, and everything that was sent, by number.
    #[derive(Debug, PartialEq)]
    struct Came {
        entries: Vec<Entry>,
        progress: String,
        sends: BTreeMap<u64, String>,
    }

    /// A log: pieces of output cut anywhere, notes, and inputs that were sent.
    fn log(pieces: &[(u8, String)]) -> Vec<Record> {
        let (mut records, mut offset) = (Vec::new(), 0);
        for (n, (kind, text)) in (1_u64..).zip(pieces) {
            let (stream, payload, ordinal) = match kind % 8 {
                0 => (Stream::Stderr, text.clone().into_bytes(), None),
                1 => {
                    let input = Input::Turn { prompt: text.clone(), variant: None, images: Vec::new() };
                    (Stream::Note, input.write().into_bytes(), Some(n))
                }
                2 => (Stream::Input, text.clone().into_bytes(), Some(n / 3)),
                3 => {
                    let run = format!("{{\"scripted\":\"run\",\"id\":\"{n}\",\"command\":\"c\"}}\n");
                    (Stream::Stdout, run.into_bytes(), None)
                }
                4 => {
                    let id = n.saturating_sub(2);
                    let ran =
                        format!("{{\"scripted\":\"ran\",\"id\":\"{id}\",\"exit\":0,\"output\":\"o\"}}\n");
                    (Stream::Stdout, ran.into_bytes(), None)
                }
                _ => (Stream::Stdout, text.clone().into_bytes(), None),
            };
            let end = offset + 28 + payload.len() as u64;
            records.push(Record { offset, end, stream, at_us: 0, ordinal, payload });
            offset = end;
        }
        records
    }

    /// Folds a log beside its cache, from wherever the cache is, to the end of its run or a crash.
    fn fold(dir: &Path, log: &[Record], is_over: bool) -> Option<Came> {
        let (mut writer, checkpoint) =
            Writer::resume(dir).unwrap().unwrap_or_else(|| (Writer::create(dir).unwrap(), None));
        let (mut fold, first) = match &checkpoint {
            Some(checkpoint) => Fold::resume(&Scripted, &checkpoint.state).unwrap(),
            None => Fold::begin(Scripted.conversation(&Turn::default())),
        };
        let from = checkpoint.map_or(0, |checkpoint| checkpoint.log);
        writer.every = 150;
        let mut sends = BTreeMap::new();
        let mut take = |writer: &mut Writer, effects: Effects, at: u64| {
            sends.extend(effects.sends);
            writer.take(effects.entries);
            writer.write(at).unwrap();
        };
        take(&mut writer, first, from);
        let mut at = from;
        for record in log.iter().filter(|record| record.offset >= from) {
            if writer.wants_checkpoint(at) {
                writer.checkpoint(at, &fold.state().unwrap()).unwrap();
            }
            let effects = fold.read(std::slice::from_ref(record));
            at = record.end;
            take(&mut writer, effects, at);
        }
        if !is_over {
            return None;
        }
        let effects = fold.end();
        take(&mut writer, effects, at);
        writer.finish(at).unwrap();
        let Progress { idle, notes, sends: sent } = fold.progress();
        let progress = format!("{idle} {notes} {sent} {:?}", fold.outcome());
        Some(Came { entries: read(dir), progress, sends })
    }

    fn read(dir: &Path) -> Vec<Entry> {
        let mut reader = Reader::open(dir).unwrap().unwrap();
        assert!(reader.is_whole().unwrap());
        let places = reader.places(0, reader.count().unwrap() as usize).unwrap();
        (0..).zip(places).map(|(index, at)| reader.entry(index, at).unwrap().0).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_cache_cut_anywhere_is_gone_on_with_to_the_same_end(
            pieces in prop::collection::vec((any::<u8>(), "[a-z\n]{0,40}"), 1..60),
            part in 0usize..60, cut in 0.0f64..1.0, cut_slots in 0.0f64..2.0,
        ) {
            let log = log(&pieces);
            let whole = tempfile::tempdir().unwrap();
            let expected = fold(whole.path(), &log, true).unwrap();
            let dir = tempfile::tempdir().unwrap();
            // The server goes away in the midst of the log, and more or less of what it wrote is there.
            fold(dir.path(), &log[..part.min(log.len())], part >= log.len());
            let place = place(dir.path());
            for (name, cut) in [("records", cut), ("slots", cut_slots)] {
                let file = OpenOptions::new().write(true).open(place.join(name)).unwrap();
                let length = file.metadata().unwrap().len();
                file.set_len((length as f64 * cut.min(1.0)) as u64).unwrap();
            }
            let came = fold(dir.path(), &log, true).unwrap();
            prop_assert_eq!(&came.entries, &expected.entries);
            prop_assert_eq!(&came.progress, &expected.progress);
            // What the log does not show as sent is sent again; nothing else is ever sent.
            for (number, text) in &came.sends {
                prop_assert_eq!(Some(text), expected.sends.get(number));
            }
            let seen = log.iter().filter(|record| record.stream == Stream::Input);
            let seen = seen.filter_map(|record| record.ordinal).max().unwrap_or(0);
            for number in expected.sends.keys().filter(|number| **number > seen) {
                prop_assert!(came.sends.contains_key(number), "text {} is lost", number);
            }
        }
    }

    #[test]
    fn what_changes_is_held_back_for_a_while_and_what_is_new_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(dir.path()).unwrap();
        let said = |text: &str| Entry::new(forge_model::entry::EntryType::AssistantMessage, text);
        writer.take(vec![(0, said("a"))]);
        assert!(writer.write(1).unwrap());
        let mut written = 0;
        for n in 2..2000 {
            writer.take(vec![(0, said(&"a".repeat(n)))]);
            written += u32::from(writer.write(n as u64).unwrap());
        }
        assert!(written < 1900, "{written} of 2000 forms were written");
        writer.take(vec![(0, said(&"a".repeat(5000)))]);
        let due = writer.due();
        writer.take(vec![(1, said("b"))]);
        assert!(writer.write(3000).unwrap(), "what is new waits for nothing");
        assert!(due.is_some_and(|due| due <= Duration::from_secs(1)) && writer.due().is_none());
        writer.finish(3000).unwrap();
        assert_eq!(read(dir.path()), [said(&"a".repeat(5000)), said("b")]);
    }
}
