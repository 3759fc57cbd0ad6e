//! The contract: every route of the table is reachable, answers in the shape that the OpenAPI document tells, and
//! meets bad input with a sentence. A new route is not done before it stands in `contract.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use forge_engine::{GitHubAddress, GitHubOptions, Secret};
use serde_json::{Map, Value, json};

use crate::described;
use crate::played_github::{self, PlayedGitHub};
use crate::schema::check;
use crate::world::{Answer, SOON, World, eventually, git, id};

const TABLE: &str = include_str!("contract.json");
const ROUTES: &str = include_str!("../../routes.txt");

/// An id that names nothing.
const NOBODY: &str = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";

/// A world with a GitHub of its own, which has a login under way.
async fn world() -> (World, PlayedGitHub) {
    let played = PlayedGitHub::start(|request| match request.path.as_str() {
        "/login/device/code" => played_github::good(
            r#"{"device_code":"d","user_code":"AB-12","verification_uri":"https://github.com/login/device",
                "expires_in":900,"interval":0}"#,
        ),
        path if path.starts_with("/api/v3/repos/") => match request.method.as_str() {
            "POST" => {
                let opened = described::example("/repos/{owner}/{repo}/pulls", "post", "201");
                played_github::Reply::Told("201 Created".into(), opened.to_string())
            }
            _ if path.contains("/pulls/") => played_github::bad(404),
            _ => played_github::good("[]"),
        },
        _ => played_github::good(r#"{"error":"authorization_pending"}"#),
    });
    let github = GitHubOptions {
        client_id: Some("Iv1.app".into()),
        address: GitHubAddress::new(Some(&played.url()), None).unwrap(),
        patience: SOON,
        token: Some(Secret::new("ghp_1")),
        ..GitHubOptions::default()
    };
    (World::with_github(github).await, played)
}

/// What stands for the names in braces.
type Things = BTreeMap<String, String>;

/// Unpacks the data of another product.
fn foreign_data(world: &World) -> String {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/it/import/af-0.7.4.tar.gz");
    let unpacked =
        std::process::Command::new("tar").args(["-xzf", sample, "-C"]).arg(world.dir.path()).status();
    assert!(unpacked.unwrap().success());
    world.dir.path().join("af-0.7.4/home").display().to_string()
}

