//! Checking settings by their types, and the schemas of those types.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::types;

/// The settings of an agent: its name, whether a key's value fits, and the schema.
struct Known {
    agent: &'static str,
    fits: fn(&str, &Value) -> bool,
    schema: fn() -> Value,
}

const fn known<T: DeserializeOwned + JsonSchema>(agent: &'static str) -> Known {
    Known { agent, fits: fits::<T>, schema: schema::<T> }
}

const KNOWN: &[Known] = &[
    known::<types::ClaudeCode>("CLAUDE_CODE"),
    known::<types::Amp>("AMP"),
    known::<types::Gemini>("GEMINI"),
    known::<types::Codex>("CODEX"),
    known::<types::Opencode>("OPENCODE"),
    known::<types::CursorAgent>("CURSOR_AGENT"),
    known::<types::QwenCode>("QWEN_CODE"),
    known::<types::Copilot>("COPILOT"),
    known::<types::Kimi>("KIMI"),
    known::<types::Droid>("DROID"),
    known::<types::Cline>("CLINE"),
    known::<types::Goose>("GOOSE"),
    known::<types::Acp>("ACP"),
    known::<types::RawCommand>("COMMAND"),
    known::<types::Scripted>("SCRIPTED"),
];

/// Returns the JSON schema of every agent's settings, under its name in lower case.
pub fn schemas() -> Vec<(String, Value)> {
    KNOWN.iter().map(|known| (known.agent.to_ascii_lowercase(), (known.schema)())).collect()
}

/// Checks the settings of a profile. The refusal is the key and what must stand there; the value itself, which may
/// be a secret, is not told.
pub fn check_settings(agent: &str, settings: &Map<String, Value>) -> Result<(), (String, String)> {
    let Some(known) = KNOWN.iter().find(|known| known.agent == agent) else { return Ok(()) };
    match settings.iter().find(|(key, value)| !(known.fits)(key, value)) {
        None => Ok(()),
        Some((key, _)) => {
            let schema = (known.schema)();
            Err((key.clone(), wanted(&schema["properties"][key], &schema)))
        }
    }
}

fn fits<T: DeserializeOwned>(key: &str, value: &Value) -> bool {
    serde_json::from_value::<T>(json!({ key: value })).is_ok()
}

fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Says in words what a schema allows.
fn wanted(schema: &Value, whole: &Value) -> String {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let or_null = |text: &str| match kinds.contains(&"null") {
        true => format!("{text} or null"),
        false => text.to_string(),
    };
    if let Some(words) = schema["enum"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let words = words.iter().filter_map(|word| word.as_str().or_else(|| word["const"].as_str()));
        format!("one of {}", words.collect::<Vec<_>>().join(", "))
    } else if let Some(choices) = schema["anyOf"].as_array() {
        choices.iter().map(|choice| wanted(choice, whole)).collect::<Vec<_>>().join(" or ")
    } else if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        wanted(&whole["$defs"][name], whole)
    } else if kinds.contains(&"boolean") {
        if kinds.contains(&"null") { "true, false or null".into() } else { "true or false".into() }
    } else if kinds.contains(&"string") {
        or_null("a text")
    } else if kinds.contains(&"array") {
        or_null("a list of texts")
    } else if kinds.contains(&"object") {
        or_null("an object of texts")
    } else {
        "null".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(agent: &str, settings: Value) -> String {
        let (key, wanted) = check_settings(agent, settings.as_object().unwrap()).unwrap_err();
        format!("{key} must be {wanted}")
    }

    #[test]
    fn a_wrong_setting_is_named_with_what_it_must_be_and_not_with_its_value() {
        let cases = [
            ("CLAUDE_CODE", json!({"plan": "planted"}), "plan must be true, false or null"),
            ("CLAUDE_CODE", json!({"model": 1}), "model must be a text or null"),
            (
                "AMP",
                json!({"additional_params": "planted"}),
                "additional_params must be a list of texts or null",
            ),
            ("AMP", json!({"env": {"A": 1}}), "env must be an object of texts or null"),
            ("GEMINI", json!({"model": "planted"}), "model must be one of default, flash or null"),
            (
                "CODEX",
                json!({"sandbox": "planted"}),
                "sandbox must be one of auto, read-only, workspace-write, danger-full-access or null",
            ),
            (
                "SCRIPTED",
                json!({"base_command_override": 1}),
                "base_command_override must be a text or a list of texts or null",
            ),
        ];
        for (agent, settings, expected) in cases {
            assert_eq!(told(agent, settings), expected);
        }
    }

    #[test]
    fn what_an_agent_does_not_know_and_null_are_welcome() {
        for known in KNOWN {
            let settings = json!({"append_prompt": null, "env": null, "later": {"a": [1]}, "model": null});
            assert_eq!(check_settings(known.agent, settings.as_object().unwrap()), Ok(()), "{}", known.agent);
        }
        assert_eq!(check_settings("NOBODY", &Map::new()), Ok(()));
    }

    #[test]
    fn the_prompt_to_append_is_always_written_and_the_rest_only_when_it_is_set() {
        let plain = serde_json::to_value(types::Codex::default()).unwrap();
        assert_eq!(plain, json!({"append_prompt": null}));
        let given = json!({"append_prompt": "x", "sandbox": "read-only", "model_reasoning_summary": "none"});
        let read: types::Codex = serde_json::from_value(given.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), given);
    }

    #[test]
    fn every_agent_has_a_schema_with_descriptions() {
        let schemas = schemas();
        for agent in crate::AGENTS {
            assert!(schemas.iter().any(|(name, _)| *name == agent.name().to_ascii_lowercase()));
        }
        for (name, schema) in schemas {
            assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}: {schema}");
            let properties = schema["properties"].as_object().unwrap();
            assert!(properties.contains_key("append_prompt"), "{name}");
            for (key, property) in properties {
                assert!(property["description"].is_string(), "{name}.{key}: {property}");
            }
        }
    }
}
