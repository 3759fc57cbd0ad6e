//! The turns of a run whose text is not in the agent's input yet: what an agent never heard waits for the next one.
//!
//! A conversation may hold a text back: until a turn is over, or until its agent is ready at all. Which of the texts
//! that it sends later is the one, is told by the words in it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The turns whose text is not in the agent's input yet, in the order they were said.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Unsent(VecDeque<Turn>);

#[derive(Debug, Serialize, Deserialize)]
struct Turn {
    /// The number of the note that holds it.
    note: u64,
    /// The number of the first text that tells it; none while it is held back.
    first: Option<u64>,
    /// How its words look in a line of JSON.
    words: String,
}

impl Unsent {
    /// Notes that a turn was said, and with which text; none when it is held back.
    pub(crate) fn said(&mut self, note: u64, prompt: &str, first: Option<u64>) {
        let words = serde_json::Value::from(prompt).to_string();
        let words = words[1..words.len() - 1].to_string();
        self.0.push_back(Turn { note, first, words });
    }

    /// Notes that the conversation wants a text sent, which may hold turns that were held back.
    pub(crate) fn sends(&mut self, ordinal: u64, text: &str) {
        for turn in self.0.iter_mut().filter(|turn| turn.first.is_none()) {
            if text.contains(&turn.words) {
                turn.first = Some(ordinal);
            }
        }
    }

    /// Notes that a text is in the agent's input, and with it every one before it.
    pub(crate) fn sent(&mut self, ordinal: u64) {
        while self.0.front().is_some_and(|turn| turn.first.is_some_and(|first| first <= ordinal)) {
            self.0.pop_front();
        }
    }

    /// Returns the note of the first turn that the agent has not heard.
    pub(crate) fn first(&self) -> Option<u64> {
        self.0.front().map(|turn| turn.note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_told_once_the_text_that_holds_it_is_in_the_input() {
        let mut unsent = Unsent::default();
        unsent.said(1, "go on", Some(4));
        unsent.said(2, "say \"hi\"\nand more", None);
        unsent.sent(3);
        assert_eq!(unsent.first(), Some(1));
        unsent.sent(4);
        assert_eq!(unsent.first(), Some(2));
        unsent.sends(5, "{\"text\":\"something else\"}\n");
        unsent.sent(5);
        assert_eq!(unsent.first(), Some(2), "it is held back still");
        unsent.sends(6, "{\"text\":\"say \\\"hi\\\"\\nand more, please\"}\n");
        unsent.sent(6);
        assert_eq!(unsent.first(), None);
    }

    #[test]
    fn several_turns_may_go_in_one_text_and_a_forgotten_one_is_never_told() {
        let mut unsent = Unsent::default();
        unsent.said(1, "one", None);
        unsent.said(2, "two", None);
        unsent.said(3, "three", None);
        unsent.sends(7, r#"[{"text":"one"},{"text":"two"}]"#);
        unsent.sends(8, r#"{"method":"turn/interrupt"}"#);
        unsent.sent(8);
        assert_eq!(unsent.first(), Some(3));
    }
}