/// Makes one of everything that a route may be asked about.
fn things(world: &World, github: &PlayedGitHub) -> Things {
    let project = world.project();
    world.put(&format!("/api/projects/{project}"), &json!({"dev_script": "exec sleep 3600"})).data();
    let pushed = remote(world, &project);
    let url = format!("{}/octocat/demo.git", github.url());
    git(&pushed, &["config", "remote.origin.pushurl", &git(&pushed, &["remote", "get-url", "origin"])]);
    git(&pushed, &["remote", "set-url", "origin", &url]);
    let pulled = world.repository("pulled");
    let body = json!({"name": "pulled", "git_repo_path": pulled, "use_existing_repo": true});
    let pulled = id(&world.post("/api/projects", &body).data());
    remote(world, &pulled);
    // No machine is sure to have an editor, so this person's is elsewhere.
    world.put("/api/config", &json!({"editor": {"remote_ssh_host": "box"}})).data();
    let doomed_project = world.repository("doomed");
    let body = json!({"name": "doomed", "git_repo_path": doomed_project, "use_existing_repo": true});
    let doomed_project = id(&world.post("/api/projects", &body).data());
    let started = world.start(&project, "Done", "edit made.txt hello");
    let attempt = id(&started["attempt"]);
    world.wait_for(&attempt, "finished");
    let landable = id(&world.start(&project, "Lands", "edit landed.txt x")["attempt"]);
    let landable = world.wait_for(&landable, "finished");
    let sha = git(Path::new(landable["worktree_path"].as_str().unwrap()), &["rev-parse", "HEAD"]);
    let waiting = world.start(&project, "Waiting", "ask May I?");
    let waiting = id(&waiting["attempt"]);
    let ask = eventually(|| {
        let open = world.get("/api/approvals/pending").data();
        open.as_array().unwrap().iter().find(|ask| ask["task_attempt_id"] == waiting.as_str()).cloned()
    });
    let second = world.start(&project, "Waiting too", "ask May I?");
    let task =
        |title: &str| id(&world.post("/api/tasks", &json!({"project_id": project, "title": title})).data());
    let tag = world.post("/api/tags", &json!({"tag_name": "one", "content": "words"})).data();
    let template = world.post("/api/templates", &json!({"template_name": "one", "title": "One"})).data();
    // An agent that was told a second time has a session, and hangs, so that what follows waits in the queue.
    let busy = id(&world.start(&project, "Busy", "say hello")["attempt"]);
    world.wait_for(&busy, "finished");
    let follow = |prompt: &str| {
        world.post(&format!("/api/task-attempts/{busy}/follow-up"), &json!({ "prompt": prompt })).data()
    };
    let hanging = follow("hang");
    let session = hanging["executor_action"]["typ"]["session_id"].as_str().unwrap().to_string();
    let queued = |attempt: &str| {
        let body = json!({"execute": true, "prompt": "say later"});
        world.post(&format!("/api/task-attempts/{attempt}/draft/queue?type=follow_up"), &body).data();
        id(&world.get(&format!("/api/task-attempts/{attempt}/queue")).data()[0])
    };
    let hung = id(&world.start(&project, "Hung", "hang")["attempt"]);
    let loose = |prompt: &str| {
        let body = json!({"project_id": project, "prompt": prompt, "executor_profile_id": "SCRIPTED"});
        id(&world.post("/api/execution-runs", &body).data()["execution_run"])
    };
    let retold = id(&world.start(&project, "Retold", "say hello")["attempt"]);
    let restored = id(&world.start(&project, "Restored", "say hello")["attempt"]);
    world.wait_for(&retold, "finished");
    world.wait_for(&restored, "finished");
    let snapshot = id(&world.get(&format!("/api/task-attempts/{restored}/snapshots")).data()[0]);
    let gone = task("Gone");
    world.call("DELETE", &format!("/api/tasks/{gone}"), &[], None);
    let image = Call { method: "POST".into(), path: "/api/images/upload".into(), body: None, file: None };
    let image = upload(world, &image, "image").data();
    let another = world.repository("another").display().to_string();
    let profiles = world.get("/api/profiles").data()["content"].to_string();
    let top =
        world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].as_str().unwrap().to_string();
    let stray = format!("run echo stray | tee {top}/stray {top}/second-stray");
    let untidy = id(&world.start(&project, "Untidy", &stray)["attempt"]);
    world.wait_for(&untidy, "finished");
    let findings = world.get(&format!("/api/task-attempts/{untidy}/findings")).data();
    let comment = json!({"path": "made.txt", "line": 1, "text": "Why?"});
    let comment = world.post(&format!("/api/task-attempts/{attempt}/comments"), &comment).data();
    let made = [
        ("comment_id", id(&comment)),
        ("untidy_attempt_id", untidy),
        ("finding_id", id(&findings[0])),
        ("second_finding_id", id(&findings[1])),
        ("project_id", project.clone()),
        ("doomed_project_id", doomed_project),
        ("pulled_project_id", pulled),
        ("task_id", id(&started)),
        ("doomed_task_id", task("Doomed")),
        ("second_doomed_task_id", task("Doomed too")),
        ("attempt_id", attempt.clone()),
        ("landable_attempt_id", id(&landable)),
        ("sha", sha),
        ("run_id", id(&world.run_of(&attempt))),
        ("waiting_run_id", id(&world.run_of(&id(&second["attempt"])))),
        ("ask_id", ask["approval_id"].as_str().unwrap().to_string()),
        ("retold_attempt_id", retold),
        ("restored_attempt_id", restored),
        ("snapshot_id", snapshot),
        ("removed_id", gone),
        ("tag_id", id(&tag)),
        ("template_id", id(&template)),
        ("busy_attempt_id", busy.clone()),
        ("session", session),
        ("item", queued(&busy)),
        ("doomed_item", queued(&hung)),
        ("hung_attempt_id", hung.clone()),
        ("execution_run_id", loose("say hello")),
        ("waiting_execution_run_id", loose("hang")),
        ("image_id", id(&image)),
        ("worktree", world.attempt(&attempt)["container_ref"].as_str().unwrap().to_string()),
        // As the text of a JSON string, which is how the oldest client wraps them.
        ("profiles", profiles.trim_matches('"').to_string()),
        ("sound", "GENIE_NOTIFY1".to_string()),
        ("another_repository", another),
        ("foreign_data", foreign_data(world)),
    ];
    made.into_iter().map(|(name, thing)| (name.to_string(), thing)).collect()
}

