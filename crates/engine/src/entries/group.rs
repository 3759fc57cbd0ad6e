//! Forms of several entries as what one record holds, in the order of their indexes and each once. Alone, the shortest
//! entries would take three times the log that they were made of.
//!
//! ```text
//! steps from the index before u32 | length u32 | form
//! ```
//!
//! A form is the entry's JSON, or, of one that has a text and nothing else, a byte for what it is and the text.

use std::io;
use std::ops::Range;

use forge_model::Entry;
use forge_model::entry::{EntryType, ErrorType};

/// A record takes no further forms when it has so many bytes, before it is packed. To read one entry all of its
/// record is read.
const FULL: usize = 16 * 1024;

/// About how much longer an entry is as JSON than its shortest form.
const AROUND: usize = 80;

/// What an entry with nothing but a text may be, by the byte that says so, counted from 1.
const PLAIN: [EntryType; 6] = [
    EntryType::UserMessage,
    EntryType::AssistantMessage,
    EntryType::SystemMessage,
    EntryType::ErrorMessage { error_type: ErrorType::Other },
    EntryType::Thinking,
    EntryType::Loading,
];

/// Forms that are read.
#[derive(Debug, Default)]
pub(super) struct Group {
    bytes: Vec<u8>,
    forms: Vec<(u32, Range<usize>)>,
}

/// Forms that are written.
#[derive(Debug, Default)]
pub(super) struct Filling {
    bytes: Vec<u8>,
    indexes: Vec<u32>,
}

impl Filling {
    /// Adds the form of an entry whose index is greater than those before; returns how long it is.
    pub(super) fn push(&mut self, index: u32, entry: &Entry) -> io::Result<usize> {
        let before = self.indexes.last().copied().unwrap_or_default();
        self.bytes.extend_from_slice(&(index - before).to_le_bytes());
        let length_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        let start = self.bytes.len();
        let plain = PLAIN.iter().position(|plain| *plain == entry.entry_type);
        match plain.filter(|_| entry.timestamp.is_none() && entry.metadata.is_none()) {
            Some(plain) => {
                self.bytes.push(plain as u8 + 1);
                self.bytes.extend_from_slice(entry.content.as_bytes());
            }
            None => serde_json::to_writer(&mut self.bytes, entry)?,
        }
        let length = self.bytes.len() - start;
        let told = u32::try_from(length).map_err(io::Error::other)?;
        self.bytes[length_at..start].copy_from_slice(&told.to_le_bytes());
        self.indexes.push(index);
        Ok(length)
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn indexes(&self) -> &[u32] {
        &self.indexes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.indexes.clear();
    }
}

impl Group {
    /// Reads what a record holds; none when it holds something else.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (mut at, mut index, mut forms) = (0, 0_u32, Vec::new());
        while at < bytes.len() {
            index = index.checked_add(word(at)?)?;
            let form = at + 8..at + 8 + word(at + 4)? as usize;
            at = form.end;
            bytes.get(form.clone())?;
            forms.push((index, form));
        }
        Some(Self { bytes, forms })
    }

    /// The entries that have a form here.
    pub(super) fn indexes(&self) -> impl Iterator<Item = u32> {
        self.forms.iter().map(|(index, _)| *index)
    }

    /// Returns the form of an entry as it was written.
    pub(super) fn form(&self, index: u32) -> Option<&[u8]> {
        let found = self.forms.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        self.bytes.get(self.forms[found].1.clone())
    }

    /// Returns the form of an entry read, and about how long it is as JSON; none when there is none that can be read.
    pub(super) fn entry(&self, index: u32) -> Option<(Entry, usize)> {
        let form = self.form(index)?;
        let entry = match form.split_first()? {
            (b'{', _) => serde_json::from_slice(form).ok()?,
            (plain, text) => {
                let entry_type = PLAIN.get(usize::from(*plain).checked_sub(1)?)?.clone();
                Entry::new(entry_type, std::str::from_utf8(text).ok()?)
            }
        };
        Some((entry, form.len() + AROUND))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_entry_is_read_as_it_was_written() {
        let mut entries: Vec<Entry> = PLAIN.into_iter().map(|plain| Entry::new(plain, "zwölf\n\0")).collect();
        let setup = EntryType::ErrorMessage { error_type: ErrorType::SetupRequired };
        entries.push(Entry::new(setup, "{"));
        entries.push(Entry { metadata: Some(json!({"ask": 1})), ..entries[1].clone() });
        entries.push(Entry { timestamp: Some(forge_model::Time::from_millis(7)), ..entries[2].clone() });
        entries.push(Entry::new(EntryType::AssistantMessage, ""));
        let mut filling = Filling::default();
        let indexes = || (0..).map(|n: u32| n * n);
        for (index, entry) in indexes().zip(&entries) {
            filling.push(index, entry).unwrap();
        }
        assert!(!filling.is_full());
        let group = Group::read(filling.bytes().to_vec()).unwrap();
        assert!(group.indexes().eq(indexes().take(entries.len())));
        for (index, entry) in indexes().zip(&entries) {
            assert_eq!(&group.entry(index).unwrap().0, entry);
        }
        assert!(group.entry(2).is_none() && group.entry(u32::MAX).is_none());
        for cut in 1..filling.bytes().len() {
            let cut = Group::read(filling.bytes()[..cut].to_vec());
            assert!(cut.is_none_or(|group| group.forms.len() < entries.len()));
        }
    }
}
