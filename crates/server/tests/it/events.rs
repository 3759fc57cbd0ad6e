//! Everything that changes, as server-sent events.

use serde_json::json;

use crate::world::{GRACE, World, id, least_of_three};

fn make_task(world: &World, project: &str, title: &str) -> String {
    id(&world.post("/api/tasks", &json!({"project_id": project, "title": title})).data())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_starts_now_and_tells_each_change_with_its_number() {
    let world = World::new().await;
    let project = world.project();
    let before = make_task(&world, &project, "before");
    let mut events = world.events(&[], "");
    let first = events.next().unwrap();
    assert!(first.id.is_some() && first.data.is_empty(), "only the position: {first:?}");

    let task = make_task(&world, &project, "after");
    let event = events.next().unwrap();
    assert_eq!(event.name, "json_patch");
    assert!(event.id > first.id);
    assert_eq!(event.operations(), [format!("add /tasks/{task}")]);
    assert!(event.data.contains("\"attempt_count\":0"), "a task comes with its flags: {}", event.data);

    world.put(&format!("/api/tasks/{before}"), &json!({"title": "changed"})).data();
    assert_eq!(events.next().unwrap().operations(), [format!("replace /tasks/{before}")]);
    world.send("DELETE", &format!("/api/tasks/{task}"), &[], b"").data();
    assert_eq!(events.next().unwrap().operations(), [format!("remove /tasks/{task}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_back_gets_each_thing_once_in_its_newest_form() {
    let world = World::new().await;
    let project = world.project();
    let position = world.events(&[], "").next().unwrap().id.unwrap().to_string();
    let task = make_task(&world, &project, "one");
    world.put(&format!("/api/tasks/{task}"), &json!({"title": "two"})).data();
    for (headers, query) in [
        (vec![("Last-Event-ID", position.as_str())], String::new()),
        (vec![], format!("?after={position}")),
        (vec![("Last-Event-ID", position.as_str())], "?after=0".to_string()),
    ] {
        let event = world.events(&headers, &query).next().unwrap();
        assert_eq!(event.operations(), [format!("add /tasks/{task}")]);
        assert!(event.data.contains("\"two\"") && !event.data.contains("\"one\""), "{}", event.data);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_position_that_is_not_ours_asks_the_reader_to_start_over() {
    let world = World::new().await;
    let project = world.project();
    for unknown in ["999999", "-5", "banana"] {
        let mut events = world.events(&[("Last-Event-ID", unknown)], "");
        let event = events.next().unwrap();
        assert_eq!(event.name, "resync", "{unknown}");
        assert!(event.id.is_some());
        let task = make_task(&world, &project, "next");
        assert_eq!(events.next().unwrap().operations(), [format!("add /tasks/{task}")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_is_told_with_its_task_attempt_and_run() {
    let world = World::new().await;
    let project = world.project();
    let mut events = world.events(&[], "");
    events.next().unwrap();
    let started = world.start(&project, "Talk", "ask go on?");
    let attempt = started["attempt_id"].as_str().unwrap();
    let run = id(&world.run_of(attempt));
    let mut wanted = vec![
        format!("add /tasks/{}", id(&started)),
        format!("add /task_attempts/{attempt}"),
        format!("add /execution_processes/{run}"),
    ];
    let mut asked = false;
    while !wanted.is_empty() || !asked {
        let event =
            events.next().unwrap_or_else(|| panic!("the stream ended before {wanted:?}, asked: {asked}"));
        if event.name == "task_attempt_update" {
            continue;
        }
        let operations = event.operations();
        wanted.retain(|operation| !operations.contains(operation));
        asked |= operations.iter().any(|operation| operation.starts_with("add /approvals/"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_changes_is_told_with_its_status_title_and_task() {
    let world = World::new().await;
    let project = world.project();
    let position = world.events(&[], "").next().unwrap().id.unwrap();
    let started = world.start(&project, "Talk", "say hi");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let mut events = world.events(&[], &format!("?after={position}"));
    loop {
        let update = events.next().unwrap();
        assert_eq!(update.name, "task_attempt_update");
        // Without a number: a client that is cut off between the two hears both again.
        assert_eq!(update.id, None);
        let told: serde_json::Value = serde_json::from_str(&update.data).unwrap();
        assert!(
            told["id"] == attempt && told["title"] == "Talk" && told["task_id"] == started["id"],
            "{told}"
        );
        let patch = events.next().unwrap();
        assert_eq!(patch.name, "json_patch");
        assert!(patch.id > Some(position));
        assert!(patch.data.contains(attempt));
        if told["status"] == "completed" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_the_server_ends_the_stream_and_is_not_held_up() {
    let took = least_of_three(async || {
        let mut world = World::new().await;
        let mut events = world.events(&[], "");
        events.next().unwrap();
        let took = world.stop().await;
        assert_eq!(events.next(), None);
        took
    });
    let took = took.await;
    assert!(took < GRACE, "the stop took {took:?}");
}
