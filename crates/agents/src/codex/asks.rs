//! What Codex asks a person: permissions, questions, and the forms of MCP servers; and how it is answered.
//!
//! What cannot be answered by a person with words is refused at once, so that the agent never waits for nobody.

use forge_model::{Answer, AskKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::items::{script, text};

/// An ask that waits for its answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenAsk {
    /// The id of the agent's request.
    pub(super) id: Value,
    /// The call it is about.
    pub(super) call: String,
    want: Want,
}

/// What is wanted, as far as the answer depends on it.
#[derive(Debug, Serialize, Deserialize)]
enum Want {
    /// A decision about a command or a change of files.
    Decision,
    /// The same in the words of an older protocol.
    OldDecision,
    /// More room in the sandbox.
    Room { permissions: Value },
    /// Words.
    Words { questions: Vec<Question> },
    /// What a form of an MCP server is filled with; one without fields wants only a yes.
    Form { fields: Vec<Field>, remembers: bool },
}

#[derive(Debug, Serialize, Deserialize)]
struct Question {
    id: String,
    question: String,
    secret: bool,
}

/// A field of a form.
#[derive(Debug, Serialize, Deserialize)]
struct Field {
    name: String,
    title: String,
    kind: String,
}

/// What the agent asks.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) kind: AskKind,
    /// The tool's name, or `question`.
    pub(super) tool: String,
    /// What is asked, in words; empty when the call itself says it best.
    pub(super) text: String,
    pub(super) input: Value,
    /// The call it is about, to show when nothing has announced it.
    pub(super) item: Value,
    pub(super) item_id: Option<String>,
    /// Nothing but the answer ends the call.
    pub(super) only_asked: bool,
    want: Want,
}

/// How an ask is answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) result: Value,
    /// The reason for a refusal, when the answer has no room for it.
    pub(super) reason: Option<String>,
    /// What was answered, to show.
    pub(super) words: String,
}

impl Asked {
    /// Reads a request of the agent; none when it is not for a person, or cannot be answered by one.
    pub(super) fn read(method: &str, params: &Value) -> Option<Self> {
        match method {
            "item/commandExecution/requestApproval" => Some(command(params)),
            "item/fileChange/requestApproval" => Some(file_change(params)),
            "item/permissions/requestApproval" => Some(room(params)),
            "item/tool/requestUserInput" => Some(questions(params)),
            "mcpServer/elicitation/request" => form(params),
            "execCommandApproval" => Some(old_command(params)),
            "applyPatchApproval" => Some(old_patch(params)),
            _ => None,
        }
    }

    /// Waits for the answer.
    pub(super) fn open(self, id: Value, call: String) -> OpenAsk {
        OpenAsk { id, call, want: self.want }
    }
}

impl OpenAsk {
    /// Says the answer in the agent's words.
    pub(super) fn reply(&self, answer: &Answer) -> Reply {
        let (text, answers, for_session) = match answer {
            Answer::Approve { text, answers, for_session } => (text.as_deref(), answers, *for_session),
            Answer::Deny { reason } => return self.refusal(reason.clone()),
        };
        let said = |number: usize, names: [&str; 2], of: usize| -> String {
            let named = names.into_iter().find_map(|name| answers.get(name).cloned());
            named.unwrap_or_else(|| line_of(text.unwrap_or_default(), number, of))
        };
        let mut words = Vec::new();
        let result = match &self.want {
            Want::Decision => json!({"decision": if for_session { "acceptForSession" } else { "accept" }}),
            Want::OldDecision => {
                json!({"decision": if for_session { "approved_for_session" } else { "approved" }})
            }
            Want::Room { permissions } => {
                json!({"permissions": permissions, "scope": if for_session { "session" } else { "turn" }})
            }
            Want::Words { questions } => {
                let mut given = Map::new();
                for (number, question) in questions.iter().enumerate() {
                    let answer = said(number, [&question.question, &question.id], questions.len());
                    words.push(if question.secret { "(secret)".to_string() } else { answer.clone() });
                    given.insert(question.id.clone(), json!({"answers": [answer]}));
                }
                json!({"answers": given})
            }
            Want::Form { fields, remembers } => {
                let mut content = Map::new();
                for (number, field) in fields.iter().enumerate() {
                    let answer = said(number, [&field.title, &field.name], fields.len());
                    content.insert(field.name.clone(), field.value(&answer));
                    words.push(answer);
                }
                let mut result = json!({"action": "accept", "content": content});
                if for_session && *remembers {
                    result["_meta"] = json!({"persist": "session"});
                }
                result
            }
        };
        Reply { result, reason: None, words: words.join("\n") }
    }

