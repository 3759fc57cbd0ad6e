//! What agents use, turn by turn, and what it comes to.
//!
//! An agent tells what its run has used so far; what a turn used is the difference, so that the turns of a run always
//! come to what the agent told. What was spent stays spent: it is kept when an attempt is removed.

use forge_model::{AttemptId, ProjectId, TaskId, Time, Usage};

use serde::{Deserialize, Serialize};

use crate::store::usages;
use crate::{Engine, Result};

/// What one turn of a run has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnUsage {
    /// Counted from 1 within the run.
    pub(crate) turn: u64,
    pub(crate) usage: Usage,
    /// What the whole run has used so far.
    pub(crate) total: Usage,
    /// When the agent told.
    pub(crate) at: Time,
}

/// What a run has used, as a conversation tells it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Used {
    turn: u64,
    /// What the turns before this one used together.
    before: Usage,
    total: Usage,
}

impl Used {
    /// Takes what the run has used so far, told during a turn.
    pub(crate) fn told(&mut self, turn: u64, total: Usage, at: Time) -> TurnUsage {
        if turn > self.turn {
            self.turn = turn;
            self.before = self.total;
        }
        self.total = total;
        let usage = minus(total, self.before);
        TurnUsage { turn: self.turn, usage, total, at }
    }
}

fn minus(total: Usage, before: Usage) -> Usage {
    let less = |total: Option<i64>, before: Option<i64>| Some(total?.saturating_sub(before.unwrap_or(0)));
    Usage {
        input_tokens: less(total.input_tokens, before.input_tokens),
        output_tokens: less(total.output_tokens, before.output_tokens),
        cache_creation_tokens: less(total.cache_creation_tokens, before.cache_creation_tokens),
        cache_read_tokens: less(total.cache_read_tokens, before.cache_read_tokens),
        cost_micros: less(total.cost_micros, before.cost_micros),
    }
}

/// What to sum up; none narrows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct UsageOf {
    pub project: Option<ProjectId>,
    pub task: Option<TaskId>,
    pub attempt: Option<AttemptId>,
    /// Only what was told from then on.
    pub since: Option<Time>,
    pub by: UsageBy,
}

/// What sums are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageBy {
    /// A day in UTC.
    #[default]
    Day,
    Agent,
    Project,
    Task,
    Attempt,
    /// A turn of a run, oldest first.
    Turn,
}

/// What was used under one key: a day as `2026-01-31`, an agent's name, an id, or a run and its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSum {
    pub key: String,
    pub turns: i64,
    pub usage: Usage,
    /// When the agents last told.
    pub last_at: Time,
}

impl Engine {
    /// Returns what was used, by key: days, agents and turns in their order, others with the dearest first.
    pub async fn usage(&self, of: UsageOf) -> Result<Vec<UsageSum>> {
        Ok(self.inner.store.read(move |conn| usages::sums(conn, &of)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: i64) -> Usage {
        Usage { input_tokens: Some(input), ..Usage::default() }
    }

    #[test]
    fn the_turns_of_a_run_come_to_what_its_agent_told() {
        let (mut used, at) = (Used::default(), Time::from_millis(7));
        let mut turns = std::collections::BTreeMap::new();
        for (turn, total) in [(1, 10), (1, 30), (2, 30), (2, 31), (4, 100)] {
            let told = used.told(turn, tokens(total), at);
            turns.insert(told.turn, told.usage.input_tokens.unwrap());
            assert_eq!(turns.values().sum::<i64>(), total);
        }
        assert_eq!(turns.into_iter().collect::<Vec<_>>(), [(1, 30), (2, 1), (4, 69)]);
    }

    #[test]
    fn what_an_agent_does_not_tell_is_not_zero() {
        let told = Used::default().told(1, tokens(5), Time::from_millis(0));
        assert_eq!((told.usage.input_tokens, told.usage.cost_micros), (Some(5), None));
    }
}
