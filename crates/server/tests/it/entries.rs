//! The entries of runs over WebSockets, and windows on them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::world::{Socket, World, eventually, id};

/// What the older board makes of a log stream: of each path the last operation in a frame, an `add` inserts or
/// appends, a `replace` of what is not there is ignored.
#[derive(Default)]
struct Board {
    entries: Vec<Value>,
    frames: usize,
    longest: usize,
    finished: bool,
    close: Option<CloseCode>,
}

impl Board {
    fn read(&mut self, socket: &mut Socket) {
        match socket.read().unwrap() {
            Message::Text(text) => self.hear(&text),
            Message::Close(frame) => self.close = Some(frame.unwrap().code),
            Message::Ping(_) => {}
            other => panic!("unexpected {other:?}"),
        }
    }

    fn hear(&mut self, text: &str) {
        let frame: Value = serde_json::from_str(text).unwrap();
        let Some(patch) = frame.get("JsonPatch") else {
            assert_eq!(frame["finished"], true, "{frame}");
            self.finished = true;
            return;
        };
        (self.frames, self.longest) = (self.frames + 1, self.longest.max(text.len()));
        let patch = patch.as_array().unwrap();
        let mut last = BTreeMap::new();
        for (n, operation) in patch.iter().enumerate() {
            last.insert(operation["path"].as_str().unwrap(), n);
        }
        assert_eq!(last.len(), patch.len(), "one operation for each path: {frame}");
        for operation in patch {
            let index: usize = operation["path"].as_str().unwrap()["/entries/".len()..].parse().unwrap();
            assert_eq!(operation["value"]["type"], "NORMALIZED_ENTRY");
            let entry = operation["value"]["content"].clone();
            match operation["op"].as_str().unwrap() {
                "add" => self.entries.insert(index.min(self.entries.len()), entry),
                "replace" => {
                    if let Some(there) = self.entries.get_mut(index) {
                        *there = entry;
                    }
                }
                other => panic!("unexpected {other}"),
            }
        }
    }

    fn until(&mut self, socket: &mut Socket, enough: impl Fn(&Board) -> bool) {
        while !enough(self) {
            assert!(self.close.is_none(), "closed with {:?}", self.entries.last());
            self.read(socket);
        }
    }

    fn texts(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry["content"].as_str().unwrap()).collect()
    }
}

fn path(run: &str) -> String {
    format!("/api/execution-processes/{run}/normalized-logs/ws")
}

/// Reads a whole stream.
fn read(world: &World, path: &str) -> Board {
    let (mut socket, mut board) = (world.socket(path), Board::default());
    board.until(&mut socket, |board| board.close.is_some());
    assert!(board.finished);
    assert_eq!(board.close, Some(CloseCode::Normal));
    board
}

fn next(socket: &mut Socket) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

