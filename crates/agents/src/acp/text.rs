//! The message that the agent is writing: its pieces become an entry that grows.

use forge_model::Entry;
use forge_model::entry::EntryType;
use serde::{Deserialize, Serialize};

use crate::Step;
use crate::cut::grow;
use crate::entries::Entries;

/// An entry is shown again once it has grown by this fraction: a few dozen times its length is shown in all, and
/// short texts still flow.
const GROWTH: usize = 32;

/// The message that is being written, if any.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Growing {
    kind: Option<Kind>,
    message: Option<String>,
    /// The index of its entry, once there is something to show.
    entry: Option<usize>,
    text: String,
    shown: usize,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Text,
    Thinking,
}

impl Kind {
    fn entry(self, text: &str) -> Entry {
        let kind = match self {
            Kind::Text => EntryType::AssistantMessage,
            Kind::Thinking => EntryType::Thinking,
        };
        Entry::new(kind, text)
    }
}

impl Growing {
    /// Says whether a piece belongs to the message that is being written: none of another kind, or of another message.
    pub(super) fn continues(&self, kind: Kind, message: Option<&str>) -> bool {
        let other = self.message.is_some() && message.is_some() && self.message.as_deref() != message;
        self.kind == Some(kind) && !other
    }

    /// Takes a piece. One that does not belong to the message being written begins a new one.
    pub(super) fn grow(
        &mut self,
        kind: Kind,
        message: Option<String>,
        piece: &str,
        entries: &mut Entries,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        if !self.continues(kind, message.as_deref()) {
            steps.extend(self.close());
            (self.kind, self.message) = (Some(kind), message);
        }
        grow(&mut self.text, piece);
        let unseen = self.text.len() - self.shown;
        if unseen > 0 && unseen >= self.shown / GROWTH && !self.text.trim().is_empty() {
            steps.extend(self.show(entries));
        }
        steps
    }

    /// Ends the message; what is not shown of it yet is shown now.
    pub(super) fn close(&mut self) -> Option<Step> {
        let last = std::mem::take(self);
        let (kind, index) = (last.kind?, last.entry?);
        (last.shown < last.text.len()).then(|| Step::Entry { index, entry: kind.entry(&last.text) })
    }

    /// Returns what the agent says, and not what it thinks, with the index of its entry.
    pub(super) fn said(&self) -> Option<(usize, &str)> {
        self.entry.filter(|_| self.kind == Some(Kind::Text)).map(|index| (index, self.text.as_str()))
    }

    fn show(&mut self, entries: &mut Entries) -> Option<Step> {
        self.shown = self.text.len();
        let entry = self.kind?.entry(&self.text);
        match self.entry {
            Some(index) => Some(Step::Entry { index, entry }),
            None => {
                let (index, step) = entries.add(entry);
                self.entry = Some(index);
                Some(step)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(steps: Vec<Step>) -> Vec<(usize, String)> {
        let text = |step| match step {
            Step::Entry { index, entry } => (index, entry.content),
            other => panic!("no entry: {other:?}"),
        };
        steps.into_iter().map(text).collect()
    }

    #[test]
    fn another_kind_or_another_message_is_another_entry() {
        let (mut text, mut entries) = (Growing::default(), Entries::default());
        let mut grow = |kind, message: Option<&str>, piece| {
            texts(text.grow(kind, message.map(str::to_string), piece, &mut entries))
        };
        assert_eq!(grow(Kind::Thinking, None, "\n"), []);
        assert_eq!(grow(Kind::Thinking, None, "hm"), [(0, "\nhm".to_string())]);
        assert_eq!(grow(Kind::Text, Some("a"), "one"), [(1, "one".to_string())]);
        assert_eq!(grow(Kind::Text, None, " more"), [(1, "one more".to_string())]);
        assert_eq!(grow(Kind::Text, Some("b"), "two"), [(2, "two".to_string())]);
        assert_eq!(text.said(), Some((2, "two")));
    }

    #[test]
    fn a_long_message_is_not_shown_for_every_piece_but_is_whole_in_the_end() {
        let (mut text, mut entries) = (Growing::default(), Entries::default());
        let mut shown = 0;
        for _ in 0..100_000 {
            let steps = texts(text.grow(Kind::Text, None, "word ", &mut entries));
            shown += steps.iter().map(|(_, text)| text.len()).sum::<usize>();
        }
        assert!(shown < 40 * 500_000, "{shown} bytes were shown for half a megabyte");
        text.grow(Kind::Text, None, "!", &mut entries);
        let last = texts(text.close().into_iter().collect());
        assert_eq!((last[0].0, last[0].1.len()), (0, 500_001));
        assert_eq!(text.close(), None);
    }
}
