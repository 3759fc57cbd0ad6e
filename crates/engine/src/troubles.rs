//! What keeps going wrong is logged when it begins, when it changes, and when it is over.
//!
//! A loop that logs the same trouble at each tick fills the disk with its log, and a full disk is one of the troubles.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// More kinds of trouble than this are not told apart: the oldest are forgotten together, and logged once more.
const MOST: usize = 1000;

/// What was logged last about each thing that keeps going wrong.
#[derive(Debug, Default)]
pub(crate) struct Troubles(Mutex<HashMap<String, String>>);

impl Troubles {
    /// Logs what goes wrong with something, unless that is what was logged of it last. Numbers may differ: how much
    /// of a disk is free is another number each time.
    pub(crate) fn meet(&self, of: &str, trouble: &str) {
        let kind: String = trouble.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(of) == Some(&kind) {
            return;
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(of.to_string(), kind);
        tracing::warn!("{trouble}; this is not logged again until it changes");
    }

    /// Logs that what went wrong with something is over, if anything did.
    pub(crate) fn is_over(&self, of: &str) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(of);
        if known.is_some() {
            tracing::info!("{of}: what went wrong is over");
        }
    }
}