/// Gives a project a bare repository as its remote, and returns where the project is.
fn remote(world: &World, project: &str) -> PathBuf {
    let project = world.get(&format!("/api/projects/{project}")).data();
    let path = PathBuf::from(project["git_repo_path"].as_str().unwrap());
    let bare = path.with_extension("git");
    git(&path, &["clone", "--quiet", "--bare", path.to_str().unwrap(), bare.to_str().unwrap()]);
    git(&path, &["remote", "add", "origin", bare.to_str().unwrap()]);
    path
}

/// Puts things in the place of their names.
fn filled(text: &str, things: &Things) -> String {
    things.iter().fold(text.to_string(), |text, (name, thing)| text.replace(&format!("{{{name}}}"), thing))
}

fn operation(route: &str) -> &'static Value {
    let (method, path) = route.split_once(' ').unwrap();
    let told = &forge_server::openapi()["paths"][path][method.to_lowercase()];
    assert!(told.is_object(), "{route} is not described");
    told
}

/// The documented good answer: its status and what it holds.
fn good(operation: &Value) -> (u16, &Value) {
    let responses = operation["responses"].as_object().unwrap();
    let (status, told) = responses.iter().find(|(status, _)| *status != "default").unwrap();
    (status.parse().unwrap(), told)
}

/// One call: a route with its names filled in.
struct Call {
    method: String,
    path: String,
    body: Option<Value>,
    /// The part of a form that carries a picture.
    file: Option<String>,
}

