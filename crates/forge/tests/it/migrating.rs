//! Sessions of the older Genie command line, moved here and back.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::world::{Running, World};

const STORE: &str = ".genie/state/agents/sessions.json";

/// A store of version 2 with one session of each kind, written in a way that no program would write it again.
fn store() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let day = |ago: u64| {
        let at = now - Duration::from_secs(ago * 24 * 60 * 60);
        forge_day(at.as_secs())
    };
    format!(
        r#"{{ "version": 2,
  "sessions": {{
    "aaaa-1": {{"agent": "implementor", "name": "implementor-1", "created": "{old}", "lastUsed": "{old}", "status": "running", "lastPrompt": "Make it work", "executor": "codex", "odd": [1,   2]}},
    "bbbb-2": {{"agent": "reviewer", "created": "{new}", "status": "completed"}},
    "cccc-3": {{"agent": "reviewer", "created": "{old}", "status": "completed"}},
    "dddd-4": {{"status": "failed"}}
  }}
}}
"#,
        old = day(30),
        new = day(1)
    )
}

/// Writes a moment as the older tool did.
fn forge_day(seconds: u64) -> String {
    // Days since 1970 as a date: the way of the civil calendar, which needs no library.
    let days = i64::try_from(seconds / 86_400).unwrap() + 719_468;
    let era = days.div_euclid(146_097);
    let doe = days.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T12:00:00.000Z")
}

fn world(text: &str) -> (World, Running, PathBuf) {
    let world = World::new();
    let path = world.repository().join(STORE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let server = world.serve();
    (world, server, path)
}

#[test]
fn sessions_are_moved_with_counts_and_a_rollback_restores_every_byte() {
    let text = store();
    let (world, _server, path) = world(&text);
    let counts = |told: &Value| {
        ["processed", "created", "archived", "skipped", "errors"].map(|key| told[key].as_u64().unwrap())
    };
    let dry = world.json(&["migrate", "--dry-run"]);
    assert_eq!(counts(&dry), [4, 2, 2, 0, 0], "{dry}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "a dry run changes nothing");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(world.json(&["status"])["projects"], 0);

    let done = world.json(&["migrate", "--execute"]);
    assert_eq!(counts(&done), [4, 2, 2, 0, 0], "{done}");
    assert!(done["warnings"][0].as_str().unwrap().contains("dddd-4"), "{done}");
    let tasks = world.json(&["list", "tasks"]);
    let titles: Vec<&str> =
        tasks.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"implementor: implementor-1"), "{titles:?}");
    let of =
        |title: &str| tasks.as_array().unwrap().iter().find(|task| task["title"] == title).unwrap().clone();
    let moved = of("implementor: implementor-1");
    assert_eq!(moved["status"], "todo");
    let about = moved["description"].as_str().unwrap();
    assert!(about.contains("Make it work") && about.contains("Moved from Genie session aaaa-1"), "{about}");
    assert_eq!(of("reviewer: bbbb-2")["status"], "done");
    let archive = fs::read_to_string(path.with_file_name("sessions-archive.json")).unwrap();
    assert!(
        archive.contains("cccc-3") && archive.contains("dddd-4") && !archive.contains("aaaa-1"),
        "{archive}"
    );
    assert_ne!(fs::read_to_string(&path).unwrap(), text);
    let again = world.run(&["migrate", "--execute"]);
    assert_eq!(again.code, Some(4), "{again:?}");

    let back = world.run(&["migrate", "--rollback"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
    assert!(!path.with_file_name("sessions-archive.json").exists());
    assert!(back.stdout.contains("of session aaaa-1 stays"), "{back:?}");
    assert_eq!(world.run(&["migrate", "--rollback"]).code, Some(3));

    // Moved once more, the tasks that stayed are found again.
    let third = world.json(&["migrate", "--execute"]);
    assert_eq!(counts(&third), [4, 0, 2, 2, 0], "{third}");
    assert_eq!(world.json(&["list", "tasks"]).as_array().unwrap().len(), 2);
}

#[test]
fn sessions_of_versions_1_and_2_are_listed_before_they_are_moved() {
    let (world, _server, path) = world(&store());
    let listed = world.run(&["list", "sessions"]);
    for id in ["aaaa-1", "bbbb-2", "cccc-3"] {
        assert!(listed.stdout.contains(id), "{listed:?}");
    }
    fs::write(&path, r#"{"agents": {"plan": {"created": "2025-10-01T00:00:00Z", "sessionId": "first-1"}}}"#)
        .unwrap();
    let listed = world.json(&["list", "sessions"]);
    assert_eq!((listed[0]["id"].as_str(), listed[0]["agent"].as_str()), (Some("first-1"), Some("plan")));
}

#[test]
fn a_store_that_cannot_be_read_is_refused_and_left_as_it_is() {
    let (world, _server, path) = world("{ not json");
    for act in ["--dry-run", "--execute"] {
        let ended = world.run(&["migrate", act]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("is not JSON"), "{ended:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ not json");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}
