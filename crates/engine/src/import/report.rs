//! What an import did, for people: how much of each kind came, and in sentences what did not.
//!
//! Names and counts only: no value of a setting and no text of a script is in here.

use std::collections::BTreeMap;

use super::bring::Outcome;
use super::source::Product;

/// How many things of one sort are named before the rest is only counted.
const NAMED: usize = 10;

/// What an import did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Whose data it turned out to be.
    pub product: Product,
    pub database: std::path::PathBuf,
    /// How many changes its schema has seen, and the newest of them.
    pub migrations: usize,
    pub newest_migration: i64,
    /// Nothing was written.
    pub dry_run: bool,
    /// Of each kind of thing, what became of it.
    pub things: Vec<ImportCount>,
    pub logs: ImportedLogs,
    /// What was not carried over, or is otherwise than one might think.
    pub notes: Vec<String>,
}

/// What became of the things of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportCount {
    /// The word for many of them: `tasks`.
    pub kind: &'static str,
    pub found: u64,
    pub added: u64,
    /// Changed there since the last import, and here too now.
    pub updated: u64,
    pub unchanged: u64,
    /// Changed there and here: what is here stays.
    pub kept: u64,
    /// Removed here since the last import, and not brought back.
    pub removed_here: u64,
    /// Could not be carried over.
    pub skipped: u64,
}

/// What became of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportedLogs {
    /// Logs that were written.
    pub written: u64,
    pub bytes: u64,
    /// Lines of them that could not be read.
    pub bad_lines: u64,
    /// Records of them that are no output.
    pub other_records: u64,
}

/// The kinds of things, in the order of the report.
pub(super) const KINDS: &[&str] = &[
    "projects",
    "tasks",
    "attempts",
    "runs",
    "drafts",
    "images",
    "tags",
    "merges",
    "pull requests",
    "standing agents",
    "settings",
    "profiles",
];

/// A report on its way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: BTreeMap<&'static str, ImportCount>,
    pub(super) logs: ImportedLogs,
    notes: Vec<String>,
    /// Sentences that several things share, with their names.
    shared: BTreeMap<String, Vec<String>>,
}

impl Tally {
    pub(super) fn count(&mut self, kind: &'static str) -> &mut ImportCount {
        self.counts.entry(kind).or_insert_with(|| ImportCount { kind, ..ImportCount::default() })
    }

    /// Counts what became of one thing, and says so where a person should know.
    pub(super) fn saw(&mut self, kind: &'static str, name: &str, outcome: &Outcome) {
        let count = self.count(kind);
        count.found += 1;
        match outcome {
            Outcome::Added => count.added += 1,
            Outcome::Same => count.unchanged += 1,
            Outcome::Updated => count.updated += 1,
            Outcome::Kept(fields) => {
                count.kept += 1;
                let fields = fields.join(" and ");
                self.about(
                    format!(
                        "Changed there, but edited here too: the {fields} of these {kind} stays as it is here"
                    ),
                    name,
                );
            }
            Outcome::RemovedHere => {
                count.removed_here += 1;
                self.about(
                    format!("These {kind} were removed here since the last import and stay removed"),
                    name,
                );
            }
        }
    }

    /// Counts something that could not be carried over.
    pub(super) fn skipped(&mut self, kind: &'static str, name: &str, why: &str) {
        let count = self.count(kind);
        count.found += 1;
        count.skipped += 1;
        self.about(format!("Not carried over, because {why}: {kind}"), name);
    }

    /// Says something, once.
    pub(super) fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// Says the same of several things: their names are gathered after a colon.
    pub(super) fn about(&mut self, sentence: impl Into<String>, name: &str) {
        let short: String = name.chars().take(80).collect();
        self.shared.entry(sentence.into()).or_default().push(short);
    }

    /// The things and the sentences.
    pub(super) fn end(mut self) -> (Vec<ImportCount>, ImportedLogs, Vec<String>) {
        for (sentence, names) in &self.shared {
            let named =
                names.iter().take(NAMED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            let rest = match names.len().saturating_sub(NAMED) {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            self.notes.push(format!("{sentence}: {named}{rest}."));
        }
        let things = KINDS.iter().filter_map(|kind| self.counts.get(kind).copied()).collect();
        (things, self.logs, self.notes)
    }
}
