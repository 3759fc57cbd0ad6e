//! The same acts by requests and by tools leave the same behind.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Value, json};

use super::client::Mcp;
use crate::world::World;

/// Keys whose value is another each time, or is added up in the background.
const DIFFERENT: [&str; 23] = [
    // Of the data directory.
    "born",
    "device",
    "inode",
    "completed_at",
    "created_at",
    "files_changed",
    "hash",
    "last",
    "lines_added",
    "lines_deleted",
    "position",
    "removed_at",
    "resumed_session",
    "seen_at",
    "seq",
    "session",
    "session_id",
    "setup_completed_at",
    "started_at",
    "state_since",
    "stretches",
    "timestamp",
    "updated_at",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_same_scenario_through_requests_and_through_tools_leaves_the_same_rows() {
    let (by_requests, by_tools) = (World::new().await, World::new().await);
    let repository = by_requests.repository("repository");
    requests(&by_requests, &repository.to_string_lossy());
    let repository = by_tools.repository("repository");
    tools(&by_tools, &repository.to_string_lossy());
    let (one, other) = (everything(&by_requests), everything(&by_tools));
    assert!(one["board"]["attempts"].as_array().unwrap().len() == 2, "{one}");
    let mut places = Vec::new();
    differing("", &one, &other, &mut places);
    assert!(places.is_empty(), "{places:#?}");
}

/// Names each place at which two values are not the same.
fn differing(place: &str, one: &Value, other: &Value, places: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            one.iter()
                .for_each(|(key, value)| differing(&format!("{place}/{key}"), value, &other[key], places));
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let both = one.iter().zip(other).enumerate();
            both.for_each(|(at, (one, other))| differing(&format!("{place}/{at}"), one, other, places));
        }
        _ if one == other => {}
        _ => places.push(format!("{place}: {one} and {other}")),
    }
}

fn requests(world: &World, repository: &str) {
    world.put("/api/config", &json!({"theme": "LIGHT"}));
    let project = world.post("/api/projects", &json!({"name": "demo", "git_repo_path": repository})).data();
    let project = project["id"].as_str().unwrap();
    world.put(&format!("/api/projects/{project}"), &json!({"cleanup_script": "true"})).data();
    let task =
        world.post("/api/tasks", &json!({"project_id": project, "title": "First", "description": "say 1"}));
    let task = task.data()["id"].as_str().unwrap().to_string();
    world
        .put(&format!("/api/tasks/{task}"), &json!({"title": "The first", "description": "edit one.txt 1"}))
        .data();
    let body =
        json!({"task_id": task, "executor_profile_id": {"executor": "SCRIPTED"}, "base_branch": "main"});
    let first = world.post("/api/task-attempts", &body).data()["id"].as_str().unwrap().to_string();
    world.wait_for(&first, "finished");
    let second = world.start(project, "Second", "say two")["attempt_id"].as_str().unwrap().to_string();
    world.wait_for(&second, "finished");
    world.post(&format!("/api/task-attempts/{second}/follow-up"), &json!({"prompt": "hang"})).data();
    world.post(&format!("/api/task-attempts/{second}/stop"), &json!({})).data();
    world.wait_for(&second, "stopped");
    world.post(&format!("/api/task-attempts/{first}/merge"), &json!({})).data();
    let gone = world.post("/api/tasks", &json!({"project_id": project, "title": "Gone"})).data();
    world.call("DELETE", &format!("/api/tasks/{}", gone["id"].as_str().unwrap()), &[], None);
}

