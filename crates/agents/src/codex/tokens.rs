//! What a run has used. Codex counts for each thread from its beginning, so what was there before is taken away.

use std::collections::BTreeMap;

use forge_model::Usage;
use serde::{Deserialize, Serialize};

use super::wire::{TokenUsage, Tokens};

/// The tokens of every thread that this process has played: its own, and those of its sub-agents.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Counted(BTreeMap<String, Counter>);

#[derive(Debug, Serialize, Deserialize)]
struct Counter {
    before: Tokens,
    now: Tokens,
}

impl Counted {
    /// Takes a thread's new totals, and returns what the run has used. `ours` says whether a turn of this process was
    /// counted: a thread that is gone on with begins by telling what it used long ago.
    pub(super) fn count(&mut self, thread: &str, told: &TokenUsage, ours: bool) -> Usage {
        let (now, last) = (told.total, told.last);
        let before = if ours { minus(now, last) } else { now };
        self.0.entry(thread.to_string()).or_insert(Counter { before, now }).now = now;
        self.sum()
    }

    fn sum(&self) -> Usage {
        let mut sum = Tokens::default();
        for counter in self.0.values() {
            let used = minus(counter.now, counter.before);
            sum.input_tokens = sum.input_tokens.saturating_add(used.input_tokens);
            sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(used.cached_input_tokens);
            sum.cache_write_input_tokens =
                sum.cache_write_input_tokens.saturating_add(used.cache_write_input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(used.output_tokens);
        }
        let cached = sum.cached_input_tokens.saturating_add(sum.cache_write_input_tokens);
        Usage {
            // As with every agent, what came from the cache or went there is counted beside the input, not in it.
            input_tokens: Some(sum.input_tokens.saturating_sub(cached).max(0)),
            output_tokens: Some(sum.output_tokens),
            cache_creation_tokens: Some(sum.cache_write_input_tokens),
            cache_read_tokens: Some(sum.cached_input_tokens),
            cost_micros: None,
        }
    }
}

fn minus(a: Tokens, b: Tokens) -> Tokens {
    let less = |a: i64, b: i64| a.saturating_sub(b).max(0);
    Tokens {
        input_tokens: less(a.input_tokens, b.input_tokens),
        cached_input_tokens: less(a.cached_input_tokens, b.cached_input_tokens),
        cache_write_input_tokens: less(a.cache_write_input_tokens, b.cache_write_input_tokens),
        output_tokens: less(a.output_tokens, b.output_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: i64, cached: i64, output: i64) -> Tokens {
        let (input_tokens, cached_input_tokens, output_tokens) = (input, cached, output);
        Tokens { input_tokens, cached_input_tokens, output_tokens, ..Tokens::default() }
    }

    fn told(total: Tokens) -> TokenUsage {
        TokenUsage { total, last: tokens(120, 20, 15) }
    }

    #[test]
    fn a_thread_that_is_gone_on_with_counts_from_where_it_was() {
        let mut counted = Counted::default();
        let before = counted.count("t", &told(tokens(360, 60, 45)), false);
        assert_eq!((before.input_tokens, before.output_tokens), (Some(0), Some(0)));
        let after = counted.count("t", &told(tokens(480, 80, 60)), true);
        assert_eq!(after.input_tokens, Some(100));
        assert_eq!((after.cache_read_tokens, after.output_tokens), (Some(20), Some(15)));
        // A version that does not begin by telling the past.
        let mut silent = Counted::default();
        assert_eq!(silent.count("t", &told(tokens(480, 80, 60)), true), after);
    }

    #[test]
    fn the_same_totals_told_twice_count_once_and_threads_add_up() {
        let mut counted = Counted::default();
        let once = counted.count("t", &told(tokens(120, 20, 15)), true);
        assert_eq!(counted.count("t", &told(tokens(120, 20, 15)), true), once);
        let both = counted.count("child", &told(tokens(120, 20, 15)), true);
        assert_eq!((both.input_tokens, both.output_tokens), (Some(200), Some(30)));
    }
}
