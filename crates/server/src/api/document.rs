//! The OpenAPI document, made from the table of operations.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Gives, Key, Operation, Takes};
use crate::routes;

/// Returns the OpenAPI document of everything that is served.
pub fn openapi() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| document(routes::operations()))
}

fn document(operations: &[Operation]) -> Value {
    // Answers are described as they are written: a key that is always there is required, null or not.
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut schemas = Map::new();
    schemas.insert("Problem".into(), problem());
    let mut paths = Map::new();
    for operation in operations {
        if let Takes::Json(body) | Takes::MaybeJson(body) = &operation.takes {
            let known = schemas.insert(body.name.to_string(), body.schema());
            debug_assert!(
                known.is_none_or(|known| known == body.schema()),
                "two bodies are called {}",
                body.name
            );
        }
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.to_ascii_lowercase()] = describe(operation, &mut generator);
    }
    // What no route answers by itself, but streams carry and clients have types for.
    generator.subschema_for::<forge_model::Entry>();
    for (name, schema) in generator.take_definitions(true) {
        let known = schemas.insert(name.clone(), schema);
        debug_assert!(known.is_none(), "{name} is both a body and an answer");
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Forge",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs many AI coding agents on your git repositories at once. Every answer under /api \
                but the few marked bare is an envelope of `success`, `data`, `error_data` and `message`.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "token": [] }],
        "tags": tags(operations),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut told = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [tag(operation.path)],
        "parameters": parameters(operation),
        "responses": responses(operation, generator),
    });
    if let Some(body) = request_body(&operation.takes) {
        told["requestBody"] = body;
    }
    match operation.gives {
        Gives::Socket(frame) => {
            told["x-forge-stream"] = json!("websocket");
            told["x-forge-message"] = schema(frame(generator));
        }
        Gives::Events => told["x-forge-stream"] = json!("events"),
        Gives::Enveloped(_) | Gives::Bare(_) | Gives::Bytes(_) => {}
    }
    told
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let in_path = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let schema = match name.ends_with("_id") {
            true => json!({ "type": "string", "format": "uuid" }),
            false => json!({ "type": "string" }),
        };
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    });
    let in_query = operation.query.iter().map(|key: &Key| {
        json!({ "name": key.name.name, "in": "query", "required": key.needed, "schema": key.parameter() })
    });
    let mut all: Vec<Value> = in_path.chain(in_query).collect();
    if operation.repeatable {
        let schema = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" });
        let told = "The same key with the same body repeats the first answer for 24 hours.";
        let name = "Idempotency-Key";
        all.push(json!({ "name": name, "in": "header", "description": told, "schema": schema }));
    }
    all
}

fn request_body(takes: &Takes) -> Option<Value> {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let json_body = |needed: bool, schema: Value| json!({ "required": needed, "content": { "application/json": { "schema": schema } } });
    Some(match takes {
        Takes::Nothing => return None,
        Takes::Json(body) => json_body(true, reference(body.name)),
        Takes::MaybeJson(body) => {
            json_body(false, json!({ "anyOf": [reference(body.name), { "type": "null" }] }))
        }
        Takes::Text => json_body(true, json!({ "type": "object" })),
        Takes::File(parts) => {
            let file = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
            let properties: Map<String, Value> =
                parts.iter().map(|part| (part.to_string(), file.clone())).collect();
            let one_of: Vec<Value> = parts.iter().map(|part| json!({ "required": [part] })).collect();
            let schema = json!({ "type": "object", "properties": properties, "anyOf": one_of });
            json!({ "required": true, "content": { "multipart/form-data": { "schema": schema } } })
        }
    })
}

fn responses(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let json_of = |schema: Value| json!({ "description": "Done.", "content": { "application/json": { "schema": schema } } });
    let problem = json!({ "$ref": "#/components/schemas/Problem" });
    let good = match operation.gives {
        Gives::Enveloped(data) => {
            let envelope = envelope(schema(data(generator)));
            match operation.refuses_with_200 {
                true => json_of(json!({ "oneOf": [envelope, problem] })),
                false => json_of(envelope),
            }
        }
        Gives::Bare(data) => json_of(schema(data(generator))),
        Gives::Bytes(content_type) => json!({
            "description": "The bytes.",
            "content": { content_type: { "schema": bytes(content_type) } },
        }),
        Gives::Events => json!({
            "description": "Events, until the client goes away.",
            "content": { "text/event-stream": { "schema": { "type": "string" } } },
        }),
        Gives::Socket(_) => json!({ "description": "The connection becomes a WebSocket." }),
    };
    let refused = json!({
        "description": "Refused, with a sentence that says why.",
        "content": { "application/json": { "schema": problem } },
    });
    json!({ operation.status.to_string(): good, "default": refused })
}

/// Describes what is not JSON as text, which is all that can be said of it; what is JSON is read as such.
fn bytes(content_type: &str) -> Value {
    match content_type.ends_with("json") {
        true => json!({ "type": "object" }),
        false => json!({ "type": "string", "contentMediaType": content_type }),
    }
}

fn envelope(data: Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "success": { "const": true },
            "data": data,
            "error_data": { "type": "null" },
            "message": { "type": "null" },
        },
        "required": ["success", "data", "error_data", "message"],
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "Why something was refused or failed.",
        "properties": {
            "success": { "const": false },
            "data": { "type": "null" },
            "error_data": {},
            "message": { "type": ["string", "null"] },
        },
        "required": ["success", "data", "error_data", "message"],
    })
}

fn schema(schema: Schema) -> Value {
    schema.to_value()
}

/// The noun of a path: its first word after `/api`.
fn tag(path: &str) -> &str {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    match parts.next() {
        Some("api") => parts.next().unwrap_or("server"),
        _ => "server",
    }
}

fn tags(operations: &[Operation]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for operation in operations {
        if !names.contains(&tag(operation.path)) {
            names.push(tag(operation.path));
        }
    }
    names.iter().map(|name| json!({ "name": name })).collect()
}
