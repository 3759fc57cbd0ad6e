//! How a turn of Claude Code ended: why it failed, what it used, and until when the provider refuses to serve.

use forge_model::Usage;
use forge_model::entry::{ErrorType, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fold::Fold;
use super::tools::ToolCall;
use super::wire::{Outcome, RateLimit};
use crate::Step;

/// What is used and what is left.
///
/// The total cost that the agent tells grows over all turns of a session, those of earlier processes included. Newer
/// versions tell beside it what was used since the last result, which is exact. Of an older version the difference of
/// two totals is taken; what the first turn of a resumed process has cost is then unknown and left out, because
/// nobody tells the total it began with.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Account {
    used: Usage,
    /// The total at the last result; none while it is unknown.
    total_micros: Option<i64>,
    limited: Option<Limit>,
}

/// A limit that was told about in this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Limit {
    until_ms: Option<i64>,
}

impl Account {
    pub(super) fn new(resumed: bool) -> Self {
        Self { total_micros: (!resumed).then_some(0), ..Self::default() }
    }

    /// Reads what the provider says about the limits of the account.
    pub(super) fn limit(&mut self, info: &RateLimit) -> Vec<Step> {
        if info.status.as_deref() != Some("rejected") || info.is_using_overage {
            return Vec::new();
        }
        self.limited(info.resets_at.map(moment))
    }

    /// Tells about a limit once a turn, and again only when the moment of its end comes to be known.
    fn limited(&mut self, until_ms: Option<i64>) -> Vec<Step> {
        let known = self.limited.is_some_and(|limit| limit.until_ms.is_some() || until_ms.is_none());
        if known {
            return Vec::new();
        }
        self.limited = Some(Limit { until_ms });
        vec![Step::Limited { until_ms }]
    }

    /// Adds what a turn has used.
    fn count(&mut self, outcome: &Outcome) {
        if let Some(tokens) = &outcome.usage {
            add(&mut self.used.input_tokens, tokens.input_tokens);
            add(&mut self.used.output_tokens, tokens.output_tokens);
            add(&mut self.used.cache_creation_tokens, tokens.cache_creation_input_tokens);
            add(&mut self.used.cache_read_tokens, tokens.cache_read_input_tokens);
        }
        let total = outcome.total_cost_usd.map(micros);
        let cost = match &outcome.model_usage_since_last_result {
            Some(models) => Some(micros(models.values().filter_map(|model| model.cost_usd).sum())),
            None => total.zip(self.total_micros).map(|(now, before)| now.saturating_sub(before).max(0)),
        };
        self.total_micros = total.or(self.total_micros);
        add(&mut self.used.cost_micros, cost);
    }
}

impl Fold {
    pub(super) fn ended(&mut self, outcome: &Outcome) -> Vec<Step> {
        let mut steps: Vec<Step> = std::mem::take(&mut self.asks).into_keys().map(Step::Withdrawn).collect();
        let mut unfinished: Vec<ToolCall> = std::mem::take(&mut self.calls).into_values().collect();
        unfinished.sort_by_key(|call| call.index);
        for call in unfinished {
            steps.push(Step::Entry { index: call.index, entry: call.entry(ToolStatus::Failed) });
        }
        self.partial.begin(None);
        self.retry = None;

        let said = self.summary.take();
        let (error, summary) = if outcome.is_error {
            (Some(self.failure(outcome, &mut steps)), said)
        } else {
            (None, outcome.result.clone().filter(|text| !text.is_empty()).or(said))
        };
        self.account.count(outcome);
        steps.push(Step::Usage(self.account.used));
        // After an interrupt nothing that was told is played any more.
        let over = if self.interrupted { self.turns.end_all() } else { self.turns.end() };
        let done = Step::Done { ok: error.is_none(), error, summary };
        steps.extend((0..over).map(|_| done.clone()));
        self.account.limited = None;
        steps
    }

