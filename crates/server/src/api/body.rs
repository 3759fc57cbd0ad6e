//! What a body or a query holds, told by the same names that the decoder reads by.

use serde_json::{Map, Value, json};

use crate::decode::names::{Kind, Name};

/// An object that a request may carry: what it is called, and its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a body or a parameter of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: Name,
    pub(crate) needed: bool,
}

/// A key that must be there.
pub(crate) const fn need(name: Name) -> Key {
    Key { name, needed: true }
}

/// A key that may be absent or null.
pub(crate) const fn may(name: Name) -> Key {
    Key { name, needed: false }
}

impl Body {
    pub(crate) const fn new(name: &'static str, keys: &'static [Key]) -> Self {
        Self { name, keys }
    }

    /// Describes the object. Other keys are ignored, so none is forbidden.
    pub(crate) fn schema(&self) -> Value {
        object(self.keys)
    }
}

impl Key {
    /// Describes the value; one that may be absent in a body may be null there as well.
    pub(crate) fn schema(&self) -> Value {
        let schema = value(self.name);
        if self.needed { schema } else { json!({ "anyOf": [schema, { "type": "null" }] }) }
    }

    /// Describes the value in a query, which knows no null.
    pub(crate) fn parameter(&self) -> Value {
        value(self.name)
    }
}

fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.name.to_string(), key.schema())).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.needed).map(|key| key.name.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn value(name: Name) -> Value {
    match name.kind {
        Kind::Line | Kind::Text => text(name),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number => json!({ "type": "integer", "format": "int64" }),
        Kind::Position => json!({ "type": "integer", "format": "int64", "minimum": 0 }),
        Kind::Id => json!({ "type": "string", "format": "uuid" }),
        Kind::Ids => json!({ "type": "array", "items": { "type": "string", "format": "uuid" } }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" }, "maxItems": name.limit }),
        Kind::Profile => json!({ "$ref": "#/components/schemas/ExecutorProfileId" }),
        Kind::OneOf(names) => json!({ "type": "string", "enum": names }),
        Kind::Object(keys) => object(keys),
        Kind::Objects(keys) => {
            json!({ "type": "array", "items": object(keys), "maxItems": name.limit })
        }
        Kind::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Kind::Any => json!({}),
    }
}

fn text(name: Name) -> Value {
    let mut schema = json!({ "type": "string" });
    if name.limit != usize::MAX {
        schema["maxLength"] = json!(name.limit);
    }
    if matches!(name.kind, Kind::Line) {
        schema["pattern"] = json!("\\S");
    }
    schema
}