    fn refusal(&self, reason: Option<String>) -> Reply {
        let result = match &self.want {
            Want::Decision => json!({"decision": "decline"}),
            Want::OldDecision => {
                let rejection = reason.as_deref().unwrap_or("The person refused this.");
                let result = json!({"decision": {"denied": {"rejection": rejection}}});
                return Reply { result, reason: None, words: String::new() };
            }
            Want::Room { .. } => json!({"permissions": {}, "scope": "turn"}),
            Want::Words { .. } => json!({"answers": {}}),
            Want::Form { .. } => json!({"action": "decline"}),
        };
        Reply { result, reason, words: String::new() }
    }
}

impl Field {
    /// Turns words into what the field holds; words that are none of that stay words, for the server to refuse.
    fn value(&self, words: &str) -> Value {
        let trimmed = words.trim();
        match self.kind.as_str() {
            "boolean" => json!(["true", "yes", "y", "1"].contains(&trimmed.to_lowercase().as_str())),
            "integer" => trimmed.parse::<i64>().map_or_else(|_| json!(words), |number| json!(number)),
            "number" => trimmed.parse::<f64>().map_or_else(|_| json!(words), |number| json!(number)),
            "array" => trimmed.split(',').map(str::trim).filter(|item| !item.is_empty()).collect(),
            _ => json!(words),
        }
    }
}

/// Lays a text out over several questions: each line answers one; a single line answers them all.
fn line_of(text: &str, number: usize, of: usize) -> String {
    if of == 1 {
        return text.to_string();
    }
    text.lines().nth(number).unwrap_or(text).to_string()
}

fn item_id(params: &Value, key: &str) -> Option<String> {
    Some(text(params, key)).filter(|id| !id.is_empty()).map(str::to_string)
}

fn command(params: &Value) -> Asked {
    let command = script(text(params, "command"));
    let host = &params["networkApprovalContext"];
    let mut input = params.as_object().cloned().unwrap_or_default();
    for key in ["threadId", "turnId", "itemId", "startedAtMs", "environmentId", "availableDecisions"] {
        input.remove(key);
    }
    input.insert("command".to_string(), json!(command));
    let (tool, words) = match text(host, "host") {
        "" => ("bash", text(params, "reason").to_string()),
        name => ("network", format!("Reach {name} ({})", text(host, "protocol"))),
    };
    Asked {
        kind: AskKind::Permission,
        tool: tool.to_string(),
        text: words,
        input: Value::Object(input),
        item: json!({"type": "commandExecution", "command": command, "status": "inProgress"}),
        item_id: item_id(params, "itemId"),
        only_asked: false,
        want: Want::Decision,
    }
}

fn file_change(params: &Value) -> Asked {
    Asked {
        kind: AskKind::Permission,
        tool: "edit".to_string(),
        text: text(params, "reason").to_string(),
        input: json!({"reason": params["reason"], "grantRoot": params["grantRoot"]}),
        item: json!({"type": "fileChange", "changes": [], "status": "inProgress"}),
        item_id: item_id(params, "itemId"),
        only_asked: false,
        want: Want::Decision,
    }
}

fn room(params: &Value) -> Asked {
    let permissions = params["permissions"].clone();
    let reason = text(params, "reason");
    let words = if reason.is_empty() { "Reach more than the sandbox allows" } else { reason };
    Asked {
        kind: AskKind::Permission,
        tool: "permissions".to_string(),
        text: words.to_string(),
        input: json!({"permissions": permissions, "cwd": params["cwd"], "reason": params["reason"]}),
        item: json!({"type": "permissions", "arguments": permissions}),
        item_id: None,
        only_asked: true,
        want: Want::Room { permissions },
    }
}

fn questions(params: &Value) -> Asked {
    let list = params.get("questions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let question = |item: &Value| Question {
        id: text(item, "id").to_string(),
        question: text(item, "question").to_string(),
        secret: item["isSecret"] == true,
    };
    let questions: Vec<Question> = list.iter().map(question).collect();
    let words = questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join("\n");
    let input = json!({"questions": params["questions"]});
    Asked {
        kind: AskKind::Question,
        tool: "question".to_string(),
        text: words,
        item: json!({"type": "request_user_input", "arguments": input}),
        input,
        item_id: None,
        only_asked: true,
        want: Want::Words { questions },
    }
}

