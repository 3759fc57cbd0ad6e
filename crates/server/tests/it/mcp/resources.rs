//! Resources and prompts: what is read by its address, news of it, and texts to begin with.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::client::Mcp;
use crate::world::World;

fn read(client: &mut Mcp<'_>, uri: &str) -> (String, String) {
    let answer = client.request("resources/read", json!({"uri": uri}));
    let contents = &answer["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{answer}");
    let text = |key: &str| contents[key].as_str().unwrap().to_string();
    (text("mimeType"), text("text"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_an_attempt_its_log_and_its_diff_are_read_by_their_addresses() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Read me", "edit one.txt 1\nsay all done");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let mut client = Mcp::new(&world);
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 4, "{templates}");
    let (kind, text) =
        read(&mut client, &format!("forge://task/{}", started["task"]["id"].as_str().unwrap()));
    let task: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((kind.as_str(), &task["title"]), ("application/json", &json!("Read me")));
    let (_, text) = read(&mut client, &format!("forge://attempt/{attempt}"));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["state"], "finished");
    let (kind, text) = read(&mut client, &format!("forge://attempt/{attempt}/log"));
    assert!(kind == "text/plain" && text.contains("[agent] all done"), "{text}");
    let (_, text) = read(&mut client, &format!("forge://attempt/{attempt}/diff"));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["diffs"][0]["newPath"], "one.txt");
    for uri in
        ["forge://attempt/banana", "file:///etc/passwd", "forge://task/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c"]
    {
        assert!(client.request("resources/read", json!({"uri": uri}))["error"].is_object(), "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_subscribes_hears_that_an_attempt_has_changed() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Follow me", "hang");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "running");
    let mut client = Mcp::new(&world);
    let listed = client.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["name"], "Follow me", "{listed}");
    let uri = format!("forge://attempt/{attempt}");
    let mut news = world.connect();
    let head = format!(
        "GET /mcp HTTP/1.0\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {}\r\n\r\n",
        world.address,
        client.session()
    );
    news.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(news).lines();
    let status = lines.next().unwrap().unwrap();
    assert!(status.contains("200"), "{status}");
    assert!(client.request("resources/subscribe", json!({"uri": uri}))["result"].is_object());
    client.call("stop_task_attempt", json!({"attempt_id": attempt})).unwrap();
    let told = lines.map(Result::unwrap).find_map(|line| {
        let message: Value = serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()?;
        (message["method"] == "notifications/resources/updated").then_some(message)
    });
    assert_eq!(told.unwrap()["params"]["uri"], uri);
    assert!(client.request("resources/unsubscribe", json!({"uri": uri}))["result"].is_object());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_genie_prompts_are_listed_and_filled_in() {
    let world = World::new().await;
    let mut client = Mcp::new(&world);
    let listed = client.request("prompts/list", json!({}));
    let names: Vec<&str> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let all =
        ["plan", "wish", "forge", "review", "genie", "consensus", "debug", "thinkdeep", "analyze", "prompt"];
    assert_eq!(names, all);
    let filled =
        client.request("prompts/get", json!({"name": "review", "arguments": {"scope": "attempt 7"}}));
    let text = filled["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("attempt 7"), "{text}");
    let missing = client.request("prompts/get", json!({"name": "review", "arguments": {}}));
    assert!(missing["error"]["message"].as_str().unwrap().contains("`scope`"), "{missing}");
}
