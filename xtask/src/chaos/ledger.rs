//! What the clients of a storm were told, so that it can be held against what is found.

use std::collections::{BTreeMap, BTreeSet};

use super::script::Shape;

/// What `disturbed` of something told is when nobody knows whether it must arrive: it is odd.
pub(super) const UNCERTAIN: u32 = u32::MAX;

/// Everything that was acknowledged, and everything that was found wrong.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// By attempt id.
    pub(super) attempts: BTreeMap<String, Attempt>,
    /// Starts whose caller went away without an answer, by their word: each may have happened once, or not.
    pub(super) given_up: BTreeMap<String, Shape>,
    /// Follow-ups and answers.
    pub(super) told: Vec<Told>,
    /// By ask id.
    pub(super) asks: BTreeMap<String, Asked>,
    /// Runs whose agent or shim was killed.
    pub(super) hit: BTreeSet<String>,
    /// How many calls were acknowledged.
    pub(super) calls: usize,
    /// How many second answers were refused, as they should be.
    pub(super) refused: usize,
    /// How many attempts said why they failed when their agent or shim was killed.
    pub(super) reasons: usize,
    /// Runs that were followed across restarts.
    pub(super) followed: Vec<Followed>,
    /// How many bytes of log were compared.
    pub(super) compared: u64,
    pub(super) mistakes: Vec<Mistake>,
}

/// An attempt whose start was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) task: String,
    pub(super) word: String,
    pub(super) shape: Shape,
    /// Rises when a stop or a kill begins and again when it is over; odd while one goes on.
    pub(super) disturbed: u32,
    /// The killer looks at it: clients leave it alone.
    pub(super) reserved: bool,
}

/// Something that an agent was told and says once.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) attempt: String,
    pub(super) word: String,
    /// What `disturbed` was when it was told.
    pub(super) disturbed: u32,
}

/// What was read of a run over many connections.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    pub(super) run: String,
    pub(super) text: String,
    /// Whether it was read to its end.
    pub(super) whole: bool,
}

/// An ask that was seen open.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) attempt: String,
    pub(super) state: AskState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskState {
    Open,
    /// An answer is on its way.
    Answering,
    Answered,
}

/// Something that is not as it must be.
#[derive(Debug, Clone)]
pub(super) struct Mistake {
    pub(super) kind: Kind,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Lost,
    Doubled,
    LeftOver,
    Other,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Kind::Lost => "lost",
            Kind::Doubled => "doubled",
            Kind::LeftOver => "left over",
            Kind::Other => "wrong",
        }
    }
}

impl Ledger {
    pub(super) fn mistake(&mut self, kind: Kind, text: impl Into<String>) {
        self.mistakes.push(Mistake { kind, text: text.into() });
    }

    pub(super) fn count(&self, kind: Kind) -> usize {
        self.mistakes.iter().filter(|mistake| mistake.kind == kind).count()
    }

    /// Says whether something told to an attempt must have been heard: nothing was stopped or killed since.
    pub(super) fn is_certain(&self, attempt: &str, disturbed: u32) -> bool {
        disturbed.is_multiple_of(2)
            && self.attempts.get(attempt).is_some_and(|known| known.disturbed == disturbed)
    }

    /// Notes that a stop or a kill of an attempt begins or is over.
    pub(super) fn disturb(&mut self, attempt: &str) {
        if let Some(known) = self.attempts.get_mut(attempt) {
            known.disturbed += 1;
        }
    }

    pub(super) fn disturbed(&self, attempt: &str) -> u32 {
        self.attempts.get(attempt).map_or(0, |known| known.disturbed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_around_a_stop_is_not_certain() {
        let mut ledger = Ledger::default();
        let attempt = Attempt {
            task: String::new(),
            word: String::new(),
            shape: Shape::Talks,
            disturbed: 0,
            reserved: false,
        };
        ledger.attempts.insert("a".into(), attempt);
        assert!(ledger.is_certain("a", 0));
        ledger.disturb("a");
        assert!(!ledger.is_certain("a", 0) && !ledger.is_certain("a", 1));
        ledger.disturb("a");
        assert!(!ledger.is_certain("a", 0) && ledger.is_certain("a", 2));
    }
}
