//! The lines of Codex's `app-server`, as far as Forge reads them, and those it is sent.
//!
//! It is JSON-RPC without the version. Reading is lenient: every field may be missing, unknown fields and kinds are
//! passed over, and items stay JSON, because what kinds of them there are changes with every version.

use serde::Deserialize;
use serde_json::{Value, json};

/// One line of output: a request, a notice, or the answer to a request of ours.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    pub(super) error: Option<Refusal>,
}

/// Why a request of ours was refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub(super) message: String,
}

/// What came of opening a thread.
#[derive(Debug, Deserialize)]
pub(super) struct Opened {
    pub(super) thread: Named,
    pub(super) model: Option<String>,
}

/// What came of starting a turn; also the notice that one began.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Begun {
    #[serde(default)]
    pub(super) thread_id: String,
    pub(super) turn: Named,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// The notice that a turn is over.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Over {
    #[serde(default)]
    pub(super) thread_id: String,
    pub(super) turn: Ended,
}

/// A turn that is over.
#[derive(Debug, Deserialize)]
pub(super) struct Ended {
    pub(super) id: String,
    #[serde(default)]
    pub(super) status: String,
    pub(super) error: Option<Trouble>,
}

/// The notice that something went wrong.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Went {
    pub(super) error: Trouble,
    #[serde(default)]
    pub(super) will_retry: bool,
}

/// What went wrong.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Trouble {
    pub(super) message: String,
    /// A name, or an object whose only key is one.
    pub(super) codex_error_info: Value,
    pub(super) additional_details: Option<String>,
}

/// The notice about an item: a message, a thought, a tool call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Itemed {
    #[serde(default)]
    pub(super) thread_id: String,
    pub(super) item: Value,
}

/// A piece of an item that is still being written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Piece {
    pub(super) item_id: String,
    #[serde(default)]
    pub(super) delta: String,
    #[serde(default)]
    pub(super) changes: Vec<Value>,
}

/// The notice of the to-do list.
#[derive(Debug, Deserialize)]
pub(super) struct Planned {
    pub(super) plan: Vec<PlanStep>,
    pub(super) explanation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PlanStep {
    pub(super) step: String,
    pub(super) status: String,
}

/// The notice of what a thread has used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Used {
    #[serde(default)]
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) turn_id: String,
    pub(super) token_usage: TokenUsage,
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenUsage {
    pub(super) total: Tokens,
    #[serde(default)]
    pub(super) last: Tokens,
}

/// Tokens as Codex counts them: those read from the cache and written to it are input tokens too.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub(super) input_tokens: i64,
    pub(super) cached_input_tokens: i64,
    pub(super) cache_write_input_tokens: i64,
    pub(super) output_tokens: i64,
}

/// The notice of how much of the account's allowance is used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Allowance {
    pub(super) rate_limits: RateLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RateLimits {
    pub(super) primary: Option<Window>,
    pub(super) secondary: Option<Window>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Window {
    pub(super) used_percent: f64,
    pub(super) resets_at: Option<f64>,
}

/// A notice that holds words.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Words {
    pub(super) message: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) details: Option<String>,
    pub(super) from_model: Option<String>,
    pub(super) to_model: Option<String>,
    pub(super) name: Option<String>,
    pub(super) status: Option<String>,
    pub(super) error: Option<String>,
}

/// The notice that a request of the agent needs no answer any more.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resolved {
    pub(super) request_id: Value,
}

/// Asks the agent for something.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({"id": id, "method": method, "params": params}))
}

/// Tells the agent something that it does not answer.
pub(super) fn notice(method: &str) -> String {
    line(&json!({"method": method}))
}

/// Answers a request of the agent.
pub(super) fn respond(id: &Value, result: &Value) -> String {
    line(&json!({"id": id, "result": result}))
}

/// Refuses a request of the agent that Forge does not know; left unanswered, the agent would wait for ever.
pub(super) fn refuse(id: &Value, method: &str) -> String {
    let error = json!({"code": -32601, "message": format!("Forge does not answer {method}")});
    line(&json!({"id": id, "error": error}))
}

/// Writes texts as the input of a turn.
pub(super) fn input<'a>(texts: impl IntoIterator<Item = &'a String>) -> Value {
    texts.into_iter().map(|text| json!({"type": "text", "text": text})).collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
