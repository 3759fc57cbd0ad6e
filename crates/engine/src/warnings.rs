//! What the owner should know about the server itself: one sentence for each subject, for as long as it is true.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::Engine;

/// The sentences, by what they are about.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<BTreeMap<&'static str, String>>);

impl Engine {
    /// Returns what the owner should know, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let copy = self.copy().map(str::to_string);
        copy.into_iter().chain(self.warned().values().cloned()).collect()
    }

    /// Says something about a subject, or takes back what was said.
    pub fn warn_of(&self, subject: &'static str, sentence: Option<String>) {
        let mut warned = self.warned();
        match sentence {
            Some(sentence) => warned.insert(subject, sentence),
            None => warned.remove(subject),
        };
    }

    pub(crate) fn is_warned_of(&self, subject: &str) -> bool {
        self.warned().contains_key(subject)
    }

    fn warned(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, String>> {
        // A sentence is put there or taken away at once, so a panic elsewhere leaves nothing half-done.
        self.inner.warnings.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
