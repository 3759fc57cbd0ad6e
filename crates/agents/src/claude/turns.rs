//! Which texts a turn of Claude Code has read. A text that comes in the middle of a turn is read at its next step and
//! gets no turn of its own; those that wait when a turn ends are read together by the next one. So a result may end
//! what was several turns to the person, and only the echo of a text tells which.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The texts whose turn has not ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Those that were not read yet, as they were sent.
    unread: VecDeque<String>,
    /// How many were read in the turn that is being played.
    read: u64,
}

impl Turns {
    /// Takes a text that is sent.
    pub(super) fn told(&mut self, text: String) {
        self.unread.push_back(text);
    }

    /// Takes an echo: one text, or several that were read together. Texts are read in order, so those before it were
    /// read too, even if their echo was another (that of a slash command is). What is no text of ours is passed over:
    /// some echoes are the agent's own.
    pub(super) fn echoed(&mut self, echo: &str) {
        for skipped in 0..self.unread.len() {
            if let Some(count) = spoken(self.unread.range(skipped..), echo) {
                self.unread.drain(..skipped + count);
                self.read += (skipped + count) as u64;
                return;
            }
        }
    }

    /// Counts the turns that a result ends: one at least while there is any, and none of a turn that the agent played
    /// without being told, as when something wakes it.
    pub(super) fn end(&mut self) -> u64 {
        match std::mem::take(&mut self.read) {
            0 => u64::from(self.unread.pop_front().is_some()),
            read => read,
        }
    }

    /// Counts the turns that a result ends when nothing that was told is to be played any more.
    pub(super) fn end_all(&mut self) -> u64 {
        let unread = std::mem::take(&mut self.unread).len() as u64;
        std::mem::take(&mut self.read) + unread
    }

    /// Says whether all that was told is over.
    pub(super) fn is_over(&self) -> bool {
        self.read == 0 && self.unread.is_empty()
    }
}

/// Counts the texts that an echo consists of, a line break between each; none when it does not consist of them.
fn spoken<'a>(texts: impl Iterator<Item = &'a String>, echo: &str) -> Option<usize> {
    let mut rest = echo;
    for (before, text) in texts.enumerate() {
        rest = rest.strip_prefix(text.as_str())?;
        if rest.is_empty() {
            return Some(before + 1);
        }
        rest = rest.strip_prefix('\n')?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(texts: &[&str]) -> Turns {
        let mut turns = Turns::default();
        texts.iter().for_each(|text| turns.told(text.to_string()));
        turns
    }

    #[test]
    fn a_text_that_is_read_in_the_middle_of_a_turn_ends_with_it() {
        let mut turns = told(&["one", "two"]);
        turns.echoed("one");
        turns.echoed("two");
        assert_eq!((turns.end(), turns.is_over()), (2, true));
    }

    #[test]
    fn a_text_that_came_too_late_has_a_turn_of_its_own() {
        let mut turns = told(&["one", "two", "three"]);
        turns.echoed("one");
        assert_eq!((turns.end(), turns.is_over()), (1, false));
        turns.echoed("two\nthree");
        assert_eq!((turns.end(), turns.is_over()), (2, true));
    }

    #[test]
    fn an_echo_in_other_words_counts_when_the_next_one_is_read() {
        let mut turns = told(&["/compact", "two"]);
        turns.echoed("<command-name>/compact</command-name>");
        turns.echoed("two");
        assert_eq!((turns.end(), turns.is_over()), (2, true));
    }

    #[test]
    fn a_result_without_any_echo_ends_one_turn() {
        let mut turns = told(&["one", "two"]);
        turns.echoed("something earlier");
        assert_eq!((turns.end(), turns.end()), (1, 1));
        assert!(turns.is_over());
    }

    #[test]
    fn a_result_of_a_turn_that_nobody_asked_for_ends_none() {
        assert_eq!(Turns::default().end(), 0);
        let mut turns = told(&["one"]);
        turns.echoed("one");
        assert_eq!((turns.end(), turns.end()), (1, 0));
    }

    #[test]
    fn after_an_interrupt_everything_is_over() {
        let mut turns = told(&["one", "two", "three"]);
        turns.echoed("one");
        assert_eq!((turns.end_all(), turns.is_over()), (3, true));
    }
}
