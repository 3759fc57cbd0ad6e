//! Checks a value against a schema of the OpenAPI document. A keyword that it does not know is an error, so that
//! nothing of a schema is passed over.

use serde_json::Value;

/// Says what is wrong with a value, and where.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at(schema, value, "$")
}

fn at(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let keywords = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(keywords) => keywords,
        _ => return Err(format!("{place}: no schema: {schema}")),
    };
    for (keyword, rule) in keywords {
        let fine = match keyword.as_str() {
            "description" | "title" | "default" | "contentMediaType" | "examples" => true,
            "$ref" => {
                let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).unwrap();
                at(forge_server::openapi().pointer(pointer).unwrap(), value, place)?;
                true
            }
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| is(name, value)),
                name => is(name, value),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "anyOf" => any(rule, value, place) >= 1,
            "oneOf" => any(rule, value, place) == 1,
            "allOf" => any(rule, value, place) == rule.as_array().unwrap().len(),
            "properties" => {
                for (key, inner) in rule.as_object().unwrap() {
                    if let Some(inside) = value.get(key) {
                        at(inner, inside, &format!("{place}.{key}"))?;
                    }
                }
                true
            }
            "required" => {
                let keys = rule.as_array().unwrap().iter().filter_map(Value::as_str);
                let missing: Vec<_> = keys.filter(|key| value.get(key).is_none()).collect();
                if !missing.is_empty() {
                    return Err(format!("{place} lacks {missing:?}: {value}"));
                }
                true
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                for (key, inside) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(key)) && *rule != Value::Bool(false) {
                        at(rule, inside, &format!("{place}.{key}"))?;
                    } else if known.is_none_or(|known| !known.contains_key(key)) {
                        return Err(format!("{place} must not have {key}"));
                    }
                }
                true
            }
            "items" => {
                for (index, inside) in value.as_array().into_iter().flatten().enumerate() {
                    at(rule, inside, &format!("{place}[{index}]"))?;
                }
                true
            }
            "prefixItems" => rule
                .as_array()
                .unwrap()
                .iter()
                .zip(value.as_array().into_iter().flatten())
                .all(|(rule, inside)| at(rule, inside, place).is_ok()),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
            "maximum" => value.as_i64().is_none_or(|number| number <= rule.as_i64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap()),
            "maxLength" => value.as_str().is_none_or(|text| text.len() as u64 <= rule.as_u64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| !text.trim().is_empty()),
            "format" => value.as_str().is_none_or(|text| has_format(rule.as_str().unwrap(), text)),
            other => return Err(format!("{place}: the keyword {other} is not known here")),
        };
        if !fine {
            return Err(format!("{place} is against {keyword} {rule}: {value}"));
        }
    }
    Ok(())
}

fn any(rules: &Value, value: &Value, place: &str) -> usize {
    rules.as_array().unwrap().iter().filter(|rule| at(rule, value, place).is_ok()).count()
}

fn is(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    }
}

fn has_format(format: &str, text: &str) -> bool {
    match format {
        "uuid" => text.parse::<forge_model::TaskId>().is_ok(),
        "date-time" => text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z'),
        "int64" | "int32" | "uint64" | "uint32" | "uint" | "uint16" | "uint8" | "double" => true,
        other => panic!("no format: {other}"),
    }
}

#[test]
fn a_value_that_breaks_a_schema_is_told_where() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "id": { "type": "string", "format": "uuid" }, "n": { "type": ["integer", "null"] } },
        "required": ["id", "n"],
    });
    let good = serde_json::json!({ "id": "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c", "n": null, "more": 1 });
    assert_eq!(check(&schema, &good), Ok(()));
    for (key, bad) in [("id", serde_json::json!("x")), ("n", serde_json::json!("x"))] {
        let mut value = good.clone();
        value[key] = bad;
        assert!(check(&schema, &value).unwrap_err().contains(&format!("$.{key}")));
    }
    assert!(check(&schema, &serde_json::json!({ "n": 1 })).unwrap_err().contains("lacks [\"id\"]"));
}