/// Reads what an entries topic tells until it is finished or so many entries are there; returns the last position.
fn hear(socket: &mut Socket, entries: &mut BTreeMap<u64, Value>, enough: usize) -> Value {
    loop {
        let told = next(socket);
        for one in told["value"].as_array().unwrap_or_else(|| panic!("{told}")) {
            entries.insert(one["index"].as_u64().unwrap(), one["entry"].clone());
        }
        if told["finished"] == true || entries.len() >= enough {
            return told["position"].clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_older_board_sees_a_conversation_grow_and_end() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "say first\nrun echo hi\nask go on?\nsay second");
    let attempt = started["attempt_id"].as_str().unwrap();
    let run = id(&world.run_of(attempt));
    let (mut socket, mut board) = (world.socket(&path(&run)), Board::default());
    let status = |board: &Board, n: usize| board.entries[n]["entry_type"]["status"].clone();
    board.until(&mut socket, |board| {
        board.entries.len() == 5 && status(board, 4)["status"] == "pending_approval"
    });
    assert_eq!(board.texts()[1..], ["Talk", "first", "`echo hi`", "go on?"]);
    assert_eq!(board.entries[0]["entry_type"], json!({"type": "user_message"}));
    let pending = status(&board, 4);
    let ask = world.get("/api/approvals/pending").data()[0].clone();
    assert_eq!(pending["approval_id"], ask["approval_id"]);
    assert_eq!(pending["requested_at"], ask["requested_at"]);
    assert_eq!(pending["timeout_at"], ask["timeout_at"], "the same moment wherever it is told");
    assert!(board.entries[4]["metadata"]["tool_call_id"].is_string());
    let respond = format!("/api/approvals/{}/respond", ask["approval_id"].as_str().unwrap());
    world.post(&respond, &json!({"approved": true})).json();
    board.until(&mut socket, |board| board.close.is_some());
    assert!(board.finished && board.close == Some(CloseCode::Normal));
    assert_eq!(board.texts()[1..], ["Talk", "first", "`echo hi`", "go on?", "approved", "second"]);
    assert_eq!(status(&board, 3), json!({"status": "success"}));
    assert_eq!(status(&board, 4), json!({"status": "success"}));
    assert_eq!(read(&world, &path(&run)).entries, board.entries, "and so it is told ever after");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_comes_in_few_frames_and_from_any_place() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Count", "lines 5000 0");
    let attempt = started["attempt_id"].as_str().unwrap();
    let run = id(&world.run_of(attempt));
    // Partly live, partly afterwards: the list is the same.
    let live = read(&world, &path(&run));
    assert_eq!(live.entries.len(), 5002);
    let later = read(&world, &path(&run));
    assert_eq!(later.entries, live.entries);
    assert!(later.frames < 100 && later.longest < 100_000, "{} frames", later.frames);
    let mut last = world.socket(&format!("{}?last=3", path(&run)));
    let frame = next(&mut last);
    let paths: Vec<_> = frame["JsonPatch"].as_array().unwrap().iter().map(|op| op["path"].clone()).collect();
    assert_eq!(paths, ["/entries/4999", "/entries/5000", "/entries/5001"]);
    assert_eq!(read(&world, &format!("{}?from=4000", path(&run))).entries, live.entries[4000..]);
    for (query, told) in [("?from=x", "`from`"), ("?last=-1", "`last`"), ("?from=1&last=2", "not both")] {
        let refusal = world.get(&format!("{}{query}", path(&run))).refusal(400);
        assert!(refusal.contains(told), "{query}: {refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_has_a_log_and_no_entries() {
    let world = World::new().await;
    let project = world.project();
    world.put(&format!("/api/projects/{project}"), &json!({"setup_script": "echo set up"})).data();
    let started = world.start(&project, "Set up", "say hi");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let runs = world.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).data();
    let (setup, agent) = (id(&runs[0]), id(&runs[1]));
    assert!(world.get(&path(&setup)).refusal(404).contains("script"));
    assert!(read(&world, &path(&agent)).texts().contains(&"hi"));
    let window = world.get(&format!("/api/task-attempts/{attempt}/entries")).data();
    assert_eq!(window["entries"].as_array().unwrap().len(), 3, "{window}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_of_entries_is_followed_to_its_end_and_taken_up_again_anywhere() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "say first\nask go on?\nlines 2000 0");
    let run = id(&world.run_of(started["attempt_id"].as_str().unwrap()));
    let topic = format!("entries:{run}");
    let subscribe = |after: &Value| {
        let mut socket = world.socket("/api/live/ws");
        let request = json!({"subscribe": {"topic": topic, "after": after}});
        socket.send(Message::text(request.to_string())).unwrap();
        socket
    };
    let mut entries = BTreeMap::new();
    let mut socket = subscribe(&Value::Null);
    let mut position = hear(&mut socket, &mut entries, 4);
    assert_eq!(entries[&3]["entry_type"]["status"]["status"], "pending_approval");
    drop(socket);
    let ask = eventually(|| world.get("/api/approvals/pending").data().get(0).cloned());
    let respond = format!("/api/approvals/{}/respond", ask["approval_id"].as_str().unwrap());
    world.post(&respond, &json!({"approved": true})).json();
    // What changed meanwhile comes, and what did not does not.
    let mut rest = BTreeMap::new();
    let mut socket = subscribe(&position);
    while rest.len() < 2002 {
        let enough = rest.len() + 500;
        position = hear(&mut socket, &mut rest, enough);
        socket = subscribe(&position);
    }
    assert!((0..3).all(|index| !rest.contains_key(&index)));
    assert_eq!(rest[&3]["entry_type"]["status"]["status"], "success");
    entries.extend(rest);
    let whole = read(&world, &path(&run)).entries;
    assert_eq!(entries.into_values().collect::<Vec<_>>(), whole);

    let mut socket = subscribe(&json!(12345));
    assert_eq!(next(&mut socket), json!({"topic": topic, "resync": true, "position": 0}));
    let mut again = BTreeMap::new();
    hear(&mut socket, &mut again, usize::MAX);
    assert_eq!(again.into_values().collect::<Vec<_>>(), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_goes_back_to_the_beginning_place_by_place() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Talk", "lines 25 0");
    let attempt = started["attempt_id"].as_str().unwrap();
    world.wait_for(attempt, "finished");
    let run = id(&world.run_of(attempt));
    let path = format!("/api/task-attempts/{attempt}/entries");
    let mut indexes = Vec::new();
    let mut query = "?limit=10".to_string();
    loop {
        let window = world.get(&format!("{path}{query}")).data();
        let entries = window["entries"].as_array().unwrap();
        assert!(entries.iter().all(|entry| entry["execution_process_id"] == run.as_str()));
        let some: Vec<_> = entries.iter().map(|entry| entry["index"].as_u64().unwrap()).collect();
        indexes.splice(0..0, some);
        let Some(before) = window["before"].as_str() else {
            assert_eq!(window["has_more"], false);
            break;
        };
        assert_eq!(window["has_more"], true);
        query = format!("?limit=10&before={before}");
    }
    assert_eq!(indexes, (0..27).collect::<Vec<_>>());
    for (query, told) in [("?limit=0", "`limit`"), ("?limit=1001", "`limit`"), ("?before=7", "`before`")] {
        let refusal = world.get(&format!("{path}{query}")).refusal(400);
        assert!(refusal.contains(told), "{query}: {refusal}");
    }
    let elsewhere = format!("{path}?before={}:1", forge_model::RunId::random());
    assert!(world.get(&elsewhere).refusal(422).contains("`before`"));
}
