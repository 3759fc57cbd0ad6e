//! Entries as clients know them.

use forge_engine::{EntryWindow, PlacedEntry};
use forge_model::Entry;
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
        let entries = window.entries.into_iter().map(TaskAttemptEntry::from).collect();
        Self { entries, before, has_more: window.has_more }
    }
}

impl From<PlacedEntry> for TaskAttemptEntry {
    fn from(placed: PlacedEntry) -> Self {
        let PlacedEntry { place, entry } = placed;
        Self { execution_process_id: place.run.to_string(), index: place.index, entry }
    }
}
