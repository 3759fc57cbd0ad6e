//! Why the provider refuses, in words a person can act on, and until when.

use forge_model::entry::ErrorType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{RateLimits, Trouble};

/// What is told beside an error that only a login mends.
const LOGIN: &str = "Codex is not logged in, or its key is not accepted: run `codex login`.";

/// How much of an allowance is used when there is none left.
const ALL: f64 = 100.0;

/// When the account's allowance comes back, as far as it was told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Allowances {
    /// The moment at which every window that is used up has begun anew, in milliseconds since 1970.
    until_ms: Option<i64>,
}

impl Allowances {
    /// Takes what was told of the account's allowance.
    pub(super) fn told(&mut self, limits: &RateLimits) {
        let windows = [&limits.primary, &limits.secondary];
        let used_up = windows.into_iter().flatten().filter(|window| window.used_percent >= ALL);
        self.until_ms = used_up.filter_map(|window| window.resets_at).map(moment).max();
    }

    /// Returns the moment at which the agent is served again.
    pub(super) fn until_ms(&self) -> Option<i64> {
        self.until_ms
    }
}

impl Trouble {
    /// Returns what kind of error this is, and its words with what a person can do about it.
    pub(super) fn shown(&self) -> (ErrorType, String) {
        match self.is_unauthorized() {
            true => (ErrorType::SetupRequired, format!("{}\n{LOGIN}", self.words())),
            false => (ErrorType::Other, self.words()),
        }
    }

    /// Returns its words.
    pub(super) fn words(&self) -> String {
        let details = self.additional_details.as_deref().filter(|details| !self.message.contains(*details));
        match (self.message.as_str(), details) {
            ("", None) => "Codex failed without a reason".to_string(),
            ("", Some(details)) => details.to_string(),
            (message, None) => message.to_string(),
            (message, Some(details)) => format!("{message}\n{details}"),
        }
    }

    /// Says whether the account's allowance is used up.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self.name(), "usageLimitExceeded" | "rateLimitExceeded" | "sessionBudgetExceeded")
            || self.status() == Some(429)
            || self.message.contains("429 Too Many Requests")
    }

    fn is_unauthorized(&self) -> bool {
        self.name() == "unauthorized"
            || self.status() == Some(401)
            || self.message.contains("401 Unauthorized")
    }

    fn name(&self) -> &str {
        match &self.codex_error_info {
            Value::String(name) => name,
            Value::Object(named) => named.keys().next().map_or("", String::as_str),
            _ => "",
        }
    }

    fn status(&self) -> Option<u64> {
        self.codex_error_info.as_object()?.values().next()?.get("httpStatusCode")?.as_u64()
    }
}

/// Reads a moment that is told in seconds.
fn moment(seconds: f64) -> i64 {
    (seconds * 1000.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn trouble(told: Value) -> Trouble {
        Trouble::deserialize(&told).unwrap()
    }

    #[test]
    fn an_error_that_a_login_mends_says_so() {
        for told in [
            json!({"message": "no", "codexErrorInfo": "unauthorized"}),
            json!({"message": "no", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}}),
            json!({"message": "unexpected status 401 Unauthorized: no", "codexErrorInfo": "other"}),
        ] {
            let (kind, words) = trouble(told).shown();
            assert_eq!(kind, ErrorType::SetupRequired);
            assert!(words.contains("`codex login`"), "{words}");
        }
        let other = trouble(json!({"message": "busy", "codexErrorInfo": null, "additionalDetails": "later"}));
        assert_eq!(other.shown(), (ErrorType::Other, "busy\nlater".to_string()));
    }

    #[test]
    fn a_limit_lasts_until_the_last_used_up_window_begins_anew() {
        let mut allowances = Allowances::default();
        let limits = json!({"primary": {"usedPercent": 100, "resetsAt": 1_800_000_000},
            "secondary": {"usedPercent": 40, "resetsAt": 1_900_000_000}});
        allowances.told(&RateLimits::deserialize(&limits).unwrap());
        assert_eq!(allowances.until_ms(), Some(1_800_000_000_000));
        allowances.told(&RateLimits::default());
        assert_eq!(allowances.until_ms(), None);
        assert!(trouble(json!({"message": "", "codexErrorInfo": "usageLimitExceeded"})).is_limit());
        assert!(!trouble(json!({"message": "no", "codexErrorInfo": "badRequest"})).is_limit());
    }
}
