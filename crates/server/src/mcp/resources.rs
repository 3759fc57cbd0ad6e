//! What can be read by its address: a task, an attempt, its log and its diff; and news of when one has changed.

use forge_engine::{Change, Changed, DiffWanted, Engine};
use forge_model::{AttemptId, TaskId};
use serde::Serialize;

use super::{reach, transcript};
use crate::access::Caller;
use crate::error::Problem;
use crate::wire::{Task, TaskAttempt, TaskAttemptDiff};

/// How many entries of a log are shown.
const ENTRIES: usize = 1000;

/// The kinds of addresses, and what is behind them.
pub(super) const TEMPLATES: &[(&str, &str, &str, &str)] = &[
    ("forge://task/{id}", "task", "A task.", "application/json"),
    (
        "forge://attempt/{id}",
        "attempt",
        "An attempt: where it stands, and where its files are.",
        "application/json",
    ),
    ("forge://attempt/{id}/log", "log", "What an attempt's agent said and did, as text.", "text/plain"),
    ("forge://attempt/{id}/diff", "diff", "What an attempt has changed.", "application/json"),
];

/// An address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    Task(TaskId),
    Attempt(AttemptId),
    Log(AttemptId),
    Diff(AttemptId),
}

impl Address {
    /// Reads an address.
    pub(super) fn read(uri: &str) -> Option<Self> {
        let mut parts = uri.strip_prefix("forge://")?.split('/');
        match (parts.next()?, parts.next()?, parts.next(), parts.next()) {
            ("task", id, None, None) => id.parse().ok().map(Address::Task),
            ("attempt", id, None, None) => id.parse().ok().map(Address::Attempt),
            ("attempt", id, Some("log"), None) => id.parse().ok().map(Address::Log),
            ("attempt", id, Some("diff"), None) => id.parse().ok().map(Address::Diff),
            _ => None,
        }
    }

    /// Says whether a caller reaches it. What an agent's token reaches holds no log and no diff.
    pub(super) async fn is_reached_by(self, engine: &Engine, caller: Caller) -> bool {
        let Caller::Attempt(own) = caller else { return true };
        if !engine.has_forge_tools(own).await.unwrap_or(false) {
            return false;
        }
        match self {
            Address::Task(task) => reach::is_task_of(engine, own, task).await,
            Address::Attempt(attempt) => reach::is_attempt_of(engine, own, attempt).await,
            Address::Log(_) | Address::Diff(_) => false,
        }
    }

    /// Reads what is there: its kind and its text.
    pub(super) async fn contents(self, engine: &Engine) -> Result<(&'static str, String), Problem> {
        const JSON: &str = "application/json";
        Ok(match self {
            Address::Task(id) => (JSON, text(&Task::from(engine.task(id).await?))),
            Address::Attempt(id) => (JSON, text(&TaskAttempt::from(engine.attempt(id).await?))),
            Address::Log(id) => {
                engine.attempt(id).await?;
                ("text/plain", transcript::text(engine, id, ENTRIES).await?)
            }
            Address::Diff(id) => {
                let wanted = DiffWanted { stats_only: false, paths: Vec::new(), turn: None };
                (JSON, text(&TaskAttemptDiff::from(engine.diff(id, wanted).await?)))
            }
        })
    }

    /// Says whether a change is one of what is there. A log and a diff change with their attempt.
    pub(super) fn is_changed_by(self, changed: &Changed) -> bool {
        match (&changed.change, self) {
            (Change::Task { id, .. }, Address::Task(own)) => *id == own,
            (Change::Attempt { id, .. }, Address::Attempt(own) | Address::Log(own) | Address::Diff(own)) => {
                *id == own
            }
            _ => false,
        }
    }
}

fn text(value: &impl Serialize) -> String {
    // What is encoded here are texts and numbers under texts; there is nothing that JSON cannot say.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_whole_or_not_at_all() {
        let id = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
        assert_eq!(Address::read(&format!("forge://task/{id}")), Some(Address::Task(id.parse().unwrap())));
        assert_eq!(
            Address::read(&format!("forge://attempt/{id}/log")),
            Some(Address::Log(id.parse().unwrap()))
        );
        for bad in
            ["forge://task/x", "forge://task", "http://task/1", "forge://attempt/", "file:///etc/passwd"]
        {
            assert_eq!(Address::read(bad), None, "{bad}");
        }
        assert_eq!(Address::read(&format!("forge://attempt/{id}/log/more")), None);
        assert_eq!(Address::read(&format!("forge://task/{id}/log")), None);
    }
}
