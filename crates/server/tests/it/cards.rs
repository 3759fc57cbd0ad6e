//! What the board asks for beside the lists: cards, notes about attempts, comments, parts of diffs, finding.

use serde_json::{Value, json};

use crate::world::{World, eventually, id};

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_is_seen_put_aside_and_taken_back() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Seen", "say hello")["attempt"]);
    let done = world.wait_for(&attempt, "finished");
    for key in
        ["seen_at", "dismissed_at", "later_until", "activity", "preparing", "pull_request", "dev_server"]
    {
        assert_eq!(done[key], Value::Null, "{key}");
    }
    assert!(done["state_since"].as_str().unwrap() >= done["created_at"].as_str().unwrap());
    let path = format!("/api/task-attempts/{attempt}");
    assert!(world.post(&format!("{path}/seen"), &json!({})).data()["seen_at"].is_string());
    let dismiss = |body: &Value| world.post(&format!("{path}/dismiss"), body);
    assert!(dismiss(&json!({})).data()["dismissed_at"].is_string());
    let later = dismiss(&json!({"until": "2030-01-31T18:00:00+01:00"})).data();
    assert_eq!(later["later_until"], "2030-01-31T17:00:00.000Z");
    assert!(later["dismissed_at"].is_string());
    let back = dismiss(&json!({"undo": true})).data();
    assert_eq!((&back["dismissed_at"], &back["later_until"]), (&Value::Null, &Value::Null));
    assert!(world.attempt(&attempt)["seen_at"].is_string());
    assert!(dismiss(&json!({"until": "tomorrow"})).refusal(422).contains("`until`"));
    let both = json!({"until": "2030-01-31T17:00:00Z", "undo": true});
    assert!(dismiss(&both).refusal(422).contains("`undo`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_are_written_changed_sent_and_deleted() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Reviewed", "edit a.txt hello")["attempt"]);
    world.wait_for(&attempt, "finished");
    let path = format!("/api/task-attempts/{attempt}/comments");
    let new = json!({"path": "a.txt", "side": "new", "line": 1, "end_line": null, "quote": "hello", "text": "Why?"});
    let comment = world.post(&path, &new).data();
    assert_eq!((&comment["end_line"], &comment["sent_at"]), (&json!(1), &Value::Null));
    let one = format!("{path}/{}", id(&comment));
    assert_eq!(world.put(&one, &json!({"text": "Why so?"})).data()["quote"], "hello");
    assert_eq!(world.get(&path).data()[0]["text"], "Why so?");
    assert_eq!(world.attempt(&attempt)["comments"], 1);
    let sent = world.post(&format!("{path}/sent"), &json!({"ids": [id(&comment)]})).data();
    assert!(sent[0]["sent_at"].is_string());
    assert_eq!(world.attempt(&attempt)["comments"], 0);
    // The other way: the message takes them along.
    let other = world.post(&path, &new).data();
    let follow_up = format!("/api/task-attempts/{attempt}/follow-up");
    let message = json!({"prompt": "say because", "comment_ids": [id(&other)]});
    world.post(&follow_up, &message).data();
    assert_eq!(world.attempt(&attempt)["comments"], 0);
    assert!(world.post(&follow_up, &message).refusal(409).contains("was sent to the agent already"));
    let wrong = json!({"prompt": "say because", "comment_ids": "all"});
    assert!(world.post(&follow_up, &wrong).refusal(422).contains("`comment_ids`"));
    world.wait_for(&attempt, "finished");
    world.call("DELETE", &format!("{path}/{}", id(&other)), &[], None).data();
    for (body, told) in [
        (json!({"path": "a.txt", "text": "x"}), "`line`"),
        (json!({"path": "a.txt", "line": 1, "text": " "}), "`text`"),
        (json!({"path": "a.txt", "line": 1, "text": "x", "side": "both"}), "`side`"),
        (json!({"line": 1, "text": "x"}), "`path`"),
        (json!({"path": "a.txt", "line": 1, "text": "x".repeat(21_000)}), "20 KB"),
    ] {
        assert!(world.post(&path, &body).refusal(422).contains(told), "{body}");
    }
    world.call("DELETE", &one, &[], None).data();
    world.call("DELETE", &one, &[], None).refusal(404);
    assert_eq!(world.get(&path).data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_is_given_in_parts_and_by_turns() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Parts", "edit a.txt one\nedit b.txt two")["attempt"]);
    world.wait_for(&attempt, "finished");
    let path = format!("/api/task-attempts/{attempt}/diff");
    let card = eventually(|| Some(world.attempt(&attempt)).filter(|it| it["files_changed"] == 2));
    assert_eq!((&card["lines_added"], &card["lines_deleted"]), (&json!(2), &json!(0)));
    let paths = |query: &str| {
        let diff = world.get(&format!("{path}{query}")).data();
        let name = |diff: &Value| diff["newPath"].as_str().unwrap_or_default().to_string();
        (diff["diffs"].as_array().unwrap().iter().map(name).collect::<Vec<_>>(), diff)
    };
    let (all, stats) = paths("?stats_only=true");
    assert_eq!(all, ["a.txt", "b.txt"]);
    assert_eq!(stats["diffs"][0]["contentOmitted"], true);
    let (one, whole) = paths("?path=b.txt");
    assert_eq!((one, &whole["diffs"][0]["newContent"]), (vec!["b.txt".to_string()], &json!("two\n")));
    assert_eq!(paths("?path=b.txt&path=a.txt&path=gone").0, ["a.txt", "b.txt"]);
    let snapshot = id(&world.get(&format!("/api/task-attempts/{attempt}/snapshots")).data()[0]);
    let (turn, told) = paths(&format!("?from=start&to={snapshot}"));
    assert_eq!((turn.len(), &told["of"]), (2, &json!("snapshots")));
    assert_eq!(paths(&format!("?from={snapshot}&to=now&stats_only=true")).0, Vec::<String>::new());
    assert!(world.get(&format!("{path}?to={snapshot}")).refusal(400).contains("`from`"));
    assert!(world.get(&format!("{path}?from=nothing")).refusal(404).contains("nothing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_looked_at_anywhere_and_searched() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Long", "lines 50 0\nsay a needle")["attempt"]);
    world.wait_for(&attempt, "finished");
    let run = id(&world.run_of(&attempt));
    let path = format!("/api/task-attempts/{attempt}/entries");
    let last = world.get(&format!("{path}?limit=5")).data();
    let total = last["total"].as_u64().unwrap();
    assert_eq!(last["runs"], json!([{"id": run, "entries": total, "is_over": true, "after": null}]));
    assert_eq!(
        (&last["has_newer"], &last["after"], &last["hits"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    let indexes = |window: &Value| -> Vec<u64> {
        window["entries"].as_array().unwrap().iter().map(|entry| entry["index"].as_u64().unwrap()).collect()
    };
    let around = world.get(&format!("{path}?around={run}:20&limit=4")).data();
    assert_eq!(indexes(&around), [18, 19, 20, 21]);
    assert_eq!(around["after"], format!("{run}:21"));
    let after = world.get(&format!("{path}?after={run}:21&limit=3")).data();
    assert_eq!(indexes(&after), [22, 23, 24]);
    assert_eq!((&after["has_more"], &after["has_newer"]), (&json!(true), &json!(true)));
    let found = world.get(&format!("{path}?find=NEEDLE&limit=1")).data();
    let hit = &found["hits"][0];
    assert_eq!((&hit["execution_process_id"], &hit["index"]), (&json!(run), &json!(total - 1)));
    assert!(hit["snippet"].as_str().unwrap().contains("a needle"), "{found}");
    let before = found["before"].as_str().unwrap();
    let first = world.get(&format!("{path}?find=needle&before={before}")).data();
    assert_eq!(first["hits"].as_array().unwrap().len(), 1, "the prompt has it too: {first}");
    assert_eq!(first["before"], Value::Null);
    for query in
        [format!("?before={run}:1&after={run}:1"), "?around=7".to_string(), "?find=x&limit=0".to_string()]
    {
        world.get(&format!("{path}{query}")).refusal(400);
    }
    for place in ["after", "around"] {
        let why = world.get(&format!("{path}?find=needle&{place}={run}:1")).refusal(400);
        assert!(why.contains("`find` looks back from `before`"), "{why}");
    }
    let elsewhere = format!("{path}?around={}:1", forge_model::RunId::random());
    assert!(world.get(&elsewhere).refusal(422).contains("`around`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_put_above_another_or_last() {
    let world = World::new().await;
    let project = world.project();
    let create =
        |title: &str| id(&world.post("/api/tasks", &json!({"project_id": project, "title": title})).data());
    let (first, second) = (create("first"), create("second"));
    let place = |task: &str| {
        let tasks = world.get(&format!("/api/tasks?project_id={project}")).data();
        let found = tasks.as_array().unwrap().iter().find(|it| it["id"] == task).unwrap().clone();
        found["position"].as_i64().unwrap()
    };
    assert!(place(&second) < place(&first), "the newest is on top");
    let put = |task: &str, body: Value| world.put(&format!("/api/tasks/{task}"), &json!({"position": body}));
    put(&first, json!({"before": second})).data();
    assert!(place(&first) < place(&second));
    put(&first, json!({"before": null})).data();
    assert!(place(&first) > place(&second));
    assert!(put(&first, json!({})).refusal(422).contains("position.before"));
    assert!(put(&first, json!(7)).refusal(422).contains("`position`"));
    let nobody = forge_model::TaskId::random();
    assert!(put(&first, json!({"before": nobody})).refusal(422).contains("position.before"));
    let started = world.start(&project, "third", "say hello");
    let tasks = world.get(&format!("/api/tasks?project_id={project}")).data();
    let third = tasks.as_array().unwrap().iter().find(|task| task["id"] == started["id"]).unwrap().clone();
    assert_eq!(third["last_attempt_id"], started["attempt_id"]);
}
