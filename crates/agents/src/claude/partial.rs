//! The message that is being written: its pieces become an entry that grows, until the whole message comes.

use forge_model::Entry;
use forge_model::entry::EntryType;
use serde::{Deserialize, Serialize};

use crate::Step;
use crate::cut::grow;
use crate::entries::Entries;

/// An entry is shown again once it has grown by this fraction. Showing it for every piece would cost the
/// square of its length; this way it costs a few dozen times its length, and short texts still flow.
const GROWTH: usize = 32;

/// How many blocks one message may have; no message has as many.
const MOST_BLOCKS: usize = 1000;

/// The message that is being written.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Partial {
    message: Option<String>,
    blocks: Vec<Block>,
}

/// What a block of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Text,
    Thinking,
}

#[derive(Debug, Serialize, Deserialize)]
struct Block {
    number: u64,
    kind: Kind,
    /// The index of its entry, once there is something to show.
    entry: Option<usize>,
    text: String,
    shown: usize,
    /// The whole block has come; pieces that follow are late.
    settled: bool,
}

impl Kind {
    /// Returns the entry that shows a block of this kind.
    pub(super) fn entry(self, text: impl Into<String>) -> Entry {
        let kind = match self {
            Kind::Text => EntryType::AssistantMessage,
            Kind::Thinking => EntryType::Thinking,
        };
        Entry::new(kind, text)
    }
}

impl Partial {
    /// Begins a message and forgets the one before.
    pub(super) fn begin(&mut self, message: Option<String>) {
        self.message = message;
        self.blocks.clear();
    }

    /// Takes a piece of a block, and shows the block when it has grown enough.
    pub(super) fn grow(
        &mut self,
        number: u64,
        kind: Kind,
        piece: &str,
        entries: &mut Entries,
    ) -> Option<Step> {
        let known = self.blocks.iter().position(|block| block.number == number);
        if known.is_none() && self.blocks.len() >= MOST_BLOCKS {
            return None;
        }
        let at = known.unwrap_or_else(|| {
            let text = String::new();
            self.blocks.push(Block { number, kind, entry: None, text, shown: 0, settled: false });
            self.blocks.len() - 1
        });
        let block = &mut self.blocks[at];
        if block.settled || block.kind != kind {
            return None;
        }
        grow(&mut block.text, piece);
        let unseen = block.text.len() - block.shown;
        if unseen == 0 || unseen < block.shown / GROWTH {
            return None;
        }
        block.shown = block.text.len();
        let entry = kind.entry(block.text.clone());
        match block.entry {
            Some(index) => Some(Step::Entry { index, entry }),
            None => {
                let (index, step) = entries.add(entry);
                block.entry = Some(index);
                Some(step)
            }
        }
    }

    /// Takes the next whole block of this kind, and returns the entry its pieces made. The second value tells
    /// whether that entry shows the whole text already.
    pub(super) fn settle(&mut self, message: Option<&str>, kind: Kind, text: &str) -> Option<(usize, bool)> {
        if message.is_none() || self.message.as_deref() != message {
            return None;
        }
        let block = self.blocks.iter_mut().find(|block| block.kind == kind && !block.settled)?;
        block.settled = true;
        let pieces = std::mem::take(&mut block.text);
        Some((block.entry?, pieces == text && block.shown == text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_not_shown_again_for_every_piece() {
        let (mut partial, mut entries) = (Partial::default(), Entries::default());
        partial.begin(Some("m".into()));
        let mut shown = 0;
        for _ in 0..100_000 {
            if let Some(Step::Entry { index, entry }) = partial.grow(0, Kind::Text, "word ", &mut entries) {
                assert_eq!(index, 0);
                shown += entry.content.len();
            }
        }
        assert!(shown < 40 * 500_000, "{shown} bytes were shown for half a megabyte");
        assert!(matches!(partial.settle(Some("m"), Kind::Text, "whole"), Some((0, false))));
        assert_eq!(partial.grow(0, Kind::Text, "late", &mut entries), None);
    }

    #[test]
    fn a_whole_message_settles_only_its_own_pieces() {
        let (mut partial, mut entries) = (Partial::default(), Entries::default());
        partial.begin(Some("m".into()));
        partial.grow(0, Kind::Thinking, "hm", &mut entries);
        partial.grow(1, Kind::Text, "one", &mut entries);
        partial.grow(2, Kind::Text, "two", &mut entries);
        assert_eq!(partial.settle(Some("other"), Kind::Text, "one"), None);
        assert_eq!(partial.settle(Some("m"), Kind::Text, "one"), Some((1, true)));
        assert_eq!(partial.settle(Some("m"), Kind::Text, "two and a half"), Some((2, false)));
        assert_eq!(partial.settle(Some("m"), Kind::Text, "three"), None);
        assert_eq!(partial.settle(Some("m"), Kind::Thinking, "hm"), Some((0, true)));
    }
}
