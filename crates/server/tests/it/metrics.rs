//! `/metrics`: the text is what Prometheus reads, the figures move, and nothing of a person's is in it.

use std::collections::BTreeMap;

use crate::world::{World, eventually, id};

/// Reads the exposition: each series with its value. Every line must be one, or a comment of a known kind.
fn read(world: &World) -> BTreeMap<String, f64> {
    let answer = world.get("/metrics");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let mut series = BTreeMap::new();
    let mut family = String::new();
    for line in answer.text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (word, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(word == "HELP" || ["counter", "gauge", "histogram"].contains(&rest), "{line}");
            family = name.to_string();
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with(&family), "{line} is not of {family}");
        assert!(!name.contains('{') || name.ends_with("\"}"), "{line}");
        let twice = series.insert(name.to_string(), value.parse().unwrap());
        assert!(twice.is_none(), "{name} stands there twice");
    }
    series
}

fn figure(world: &World, name: &str) -> f64 {
    read(world).get(name).copied().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_template_and_never_by_what_was_asked_for() {
    let world = World::new().await;
    let none = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    for _ in 0..3 {
        world.get(&format!("/api/task-attempts/{none}")).refusal(404);
    }
    world.get("/api/secret-of-mine").refusal(404);
    world.send("BREW", "/api/projects", &[], b"");
    let series = read(&world);
    let told = |labels: &str| series.get(&format!("forge_http_requests_total{{{labels}}}")).copied();
    let missing = "route=\"/api/task-attempts/{attempt_id}\",method=\"GET\",status=\"4xx\"";
    assert_eq!(told(missing), Some(3.0), "{series:#?}");
    assert_eq!(told("route=\"none\",method=\"GET\",status=\"4xx\""), Some(1.0));
    assert_eq!(told("route=\"/api/projects\",method=\"other\",status=\"4xx\""), Some(1.0));
    let all = format!("forge_http_request_duration_seconds_bucket{{{missing},le=\"+Inf\"}}");
    assert_eq!(series.get(&all), Some(&3.0));
    assert!(series.keys().all(|name| !name.contains(none) && !name.contains("secret")), "{series:#?}");
    let version = format!("forge_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(series.get(&version), Some(&1.0));
    assert!(series["process_resident_memory_bytes"] > 1e6 && series["forge_start_time_seconds"] > 1.7e9);
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_events_commits_and_open_streams_move() {
    let world = World::new().await;
    let before = read(&world);
    let project = world.project();
    let task = world.start(&project, "Mine", "hang");
    let attempt = task["attempt_id"].as_str().unwrap();
    let run = id(&world.run_of(attempt));
    eventually(|| (figure(&world, "forge_attempts{state=\"running\"}") == 1.0).then_some(()));
    let after = read(&world);
    assert_eq!(before["forge_attempts{state=\"running\"}"], 0.0);
    assert!(after["forge_events_seq"] > before["forge_events_seq"]);
    assert!(after["forge_store_commits_total"] > before["forge_store_commits_total"]);

    let socket =
        "forge_streams_open{kind=\"websocket\",route=\"/api/execution-processes/{run_id}/raw-logs/ws\"}";
    let events = "forge_streams_open{kind=\"sse\",route=\"/api/events\"}";
    let one = world.socket(&format!("/api/execution-processes/{run}/raw-logs/ws"));
    let two = world.events(&[], "");
    eventually(|| (figure(&world, socket) == 1.0 && figure(&world, events) == 1.0).then_some(()));
    drop((one, two));
    // The server notices that a reader of events is gone when it writes to it.
    eventually(|| {
        world.post("/api/tags", &serde_json::json!({"tag_name": uuid(), "content": "x"}));
        (figure(&world, socket) == 0.0 && figure(&world, events) == 0.0).then_some(())
    });
}

/// A name that no tag has yet.
fn uuid() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("tag{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
