//! Rules for the JSON that people write and clients send: which keys are known, and what may stand there.
//!
//! A key without a rule is somebody else's: it is kept and never looked at.

use forge_model::ProfileId;
use serde_json::{Map, Value, json};

/// Known keys with their rules.
pub(crate) type Keys = &'static [(&'static str, Rule)];

/// What may stand under a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    Flag,
    MaybeFlag,
    Text,
    MaybeText,
    /// A whole number from 1 on.
    MaybeLimit,
    /// A text that is never shown again.
    MaybeSecret,
    /// A whole number that is not negative.
    MaybeCount,
    Texts,
    /// A whole number that is not below zero.
    Count,
    /// A whole number, from the first to the second.
    Number(i64, i64),
    OneOf(&'static [&'static str]),
    MaybeOneOf(&'static [&'static str]),
    /// An agent and its variant, as an object or as plain text.
    Profile,
    Section(Keys),
    MaybeSection(Keys),
}

/// Finds the rule of a key.
pub(crate) fn rule(keys: Keys, key: &str) -> Option<Rule> {
    keys.iter().find(|(known, _)| *known == key).map(|(_, rule)| *rule)
}

/// Checks the known keys that are there, and says what is wrong with the first that is not right. `at` is
/// where the object stands: empty at the top, else `github.` and the like.
pub(crate) fn check(map: &Map<String, Value>, keys: Keys, at: &str) -> Result<(), String> {
    for (key, value) in map {
        let Some(rule) = rule(keys, key) else { continue };
        if let Rule::Section(inner) | Rule::MaybeSection(inner) = rule
            && let Value::Object(section) = value
        {
            check(section, inner, &format!("{at}{key}."))?;
        } else if let Some(wanted) = broken(rule, value) {
            return Err(format!("`{at}{key}` must be {wanted}"));
        }
    }
    Ok(())
}

/// Describes an object that has every known key, as a JSON Schema; other keys may stand beside them.
pub(crate) fn schema(keys: Keys) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|(key, rule)| (key.to_string(), described(*rule))).collect();
    let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn described(rule: Rule) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    match rule {
        Rule::Flag => json!({ "type": "boolean" }),
        Rule::MaybeFlag => json!({ "type": ["boolean", "null"] }),
        Rule::Text => json!({ "type": "string" }),
        Rule::MaybeText | Rule::MaybeSecret => json!({ "type": ["string", "null"] }),
        Rule::MaybeCount => json!({ "type": ["integer", "null"], "minimum": 0 }),
        Rule::MaybeLimit => json!({ "type": ["integer", "null"], "minimum": 1 }),
        Rule::Texts => texts,
        Rule::Count => json!({ "type": "integer", "minimum": 0 }),
        Rule::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Rule::OneOf(names) => json!({ "type": "string", "enum": names }),
        Rule::MaybeOneOf(names) => json!({ "anyOf": [described(Rule::OneOf(names)), { "type": "null" }] }),
        Rule::MaybeSection(keys) => json!({ "anyOf": [schema(keys), { "type": "null" }] }),
        Rule::Profile => json!({
            "type": "object",
            "properties": { "executor": { "type": "string" }, "variant": { "type": ["string", "null"] } },
            "required": ["executor"],
        }),
        Rule::Section(keys) => schema(keys),
    }
}

/// Reads an agent and its variant from an object or from plain text.
pub(crate) fn profile(value: &Value) -> Option<ProfileId> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Object(map) => {
            let agent = map.get("executor").or_else(|| map.get("profile"))?.as_str()?;
            match map.get("variant") {
                None | Some(Value::Null) => ProfileId::new(agent, None).ok(),
                Some(variant) => ProfileId::new(agent, Some(variant.as_str()?)).ok(),
            }
        }
        _ => None,
    }
}

/// Returns what the rule wants when the value is something else.
fn broken(rule: Rule, value: &Value) -> Option<String> {
    let texts = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    let (right, wanted) = match rule {
        Rule::Flag => (value.is_boolean(), "true or false"),
        Rule::MaybeFlag => (value.is_boolean() || value.is_null(), "true, false or null"),
        Rule::Text => (value.is_string(), "a text"),
        Rule::MaybeText | Rule::MaybeSecret => (value.is_string() || value.is_null(), "a text or null"),
        Rule::MaybeCount => {
            (value.is_u64() || value.is_null(), "a whole number that is not negative, or null")
        }
        Rule::MaybeLimit => (
            value.is_null() || value.as_i64().is_some_and(|count| count > 0),
            "a whole number from 1 on, or null",
        ),
        Rule::Texts => (texts(value), "a list of texts"),
        Rule::Count => (value.is_u64(), "a whole number, 0 or more"),
        Rule::Number(least, most) => {
            let right = value.as_i64().is_some_and(|number| (least..=most).contains(&number));
            return (!right).then(|| format!("a whole number from {least} to {most}"));
        }
        Rule::OneOf(names) => {
            let right = value.as_str().is_some_and(|name| names.contains(&name));
            return (!right).then(|| format!("one of {}", names.join(", ")));
        }
        Rule::MaybeOneOf(names) => {
            let right = value.is_null() || value.as_str().is_some_and(|name| names.contains(&name));
            return (!right).then(|| format!("one of {}, or null", names.join(", ")));
        }
        Rule::Profile => (
            profile(value).is_some(),
            "an agent's name, as {\"executor\": \"CLAUDE_CODE\", \"variant\": \"PLAN\"}",
        ),
        Rule::Section(_) => (value.is_object(), "an object"),
        Rule::MaybeSection(_) => (value.is_object() || value.is_null(), "an object or null"),
    };
    (!right).then(|| wanted.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYS: Keys = &[
        ("flag", Rule::Flag),
        ("kind", Rule::OneOf(&["A", "B"])),
        ("inner", Rule::Section(&[("names", Rule::Texts)])),
        ("agent", Rule::Profile),
    ];

    fn told(value: Value) -> String {
        check(value.as_object().unwrap(), KEYS, "").unwrap_err()
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place_and_what_it_must_be() {
        assert_eq!(told(json!({"flag": "yes"})), "`flag` must be true or false");
        assert_eq!(told(json!({"kind": "C"})), "`kind` must be one of A, B");
        assert_eq!(told(json!({"inner": 1})), "`inner` must be an object");
        assert_eq!(told(json!({"inner": {"names": ["a", 1]}})), "`inner.names` must be a list of texts");
        assert!(told(json!({"agent": {"variant": "PLAN"}})).contains("CLAUDE_CODE"));
    }

    #[test]
    fn a_key_without_a_rule_is_nobodys_business() {
        let map = json!({"flag": true, "kind": "B", "other": {"flag": 1}, "agent": "claude-code:plan"});
        assert_eq!(check(map.as_object().unwrap(), KEYS, ""), Ok(()));
    }
}
