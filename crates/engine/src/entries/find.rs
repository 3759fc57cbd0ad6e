//! Finding a text in the conversation of an attempt, newest entry first. What is kept beside the log is gone through an
//! entry at a time, so that a conversation of any length costs little memory, and for a few seconds at most: who wants
//! more goes on from where it ended.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forge_model::entry::{Action, EntryType, FileChange};
use forge_model::{AttemptId, Entry};

use super::reader::Reader;
use super::window::EntryPlace;
use crate::background::blocking;
use crate::{Engine, Error, Result};

/// How long is looked at a time.
const PATIENCE: Duration = Duration::from_secs(3);

/// How many places are read at once.
const PLACES: u32 = 1024;

/// How much is shown of what stands before and after what was found, in characters.
const BEFORE: usize = 60;
const AFTER: usize = 140;

/// What was found, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEntries {
    pub hits: Vec<EntryHit>,
    /// Where to go on from; none when everything was looked at.
    pub before: Option<EntryPlace>,
}

/// An entry in which a text was found.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryHit {
    pub place: EntryPlace,
    /// The text and what stands around it, on one line.
    pub snippet: String,
    /// Where in the snippet it begins and how long it is, in characters.
    pub at: usize,
    pub length: usize,
}

impl Engine {
    /// Finds a text in the entries of an attempt, whatever its case: newest first, from the end or from before a place.
    pub async fn find_entries(
        &self,
        attempt: AttemptId,
        text: &str,
        before: Option<EntryPlace>,
        limit: usize,
    ) -> Result<FoundEntries> {
        let Some(wanted) = Wanted::new(text) else {
            return Err(Error::invalid("`find` must be a text that is not blank"));
        };
        let mut runs = self.agent_runs(attempt).await?;
        let mut to = None;
        if let Some(before) = before {
            let Some(at) = runs.iter().position(|run| run.id == before.run) else {
                let message = format!("`before`: attempt {attempt} has no agent run {}", before.run);
                return Err(Error::invalid(message));
            };
            runs.truncate(at + 1);
            to = Some(before.index);
        }
        let until = Instant::now() + PATIENCE;
        let mut hits = Vec::new();
        for run in runs.iter().rev() {
            let to = to.take();
            if !self.are_there(run).await? {
                continue;
            }
            let (dir, wanted, most) = (self.inner.paths.run(run.id), wanted.clone(), limit - hits.len());
            let (found, ended) = match blocking(move || look(dir, &wanted, to, most, until)).await? {
                Ok(found) => found,
                Err(error) => return Err(self.unreadable_entries(run, &error).await),
            };
            let placed = |index: u32| EntryPlace { run: run.id, index: u64::from(index) };
            hits.extend(found.into_iter().map(|(index, around)| {
                let Around { snippet, at, length } = around;
                EntryHit { place: placed(index), snippet, at, length }
            }));
            if let Some(index) = ended {
                return Ok(FoundEntries { hits, before: Some(placed(index)) });
            }
        }
        Ok(FoundEntries { hits, before: None })
    }
}

/// What is looked for.
#[derive(Debug, Clone)]
struct Wanted {
    /// In small letters.
    letters: Vec<char>,
    /// As it stands in JSON and in a text, where case can be told byte by byte: what does not hold it is not looked at
    /// further.
    written: Option<(Vec<u8>, Vec<u8>)>,
}

/// What was found, and what stands around it.
#[derive(Debug, PartialEq)]
struct Around {
    snippet: String,
    at: usize,
    length: usize,
}

impl Wanted {
    fn new(text: &str) -> Option<Wanted> {
        let text = text.trim();
        let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
        let written = serde_json::to_string(text).ok()?;
        // The case of a letter beyond ASCII cannot be told byte by byte.
        let written = text
            .is_ascii()
            .then(|| (written.as_bytes()[1..written.len() - 1].to_vec(), text.as_bytes().to_vec()));
        (!letters.is_empty()).then_some(Wanted { letters, written })
    }

    /// Says whether an entry as it is written may hold it.
    fn may_be_in(&self, form: &[u8]) -> bool {
        let Some((in_json, in_text)) = &self.written else { return true };
        let written = if form.first() == Some(&b'{') { in_json } else { in_text };
        form.windows(written.len()).any(|part| part.eq_ignore_ascii_case(written))
    }

    fn find(&self, entry: &Entry) -> Option<Around> {
        texts(entry).into_iter().find_map(|text| self.find_in(&text))
    }

