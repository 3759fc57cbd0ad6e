//! The table of routes and the router agree, and what is not served yet says so.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::world::World;

const ROUTES: &str = include_str!("../../routes.txt");

/// The table as `/api/routes` tells it: `METHOD /path`, and whether it is served.
fn told(world: &World) -> Vec<(String, bool)> {
    let answer = world.get("/api/routes");
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert!(json["success"].is_null(), "it is bare: {json}");
    let route = |route: &Value| {
        let text = |key: &str| route[key].as_str().unwrap().to_string();
        (format!("{} {}", text("method"), text("path")), route["served"].as_bool().unwrap())
    };
    json["routes"].as_array().unwrap().iter().map(route).collect()
}

/// Fills the parameters of a path with an id that names nothing.
fn filled(path: &str) -> String {
    let fill = |part| if str::starts_with(part, '{') { "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c" } else { part };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_router_takes_exactly_the_methods_of_the_table() {
    let world = World::new().await;
    let mut table = BTreeMap::<&str, BTreeSet<String>>::new();
    for (method, path) in ROUTES.lines().map(|line| line.split_once(' ').unwrap()) {
        table.entry(path).or_default().insert(method.to_lowercase());
    }
    for (path, methods) in table {
        // A method that no route takes is answered with those that one takes, and changes nothing.
        let answer = world.send("PATCH", &filled(path), &[], b"");
        assert_eq!(answer.status, 405, "{path} is not served: {answer:?}");
        let allowed = answer.header("allow").unwrap_or_else(|| panic!("{path}: {answer:?}"));
        let allowed: BTreeSet<String> =
            allowed.split(',').filter(|method| *method != "head").map(str::to_string).collect();
        assert_eq!(allowed, methods, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_is_told_whole() {
    let world = World::new().await;
    let mut told: Vec<String> = told(&world).into_iter().map(|(route, _)| route).collect();
    told.sort();
    let mut table: Vec<&str> = ROUTES.lines().collect();
    table.sort();
    assert_eq!(told, table);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_served_never_says_that_it_is_not() {
    let world = World::new().await;
    // The stream of events does not end; its own tests read it.
    for (route, _) in told(&world).into_iter().filter(|(route, served)| *served && route != "GET /api/events")
    {
        let (method, path) = route.split_once(' ').unwrap();
        let answer = world.send(method, &filled(path), &[], b"");
        assert_ne!(answer.status, 501, "{route}: {answer:?}");
    }
}
