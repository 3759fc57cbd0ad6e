//! Changing one key of JSON text, comments and trailing commas welcome, and leaving the rest byte by byte.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// What people write in settings: JSON with comments and a comma too many, and no other dialect.
const DIALECT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the object that a text holds; an empty text holds an empty one.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    match parse(text)?.value().map(|value| value.to_serde_value()) {
        None => Ok(Map::new()),
        Some(Some(Value::Object(map))) => Ok(map),
        Some(_) => Err("it must hold a JSON object".to_string()),
    }
}

/// Puts the servers under the key.
pub(super) fn edit(text: &str, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    let root = parse(text)?;
    let whole = root.object_value_or_create().ok_or("it must hold a JSON object")?;
    lay(&whole.object_value_or_set(key), servers);
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &DIALECT).map_err(|error| {
        // The text may hold secrets, so only the place is told.
        format!("it is not JSON (line {}, column {})", error.line_display(), error.column_display())
    })
}

/// Makes an object equal to what is wanted, touching only what differs.
fn lay(object: &CstObject, wanted: &Map<String, Value>) {
    for property in object.properties() {
        if property.decoded_name().is_none_or(|name| !wanted.contains_key(&name)) {
            property.remove();
        }
    }
    for (key, value) in wanted {
        let Some(property) = object.get(key) else {
            object.append(key, input(value));
            continue;
        };
        if property.value().and_then(|value| value.to_serde_value()).as_ref() == Some(value) {
            continue;
        }
        match (property.object_value(), value) {
            (Some(inner), Value::Object(wanted)) => lay(&inner, wanted),
            _ => property.set_value(input(value)),
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
