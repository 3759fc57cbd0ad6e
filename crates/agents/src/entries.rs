//! Numbers the entries of one conversation, gathers the lines of standard error into few of them, and shows what
//! could not be understood: nothing that an agent prints is passed over in silence because it is broken.

use forge_model::Entry;
use forge_model::entry::{EntryType, ErrorType};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use crate::Step;

/// How much of standard error one entry holds. Every further line replaces the entry, so it must stay small.
const ERROR_ENTRY: usize = 4 * 1024;

/// How much of a line that could not be understood is quoted, in characters.
const QUOTED: usize = 300;

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

    /// Reads a line as a message of the agent's protocol. When it is none, the steps show what it is instead: nothing
    /// for a blank line, an error that quotes it for JSON that is cut or of a shape that should be known, and a
    /// system message for a plain line.
    pub(crate) fn understand<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, Vec<Step>> {
        let line = line.trim_end();
        if line.is_empty() {
            return Err(Vec::new());
        }
        if !is_json_like(line.trim_start()) {
            return Err(vec![self.show(EntryType::SystemMessage, line)]);
        }
        serde_json::from_str(line).map_err(|error| vec![self.not_understood(line, &error)])
    }

    /// Shows a message that could not be understood, with its first few hundred characters.
    pub(crate) fn not_understood(&mut self, line: &str, error: &serde_json::Error) -> Step {
        let what = match error.classify() {
            Category::Eof => "is cut",
            Category::Syntax | Category::Io => "is broken",
            Category::Data => "was not understood",
        };
        let kind = EntryType::ErrorMessage { error_type: ErrorType::Other };
        self.show(kind, format!("A line of the agent {what} ({error}): {}", quoted(line)))
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
        self.show_line(line, |_| EntryType::ErrorMessage { error_type: ErrorType::Other })
    }

    /// The same for an agent that uses standard error for whatever it does not say in its protocol: only what reads
    /// as an error is one.
    pub(crate) fn show_muttering(&mut self, line: &str) -> Option<Step> {
        self.show_line(line, |text| match reads_as_error(text) {
            true => EntryType::ErrorMessage { error_type: ErrorType::Other },
            false => EntryType::SystemMessage,
        })
    }

    fn show_line(&mut self, line: &str, kind: impl Fn(&str) -> EntryType) -> Option<Step> {
        let line = line.trim_end();
        if line.is_empty() || self.last_error.as_deref() == Some(line) {
            return None;
        }
        if let Some((index, text)) = &mut self.errors
            && text.len() + line.len() < ERROR_ENTRY
        {
            text.push('\n');
            text.push_str(line);
            return Some(Step::Entry { index: *index, entry: Entry::new(kind(text), text.clone()) });
        }
        let (index, step) = self.add(Entry::new(kind(line), line));
        self.errors = Some((index, line.to_string()));
        // Kept only while it is short: it is there to recognise a sentence, not a flood.
        self.last_error = Some(line.to_string()).filter(|line| line.len() < ERROR_ENTRY);
        Some(step)
    }
}

/// Says whether a text speaks of an error.
fn reads_as_error(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words =
        ["error", "fail", "fatal", "exception", "panic", "denied", "unauthorized", "refused", "not found"];
    words.iter().any(|word| lower.contains(word))
}

/// Says whether a line is meant as JSON: an object, or a list of something but words. `[INFO] ready` is a plain line.
pub(crate) fn is_json_like(line: &str) -> bool {
    match line.strip_prefix('[') {
        Some(rest) => rest.trim_start().chars().next().is_none_or(|first| "{[\"]".contains(first)),
        None => line.starts_with('{'),
    }
}

/// Returns the beginning of a line, in its own characters.
fn quoted(line: &str) -> String {
    let mut characters = line.trim().chars();
    let mut quote: String = characters.by_ref().take(QUOTED).collect();
    if characters.next().is_some() {
        quote.push('…');
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn read(line: &str) -> Result<Value, Box<Entry>> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Known {
            known: Value,
        }
        let mut entries = Entries::default();
        entries.understand::<Known>(line).map(|message| message.known).map_err(|mut steps| {
            let Some(Step::Entry { entry, .. }) = steps.pop() else {
                panic!("nothing is shown for {line:?}")
            };
            assert!(steps.is_empty());
            Box::new(entry)
        })
    }

    #[test]
    fn json_that_is_cut_or_unknown_is_an_error_that_quotes_it() {
        assert_eq!(read(r#" {"known": 1} "#), Ok(Value::from(1)));
        for (line, what) in [
            (r#"{"known": "wor"#, "is cut"),
            ("{", "is cut"),
            (r#"{"known"; 1}"#, "is broken"),
            (r#"{"unknown": 1}"#, "was not understood"),
            (r#"[{"known": 1"#, "is cut"),
        ] {
            let Entry { entry_type, content, .. } = *read(line).unwrap_err();
            assert_eq!(entry_type, EntryType::ErrorMessage { error_type: ErrorType::Other });
            assert!(content.starts_with(&format!("A line of the agent {what}")), "{content}");
            assert!(content.ends_with(line), "{content}");
        }
    }

    #[test]
    fn a_plain_line_is_a_system_message_and_a_blank_one_is_nothing() {
        for line in ["Update available!", "[INFO] ready", "[2026-11-16] ready", "42", "\"words\"", "null"] {
            assert_eq!(*read(line).unwrap_err(), Entry::new(EntryType::SystemMessage, line));
        }
        assert_eq!(Entries::default().understand::<Value>("  \t "), Err(Vec::new()));
    }

    #[test]
    fn a_long_line_is_quoted_in_part() {
        let line = format!("{{\"{}", "ü".repeat(100_000));
        let content = read(&line).unwrap_err().content;
        assert!(content.ends_with('…') && content.chars().count() < 2 * QUOTED, "{}", content.len());
    }

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
    fn what_an_agent_mutters_is_an_error_once_it_speaks_of_one() {
        let mut entries = Entries::default();
        let kind = |step: Option<Step>| match step {
            Some(Step::Entry { index, entry }) => (index, entry.entry_type),
            other => panic!("no entry: {other:?}"),
        };
        let said = entries.show_muttering("Ripgrep is not available. Falling back to GrepTool.");
        assert_eq!(kind(said), (0, EntryType::SystemMessage));
        let error = EntryType::ErrorMessage { error_type: ErrorType::Other };
        assert_eq!(kind(entries.show_muttering("Error handling request {")), (0, error.clone()));
        assert_eq!(kind(entries.show_muttering("}")), (0, error));
        entries.show(EntryType::AssistantMessage, "meanwhile");
        assert_eq!(kind(entries.show_muttering("ready")), (2, EntryType::SystemMessage));
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
