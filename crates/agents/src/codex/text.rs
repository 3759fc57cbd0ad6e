//! Messages, thoughts and plans that are being written: their pieces become an entry that grows, until the whole
//! item comes.

use std::collections::BTreeMap;

use forge_model::Entry;
use forge_model::entry::{Action, EntryType, ToolStatus};
use serde::{Deserialize, Serialize};

use crate::Step;
use crate::cut::grow;
use crate::entries::Entries;

/// An entry is shown again once it has grown by this fraction: showing it for every piece would cost the square of
/// its length.
pub(super) const GROWTH: usize = 32;

/// How many items may be open at once; what is begun beyond that is shown when it is whole.
const OPEN: usize = 64;

/// What is being written, by item.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Texts(BTreeMap<String, Growing>);

/// What an item of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Message,
    Thinking,
    Plan,
}

#[derive(Debug, Serialize, Deserialize)]
struct Growing {
    kind: Kind,
    index: usize,
    text: String,
    shown: usize,
    /// A further part begins with the next piece.
    parted: bool,
}

impl Kind {
    fn entry(self, text: &str) -> Entry {
        match self {
            Kind::Message => Entry::new(EntryType::AssistantMessage, text),
            Kind::Thinking => Entry::new(EntryType::Thinking, text),
            Kind::Plan => Entry::new(
                EntryType::ToolUse {
                    tool_name: "plan".to_string(),
                    action_type: Action::PlanPresentation { plan: text.to_string() },
                    status: ToolStatus::Success,
                },
                text,
            ),
        }
    }
}

impl Texts {
    /// Takes a piece of an item, and shows the item when it has grown enough.
    pub(super) fn grow(&mut self, id: &str, kind: Kind, piece: &str, entries: &mut Entries) -> Option<Step> {
        if piece.is_empty() {
            return None;
        }
        let Some(open) = self.0.get_mut(id) else {
            if self.0.len() >= OPEN {
                return None;
            }
            let (index, step) = entries.add(kind.entry(piece));
            let (text, shown) = (piece.to_string(), piece.len());
            self.0.insert(id.to_string(), Growing { kind, index, text, shown, parted: false });
            return Some(step);
        };
        if open.kind != kind {
            return None;
        }
        if std::mem::take(&mut open.parted) {
            grow(&mut open.text, "\n\n");
        }
        grow(&mut open.text, piece);
        if open.text.len() - open.shown < open.shown / GROWTH {
            return None;
        }
        open.shown = open.text.len();
        Some(Step::Entry { index: open.index, entry: kind.entry(&open.text) })
    }

    /// Notes that another part of an item begins.
    pub(super) fn part(&mut self, id: &str) {
        if let Some(open) = self.0.get_mut(id) {
            open.parted = true;
        }
    }

    /// Shows a whole item, in place of the pieces that came before it.
    pub(super) fn settle(&mut self, id: &str, kind: Kind, text: &str, entries: &mut Entries) -> Option<Step> {
        match self.0.remove(id) {
            Some(open) if open.kind == kind && open.text == text && open.shown == text.len() => None,
            // An item that ends empty keeps what its pieces said.
            Some(open) if text.trim().is_empty() => open.rest(),
            Some(open) => Some(Step::Entry { index: open.index, entry: kind.entry(text) }),
            None if text.trim().is_empty() => None,
            None => Some(entries.add(kind.entry(text)).1),
        }
    }

    /// Shows what has been written so far of everything that will not be finished.
    pub(super) fn abandon(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.0).into_values().filter_map(Growing::rest).collect()
    }
}

impl Growing {
    /// Shows the pieces that were not shown yet.
    fn rest(self) -> Option<Step> {
        let unseen = self.shown < self.text.len();
        unseen.then(|| Step::Entry { index: self.index, entry: self.kind.entry(&self.text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_not_shown_again_for_every_piece() {
        let (mut texts, mut entries) = (Texts::default(), Entries::default());
        let mut shown = 0;
        for _ in 0..100_000 {
            if let Some(Step::Entry { index, entry }) = texts.grow("m", Kind::Message, "word ", &mut entries)
            {
                assert_eq!(index, 0);
                shown += entry.content.len();
            }
        }
        assert!(shown < 40 * 500_000, "{shown} bytes were shown for half a megabyte");
        let whole = texts.settle("m", Kind::Message, "whole", &mut entries);
        assert!(matches!(whole, Some(Step::Entry { index: 0, .. })), "{whole:?}");
    }

    #[test]
    fn items_that_are_written_at_once_do_not_mix_and_an_abandoned_one_keeps_its_words() {
        let (mut texts, mut entries) = (Texts::default(), Entries::default());
        texts.grow("a", Kind::Thinking, "one", &mut entries);
        texts.grow("b", Kind::Message, "two", &mut entries);
        texts.part("a");
        texts.grow("a", Kind::Thinking, "three", &mut entries);
        assert_eq!(texts.settle("a", Kind::Thinking, "one\n\nthree", &mut entries), None);
        assert_eq!(texts.settle("b", Kind::Message, "", &mut entries), None);
        let long = "x".repeat(1000);
        texts.grow("c", Kind::Message, &long, &mut entries);
        texts.grow("c", Kind::Message, "y", &mut entries);
        let entry = Kind::Message.entry(&format!("{long}y"));
        assert_eq!(texts.abandon(), [Step::Entry { index: 2, entry }]);
    }
}