    fn find_in(&self, text: &str) -> Option<Around> {
        let letters: Vec<char> = text.chars().collect();
        let begins = |at: usize| {
            let mut wanted = self.letters.iter();
            for (length, letter) in letters[at..].iter().enumerate() {
                for small in letter.to_lowercase() {
                    match wanted.next() {
                        Some(letter) if *letter == small => {}
                        Some(_) => return None,
                        None => return Some(length),
                    }
                }
                if wanted.len() == 0 {
                    return Some(length + 1);
                }
            }
            None
        };
        let (at, length) = (0..letters.len()).find_map(|at| Some((at, begins(at)?)))?;
        let (first, last) = (at.saturating_sub(BEFORE), letters.len().min(at + length + AFTER));
        let plain = |letter: &char| if letter.is_whitespace() || letter.is_control() { ' ' } else { *letter };
        let snippet = letters[first..last].iter().map(plain).collect();
        Some(Around { snippet, at: at - first, length })
    }
}

/// What of an entry people can read.
fn texts(entry: &Entry) -> Vec<String> {
    let mut texts = vec![entry.content.clone()];
    let EntryType::ToolUse { action_type, tool_name, .. } = &entry.entry_type else { return texts };
    texts.push(tool_name.clone());
    match action_type {
        Action::FileRead { path } => texts.push(path.clone()),
        Action::FileEdit { path, changes } => {
            texts.push(path.clone());
            texts.extend(changes.iter().filter_map(|change| match change {
                FileChange::Write { content } => Some(content.clone()),
                FileChange::Edit { unified_diff, .. } => Some(unified_diff.clone()),
                FileChange::Rename { new_path } => Some(new_path.clone()),
                FileChange::Delete => None,
            }));
        }
        Action::CommandRun { command, result } => {
            texts.push(command.clone());
            texts.extend(result.as_ref().and_then(|result| result.output.clone()));
        }
        Action::Search { query: text }
        | Action::WebFetch { url: text }
        | Action::TaskCreate { description: text }
        | Action::PlanPresentation { plan: text }
        | Action::Other { description: text } => texts.push(text.clone()),
        Action::TodoManagement { todos, .. } => texts.extend(todos.iter().map(|todo| todo.content.clone())),
        Action::Tool { arguments, result, .. } => {
            let values = [arguments.as_ref(), result.as_ref().map(|result| &result.value)];
            texts.extend(values.into_iter().flatten().map(|value| match value.as_str() {
                Some(text) => text.to_string(),
                None => value.to_string(),
            }));
        }
    }
    texts
}

/// What was found in a run, and the index that the search ended at when there is more to look at.
type Looked = (Vec<(u32, Around)>, Option<u32>);

/// Looks through the entries of a run backwards.
fn look(dir: PathBuf, wanted: &Wanted, to: Option<u64>, most: usize, until: Instant) -> io::Result<Looked> {
    let Some(mut reader) = Reader::open(&dir)? else { return Ok((Vec::new(), None)) };
    let count = reader.count()?;
    let mut to = to.map_or(count, |to| u32::try_from(to).map_or(count, |to| to.min(count)));
    let mut hits = Vec::new();
    while to > 0 {
        let first = to.saturating_sub(PLACES);
        let places = reader.places(first, (to - first) as usize)?;
        for (index, at) in (first..to).zip(places).rev() {
            if hits.len() == most || Instant::now() > until {
                return Ok((hits, Some(index + 1)));
            }
            if wanted.may_be_in(reader.form(index, at)?)
                && let Some(around) = wanted.find(&reader.entry(index, at)?.0)
            {
                hits.push((index, around));
            }
        }
        to = first;
    }
    Ok((hits, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_whatever_its_case_and_shown_with_what_is_around_it() {
        let found = |text: &str, wanted: &str| Wanted::new(wanted).unwrap().find_in(text);
        let around = found("one\ntwo THREE four", " three ").unwrap();
        assert_eq!(around, Around { snippet: "one two THREE four".into(), at: 8, length: 5 });
        assert_eq!(found("Straße", "STRASSE"), None);
        assert_eq!(found("Größe", "GRÖSSE"), None);
        assert_eq!(found("ÄÖÜ und Öl", "öl").unwrap().at, 8);
        let long = found(&format!("{}needle{}", "x".repeat(500), "y".repeat(500)), "NEEDLE").unwrap();
        assert_eq!((long.at, long.length, long.snippet.chars().count()), (60, 6, 206));
        assert!(Wanted::new("  ").is_none());
    }

    #[test]
    fn what_is_written_in_json_is_not_missed_for_its_escapes() {
        for (text, wanted) in [("say \"no\"", "\"NO\""), ("a\\b\tc", "\\B\tC"), ("line\nend", "NE\nE")] {
            let entry = Entry::new(EntryType::AssistantMessage, text);
            let wanted = Wanted::new(wanted).unwrap();
            assert!(wanted.may_be_in(&serde_json::to_vec(&entry).unwrap()), "{text}");
            assert!(wanted.may_be_in(format!("\u{1}{text}").as_bytes()), "{text} as it stands");
            assert!(wanted.find(&entry).is_some(), "{text}");
        }
        let entry = Entry::new(EntryType::AssistantMessage, "nothing of it");
        assert!(!Wanted::new("xyz").unwrap().may_be_in(&serde_json::to_vec(&entry).unwrap()));
    }
}
