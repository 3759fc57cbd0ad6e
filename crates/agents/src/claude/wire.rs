//! The lines Claude Code prints, as far as Forge reads them, and those it is sent.
//!
//! Reading is lenient: every field may be missing or of another shape, unknown fields and kinds are passed over. A
//! part of a message that cannot be read leaves the others readable.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// One line of output.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    System(System),
    Assistant(Message),
    User(Message),
    StreamEvent {
        event: StreamEvent,
        parent_tool_use_id: Option<String>,
    },
    Result(Box<Outcome>),
    ControlRequest {
        request_id: String,
        #[serde(default)]
        request: Value,
    },
    ControlCancelRequest {
        request_id: String,
    },
    ControlResponse {
        response: Response,
    },
    RateLimitEvent {
        rate_limit_info: RateLimit,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct System {
    #[serde(deserialize_with = "lenient")]
    pub(super) subtype: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cwd: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) attempt: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) max_retries: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) retry_delay_ms: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error_status: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) content: Option<String>,
}

/// What the assistant said, or what came back to it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) message: Content,
    /// The tool call whose sub-agent speaks; none for the agent itself.
    #[serde(deserialize_with = "lenient")]
    pub(super) parent_tool_use_id: Option<String>,
    /// Set on an assistant message that is really an error of the provider: `rate_limit`, …
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<String>,
    /// What the tool gave back, in a form of its own.
    pub(super) tool_use_result: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Content {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    pub(super) content: Body,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Body {
    Text(String),
    Blocks(Vec<Part>),
    Unknown(Value),
}

/// A part of a message, or what stands where one should be.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Part {
    Block(Block),
    Unknown(Value),
}

impl Default for Body {
    fn default() -> Self {
        Body::Blocks(Vec::new())
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Value,
        is_error: Option<bool>,
    },
    #[serde(other)]
    Unknown,
}

/// A piece of a message that is still being written.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamEvent {
    MessageStart {
        message: Content,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(other)]
    Unknown,
}

/// How a turn ended. `subtype` says `success` even when the provider refused: only `is_error` counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    #[serde(deserialize_with = "lenient")]
    pub(super) is_error: bool,
    #[serde(deserialize_with = "lenient")]
    pub(super) result: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) errors: Option<Vec<Value>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) api_error_status: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) terminal_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Tokens>,
    /// Grows over all turns of a session, resumed ones included.
    #[serde(deserialize_with = "lenient")]
    pub(super) total_cost_usd: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) model_usage_since_last_result: Option<HashMap<String, ModelUsage>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(deserialize_with = "lenient")]
    pub(super) input_tokens: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output_tokens: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_creation_input_tokens: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_read_input_tokens: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelUsage {
    #[serde(rename = "costUSD", deserialize_with = "lenient")]
    pub(super) cost_usd: Option<f64>,
}

/// Something the agent wants from us.
#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum Request {
    CanUseTool {
        tool_name: String,
        #[serde(default)]
        input: Value,
        tool_use_id: Option<String>,
        description: Option<String>,
        /// What would keep the agent from asking for the like of it again.
        #[serde(default)]
        permission_suggestions: Value,
    },
    /// A hook runs. Forge registers none, so it has nothing to say to any.
    HookCallback,
    #[serde(other)]
    Unknown,
}

/// The answer to something we asked; also the echo of our own answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    #[serde(deserialize_with = "lenient")]
    pub(super) subtype: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) request_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RateLimit {
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(rename = "resetsAt", deserialize_with = "lenient")]
    pub(super) resets_at: Option<f64>,
    /// The account pays for more than its limit.
    #[serde(rename = "isUsingOverage", deserialize_with = "lenient")]
    pub(super) is_using_overage: bool,
}

/// Asks the agent for something: `initialize`, `interrupt`.
pub(super) fn request(id: &str, request: Value) -> String {
    line(&json!({"type": "control_request", "request_id": id, "request": request}))
}

/// Says something as the person.
pub(super) fn user(text: &str) -> String {
    line(&json!({"type": "user", "message": {"role": "user", "content": text}}))
}

/// Answers a request of the agent.
pub(super) fn respond(request_id: &str, response: Value) -> String {
    let response = json!({"subtype": "success", "request_id": request_id, "response": response});
    line(&json!({"type": "control_response", "response": response}))
}

/// Refuses a request of the agent that Forge does not know; left unanswered, the agent would wait for ever.
pub(super) fn refuse(request_id: &str, error: &str) -> String {
    let response = json!({"subtype": "error", "request_id": request_id, "error": error});
    line(&json!({"type": "control_response", "response": response}))
}

/// Reads a field that may have any shape: one that is not understood is as good as absent.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(field: D) -> Result<T, D::Error> {
    Ok(T::deserialize(Value::deserialize(field)?).unwrap_or_default())
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
