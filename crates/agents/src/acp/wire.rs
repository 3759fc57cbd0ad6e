//! The messages of the Agent Client Protocol, version 1, as far as Forge reads them, and those it sends.
//!
//! Reading is lenient: every field may be missing, unknown fields and kinds are passed over.

use serde::Deserialize;
use serde_json::{Value, json};

/// One message: a request, a notification, or the answer to a request.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default)]
    pub(super) error: Value,
}

/// One line: a message, or several at once.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Several(Vec<Message>),
    One(Box<Message>),
}

/// Why a request was refused.
#[derive(Debug, Default)]
pub(super) struct Failure {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Value,
}

impl Failure {
    /// Reads an error in whatever shape it comes: a request of ours must not stay open because of it.
    pub(super) fn read(error: Value) -> Self {
        let Value::Object(mut error) = error else {
            let message = error.as_str().map_or_else(|| error.to_string(), str::to_string);
            return Self { message, ..Self::default() };
        };
        Self {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_string(),
            data: error.remove("data").unwrap_or_default(),
        }
    }
}

/// Something new about the session.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(super) enum Update {
    UserMessageChunk(Chunk),
    AgentMessageChunk(Chunk),
    AgentThoughtChunk(Chunk),
    #[serde(alias = "tool_call_update")]
    ToolCall(CallUpdate),
    Plan {
        #[serde(default)]
        entries: Vec<PlanEntry>,
    },
    #[serde(rename = "usage_update")]
    Usage {
        cost: Option<Cost>,
    },
    #[serde(rename = "available_commands_update")]
    Commands,
    #[serde(rename = "current_mode_update", alias = "config_option_update", alias = "session_info_update")]
    Settings,
    #[serde(other)]
    Unknown,
}

/// A piece of a message.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk {
    pub(super) content: Value,
    pub(super) message_id: Option<String>,
    #[serde(rename = "_meta", default)]
    pub(super) meta: Value,
}

/// A tool call, or what changed about it: what is missing stays as it was.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallUpdate {
    pub(super) tool_call_id: String,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    pub(super) content: Option<Vec<Value>>,
    pub(super) locations: Option<Vec<Value>>,
    pub(super) raw_input: Option<Value>,
    pub(super) raw_output: Option<Value>,
    #[serde(rename = "_meta", default)]
    pub(super) meta: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PlanEntry {
    pub(super) content: String,
    pub(super) status: String,
    pub(super) priority: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    pub(super) amount: Option<f64>,
    pub(super) currency: Option<String>,
}

/// What the agent wants permission for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Permission {
    pub(super) tool_call: Option<CallUpdate>,
    #[serde(default)]
    pub(super) options: Vec<Choice>,
}

/// One of the answers that a permission may get.
#[derive(Debug, Clone, serde::Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Choice {
    pub(super) option_id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: String,
}

/// A file that the agent wants read.
#[derive(Debug, Deserialize)]
pub(super) struct ReadFile {
    pub(super) path: String,
    pub(super) line: Option<u32>,
    pub(super) limit: Option<u32>,
}

/// A file that the agent wants written.
#[derive(Debug, Deserialize)]
pub(super) struct WriteFile {
    pub(super) path: String,
    pub(super) content: String,
}

/// Asks the agent for something.
pub(super) fn request(id: u64, method: &str, params: Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Tells the agent something.
pub(super) fn notify(method: &str, params: Value) -> String {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// Answers a request of the agent.
pub(super) fn respond(id: &Value, result: Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Refuses a request of the agent; left unanswered, it would wait for ever.
pub(super) fn refuse(id: &Value, code: i64, message: &str) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

/// Returns the text of a content block; what is no text is named.
pub(super) fn text_of(content: &Value) -> String {
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => text("text").to_string(),
        "resource_link" => format!("[{}]({})", text("name"), text("uri")),
        "resource" => {
            let resource = content.get("resource");
            let inner = resource.and_then(|resource| resource.get("text")).and_then(Value::as_str);
            inner.unwrap_or("[resource]").to_string()
        }
        "" => content.as_str().unwrap_or_default().to_string(),
        other => format!("[{other}]"),
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
