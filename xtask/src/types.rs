//! `shared/types.ts`: the types of the wire for TypeScript, written from the OpenAPI document.
//!
//! The document itself is kept as a file and compared with the code by a test of the server, so that nothing
//! has to be linked here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use serde_json::Value;

const HEAD: &str = "// Written by `npm run generate-types` from the OpenAPI document. Do not edit.\n";

const ENVELOPE: &str = "
/** What every answer under /api is, but the few that are bare. */
export type ApiResponse<T, E = unknown> =
  | { success: true; data: T; error_data: null; message: null }
  | { success: false; data: null; error_data: E | null; message: string | null };
";

/// Writes the TypeScript types of the wire
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Write nothing; fail when the file is not what it should be
    #[arg(long)]
    check: bool,
}

/// Writes the file, or says whether it is what it should be.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
    let document = root.join("crates/server/openapi.json");
    let text = std::fs::read_to_string(&document).with_context(|| format!("read {}", document.display()))?;
    let document: Value =
        serde_json::from_str(&text).with_context(|| format!("read {}", document.display()))?;
    let made = types(&document)?;
    let file = root.join("shared/types.ts");
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    if kept == made {
        return Ok(true);
    }
    if args.check {
        eprintln!("shared/types.ts is stale; write it anew with: npm run generate-types");
        return Ok(false);
    }
    std::fs::write(&file, made).with_context(|| format!("write {}", file.display()))?;
    println!("wrote shared/types.ts");
    Ok(true)
}

/// Writes every named schema as a type, in the order of their names.
fn types(document: &Value) -> Result<String> {
    let schemas = document["components"]["schemas"].as_object().context("the document has no schemas")?;
    let ordered: BTreeMap<_, _> = schemas.iter().collect();
    let mut out = format!("{HEAD}{ENVELOPE}");
    for (name, schema) in ordered {
        out.push('\n');
        if let Some(told) = schema["description"].as_str() {
            writeln!(out, "/** {} */", told.split_whitespace().collect::<Vec<_>>().join(" "))?;
        }
        writeln!(out, "export type {name} = {};", typ(schema, 0))?;
    }
    Ok(out)
}

/// Writes a schema as a type.
fn typ(schema: &Value, depth: usize) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_string();
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.to_string();
    }
    if let Some(names) = schema["enum"].as_array() {
        return union(names.iter().map(Value::to_string).collect());
    }
    let several = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    // A form names the parts of which one must be there, without saying more of them.
    let several = several
        .filter(|all| all.iter().all(|one| one.get("required").is_none() || one.get("type").is_some()));
    let own = schema.get("properties").map(|_| object(schema, depth));
    if let Some(several) = several {
        let either = union(several.iter().map(|one| typ(one, depth)).collect());
        return match own {
            Some(own) => format!("{own} & ({either})"),
            None => either,
        };
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return "unknown".to_string(),
    };
    union(names.into_iter().map(|name| named(name, schema, depth)).collect())
}

/// Writes one of the types that a schema names.
fn named(name: &str, schema: &Value, depth: usize) -> String {
    match name {
        "string" => "string".to_string(),
        "integer" | "number" => "number".to_string(),
        "boolean" => "boolean".to_string(),
        "null" => "null".to_string(),
        "array" => match schema["prefixItems"].as_array() {
            Some(items) => {
                format!("[{}]", items.iter().map(|item| typ(item, depth)).collect::<Vec<_>>().join(", "))
            }
            None => format!("Array<{}>", typ(&schema["items"], depth)),
        },
        "object" => object(schema, depth),
        _ => "unknown".to_string(),
    }
}

fn object(schema: &Value, depth: usize) -> String {
    let rest = schema.get("additionalProperties").filter(|rest| **rest != Value::Bool(false));
    let Some(properties) = schema["properties"].as_object().filter(|map| !map.is_empty()) else {
        let value =
            rest.filter(|rest| rest.is_object()).map_or("unknown".to_string(), |rest| typ(rest, depth));
        return format!("Record<string, {value}>");
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let pad = "  ".repeat(depth + 1);
    let mut out = "{\n".to_string();
    for (key, value) in properties {
        let mark = if required.contains(&key.as_str()) { "" } else { "?" };
        if let Some(told) = value["description"].as_str() {
            out.push_str(&format!("{pad}/** {} */\n", told.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        let key = if is_plain(key) { key.clone() } else { format!("{key:?}") };
        out.push_str(&format!("{pad}{key}{mark}: {};\n", typ(value, depth + 1)));
    }
    out.push_str(&"  ".repeat(depth));
    out.push('}');
    out
}

fn is_plain(key: &str) -> bool {
    key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.starts_with(|c: char| c.is_ascii_digit())
}

fn union(mut parts: Vec<String>) -> String {
    let mut seen = Vec::new();
    parts.retain(|part| {
        !seen.contains(part) && {
            seen.push(part.clone());
            true
        }
    });
    parts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_becomes_the_type_that_typescript_has_for_it() {
        let schema = json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "format": "uuid" },
                "size": { "type": ["integer", "null"] },
                "tags": { "type": "array", "items": { "$ref": "#/components/schemas/Tag" } },
                "kind": { "enum": ["a", "b"] },
                "any": true,
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["id", "size"],
        });
        let written = typ(&schema, 0);
        for line in [
            "  id: string;",
            "  size: number | null;",
            "  tags?: Array<Tag>;",
            "  kind?: \"a\" | \"b\";",
            "  any?: unknown;",
            "  env?: Record<string, string>;",
        ] {
            assert!(written.contains(line), "{line} in {written}");
        }
        let either = json!({ "properties": { "n": { "const": 1 } }, "oneOf": [{ "type": "null" }, { "type": "string" }] });
        assert_eq!(typ(&either, 0), "{\n  n?: 1;\n} & (null | string)");
    }
}