fn call(route: &str, row: &Value, things: &Things) -> Call {
    let mut things = things.clone();
    for (name, other) in row["with"].as_object().into_iter().flatten() {
        let other = filled(other.as_str().unwrap(), &things);
        things.insert(name.clone(), other);
    }
    let (method, path) = route.split_once(' ').unwrap();
    let query: Vec<String> = row["query"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", filled(value.as_str().unwrap(), &things)))
        .collect();
    let path = filled(path, &things);
    let path = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    let body = row.get("body").map(|body| serde_json::from_str(&filled(&body.to_string(), &things)).unwrap());
    let file = row["file"].as_str().map(str::to_string);
    Call { method: method.to_string(), path, body, file }
}

fn send(world: &World, call: &Call) -> Answer {
    match &call.file {
        Some(part) => upload(world, call, part),
        None => world.call(&call.method, &call.path, &[], call.body.as_ref()),
    }
}

/// Reads the first message of a stream of events or of a socket; it must look as the document says.
fn follow(world: &World, route: &str, operation: &Value, call: &Call) {
    if operation["x-forge-stream"] == "events" {
        drop(world.events(&[], ""));
        return;
    }
    let mut socket = world.socket(&call.path);
    if let Some(first) = row_of(route).get("send") {
        socket.send(tungstenite::Message::text(first.to_string())).unwrap();
    }
    let message = socket.read().unwrap_or_else(|error| panic!("{route}: {error}"));
    let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
    check(&operation["x-forge-message"], &message).unwrap_or_else(|error| panic!("{route}: {error}"));
}

fn table() -> Map<String, Value> {
    serde_json::from_str(TABLE).unwrap()
}

fn row_of(route: &str) -> Value {
    table().remove(route).unwrap_or_default()
}

/// The routes that are served, as the server itself tells them.
fn served(world: &World) -> BTreeSet<String> {
    let routes = world.get("/api/routes").json();
    let served = routes["routes"].as_array().unwrap().iter().filter(|route| route["served"] == true);
    served.map(|route| format!("{} {}", route["method"], route["path"]).replace('"', "")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_reachable_and_answers_in_the_shape_that_is_documented() {
    let (world, github) = world().await;
    let rows: BTreeSet<String> = table().keys().cloned().collect();
    let served = served(&world);
    let missing: Vec<_> = served.difference(&rows).collect();
    assert!(missing.is_empty(), "contract.json lacks {missing:?}");
    let unknown: Vec<_> = rows.iter().filter(|row| !ROUTES.lines().any(|route| route == *row)).collect();
    assert!(unknown.is_empty(), "contract.json has {unknown:?}, which are no routes");
    let things = things(&world, &github);
    // What removes comes last, so that the others find what they ask about.
    let order =
        |route: &&str| (route.starts_with("DELETE"), route.contains("/stop"), route.contains("respond"));
    let mut routes: Vec<&str> = ROUTES.lines().filter(|route| served.contains(*route)).collect();
    routes.sort_by_key(order);
    for route in routes {
        let operation = operation(route);
        let call = call(route, &row_of(route), &things);
        if operation["x-forge-stream"].is_string() {
            follow(&world, route, operation, &call);
            continue;
        }
        let answer = send(&world, &call);
        let (status, told) = good(operation);
        assert_eq!(answer.status, status, "{route}: {answer:?}");
        let (content_type, content) = told["content"].as_object().unwrap().iter().next().unwrap();
        let given = answer.header("content-type").unwrap_or_default();
        let wanted = content_type.split('/').next().unwrap();
        assert!(
            given.starts_with(content_type) || content_type.ends_with("/*") && given.starts_with(wanted),
            "{route}: {given}"
        );
        if content_type == "application/json" {
            let json = answer.json();
            check(&content["schema"], &json).unwrap_or_else(|error| panic!("{route}: {error}"));
            assert_ne!(json["success"], false, "{route}: {json}");
        } else {
            assert!(!answer.text.is_empty(), "{route} gave nothing");
        }
    }
}

/// A picture of one point.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

fn upload(world: &World, call: &Call, part: &str) -> Answer {
    let head = format!(
        "--b\r\nContent-Disposition: form-data; name=\"{part}\"; filename=\"dot.png\"\r\nContent-Type: image/png\r\n\r\n"
    );
    let body = [head.as_bytes(), PNG, b"\r\n--b--\r\n"].concat();
    world.send(&call.method, &call.path, &[("Content-Type", "multipart/form-data; boundary=b")], &body)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_meets_bad_input_with_a_sentence_that_names_what_is_wrong() {
    let (world, github) = world().await;
    let things = things(&world, &github);
    for route in ROUTES.lines().filter(|route| served(&world).contains(*route)) {
        let operation = operation(route);
        let socket = operation["x-forge-stream"] == "websocket";
        let mut tried = 0;
        let parameters = operation["parameters"].as_array().unwrap();
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "path") {
            let name = parameter["name"].as_str().unwrap();
            let mut bad = things.clone();
            if parameter["schema"]["format"] == "uuid" && !route.ends_with("/ws") {
                // The last id is the one that is looked up; one before it only says where.
                bad.insert(name.to_string(), "banana".to_string());
                let row = without(&row_of(route), "with");
                let refusal = send(&world, &call(route, &row, &bad));
                if route.contains(&format!("{{{name}}}"))
                    && parameters.iter().rfind(|one| one["in"] == "path") == Some(parameter)
                {
                    assert_eq!(refusal.status, 400, "{route}: {refusal:?}");
                    assert!(refusal.refusal(400).contains("banana"), "{route}: {refusal:?}");
                    bad.insert(name.to_string(), NOBODY.to_string());
                    let unknown = send(&world, &call(route, &row, &bad));
                    if !row_of(route)["unknown_is_fine"].as_bool().unwrap_or_default() {
                        assert_eq!(unknown.status, 404, "{route}: {unknown:?}");
                        let says = row_of(route)["unknown_says"].as_str().unwrap_or(NOBODY).to_string();
                        assert!(unknown.refusal(404).contains(&says), "{route}: {unknown:?}");
                    }
                    tried += 1;
                }
            }
        }
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            let typ = parameter["schema"]["type"].as_str().unwrap_or_default();
            if parameter["schema"]["format"] == "uuid" || typ == "integer" || typ == "boolean" {
                let mut row = row_of(route);
                row["query"][name] = json!("banana");
                let refusal = send(&world, &call(route, &row, &things));
                assert_eq!(refusal.status, 400, "{route}?{name}: {refusal:?}");
                let told = refusal.refusal(400);
                assert!(socket || told.contains(name), "{route}?{name}=banana: {refusal:?}");
                tried += 1;
            }
        }
        if let Some(body) = operation["requestBody"]["content"]["application/json"]["schema"].as_object() {
            tried += bad_bodies(&world, route, &Value::Object(body.clone()), &things);
        }
        if tried == 0 {
            // It takes nothing that could be wrong but its method, or the handshake of a socket.
            let call = call(route, &row_of(route), &things);
            if socket {
                send(&world, &call).refusal(400);
            } else {
                let refusal = world.call("PATCH", &call.path, &[], None).refusal(405);
                assert!(refusal.contains("PATCH"), "{route}: {refusal}");
            }
        }
    }
}

fn without(row: &Value, key: &str) -> Value {
    let mut row = row.clone();
    if let Some(map) = row.as_object_mut() {
        map.remove(key);
    }
    row
}

/// Sends bodies with a value of the wrong kind under each documented key; returns how many were tried.
fn bad_bodies(world: &World, route: &str, schema: &Value, things: &Things) -> usize {
    let resolved = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => forge_server::openapi().pointer(&reference[1..]).unwrap().clone(),
        None => schema.clone(),
    };
    let schema = match schema["anyOf"].as_array() {
        Some(several) => resolved(&several[0]),
        None => resolved(schema),
    };
    let not_json = world.send(
        route.split_once(' ').unwrap().0,
        &call(route, &row_of(route), things).path,
        &[("Content-Type", "application/json")],
        b"{",
    );
    assert!(
        [200, 400].contains(&not_json.status) && not_json.json()["success"] == false,
        "{route}: {not_json:?}"
    );
    let mut tried = 1;
    for (key, rule) in schema["properties"].as_object().into_iter().flatten() {
        let rule = resolved(rule.get("anyOf").map_or(rule, |several| &several[0]));
        let wrong = match rule["type"].as_str() {
            Some("string") | Some("array") | Some("object") => json!(7),
            Some("boolean") | Some("integer") => json!("banana"),
            _ => continue,
        };
        let mut row = row_of(route);
        row["body"][key.as_str()] = wrong;
        let answer = send(world, &call(route, &row, things));
        let json = answer.json();
        assert!(
            [200, 400, 422].contains(&answer.status) && json["success"] == false,
            "{route} {key}: {answer:?}"
        );
        assert!(
            json["message"].as_str().unwrap_or_default().contains(key.as_str()),
            "{route} {key}: {answer:?}"
        );
        tried += 1;
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut row = row_of(route);
        row["body"] = without(&row["body"], key);
        let answer = send(world, &call(route, &row, things));
        let json = answer.json();
        assert!(
            [200, 400, 422].contains(&answer.status) && json["success"] == false,
            "{route} without {key}: {answer:?}"
        );
        assert!(
            json["message"].as_str().unwrap_or_default().contains(key),
            "{route} without {key}: {answer:?}"
        );
        tried += 1;
    }
    tried
}
