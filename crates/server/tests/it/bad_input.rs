//! Mistakes of callers: each is answered in the envelope, with a status that fits and a sentence that names
//! what is wrong.

use forge_model::{AskId, AttemptId, ProjectId, RunId, TaskId};
use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_is_named_in_the_envelope() {
    let world = World::new().await;
    for path in ["/api", "/api/", "/api/banana", "/api/projects/", "/api/tasks/x/y/z"] {
        let answer = world.get(path);
        let told = answer.refusal(404);
        assert!(told.contains(path), "{told}");
        assert_eq!(answer.header("x-forge-api-version"), Some("1"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn anything_else_unknown_is_an_enveloped_404_and_for_a_browser_a_page() {
    let world = World::new().await;
    let told = world.get("/banana").refusal(404);
    assert!(told.contains("/banana") && told.contains("/api"), "{told}");
    let answer = world.send("GET", "/banana", &[("Accept", "text/html")], b"");
    assert_eq!(answer.status, 404);
    assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_told_which_ones_are_right() {
    let world = World::new().await;
    let cases = [
        ("PATCH", "/api/projects", "get,head,post"),
        ("DELETE", "/api/tasks/create-and-start", "post"),
        ("GET", "/api/session", ""),
        ("POST", "/api/events", "get,head"),
    ];
    for (method, path, allow) in cases {
        let answer = world.send(method, path, &[], b"");
        let told = answer.refusal(405);
        assert!(told.contains(path) && told.contains(method), "{told}");
        if !allow.is_empty() {
            assert_eq!(answer.header("allow"), Some(allow));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_none_is_a_400_that_names_it() {
    let world = World::new().await;
    let cases = [
        ("GET", "/api/projects/banana"),
        ("GET", "/api/projects/banana/branches"),
        ("GET", "/api/projects/banana/tasks"),
        ("GET", "/api/tasks/banana"),
        ("DELETE", "/api/tasks/banana"),
        ("GET", "/api/task-attempts/banana"),
        ("POST", "/api/task-attempts/banana/stop"),
        ("GET", "/api/execution-processes/banana"),
        ("GET", "/api/execution-processes/banana/raw-logs/ws"),
        ("GET", "/api/approvals/banana/status"),
    ];
    for (method, path) in cases {
        let told = world.send(method, path, &[], b"").refusal(400);
        assert!(told.contains("\"banana\" is not an id"), "{path}: {told}");
    }
    assert!(world.get("/api/tasks/%ff").refusal(400).contains("UTF-8"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_id_is_a_404_that_names_it() {
    let world = World::new().await;
    let (project, task) = (ProjectId::random().to_string(), TaskId::random().to_string());
    let (attempt, run) = (AttemptId::random().to_string(), RunId::random().to_string());
    let ask = AskId::random().to_string();
    let cases = [
        ("GET", format!("/api/projects/{project}"), &project),
        ("DELETE", format!("/api/projects/{project}"), &project),
        ("GET", format!("/api/projects/{project}/branches"), &project),
        ("GET", format!("/api/tasks/{task}"), &task),
        ("DELETE", format!("/api/tasks/{task}"), &task),
        ("GET", format!("/api/projects/{project}/tasks/{task}"), &task),
        ("GET", format!("/api/task-attempts/{attempt}"), &attempt),
        ("POST", format!("/api/task-attempts/{attempt}/stop"), &attempt),
        ("GET", format!("/api/execution-processes/{run}"), &run),
        ("POST", format!("/api/execution-processes/{run}/stop"), &run),
        ("GET", format!("/api/execution-processes/{run}/raw-logs/ws"), &run),
        ("GET", format!("/api/approvals/{ask}/status"), &ask),
    ];
    for (method, path, named) in cases {
        let told = world.send(method, &path, &[], b"").refusal(404);
        assert!(told.contains(named), "{method} {path}: {told}");
    }
    let update = json!({"title": "x"});
    assert!(world.put(&format!("/api/tasks/{task}"), &update).refusal(404).contains(&task));
    let update = json!({"name": "x"});
    assert!(world.put(&format!("/api/projects/{project}"), &update).refusal(404).contains(&project));
    let follow = json!({"prompt": "x"});
    let told = world.post(&format!("/api/task-attempts/{attempt}/follow-up"), &follow).refusal(404);
    assert!(told.contains(&attempt));
    let answer = json!({"approved": true});
    assert!(world.post(&format!("/api/approvals/{ask}/respond"), &answer).refusal(404).contains(&ask));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_query_names_its_parameter() {
    let world = World::new().await;
    let attempt = AttemptId::random();
    let cases = [
        ("/api/tasks".to_string(), "`project_id` is missing"),
        ("/api/tasks?project_id=x".to_string(), "`project_id` cannot be \"x\""),
        ("/api/task-attempts?task_id=x".to_string(), "`task_id` cannot be \"x\""),
        ("/api/execution-processes".to_string(), "`task_attempt_id` is missing"),
        (
            format!("/api/execution-processes?task_attempt_id={attempt}&show_soft_deleted=x"),
            "`show_soft_deleted`",
        ),
        ("/api/events?after=x".to_string(), "`after` cannot be \"x\""),
    ];
    for (path, told) in cases {
        assert!(world.get(&path).refusal(400).contains(told), "{path}");
    }
    let unknown = ProjectId::random();
    assert_eq!(world.get(&format!("/api/tasks?project_id={unknown}")).data(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_body_names_its_field() {
    let world = World::new().await;
    let project = world.project();
    let task = json!({"project_id": project, "title": "x"});
    let profile = json!({"executor": "SCRIPTED"});
    let cases = [
        ("/api/projects", json!({"git_repo_path": "/x"}), "`name`"),
        ("/api/projects", json!({"name": "x"}), "`git_repo_path`"),
        (
            "/api/projects",
            json!({"name": "x", "git_repo_path": "/x", "use_existing_repo": 1}),
            "`use_existing_repo`",
        ),
        ("/api/tasks", json!({"title": "x"}), "`project_id`"),
        ("/api/tasks", json!({"project_id": project, "title": "  "}), "`title`"),
        ("/api/tasks", json!({"project_id": project, "title": "a\0b"}), "`title`"),
        ("/api/tasks", json!({"project_id": project, "title": "x".repeat(1001)}), "`title`"),
        ("/api/tasks", json!({"project_id": project, "title": "x", "description": []}), "`description`"),
        ("/api/tasks/create-and-start", json!({"executor_profile_id": profile}), "`task`"),
        ("/api/tasks/create-and-start", json!({"task": {"project_id": project}}), "`task.title`"),
        ("/api/tasks/create-and-start", json!({"task": task}), "`executor_profile_id`"),
        ("/api/task-attempts", json!({"executor_profile_id": profile}), "`task_id`"),
        ("/api/session", json!({}), "`token`"),
    ];
    for (path, body, named) in cases {
        let told = world.post(path, &body).refusal(422);
        assert!(told.starts_with(named), "{path}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_or_no_json_is_refused_while_it_is_sent() {
    let world = World::new().await;
    let kind = [("Content-Type", "application/json")];
    let large = format!("{{\"title\": \"{}\"}}", "x".repeat(3 * 1024 * 1024));
    assert!(world.send("POST", "/api/tasks", &kind, large.as_bytes()).refusal(413).contains("2 MB"));
    assert!(world.send("POST", "/api/tasks", &kind, b"{").refusal(400).contains("not JSON"));
    assert!(world.send("POST", "/api/tasks", &kind, b"").refusal(400).contains("empty"));
    assert!(world.send("POST", "/api/tasks", &[], b"{}").refusal(415).contains("application/json"));
}
