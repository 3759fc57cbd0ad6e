//! Seeing that an agent is stuck: derived from what its process shows, never stored, and nothing is ended for it.
//!
//! The evidence is the run's own log: when it last said anything, which tool it was using then, whether it has
//! anything to do. An agent that waits for a person, for a limit or for a follow-up is not stuck.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forge_model::entry::{EntryType, ToolStatus};
use forge_model::{AttemptId, AttemptState, Entry, Noun, Op, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::background::blocking;
use crate::store::attempts;
use crate::{AttemptView, Engine, Inner};

/// How often it is looked whether somebody has to be told that an agent is stuck, or no longer.
const LOOK: Duration = Duration::from_secs(15);

/// What the log of a run shows about its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// When it last said anything, or was told something.
    pub(crate) heard: Time,
    /// The tool call that has been open for longest, and since when.
    pub(crate) tool: Option<(String, Time)>,
    /// It has done everything it was told.
    pub(crate) idle: bool,
}

/// How many open tool calls are remembered, and how much of each. Some agents never close theirs.
const MOST_TOOLS: usize = 64;
const LONGEST_TOOL: usize = 120;

/// The signs of life of an agent, as far as its log was folded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Signs {
    /// When the record that is being read was written.
    last: Option<Time>,
    /// Tool calls that are open, by the entry's index.
    tools: BTreeMap<usize, OpenTool>,
    /// The asks that wait for an answer, by their keys.
    waiting: BTreeSet<String>,
}

/// A tool call that has not ended.
#[derive(Debug, Serialize, Deserialize)]
struct OpenTool {
    shown: String,
    since: Time,
    /// The ask that it had to wait for.
    ask: Option<String>,
}

impl Signs {
    /// A record was written at a moment: the agent said something, or was told something.
    pub(crate) fn heard(&mut self, at: Time) {
        self.last = Some(at);
    }

    /// The moment of the record that is being read.
    pub(crate) fn now(&self) -> Time {
        self.last.unwrap_or(Time::from_millis(0))
    }

    /// Remembers which tool calls are open.
    pub(crate) fn shown(&mut self, index: usize, entry: &Entry) {
        if !matches!(entry.entry_type, EntryType::ToolUse { status: ToolStatus::Created, .. }) {
            self.tools.remove(&index);
            return;
        }
        let ask = entry.metadata.as_ref().and_then(|metadata| metadata.get("ask")?.as_str());
        let shown = entry.content.chars().take(LONGEST_TOOL).collect();
        let since = self.tools.get(&index).map_or(self.now(), |known| known.since);
        self.tools.insert(index, OpenTool { shown, since, ask: ask.map(str::to_string) });
        if self.tools.len() > MOST_TOOLS {
            self.tools.pop_first();
        }
    }

    /// An ask waits.
    pub(crate) fn asked(&mut self, ask: &str) {
        self.waiting.insert(ask.to_string());
    }

    /// What waited for an answer is at work from now on.
    pub(crate) fn answered(&mut self, ask: &str) {
        self.waiting.remove(ask);
        let now = self.now();
        for tool in self.tools.values_mut().filter(|tool| tool.ask.as_deref() == Some(ask)) {
            tool.since = now;
        }
    }

    /// What they come to; none before the first.
    pub(crate) fn evidence(&self, idle: bool) -> Option<Evidence> {
        // A tool that waits for an answer is not at work.
        let waits = |tool: &&OpenTool| tool.ask.as_ref().is_some_and(|ask| self.waiting.contains(ask));
        let at_work = self.tools.values().filter(|tool| !waits(tool));
        let tool = at_work.min_by_key(|tool| tool.since).map(|tool| (tool.shown.clone(), tool.since));
        Some(Evidence { heard: self.last?, tool, idle })
    }
}

/// How long an agent may be silent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    plain: i64,
    in_tool: i64,
}

impl Patience {
    /// Nobody who was heard a moment ago is stuck, whatever the settings say.
    const LEAST: Self = Self { plain: 500, in_tool: 500 };
}

impl Evidence {
    /// Says since when and why the agent seems to be stuck, if it does.
    pub(crate) fn stalled(&self, patience: Patience, now: Time) -> Option<(Time, String)> {
        // A clock that was set back makes nobody stuck.
        let silent = now.millis().saturating_sub(self.heard.millis());
        let limit = if self.tool.is_some() { patience.in_tool } else { patience.plain };
        if self.idle || silent < limit {
            return None;
        }
        let silent = span(silent);
        let why = match &self.tool {
            Some((tool, since)) => {
                let running = span(now.millis().saturating_sub(since.millis()));
                format!("no output for {silent}; {tool} has been running for {running}, since {since}")
            }
            None => format!("no output for {silent}; no tool runs, so it waits for its model or hangs"),
        };
        Some((Time::from_millis(self.heard.millis().saturating_add(limit)), why))
    }
}

