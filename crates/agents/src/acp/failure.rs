//! Why an agent refused, in words for a person: agents wrap what the provider said in JSON, or in JSON inside a text.

use forge_model::Time;
use forge_model::entry::ErrorType;
use serde_json::Value;

use super::wire::Failure;
use crate::{Step, wait};

/// The code by which an agent says that somebody must log in first.
const AUTH_REQUIRED: i64 = -32000;

/// A refusal, read.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) words: String,
    pub(super) kind: ErrorType,
    /// The provider's limit is reached: the step that says so, with its end when that is told.
    pub(super) limited: Option<Step>,
}

impl Refusal {
    /// Reads the refusal of a request.
    pub(super) fn read(failure: &Failure) -> Self {
        let wrapped = serde_json::from_str::<Value>(&failure.message).unwrap_or_default();
        let inner = wrapped.get("error").unwrap_or(&wrapped);
        let mut words = text(inner, "message").unwrap_or_else(|| failure.message.clone());
        let more = failure.data.as_str().map(str::to_string);
        let more =
            more.or_else(|| ["details", "message", "error"].iter().find_map(|key| text(&failure.data, key)));
        if let Some(more) = more.filter(|more| !more.trim().is_empty() && !words.contains(more.as_str())) {
            words = if words.trim().is_empty() { more } else { format!("{words}: {more}") };
        }
        if words.trim().is_empty() {
            words = format!("error {} without a reason", failure.code);
        }
        let code = inner.get("code").and_then(Value::as_i64).unwrap_or(failure.code);
        Self::of(words, code)
    }

    /// Reads a refusal that came as words only.
    pub(super) fn said(words: &str) -> Self {
        Self::of(words.to_string(), 0)
    }

    fn of(words: String, code: i64) -> Self {
        let lower = words.to_lowercase();
        let says = |all: &[&str]| all.iter().any(|part| lower.contains(part));
        let login = matches!(code, AUTH_REQUIRED | 401 | 403)
            || says(&[
                "http 401",
                "unauthenticated",
                "authentication required",
                "authentication failed",
                "not logged in",
                "unauthorized",
            ]);
        let is_limit = code == 429
            || says(&[
                "http 429",
                "error: 429",
                "error 429",
                "status 429",
                "status code 429",
                "status code: 429",
                "rate limit",
                "usage limit",
                "quota exceeded",
                "exceeded your current quota",
                "resource_exhausted",
                "too many requests",
            ]);
        Self {
            limited: is_limit.then(|| limit(&words)),
            kind: if login { ErrorType::SetupRequired } else { ErrorType::Other },
            words,
        }
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    Some(value.get(key)?.as_str()?.to_string())
}

/// Says that a limit is reached. Nothing here knows what time it is: how long to wait is told as it was.
fn limit(text: &str) -> Step {
    match (moment(text), wait::told_ms(text)) {
        (None, Some(ms)) => Step::LimitedFor { ms },
        (until_ms, _) => Step::Limited { until_ms },
    }
}

/// Finds the first moment that a text tells in full: `2026-11-16T09:00:00Z`.
fn moment(text: &str) -> Option<i64> {
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | ',' | '[' | ']'));
    let stamps = words.map(|word| word.trim_end_matches(['.', ';'])).filter(|word| word.contains('T'));
    let read = |word: &str| serde_json::from_value::<Time>(Value::from(word)).ok().map(Time::millis);
    stamps.filter(|word| word.starts_with("20")).find_map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: i64, message: &str, data: Value) -> Refusal {
        Refusal::read(&Failure { code, message: message.into(), data })
    }

    #[test]
    fn what_the_provider_said_is_found_inside() {
        let gemini = r#"{"error":{"code":401,"message":"fake failure 401","status":"UNAUTHENTICATED"}}"#;
        let refusal = read(401, gemini, Value::Null);
        assert_eq!((refusal.words.as_str(), refusal.kind), ("fake failure 401", ErrorType::SetupRequired));
        let refusal = read(-32603, "Internal error", serde_json::json!({"details": "the model is gone"}));
        assert_eq!(
            (refusal.words.as_str(), refusal.kind),
            ("Internal error: the model is gone", ErrorType::Other)
        );
        assert_eq!(read(-32000, "", Value::Null).kind, ErrorType::SetupRequired);
        assert_eq!(read(7, " ", Value::Null).words, "error 7 without a reason");
    }

    #[test]
    fn a_limit_is_told_with_the_moment_it_ends_when_there_is_one() {
        let refusal = read(429, "Too many requests; try again at 2025-10-09T08:53:20Z.", Value::Null);
        assert_eq!(refusal.limited, Some(Step::Limited { until_ms: Some(1_760_000_000_000) }));
        let endless = Some(Step::Limited { until_ms: None });
        assert_eq!(read(429, "slow down", Value::Null).limited, endless);
        assert_eq!(Refusal::said("You exceeded your rate limit").limited, endless);
        assert_eq!(Refusal::said("Error: 429 status code (no body)").limited, endless);
        let waits = Refusal::said("Error: 429 Rate limit reached, try again in 1m30s");
        assert_eq!(waits.limited, Some(Step::LimitedFor { ms: 90_000 }));
        assert_eq!(Refusal::said("The tests fail at 2025-10-09T08:53:20Z").limited, None);
    }
}