/// Reads the form of an MCP server. A page to open wants a yes once it was seen to; a check of the person's identity
/// is nothing that words can answer.
fn form(params: &Value) -> Option<Asked> {
    let mode = text(params, "mode");
    if mode == "openai/userVerification" {
        return None;
    }
    let (server, message) = (text(params, "serverName"), text(params, "message"));
    let properties = params["requestedSchema"]["properties"].as_object();
    let field = |(name, schema): (&String, &Value)| {
        let titled = [text(schema, "title"), text(schema, "description"), name];
        let title = titled.into_iter().find(|title| !title.is_empty()).unwrap_or_default().to_string();
        Field { name: name.clone(), title, kind: text(schema, "type").to_string() }
    };
    let fields: Vec<Field> = properties.into_iter().flatten().map(field).collect();
    let mut words = vec![message.to_string()];
    words.extend(Some(text(params, "url").to_string()).filter(|url| !url.is_empty()));
    let questions: Vec<Value> =
        fields.iter().map(|field| json!({"id": field.name, "question": field.title})).collect();
    let persist = &params["_meta"]["persist"];
    let remembers =
        persist == "session" || persist.as_array().is_some_and(|allowed| allowed.contains(&json!("session")));
    let kind = if fields.is_empty() { AskKind::Permission } else { AskKind::Question };
    let mut input = json!({"server": server, "message": message, "meta": params["_meta"]});
    if !questions.is_empty() {
        input["questions"] = Value::Array(questions);
        input["schema"] = params["requestedSchema"].clone();
    }
    if kind == AskKind::Question {
        words.extend(fields.iter().map(|field| field.title.clone()));
    }
    Some(Asked {
        kind,
        tool: if kind == AskKind::Question { "question".into() } else { format!("mcp:{server}") },
        text: words.join("\n"),
        item: json!({"type": "mcp_elicitation", "arguments": input}),
        input,
        item_id: None,
        only_asked: true,
        want: Want::Form { fields, remembers },
    })
}

fn old_command(params: &Value) -> Asked {
    let argv: Vec<&str> = super::items::texts(params, "command");
    let command = match argv[..] {
        [_, "-c" | "-lc", script] => script.to_string(),
        _ => argv.join(" "),
    };
    Asked {
        kind: AskKind::Permission,
        tool: "bash".to_string(),
        text: text(params, "reason").to_string(),
        input: json!({"command": command, "cwd": params["cwd"], "reason": params["reason"]}),
        item: json!({"type": "commandExecution", "command": command, "status": "inProgress"}),
        item_id: item_id(params, "callId"),
        only_asked: true,
        want: Want::OldDecision,
    }
}

