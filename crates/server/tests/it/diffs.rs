//! What an attempt has changed: at once, as frames, and as a topic of the live socket.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use tungstenite::Message;

use crate::world::{Socket, World, eventually, git};

/// An attempt that is over, and its worktree.
struct Scene {
    world: World,
    attempt: String,
    worktree: PathBuf,
}

impl Scene {
    async fn new() -> Scene {
        Scene::after("say nothing").await
    }

    async fn after(script: &str) -> Scene {
        let world = World::new().await;
        let project = world.project();
        let attempt = world.start(&project, "a task", script)["attempt_id"].as_str().unwrap().to_string();
        let worktree = world.wait_for(&attempt, "finished")["container_ref"].as_str().unwrap().into();
        Scene { world, attempt, worktree }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.worktree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn follow(&self, query: &str) -> Viewer {
        let socket = self.world.socket(&format!("/api/task-attempts/{}/diff/ws{query}", self.attempt));
        Viewer { socket, entries: BTreeMap::new(), frames: 0 }
    }

    /// Everything that differs now, by path.
    fn fresh(&self, query: &str) -> BTreeMap<String, Value> {
        let answer = self.world.get(&format!("/api/task-attempts/{}/diff{query}", self.attempt)).data();
        let by_path = |diff: &Value| {
            let path = diff["newPath"].as_str().or(diff["oldPath"].as_str()).unwrap();
            (path.to_string(), diff.clone())
        };
        answer["diffs"].as_array().unwrap().iter().map(by_path).collect()
    }
}

/// One who follows, and the document that the frames made.
struct Viewer {
    socket: Socket,
    entries: BTreeMap<String, Value>,
    frames: usize,
}

impl Viewer {
    fn next(&mut self) -> Value {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => break serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    fn hear(&mut self) {
        let frame = self.next();
        let patch = frame["JsonPatch"].as_array().unwrap_or_else(|| panic!("no patch: {frame}"));
        self.frames += 1;
        apply(&mut self.entries, patch);
    }

    fn until(&mut self, is_so: impl Fn(&BTreeMap<String, Value>) -> bool) {
        while !is_so(&self.entries) {
            self.hear();
        }
    }
}

/// Does what the operations of one frame say. Each path is touched once, and nothing is replaced.
fn apply(entries: &mut BTreeMap<String, Value>, patch: &[Value]) {
    let mut paths = BTreeSet::new();
    for operation in patch {
        let path = operation["path"].as_str().unwrap();
        assert!(paths.insert(path.to_string()), "{path} is there twice");
        let key = path.strip_prefix("/entries/").unwrap().replace("~1", "/").replace("~0", "~");
        match operation["op"].as_str().unwrap() {
            "add" => {
                assert_eq!(operation["value"]["type"], "DIFF");
                entries.insert(key, operation["value"]["content"].clone());
            }
            "remove" => assert!(entries.remove(&key).is_some(), "{key} was never there"),
            other => panic!("unexpected {other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_change_is_told_as_the_contract_says() {
    let world = World::new().await;
    let project = world.project();
    let repository = world.dir.path().join("repository");
    for (name, text) in [("gone", "g\n"), ("tool", "#!/bin/sh\n"), ("old name", "1\n2\n3\n4\n")] {
        fs::write(repository.join(name), text).unwrap();
    }
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "--message=more"]);
    let started = world.start(&project, "a task", "edit committed by the agent");
    let attempt = started["attempt_id"].as_str().unwrap().to_string();
    let worktree = world.wait_for(&attempt, "finished")["container_ref"].as_str().unwrap().into();
    let scene = Scene { world, attempt, worktree };
    scene.write("README.md", "hello\nagain\n");
    scene.write("a/un~tracked", "new\n");
    scene.write("binary", b"\0\x01\x02");
    fs::remove_file(scene.worktree.join("gone")).unwrap();
    fs::set_permissions(scene.worktree.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(scene.worktree.join("old name"), scene.worktree.join("new name")).unwrap();
    symlink("README.md", scene.worktree.join("link")).unwrap();

    let diff = |change: &str, old: Option<(&str, &str, &str)>, new: Option<(&str, &str, &str)>| {
        let (old_path, old_content, old_mode) = old.unzip3();
        let (new_path, new_content, new_mode) = new.unzip3();
        json!({
            "change": change, "oldPath": old_path, "newPath": new_path, "oldContent": old_content,
            "newContent": new_content, "contentOmitted": false, "additions": null, "deletions": null,
            "oldMode": old_mode, "newMode": new_mode, "isBinary": false,
        })
    };
    let file = |path, text| Some((path, text, "100644"));
    let mut binary = diff("added", None, file("binary", ""));
    binary["newContent"] = Value::Null;
    binary["isBinary"] = json!(true);
    let expected = BTreeMap::from([
        ("README.md", diff("modified", file("README.md", "hello\n"), file("README.md", "hello\nagain\n"))),
        ("a/un~tracked", diff("added", None, file("a/un~tracked", "new\n"))),
        ("binary", binary),
        ("committed", diff("added", None, file("committed", "by the agent\n"))),
        ("gone", diff("deleted", file("gone", "g\n"), None)),
        ("link", diff("added", None, Some(("link", "README.md", "120000")))),
        ("new name", diff("renamed", file("old name", "1\n2\n3\n4\n"), file("new name", "1\n2\n3\n4\n"))),
        (
            "tool",
            diff("permissionChange", file("tool", "#!/bin/sh\n"), Some(("tool", "#!/bin/sh\n", "100755"))),
        ),
    ]);
    let expected: BTreeMap<String, Value> =
        expected.into_iter().map(|(path, diff)| (path.to_string(), diff)).collect();
    let mut viewer = scene.follow("");
    viewer.until(|entries| entries.len() == expected.len());
    assert_eq!(viewer.entries, expected);
    assert_eq!(viewer.frames, 1, "what is short goes together");
    assert_eq!(scene.fresh(""), expected);

    // What changes later is an `add` again, and what does not differ any more a `remove`.
    scene.write("README.md", "hello\n");
    scene.write("a/un~tracked", "newer\n");
    viewer.until(|entries| {
        entries.len() == expected.len() - 1 && entries["a/un~tracked"]["newContent"] == "newer\n"
    });
    assert_eq!(viewer.entries, scene.fresh(""));
}

/// The three parts of a pair that may not be there.
trait Unzip3<'a> {
    fn unzip3(self) -> (Option<&'a str>, Option<&'a str>, Option<&'a str>);
}

impl<'a> Unzip3<'a> for Option<(&'a str, &'a str, &'a str)> {
    fn unzip3(self) -> (Option<&'a str>, Option<&'a str>, Option<&'a str>) {
        self.map_or((None, None, None), |(path, content, mode)| (Some(path), Some(content), Some(mode)))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_no_changes_nothing_is_sent() {
    let scene = Scene::new().await;
    let mut viewer = scene.follow("");
    let computed = |scene: &Scene| {
        let text = scene.world.get("/metrics").text;
        let line = text.lines().find_map(|line| line.strip_prefix("forge_diffs_computed_total ")).unwrap();
        line.parse::<u64>().unwrap()
    };
    eventually(|| (computed(&scene) >= 2).then_some(()));
    scene.write("README.md", "changed\n");
    viewer.hear();
    assert_eq!(viewer.entries.keys().collect::<Vec<_>>(), ["README.md"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_alone_are_told_when_they_are_asked_for() {
    let scene = Scene::new().await;
    scene.write("README.md", "one\ntwo\n");
    let expected = json!({
        "change": "modified", "oldPath": "README.md", "newPath": "README.md", "oldContent": null,
        "newContent": null, "contentOmitted": true, "additions": 2, "deletions": 1,
        "oldMode": "100644", "newMode": "100644", "isBinary": false,
    });
    let mut viewer = scene.follow("?stats_only=true");
    viewer.until(|entries| !entries.is_empty());
    assert_eq!(viewer.entries["README.md"], expected);
    assert_eq!(scene.fresh("?stats_only=true")["README.md"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_contents_are_omitted_and_many_files_come_in_frames_of_a_size() {
    let scene = Scene::new().await;
    scene.write("long", "line\n".repeat(500_000));
    for number in 0..100 {
        scene.write(&format!("file-{number}"), format!("{number}\n").repeat(500));
    }
    let mut viewer = scene.follow("");
    viewer.until(|entries| entries.len() == 101);
    let long = &viewer.entries["long"];
    assert_eq!((&long["contentOmitted"], &long["newContent"]), (&json!(true), &Value::Null));
    assert_eq!((&long["additions"], &long["deletions"]), (&json!(500_000), &json!(0)));
    // 100 files of 1.5 KB are about 150 KB.
    assert!((3..=10).contains(&viewer.frames), "{} frames", viewer.frames);
    assert_eq!(viewer.entries, scene.fresh(""));
}

#[tokio::test(flavor = "multi_thread")]
async fn any_name_of_a_file_is_a_path_of_the_document() {
    let scene = Scene::new().await;
    for name in [&b"tilde~1/x"[..], b"new\nline", b"bytes\xff", b"quote\""] {
        let path = scene.worktree.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    let mut viewer = scene.follow("");
    viewer.until(|entries| entries.len() == 4);
    let paths: Vec<&String> = viewer.entries.keys().collect();
    assert_eq!(paths, ["bytes\\xFF", "new\nline", "quote\"", "tilde~1/x"]);
    assert_eq!(viewer.entries, scene.fresh(""));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_live_topic_begins_anew_at_every_subscription() {
    let scene = Scene::new().await;
    scene.write("README.md", "changed\n");
    let topic = format!("diff:{}", scene.attempt);
    let mut positions = Vec::new();
    for _ in 0..2 {
        let socket = scene.world.socket("/api/live/ws");
        let mut viewer = Viewer { socket, entries: BTreeMap::new(), frames: 0 };
        let request = json!({"subscribe": {"topic": topic, "after": 123_456}});
        viewer.socket.send(Message::text(request.to_string())).unwrap();
        let first = viewer.next();
        assert_eq!(first["value"], json!([{"op": "replace", "path": "/entries", "value": {}}]), "{first}");
        while viewer.entries.is_empty() {
            let told = viewer.next();
            assert_eq!(told["topic"], topic.as_str());
            positions.push(told["position"].as_i64().unwrap());
            apply(&mut viewer.entries, told["value"].as_array().unwrap());
        }
        assert_eq!(viewer.entries, scene.fresh(""));
    }
    assert!(positions.is_sorted(), "{positions:?}");

    let mut socket = scene.world.socket("/api/live/ws");
    let unknown = "diff-stats:6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    socket.send(Message::text(json!({"subscribe": {"topic": unknown}}).to_string())).unwrap();
    let Message::Text(told) = socket.read().unwrap() else { panic!("no text") };
    assert!(told.contains("there is no attempt"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_makes_no_sense_is_refused() {
    let scene = Scene::new().await;
    let unknown = "/api/task-attempts/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/diff";
    assert!(scene.world.get(unknown).refusal(404).contains("there is no attempt"));
    let wrong = scene.world.get(&format!("/api/task-attempts/{}/diff?stats_only=maybe", scene.attempt));
    assert!(wrong.refusal(400).contains("stats_only"));
}