    /// Shows why a turn failed, and returns it.
    fn failure(&mut self, outcome: &Outcome, steps: &mut Vec<Step>) -> String {
        let aborted = outcome.terminal_reason.as_deref().is_some_and(|reason| reason.starts_with("aborted"));
        if self.interrupted || aborted {
            return "interrupted".to_string();
        }
        let text = reason(outcome).unwrap_or_else(|| "Claude Code failed without a reason".to_string());
        if self.resumed && self.session.is_none() && text.contains("No conversation found") {
            steps.push(Step::SessionUnknown);
        }
        let (words, limit) = limit_in(&text);
        if let Some(until_ms) = limit {
            steps.extend(self.account.limited(until_ms));
        } else if outcome.api_error_status == Some(429) {
            steps.extend(self.account.limited(None));
        }
        steps.extend(self.entries.show_error(ErrorType::Other, &words));
        words
    }
}

/// Returns what a failed turn says about itself.
fn reason(outcome: &Outcome) -> Option<String> {
    let told = outcome.result.clone().filter(|text| !text.is_empty());
    let words = |error: &Value| error.as_str().map_or_else(|| error.to_string(), str::to_string);
    let listed =
        || outcome.errors.as_ref().map(|errors| errors.iter().map(words).collect::<Vec<_>>().join("\n"));
    told.or_else(listed).filter(|text| !text.is_empty())
}

/// Recognises the limit of a subscription in what is told: `… limit reached|1760000000` names the moment it ends,
/// later versions say `You've hit your session limit · resets 3pm` in the words of the person's own clock, which is
/// nothing to count with. Returns the words to show, and the limit when there is one.
fn limit_in(text: &str) -> (String, Option<Option<i64>>) {
    if let Some((before, told)) = text.rsplit_once("limit reached|") {
        let seconds: Option<f64> = told.trim().parse().ok();
        if let Some(seconds) = seconds.filter(|seconds| seconds.is_finite()) {
            return (format!("{before}limit reached"), Some(Some(moment(seconds))));
        }
    }
    let told = text.to_lowercase();
    let hit =
        ["hit your ", "reached your "].iter().any(|words| told.contains(words)) && told.contains("limit");
    let limit = hit || told.contains("usage limit reached") || told.contains("limit reached ∙ resets");
    (text.to_string(), limit.then_some(None))
}

fn add(sum: &mut Option<i64>, more: Option<i64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

fn micros(usd: f64) -> i64 {
    (usd * 1_000_000.0).round() as i64
}

/// Reads a moment that is told in seconds by some versions and in milliseconds by others.
fn moment(told: f64) -> i64 {
    const YEAR_5138_IN_SECONDS: f64 = 1e11;
    if told < YEAR_5138_IN_SECONDS { (told * 1000.0) as i64 } else { told as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_recognised_in_words() {
        let told = |text: &str| limit_in(text).1;
        assert_eq!(told("Claude AI usage limit reached|1760000000"), Some(Some(1_760_000_000_000)));
        assert_eq!(told("You've hit your session limit · resets 3pm (UTC)"), Some(None));
        assert_eq!(told("You've hit your limit · resets 3pm"), Some(None));
        assert_eq!(told("5-hour limit reached ∙ resets 3pm"), Some(None));
        assert_eq!(told("usage limit reached|soon"), Some(None));
        assert_eq!(told("You hit your head"), None);
        assert_eq!(told("Prompt is over the limit"), None);
    }

    #[test]
    fn a_limit_is_told_again_only_when_its_end_becomes_known() {
        let mut account = Account::new(false);
        assert_eq!(account.limited(None), [Step::Limited { until_ms: None }]);
        assert_eq!(account.limited(None), []);
        assert_eq!(account.limited(Some(7)), [Step::Limited { until_ms: Some(7) }]);
        assert_eq!(account.limited(Some(8)), []);
    }

    #[test]
    fn of_an_older_version_the_difference_of_totals_is_the_cost() {
        let result = |total| Outcome { total_cost_usd: Some(total), ..Outcome::default() };
        let costs = |resumed| {
            let mut account = Account::new(resumed);
            [0.25, 0.75, 0.5].map(|total| {
                account.count(&result(total));
                account.used.cost_micros
            })
        };
        assert_eq!(costs(false), [Some(250_000), Some(750_000), Some(750_000)]);
        assert_eq!(costs(true), [None, Some(500_000), Some(500_000)]);
    }
}
