//! The OpenAPI document: made from the table of operations, whole, and kept as a file that shows every change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::world::World;

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, told)| (format!("{} {path}", method.to_uppercase()), told))
        })
        .collect()
}

/// Every `$ref` in a document.
fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// The document is kept in the repository so that a change of the API shows in review. Set `FORGE_BLESS` to
/// write it anew.
#[test]
fn the_document_is_the_one_that_was_reviewed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let made = format!("{}\n", serde_json::to_string_pretty(forge_server::openapi()).unwrap());
    if std::env::var_os("FORGE_BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "the API has changed: FORGE_BLESS=1 cargo test -p forge-server openapi, and read the diff"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn it_describes_exactly_what_is_served() {
    let world = World::new().await;
    let document = world.get("/api/openapi.json").json();
    assert_eq!(&document, forge_server::openapi());
    let described: BTreeSet<String> = operations(&document).into_iter().map(|(route, _)| route).collect();
    let routes = world.get("/api/routes").json();
    let served = routes["routes"].as_array().unwrap().iter().filter(|route| route["served"] == true);
    let served: BTreeSet<String> =
        served.map(|route| format!("{} {}", route["method"], route["path"]).replace('"', "")).collect();
    assert_eq!(described, served);
}

#[test]
fn every_operation_has_a_name_of_its_own_and_a_sentence() {
    let mut names = BTreeMap::new();
    for (route, told) in operations(forge_server::openapi()) {
        let name = told["operationId"].as_str().unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{route}: {name}");
        assert_eq!(names.insert(name, route.clone()), None, "{name} names two routes");
        let summary = told["summary"].as_str().unwrap();
        assert!(summary.ends_with('.') && summary.len() > 8, "{route}: {summary}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let mut found = BTreeSet::new();
    references(forge_server::openapi(), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(forge_server::openapi().pointer(pointer).is_some(), "{reference}");
    }
}
