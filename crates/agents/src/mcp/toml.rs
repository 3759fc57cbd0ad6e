//! Changing one table of TOML text, and leaving the rest byte by byte.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

/// Reads what a text holds.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    Ok(object(parse(text)?.as_table()))
}

/// Puts the servers under the key.
pub(super) fn edit(text: &str, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    let mut document = parse(text)?;
    let below = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        // Its own header would be an empty line in the file: each server has one.
        table.set_implicit(true);
        Item::Table(table)
    });
    let table = below.as_table_like_mut().ok_or_else(|| format!("`{key}` is no table"))?;
    lay(table, servers, key)?;
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        // The text may hold secrets, so only the place is told.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or(text);
        format!("it is not TOML (line {})", before.matches('\n').count() + 1)
    })
}

/// Makes a table equal to what is wanted, touching only what differs.
fn lay(table: &mut dyn TableLike, wanted: &Map<String, Value>, at: &str) -> Result<(), String> {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    for key in keys.iter().filter(|key| !wanted.contains_key(*key)) {
        table.remove(key);
    }
    for (key, value) in wanted {
        let at = format!("{at}.{key}");
        let Some(known) = table.get_mut(key) else {
            table.insert(key, item(value, &at)?);
            continue;
        };
        if json(known) == *value {
            continue;
        }
        if let (Some(inner), Value::Object(wanted)) = (known.as_table_like_mut(), value) {
            lay(inner, wanted, &at)?;
            continue;
        }
        let mut new = item(value, &at)?;
        // What stands behind a value, such as a comment, stays there.
        if let (Some(old), Some(new)) = (known.as_value(), new.as_value_mut()) {
            *new.decor_mut() = old.decor().clone();
        }
        *known = new;
    }
    Ok(())
}

fn item(value: &Value, at: &str) -> Result<Item, String> {
    let Value::Object(map) = value else { return Ok(Item::Value(toml(value, at)?)) };
    let mut table = Table::new();
    for (key, value) in map {
        table.insert(key, item(value, &format!("{at}.{key}"))?);
    }
    Ok(Item::Table(table))
}

fn toml(value: &Value, at: &str) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::Null => return Err(format!("`{at}` is null, which TOML cannot hold; leave the key out")),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if number.is_f64() => float.into(),
            _ => return Err(format!("`{at}` is larger than any number TOML can hold")),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items = items.iter().map(|value| toml(value, at));
            toml_edit::Value::Array(items.collect::<Result<Array, String>>()?)
        }
        Value::Object(map) => {
            let mut table = InlineTable::new();
            for (key, value) in map {
                table.insert(key, toml(value, &format!("{at}.{key}"))?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}

fn object(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().map(|(key, item)| (key.to_string(), json(item))).collect()
}

/// Writes an item as JSON. Dates become texts; a text that comes back the same leaves the date alone.
fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => Value::Object(object(table)),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| Value::Object(object(table))).collect(),
    }
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(date) => date.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(json_value).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(object(table)),
    }
}