fn tools(world: &World, repository: &str) {
    let mut client = Mcp::new(world);
    let mut call = |tool: &str, arguments: Value| client.call(tool, arguments).unwrap();
    call("update_config", json!({"config": {"theme": "LIGHT"}}));
    let project =
        call("create_project", json!({"name": "demo", "git_repo_path": repository}))["project_id"].clone();
    call("update_project", json!({"project_id": project, "cleanup_script": "true"}));
    let task = call("create_task", json!({"project_id": project, "title": "First", "description": "say 1"}));
    let task = task["task_id"].clone();
    call("update_task", json!({"task_id": task, "title": "The first", "description": "edit one.txt 1"}));
    let first =
        call("start_task_attempt", json!({"task_id": task, "executor": "SCRIPTED", "base_branch": "main"}));
    let first = first["attempt_id"].clone();
    let mut finished = |attempt: &Value| {
        let waited = call("wait_for_attempt", json!({"attempt_id": attempt, "timeout_seconds": 30}));
        assert_eq!(waited["state"], "finished", "{waited}");
    };
    finished(&first);
    let start = json!({
        "project_id": project, "task": {"title": "Second", "description": "say two"}, "executor": "SCRIPTED",
        "base_branch": "main",
    });
    let second = client.call("create_and_start_task", start).unwrap()["attempt_id"].clone();
    let mut call = |tool: &str, arguments: Value| client.call(tool, arguments).unwrap();
    call("wait_for_attempt", json!({"attempt_id": second, "timeout_seconds": 30}));
    call("follow_up", json!({"attempt_id": second, "message": "hang"}));
    call("stop_task_attempt", json!({"attempt_id": second}));
    world.wait_for(second.as_str().unwrap(), "stopped");
    call("merge_task_attempt", json!({"attempt_id": first}));
    let gone = call("create_task", json!({"project_id": project, "title": "Gone"}));
    call("delete_task", json!({"task_id": gone["task_id"]}));
}

/// Everything that can be read, with what is different each time made the same.
fn everything(world: &World) -> Value {
    let board = world.get("/api/board").data();
    let mut runs = Vec::new();
    for attempt in board["attempts"].as_array().unwrap() {
        let id = attempt["id"].as_str().unwrap();
        runs.push(world.get(&format!("/api/execution-processes?task_attempt_id={id}")).data());
        runs.push(world.get(&format!("/api/task-attempts/{id}/entries")).data());
    }
    let mut all = json!({
        "rows": rows(&world.dir.path().join("home/forge.db")),
        "board": board,
        "projects": world.get("/api/projects").data(),
        "config": world.get("/api/config").data(),
        "runs": runs,
        "removed": world.get("/api/removed").data(),
    });
    let mut seen = Vec::new();
    plain(&mut all, &world.dir.path().to_string_lossy(), &mut seen);
    all
}

/// Every row of every table, but for what is counted on and what is under way.
fn rows(database: &Path) -> Value {
    let database = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let tables = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not in \
                  ('events', 'seqs', 'starts') order by name";
    let mut tables = database.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    tables
        .map(|table| {
            let table = table.unwrap();
            let mut all = database.prepare(&format!("select * from {table} order by rowid")).unwrap();
            let columns: Vec<String> = all.column_names().map(String::from).collect();
            let of = |row: &Row<'_>| {
                let cells =
                    columns.iter().enumerate().map(|(at, name)| (name.clone(), cell(row.get_ref_unwrap(at))));
                Ok(Value::Object(cells.collect()))
            };
            let found: Vec<Value> = all.query_map([], of).unwrap().map(Result::unwrap).collect();
            (table, Value::Array(found))
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// What stands in a column; text that is JSON as what it says.
fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            serde_json::from_slice(text).unwrap_or_else(|_| String::from_utf8_lossy(text).into_owned().into())
        }
    }
}

/// Gives ids the number in which they appear, and takes out times, commits and places.
fn plain(value: &mut Value, place: &str, seen: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !DIFFERENT.contains(&key.as_str()));
            map.values_mut().for_each(|value| plain(value, place, seen));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| plain(value, place, seen)),
        Value::String(text) => {
            let words: Vec<String> = text
                .replace(place, "")
                .split_inclusive(['/', ':', ' '])
                .map(|word| {
                    let bare = word.trim_end_matches(['/', ':', ' ']);
                    let is_name = bare.len() >= 36 && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
                    // A branch begins with four digits of its attempt.
                    let is_branch = bare.len() > 5
                        && bare.as_bytes()[4] == b'-'
                        && bare[..4].chars().all(|c| c.is_ascii_hexdigit());
                    match (is_name, is_branch) {
                        (true, _) => {
                            let number = seen.iter().position(|known| known == bare).unwrap_or_else(|| {
                                seen.push(bare.to_string());
                                seen.len() - 1
                            });
                            word.replace(bare, &format!("#{number}"))
                        }
                        (false, true) => word.replace(&bare[..4], "####"),
                        _ => word.to_string(),
                    }
                })
                .collect();
            *text = words.concat();
        }
        _ => {}
    }
}
