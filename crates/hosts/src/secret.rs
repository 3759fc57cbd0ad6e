//! A text that must not be seen: it prints as nothing, so that no log and no error holds it by accident.

use std::fmt;

use serde::Deserialize;

/// A token or a code that stands for one.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, to be sent or kept and never to be shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print() {
        assert!(!format!("{:?}", Secret::new("gho_planted")).contains("planted"));
    }
}
