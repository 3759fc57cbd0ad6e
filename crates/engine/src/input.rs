//! What comes from outside for a running agent: written down first, told after.
//!
//! An input is a row of the store, then a note in the run's log, and only then does the conversation hear of
//! it. Folding the log again after a restart therefore tells the conversation the same things at the same
//! places.

use forge_model::{Answer, ImageId};
use serde::{Deserialize, Serialize};

/// Something from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Input {
    /// A further turn.
    Turn {
        prompt: String,
        variant: Option<String>,
        /// The pictures that it speaks of.
        #[serde(default)]
        images: Vec<ImageId>,
    },
    /// The answer to an ask, by the agent's own name for it.
    Answer { ask: String, answer: Answer },
    /// A person wants the agent to stop.
    Interrupt,
    /// What came of a file that the agent wanted read or written, by its own name for that: the text, or why not.
    File { key: String, came: Result<String, String> },
}

impl Input {
    /// Writes it as it is stored and noted.
    pub(crate) fn write(&self) -> String {
        // These types hold nothing that JSON cannot say.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what was stored or noted; nothing when it is not an input of this version.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_an_older_server_has_no_pictures() {
        let body = r#"{"kind":"turn","prompt":"go","variant":null}"#;
        let turn = Input::Turn { prompt: "go".into(), variant: None, images: Vec::new() };
        assert_eq!(Input::read(body), Some(turn));
    }
}
