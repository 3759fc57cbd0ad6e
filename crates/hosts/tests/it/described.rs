//! Holds requests against GitHub's published OpenAPI description, of which `github.openapi.json` is the part that is
//! called. `scripts/github-openapi.mjs` makes it of the npm package `@octokit/openapi`, and checks it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

static DESCRIPTION: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("github.openapi.json")).unwrap());

/// A request of the API, as the description knows it.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) operation: String,
    /// What stands for the names in braces, and the query.
    pub(crate) given: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// Finds the operation that a request means, or says what is wrong with it.
pub(crate) fn request(
    method: &str,
    target: &str,
    headers: &BTreeMap<String, String>,
    body: &str,
) -> Result<Described, String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| headers.get(name).map(String::as_str).unwrap_or_default();
    if header("accept") != "application/vnd.github+json" || header("x-github-api-version") != "2022-11-28" {
        return Err(format!("{target}: which API is meant? {headers:?}"));
    }
    if header("user-agent").is_empty() || !header("authorization").starts_with("Bearer ") {
        return Err(format!("{target}: who is calling?"));
    }
    let paths = DESCRIPTION["paths"].as_object().unwrap();
    let (described, mut given) = paths
        .iter()
        .find_map(|(pattern, methods)| Some((methods, matched(pattern, path)?)))
        .ok_or_else(|| format!("there is no path {path}"))?;
    let operation = &described[method.to_lowercase()];
    if operation.is_null() {
        return Err(format!("there is no {method} {path}"));
    }
    let in_path = given.len();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        given.insert(unescaped(name), unescaped(value));
    }
    let parameters = operation["parameters"].as_array().unwrap();
    for (name, value) in &given {
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name.as_str());
        let Some(parameter) = parameter else {
            return Err(format!("{target}: no parameter is called {name}"));
        };
        let value = match parameter["schema"]["type"].as_str() {
            Some("integer") => value.parse::<i64>().map_or(Value::Null, Value::from),
            _ => Value::from(value.as_str()),
        };
        check(&parameter["schema"], &value, name)?;
    }
    let needed = parameters.iter().filter(|parameter| parameter["required"] == true).count();
    if needed > in_path && needed > given.len() {
        return Err(format!("{target}: a parameter is missing"));
    }
    let told = match operation["body"].is_null() {
        true if body.is_empty() => Value::Null,
        true => return Err(format!("{target}: takes no body")),
        false if !header("content-type").starts_with("application/json") => {
            return Err(format!("{target}: takes JSON"));
        }
        false => serde_json::from_str(body).map_err(|error| format!("{target}: {error}"))?,
    };
    if !operation["body"].is_null() {
        check(&operation["body"], &told, "body")?;
    }
    Ok(Described { operation: operation["operationId"].as_str().unwrap().to_string(), given, body: told })
}

/// What the description itself shows as the good answer of an operation.
pub(crate) fn example(path: &str, method: &str, status: &str) -> Value {
    let example = DESCRIPTION["paths"][path][method]["responses"][status].clone();
    assert!(!example.is_null(), "{method} {path} has no example of {status}");
    example
}

fn matched(pattern: &str, path: &str) -> Option<BTreeMap<String, String>> {
    let (wanted, parts): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    if wanted.len() != parts.len() {
        return None;
    }
    let mut given = BTreeMap::new();
    for (wanted, part) in wanted.iter().zip(parts) {
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => drop(given.insert(name.to_string(), unescaped(part))),
            None if *wanted == part => {}
            None => return None,
        }
    }
    Some(given)
}

/// Checks a value against the parts of JSON Schema that the description uses for what is sent.
fn check(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        _ => return Err(format!("{at}: the check does not know {schema}")),
    };
    if !fits {
        return Err(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{at}: {value} is none of {allowed:?}"));
    }
    for needed in schema["required"].as_array().into_iter().flatten() {
        if value[needed.as_str().unwrap()].is_null() {
            return Err(format!("{at}: {needed} is missing"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match &schema["properties"][key] {
            Value::Null => return Err(format!("{at}: nothing is called {key}")),
            schema => check(schema, inner, key)?,
        }
    }
    Ok(())
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            b'+' => bytes.push(b' '),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}