fn old_patch(params: &Value) -> Asked {
    let change = |(path, change): (&String, &Value)| {
        let diff = [text(change, "content"), text(change, "unified_diff")].concat();
        let kind = json!({"type": change["type"], "move_path": change["move_path"]});
        json!({"path": path, "kind": kind, "diff": diff})
    };
    let changes: Vec<Value> = params["fileChanges"].as_object().into_iter().flatten().map(change).collect();
    Asked {
        kind: AskKind::Permission,
        tool: "edit".to_string(),
        text: text(params, "reason").to_string(),
        input: json!({"reason": params["reason"], "grantRoot": params["grantRoot"]}),
        item: json!({"type": "fileChange", "changes": changes, "status": "inProgress"}),
        item_id: item_id(params, "callId"),
        only_asked: true,
        want: Want::OldDecision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn replied(method: &str, params: Value, answer: &Answer) -> Value {
        let asked = Asked::read(method, &params).unwrap();
        asked.open(json!(7), "call".into()).reply(answer).result
    }

    fn session() -> Answer {
        Answer::Approve { text: None, answers: BTreeMap::new(), for_session: true }
    }

    #[test]
    fn every_kind_of_permission_is_given_for_once_for_the_session_and_refused() {
        let room = json!({"network": {"enabled": true}});
        let cases = [
            (
                "item/commandExecution/requestApproval",
                json!({"command": "ls"}),
                [
                    json!({"decision": "accept"}),
                    json!({"decision": "acceptForSession"}),
                    json!({"decision": "decline"}),
                ],
            ),
            (
                "item/fileChange/requestApproval",
                json!({}),
                [
                    json!({"decision": "accept"}),
                    json!({"decision": "acceptForSession"}),
                    json!({"decision": "decline"}),
                ],
            ),
            (
                "item/permissions/requestApproval",
                json!({"permissions": room}),
                [
                    json!({"permissions": room, "scope": "turn"}),
                    json!({"permissions": room, "scope": "session"}),
                    json!({"permissions": {}, "scope": "turn"}),
                ],
            ),
            (
                "mcpServer/elicitation/request",
                json!({"serverName": "s", "mode": "form", "message": "May I?", "_meta": {"persist": ["session"]},
                    "requestedSchema": {"type": "object", "properties": {}}}),
                [
                    json!({"action": "accept", "content": {}}),
                    json!({"action": "accept", "content": {}, "_meta": {"persist": "session"}}),
                    json!({"action": "decline"}),
                ],
            ),
            (
                "execCommandApproval",
                json!({"command": ["bash", "-lc", "ls"]}),
                [
                    json!({"decision": "approved"}),
                    json!({"decision": "approved_for_session"}),
                    json!({"decision": {"denied": {"rejection": "no"}}}),
                ],
            ),
            (
                "applyPatchApproval",
                json!({"fileChanges": {"/repo/a": {"type": "add", "content": "x"}}}),
                [
                    json!({"decision": "approved"}),
                    json!({"decision": "approved_for_session"}),
                    json!({"decision": {"denied": {"rejection": "no"}}}),
                ],
            ),
        ];
        for (method, params, [once, always, never]) in cases {
            assert_eq!(Asked::read(method, &params).unwrap().kind, AskKind::Permission, "{method}");
            assert_eq!(replied(method, params.clone(), &Answer::yes()), once, "{method}");
            assert_eq!(replied(method, params.clone(), &session()), always, "{method}");
            let no = Answer::Deny { reason: Some("no".into()) };
            assert_eq!(replied(method, params, &no), never, "{method}");
        }
    }

    #[test]
    fn several_questions_are_answered_by_name_or_line_by_line() {
        let method = "item/tool/requestUserInput";
        let params =
            json!({"questions": [{"id": "a", "question": "Which?"}, {"id": "b", "question": "Why?"}]});
        let answers = [("Which?".to_string(), "this".to_string()), ("b".to_string(), "so".to_string())];
        let named = Answer::Approve { text: None, answers: answers.into(), for_session: false };
        let expected = json!({"answers": {"a": {"answers": ["this"]}, "b": {"answers": ["so"]}}});
        assert_eq!(replied(method, params.clone(), &named), expected);
        assert_eq!(replied(method, params.clone(), &Answer::words("this\nso")), expected);
        let refused = replied(method, params, &Answer::Deny { reason: None });
        assert_eq!(refused, json!({"answers": {}}));
    }

    #[test]
    fn a_form_is_filled_with_what_its_fields_hold() {
        let properties = json!({"many": {"type": "integer", "title": "How many?"}, "sure": {"type": "boolean"},
            "tags": {"type": "array"}, "word": {"type": "string"}});
        let params =
            json!({"mode": "form", "message": "Fill in", "requestedSchema": {"properties": properties}});
        let answers = [("How many?", "3"), ("sure", "Yes"), ("tags", "a, b"), ("word", "w")];
        let answers = answers.map(|(key, value)| (key.to_string(), value.to_string())).into();
        let answer = Answer::Approve { text: None, answers, for_session: false };
        let content = json!({"many": 3, "sure": true, "tags": ["a", "b"], "word": "w"});
        let result = replied("mcpServer/elicitation/request", params, &answer);
        assert_eq!(result, json!({"action": "accept", "content": content}));
    }

    #[test]
    fn what_words_cannot_answer_is_not_asked() {
        let verify = json!({"mode": "openai/userVerification", "title": "t", "challenge": "c"});
        assert!(Asked::read("mcpServer/elicitation/request", &verify).is_none());
        assert!(Asked::read("item/tool/call", &json!({})).is_none());
    }

    #[test]
    fn a_request_of_any_shape_is_read() {
        let methods = [
            "item/commandExecution/requestApproval",
            "item/fileChange/requestApproval",
            "item/permissions/requestApproval",
            "item/tool/requestUserInput",
            "mcpServer/elicitation/request",
            "execCommandApproval",
            "applyPatchApproval",
        ];
        for method in methods {
            for params in [Value::Null, json!([]), json!(1), json!({"command": 1, "questions": {}})] {
                assert!(Asked::read(method, &params).is_some(), "{method} {params}");
            }
        }
    }
}
