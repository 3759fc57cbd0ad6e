//! Entries as clients know them.

use forge_engine::{EntryPlace, EntryWindow, FoundEntries, PlacedEntry, RunEntries, WindowAt};
use forge_model::{Entry, RunId};
use schemars::JsonSchema;
use serde::Serialize;

/// An entry in a list of a run's entries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NormalizedLogEntry {
    r#type: &'static str,
    content: Entry,
}

/// An entry of a run, by its index.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IndexedEntry {
    pub(crate) index: u64,
    pub(crate) entry: Entry,
}

/// Some entries of an attempt, newest last.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAttemptEntries {
    entries: Vec<TaskAttemptEntry>,
    /// There are earlier ones: `?before=` this. Null when these are the first.
    before: Option<String>,
    has_more: bool,
    /// There are later ones: `?after=` this. Null when these are the last.
    after: Option<String>,
    has_newer: bool,
    /// How many there are in all; null while those of some run are being made.
    total: Option<u64>,
    /// The agent's runs, oldest first.
    runs: Vec<RunEntryCount>,
    /// Where a text was found, newest first; null when none was looked for.
    hits: Option<Vec<EntryHit>>,
}

/// How many entries a run has, and from where more of them are told.
#[derive(Debug, Serialize, JsonSchema)]
struct RunEntryCount {
    id: RunId,
    /// Null while they are being made.
    entries: Option<u64>,
    /// The run is over, and has no more than these.
    is_over: bool,
    /// Where to follow `entries:<run id>` from: what changed later may not be in here. Null to follow from the first.
    after: Option<i64>,
}

/// An entry in which a text was found.
#[derive(Debug, Serialize, JsonSchema)]
struct EntryHit {
    execution_process_id: RunId,
    index: u64,
    /// The text and what stands around it, on one line.
    snippet: String,
    /// Where in the snippet it begins and how long it is, in characters.
    at: usize,
    length: usize,
}

/// An entry of an attempt, and where it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAttemptEntry {
    execution_process_id: String,
    /// Its index in the entries of that run.
    index: u64,
    entry: Entry,
}

impl From<Entry> for NormalizedLogEntry {
    fn from(content: Entry) -> Self {
        Self { r#type: "NORMALIZED_ENTRY", content }
    }
}

impl From<EntryWindow> for TaskAttemptEntries {
    fn from(window: EntryWindow) -> Self {
        let first = window.entries.first().map(|first| first.place.to_string());
        let before = first.filter(|_| window.has_more);
        let last = window.entries.last().map(|last| last.place.to_string());
        let counts = window.runs.iter().map(|run| run.entries);
        Self {
            before,
            has_more: window.has_more,
            after: last.filter(|_| window.has_newer),
            has_newer: window.has_newer,
            total: counts.sum(),
            runs: window.runs.iter().map(RunEntryCount::from).collect(),
            entries: window.entries.into_iter().map(TaskAttemptEntry::from).collect(),
            hits: None,
        }
    }
}

impl From<&RunEntries> for RunEntryCount {
    fn from(run: &RunEntries) -> Self {
        Self { id: run.run, entries: run.entries, is_over: run.is_over, after: run.after }
    }
}

impl From<FoundEntries> for TaskAttemptEntries {
    fn from(found: FoundEntries) -> Self {
        let hits = found.hits.into_iter().map(|hit| EntryHit {
            execution_process_id: hit.place.run,
            index: hit.place.index,
            snippet: hit.snippet,
            at: hit.at,
            length: hit.length,
        });
        Self {
            entries: Vec::new(),
            has_more: found.before.is_some(),
            before: found.before.map(|place| place.to_string()),
            after: None,
            has_newer: false,
            total: None,
            runs: Vec::new(),
            hits: Some(hits.collect()),
        }
    }
}

/// Says where a window is, by the places that a caller named.
pub(crate) fn window_at(
    before: Option<EntryPlace>,
    after: Option<EntryPlace>,
    around: Option<EntryPlace>,
) -> Result<WindowAt, &'static str> {
    match (before, after, around) {
        (None, None, None) => Ok(WindowAt::Last),
        (Some(place), None, None) => Ok(WindowAt::Before(place)),
        (None, Some(place), None) => Ok(WindowAt::After(place)),
        (None, None, Some(place)) => Ok(WindowAt::Around(place)),
        _ => Err("`before`, `after` and `around` exclude one another"),
    }
}

/// Says where a search begins, which goes back from there: it has no window after or around a place.
pub(crate) fn searched_before(at: WindowAt) -> Result<Option<EntryPlace>, &'static str> {
    match at {
        WindowAt::Last => Ok(None),
        WindowAt::Before(place) => Ok(Some(place)),
        WindowAt::After(_) | WindowAt::Around(_) => {
            Err("`find` looks back from `before`, not `after` or `around` a place")
        }
    }
}

impl From<PlacedEntry> for TaskAttemptEntry {
    fn from(placed: PlacedEntry) -> Self {
        let PlacedEntry { place, entry } = placed;
        Self { execution_process_id: place.run.to_string(), index: place.index, entry }
    }
}