/// Writes a time as people say it.
fn span(millis: i64) -> String {
    match millis / 1000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

impl Engine {
    /// Lays over views of attempts what is known of their agents while they run: what they do, and which of them seem
    /// to be stuck.
    pub(crate) async fn lay_stalled<'a>(&self, views: impl Iterator<Item = &'a mut AttemptView>) {
        let now = crate::store::now();
        // The settings are a file, so they are read only when they can matter.
        let mut patience = None;
        for view in views {
            self.lay_activity(view);
            if self.stalled(view, Patience::LEAST, now).is_none() {
                continue;
            }
            let patience = match patience {
                Some(patience) => patience,
                None => *patience.insert(self.patience().await),
            };
            if let Some((since, why)) = self.stalled(view, patience, now) {
                view.stalled = Some(why);
                view.card.state_since = view.card.state_since.max(since);
            }
        }
    }

    fn stalled(&self, view: &AttemptView, patience: Patience, now: Time) -> Option<(Time, String)> {
        if view.attempt.state != AttemptState::Running || view.open_asks > 0 {
            return None;
        }
        self.evidence(view.attempt.id)?.stalled(patience, now)
    }

    /// How long the settings let an agent be silent.
    async fn patience(&self) -> Patience {
        let engine = self.clone();
        // Settings that make no sense leave the defaults.
        let config = blocking(move || engine.stored_config()).await.ok().and_then(Result::ok);
        let agents = config.as_ref().and_then(|config| config.get("agents"));
        let seconds = |key: &str, default: i64| {
            let given = agents.and_then(|agents| agents.get(key)).and_then(Value::as_i64);
            given.unwrap_or(default).saturating_mul(1000)
        };
        Patience {
            plain: seconds("stalled_after_seconds", 600),
            in_tool: seconds("stalled_in_tool_after_seconds", 1800),
        }
    }

    /// Tells those who follow an attempt when it begins or ends to seem stuck, for as long as the engine is there.
    pub(crate) fn keep_watching(&self) {
        let inner: Weak<Inner> = Arc::downgrade(&self.inner);
        self.aside(async move {
            let mut known: Vec<AttemptId> = Vec::new();
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(inner) = inner.upgrade() else { return };
                known = Engine { inner }.tell_of_stalled(known).await;
            }
        });
    }

    /// Tells of attempts that are stuck and were not known to be, or the reverse; returns those that are.
    async fn tell_of_stalled(&self, known: Vec<AttemptId>) -> Vec<AttemptId> {
        if !self.has_evidence() && known.is_empty() {
            return known;
        }
        let Ok(mut live) = self.inner.store.read(attempts::live).await else { return known };
        self.lay_stalled(live.iter_mut()).await;
        let stuck: Vec<AttemptId> =
            live.iter().filter(|view| view.stalled.is_some()).map(|view| view.attempt.id).collect();
        let changed: Vec<AttemptId> = (stuck.iter().filter(|id| !known.contains(id)))
            .chain(known.iter().filter(|id| !stuck.contains(id)))
            .copied()
            .collect();
        if changed.is_empty() {
            return stuck;
        }
        let told = self.inner.store.write(move |tx| {
            for id in changed {
                if let Some(view) = attempts::one(tx.conn(), id)? {
                    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
                }
            }
            Ok(())
        });
        match told.await {
            Ok(()) => stuck,
            // It is told at the next look.
            Err(_) => known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { plain: 600_000, in_tool: 1_800_000 };

    fn evidence(heard: i64, tool: Option<(&str, i64)>) -> Evidence {
        let tool = tool.map(|(name, since)| (name.to_string(), Time::from_millis(since)));
        Evidence { heard: Time::from_millis(heard), tool, idle: false }
    }

    #[test]
    fn silence_is_judged_by_what_the_agent_was_doing() {
        let at = |minutes: i64| Time::from_millis(minutes * 60_000);
        assert_eq!(evidence(0, None).stalled(PATIENCE, at(9)), None);
        let (since, why) = evidence(0, None).stalled(PATIENCE, at(12)).unwrap();
        assert_eq!(since, at(10), "as long as nothing is heard");
        assert!(why.starts_with("no output for 12 min; no tool runs"), "{why}");
        let tool = evidence(60_000, Some(("`npm test`", 0)));
        assert_eq!(tool.stalled(PATIENCE, at(12)), None);
        let (since, why) = tool.stalled(PATIENCE, at(40)).unwrap();
        assert_eq!(since, at(31));
        assert_eq!(
            why,
            "no output for 39 min; `npm test` has been running for 40 min, since 1970-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn an_agent_with_nothing_to_do_and_a_clock_that_was_set_back_are_not_stuck() {
        let idle = Evidence { idle: true, ..evidence(0, None) };
        assert_eq!(idle.stalled(PATIENCE, Time::from_millis(i64::MAX)), None);
        assert_eq!(evidence(10_000_000, None).stalled(PATIENCE, Time::from_millis(0)), None);
    }
}
