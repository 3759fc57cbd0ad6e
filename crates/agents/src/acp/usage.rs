//! What a turn has used, from wherever an agent puts it: `usage`, `_meta.quota`, `_meta.usage`, `usage_update`.

use forge_model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::Cost;

/// What a run has used so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Counter {
    used: Usage,
    /// The figures of an answer are those of the whole process, not of the turn.
    totals: bool,
    /// What pieces of messages told in this turn. It counts only when the answer tells nothing.
    pieces: Option<Tokens>,
    /// The cost of the session when it was told last. It holds what was paid before a session went on.
    paid: Option<f64>,
}

/// The tokens of one message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tokens {
    input: Option<i64>,
    output: Option<i64>,
    cache_read: Option<i64>,
    cache_write: Option<i64>,
}

impl Counter {
    /// Begins to count. Only a new session is known to have cost nothing yet.
    pub(super) fn new(totals: bool, new_session: bool) -> Self {
        Self { totals, paid: new_session.then_some(0.0), ..Self::default() }
    }

    /// Takes the figures that come with a piece of a message.
    pub(super) fn piece(&mut self, meta: &Value) {
        if let Some(tokens) = meta.get("usage").and_then(Tokens::read) {
            let sum = self.pieces.get_or_insert_default();
            sum.add(tokens);
        }
    }

    /// Takes what the session has cost so far; says whether that is news.
    pub(super) fn cost(&mut self, cost: &Cost) -> bool {
        let dollars = cost.currency.as_deref().is_none_or(|currency| currency.eq_ignore_ascii_case("USD"));
        let Some(amount) = cost.amount.filter(|amount| dollars && amount.is_finite() && *amount >= 0.0)
        else {
            return false;
        };
        let more = self.paid.map(|paid| ((amount - paid).max(0.0) * 1_000_000.0).round() as i64);
        self.paid = Some(amount);
        add(&mut self.used.cost_micros, more);
        more.is_some_and(|more| more > 0)
    }

    /// Takes the answer to a prompt; gives the figures when they changed.
    pub(super) fn turn(&mut self, result: &Value) -> Option<Usage> {
        let quota = || result.get("_meta")?.get("quota")?.get("token_count").and_then(Tokens::read);
        let meta = || result.get("_meta")?.get("usage").and_then(Tokens::read);
        let told = result.get("usage").and_then(Tokens::read).or_else(quota).or_else(meta);
        let pieces = self.pieces.take();
        match told {
            Some(tokens) if self.totals => tokens.set(&mut self.used),
            Some(tokens) => tokens.count(&mut self.used),
            None => pieces?.count(&mut self.used),
        }
        Some(self.used)
    }

    /// Returns the figures so far.
    pub(super) fn used(&self) -> Usage {
        self.used
    }
}

impl Tokens {
    /// Reads figures by any of the names that agents have for them; none when there are none.
    fn read(told: &Value) -> Option<Self> {
        let number = |names: &[&str]| names.iter().find_map(|name| told.get(name)?.as_i64());
        let mut tokens = Self {
            input: number(&["inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]),
            output: number(&["outputTokens", "output_tokens", "completionTokens", "completion_tokens"]),
            cache_read: number(&["cachedReadTokens", "cachedInputTokens", "cached_tokens", "cachedTokens"]),
            cache_write: number(&["cachedWriteTokens", "cacheWriteInputTokens"]),
        };
        // Some count what came from the cache as input too; their total gives them away.
        if let (Some(input), Some(output), Some(cached), Some(total)) =
            (tokens.input, tokens.output, tokens.cache_read, number(&["totalTokens", "total_tokens"]))
            && cached > 0
            && total == input.saturating_add(output)
        {
            tokens.input = Some(input.saturating_sub(cached));
        }
        (tokens != Self::default()).then_some(tokens)
    }

    fn add(&mut self, more: Self) {
        add(&mut self.input, more.input);
        add(&mut self.output, more.output);
        add(&mut self.cache_read, more.cache_read);
        add(&mut self.cache_write, more.cache_write);
    }

    fn count(self, used: &mut Usage) {
        add(&mut used.input_tokens, self.input);
        add(&mut used.output_tokens, self.output);
        add(&mut used.cache_read_tokens, self.cache_read);
        add(&mut used.cache_creation_tokens, self.cache_write);
    }

    fn set(self, used: &mut Usage) {
        used.input_tokens = self.input.or(used.input_tokens);
        used.output_tokens = self.output.or(used.output_tokens);
        used.cache_read_tokens = self.cache_read.or(used.cache_read_tokens);
        used.cache_creation_tokens = self.cache_write.or(used.cache_creation_tokens);
    }
}

fn add(sum: &mut Option<i64>, more: Option<i64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn used(counter: &mut Counter, result: Value) -> [Option<i64>; 4] {
        let used = counter.turn(&result).unwrap();
        [used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_creation_tokens]
    }

    #[test]
    fn figures_are_found_wherever_an_agent_puts_them() {
        let usage = json!({"usage": {"inputTokens": 100, "outputTokens": 15, "totalTokens": 135, "cachedReadTokens": 20}});
        assert_eq!(used(&mut Counter::new(false, true), usage), [Some(100), Some(15), Some(20), None]);
        let quota = json!({"_meta": {"quota": {"token_count": {"input_tokens": 360, "output_tokens": 45}}}});
        assert_eq!(used(&mut Counter::new(false, true), quota), [Some(360), Some(45), None, None]);
        let mut pieces = Counter::new(false, true);
        pieces.piece(&json!({"usage": {"inputTokens": 3, "outputTokens": 1}}));
        pieces.piece(&json!({"usage": {"inputTokens": 4, "outputTokens": 2}}));
        assert_eq!(used(&mut pieces, json!({})), [Some(7), Some(3), None, None]);
        assert_eq!(Counter::new(false, true).turn(&json!({"stopReason": "end_turn"})), None);
    }

    #[test]
    fn input_that_came_from_the_cache_is_not_counted_twice() {
        let inside = json!({"usage": {"inputTokens": 120, "outputTokens": 15, "totalTokens": 135, "cachedReadTokens": 20}});
        assert_eq!(used(&mut Counter::new(false, true), inside), [Some(100), Some(15), Some(20), None]);
    }

    #[test]
    fn turns_are_added_and_totals_replace() {
        let turn = |input: i64| json!({"usage": {"inputTokens": input, "outputTokens": 1}});
        let mut added = Counter::new(false, true);
        used(&mut added, turn(10));
        assert_eq!(used(&mut added, turn(30))[0], Some(40));
        let mut totals = Counter::new(true, true);
        used(&mut totals, turn(10));
        assert_eq!(used(&mut totals, turn(30))[0], Some(30));
    }

    #[test]
    fn the_cost_of_a_session_that_goes_on_is_a_difference() {
        let cost = |amount| Cost { amount: Some(amount), currency: Some("USD".into()) };
        let mut new = Counter::new(false, true);
        assert!(new.cost(&cost(0.25)) && new.cost(&cost(0.75)) && !new.cost(&cost(0.75)));
        assert_eq!(new.used().cost_micros, Some(750_000));
        let mut resumed = Counter::new(false, false);
        assert!(!resumed.cost(&cost(2.0)), "what was paid before is not paid again");
        assert!(resumed.cost(&cost(2.5)));
        assert_eq!(resumed.used().cost_micros, Some(500_000));
        let euros = Cost { amount: Some(1.0), currency: Some("EUR".into()) };
        assert!(!new.cost(&euros) && !new.cost(&cost(f64::NAN)));
    }
}
