//! Numbers the entries of one conversation, and gathers the lines of standard error into few of them.

use forge_model::Entry;
use forge_model::entry::{EntryType, ErrorType};

use serde::{Deserialize, Serialize};

use crate::Step;

/// How much of standard error one entry holds. Every further line replaces the entry, so it must stay small.
const ERROR_ENTRY: usize = 4 * 1024;

/// The numbering of one conversation's entries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Entries {
    next: usize,
    /// The newest entry when it is made of lines of standard error: the next such line joins it.
    errors: Option<(usize, String)>,
    /// The error shown last, so that an agent that tells it on both of its streams is shown once.
    last_error: Option<String>,
}

impl Entries {
    /// Adds an entry and returns its index with the step that shows it.
    pub(crate) fn add(&mut self, entry: Entry) -> (usize, Step) {
        let index = self.next;
        self.next += 1;
        self.errors = None;
        (index, Step::Entry { index, entry })
    }

    /// Returns the step that shows a new entry nobody will replace.
    pub(crate) fn show(&mut self, entry_type: EntryType, content: impl Into<String>) -> Step {
        self.add(Entry::new(entry_type, content)).1
    }

    /// Returns the step that shows an error, unless it is the error shown last.
    pub(crate) fn show_error(&mut self, error_type: ErrorType, text: &str) -> Option<Step> {
        if self.last_error.as_deref() == Some(text) {
            return None;
        }
        self.last_error = Some(text.to_string());
        Some(self.show(EntryType::ErrorMessage { error_type }, text))
    }

    /// Shows a line of standard error, together with those that came right before it.
    pub(crate) fn show_error_line(&mut self, line: &str) -> Option<Step> {
        let line = line.trim_end();
        if line.is_empty() || self.last_error.as_deref() == Some(line) {
            return None;
        }
        let kind = EntryType::ErrorMessage { error_type: ErrorType::Other };
        if let Some((index, text)) = &mut self.errors
            && text.len() + line.len() < ERROR_ENTRY
        {
            text.push('\n');
            text.push_str(line);
            return Some(Step::Entry { index: *index, entry: Entry::new(kind, text.clone()) });
        }
        let (index, step) = self.add(Entry::new(kind, line));
        self.errors = Some((index, line.to_string()));
        // Kept only while it is short: it is there to recognise a sentence, not a flood.
        self.last_error = Some(line.to_string()).filter(|line| line.len() < ERROR_ENTRY);
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(step: Option<Step>) -> (usize, String) {
        match step {
            Some(Step::Entry { index, entry }) => (index, entry.content),
            other => panic!("no entry: {other:?}"),
        }
    }

    #[test]
    fn lines_of_standard_error_that_come_together_are_one_entry() {
        let mut entries = Entries::default();
        assert_eq!(shown(entries.show_error_line("one")), (0, "one".into()));
        assert_eq!(shown(entries.show_error_line("two")), (0, "one\ntwo".into()));
        entries.show(EntryType::AssistantMessage, "meanwhile");
        assert_eq!(shown(entries.show_error_line("three")), (2, "three".into()));
    }

    #[test]
    fn a_flood_of_standard_error_is_cut_into_small_entries() {
        let mut entries = Entries::default();
        for n in 0..10_000 {
            let (_, content) = shown(entries.show_error_line(&format!("line {n} of the flood")));
            assert!(content.len() <= ERROR_ENTRY);
        }
        assert!(entries.next > 10);
    }

    #[test]
    fn an_error_told_on_both_streams_is_shown_once() {
        let mut entries = Entries::default();
        assert!(entries.show_error(ErrorType::Other, "no such session").is_some());
        assert!(entries.show_error_line("no such session\n").is_none());
        assert!(entries.show_error(ErrorType::Other, "no such session").is_none());
    }
}
