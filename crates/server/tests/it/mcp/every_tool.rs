//! Every tool, called with what it takes and with what it refuses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::Mcp;
use crate::world::{World, git, id};

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What stands ready for the calls.
struct Stage {
    project: String,
    task: String,
    /// An attempt that finished, with a commit.
    finished: String,
    /// One whose agent works on.
    working: String,
    /// One without a task.
    loose: String,
    run: String,
    commit: String,
    ask: String,
    image: String,
}

fn stage(world: &World) -> Stage {
    let path = world.repository("repository");
    let remote = world.dir.path().join("remote.git");
    git(world.dir.path(), &["init", "--quiet", "--bare", "remote.git"]);
    git(&path, &["remote", "add", "origin", remote.to_str().unwrap()]);
    let project = id(&world.post("/api/projects", &json!({"name": "demo", "git_repo_path": path})).data());
    let done = world.start(&project, "Done", "edit one.txt 1\nsay all done");
    let finished = done["attempt_id"].as_str().unwrap().to_string();
    world.wait_for(&finished, "finished");
    let working =
        world.start(&project, "Works", "say busy\nhang")["attempt_id"].as_str().unwrap().to_string();
    let asks = world.start(&project, "Asks", "ask May I?")["attempt_id"].as_str().unwrap().to_string();
    world.wait_for(&asks, "waiting");
    let pending = world.get("/api/approvals/pending").data();
    let body = json!({
        "project_id": project, "prompt": "hang", "executor_profile_id": {"executor": "SCRIPTED"}, "base_branch": "main",
    });
    let loose = world.post("/api/execution-runs", &body).data();
    Stage {
        task: done["task"]["id"].as_str().unwrap().to_string(),
        run: id(&world.run_of(&finished)),
        commit: git(&path, &["rev-parse", "HEAD"]).trim().to_string(),
        ask: pending[0]["approval_id"].as_str().unwrap().to_string(),
        image: String::new(),
        loose: id(&loose["execution_run"]),
        project,
        finished,
        working,
    }
}

/// What a call is to come to.
enum Comes {
    /// To this, at these places of the answer.
    To(&'static [(&'static str, Told)]),
    /// To a refusal that says this, because the world lacks something that is not of this machine.
    Refused(&'static str),
}

enum Told {
    Is(&'static str),
    True,
    There,
}

use Comes::{Refused, To};
use Told::{Is, There, True};

/// Each tool with good arguments and what comes of it, in an order in which none is in another's way.
fn good(stage: &Stage) -> Vec<(&'static str, Value, Comes)> {
    let Stage { project, task, finished, working, loose, run, commit, ask, image } = stage;
    let scripted = |more: Value| {
        let mut arguments = json!({"project_id": project, "executor": "scripted"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    vec![
        ("list_projects", json!({}), To(&[("/count", There), ("/projects/0/git_repo_path", There)])),
        ("get_project", json!({"project_id": project}), To(&[("/name", Is("demo"))])),
        (
            "update_project",
            json!({"project_id": project, "dev_script": "sleep 600"}),
            To(&[("/dev_script", Is("sleep 600"))]),
        ),
        (
            "create_task",
            json!({"project_id": project, "title": "New", "description": "say x"}),
            To(&[("/task_id", There)]),
        ),
        (
            "list_tasks",
            json!({"project_id": project, "status": "inreview"}),
            To(&[("/applied_filters/status", Is("in-review")), ("/tasks/0/status", Is("in-review"))]),
        ),
        (
            "get_task",
            json!({"task_id": task}),
            To(&[("/task/title", Is("Done")), ("/task/description", There)]),
        ),
        (
            "update_task",
            json!({"task_id": task, "status": "in_progress"}),
            To(&[("/task/status", Is("in-progress"))]),
        ),
        (
            "create_and_start_task",
            scripted(json!({"task": {"title": "Both", "description": "say both"}})),
            To(&[("/attempt_id", There), ("/task_id", There), ("/branch", There)]),
        ),
        (
            "create_task_and_start",
            scripted(json!({"title": "Flat", "description": "say flat", "base_branch": "main"})),
            To(&[("/attempt_id", There), ("/status", There)]),
        ),
        (
            "create_subtask",
            json!({"parent_attempt_id": working, "title": "Below", "prompt": "say below", "executor": "scripted"}),
            To(&[("/attempt_id", There), ("/parent_task_attempt", There)]),
        ),
        (
            "start_task_attempt",
            json!({"task_id": task, "executor": "Scripted ", "base_branch": "main", "variant": " "}),
            To(&[("/attempt_id", There), ("/task_id", There)]),
        ),
        (
            "list_task_attempts",
            json!({"project_id": project}),
            To(&[("/attempts/0/branch", There), ("/count", There)]),
        ),
        ("get_task_attempt", json!({"attempt_id": finished}), To(&[("/task_attempt/state", Is("finished"))])),
        ("get_children", json!({"attempt_id": finished}), To(&[("/children", There)])),
        (
            "start_execution_run",
            scripted(json!({"prompt": "say loose"})),
            To(&[("/execution_run_id", There), ("/branch", There)]),
        ),
        ("list_execution_runs", json!({"project_id": project}), To(&[("/runs/0/target_branch", There)])),
        ("get_execution_run", json!({"execution_run_id": loose}), To(&[("/prompt", Is("hang"))])),
        ("stop_execution_run", json!({"execution_run_id": loose}), To(&[("/stopped", True)])),
        (
            "read_transcript",
            json!({"attempt_id": finished, "limit": 5}),
            To(&[("/entries/0/entry/content", There)]),
        ),
        (
            "wait_for_attempt",
            json!({"attempt_id": finished}),
            To(&[("/is_at_rest", True), ("/last_message", Is("all done"))]),
        ),
        ("read_diff", json!({"attempt_id": finished}), To(&[("/diffs/0/newPath", Is("one.txt"))])),
        ("list_asks", json!({}), To(&[("/asks/0/approval_id", There)])),
        (
            "answer_ask",
            json!({"ask_id": ask, "approved": true}),
            To(&[("/success", True), ("/ask/answered_by", Is("owner (MCP)"))]),
        ),
        (
            "queue_follow_up",
            json!({"attempt_id": working, "message": "say later"}),
            To(&[("/process/delivered", Is("queued"))]),
        ),
        ("list_queue", json!({"attempt_id": working}), To(&[("/queue/0/prompt", Is("say later"))])),
        ("list_agents", json!({"project_id": project}), To(&[("/agents/0/executor", There)])),
        ("list_sessions", json!({"project_id": project}), To(&[("/sessions/0/status", There)])),
        (
            "run",
            json!({"agent": "scripted", "prompt": "say ran", "name": "Ran", "monitor": true}),
            To(&[("/session_id", There), ("/status", Is("completed")), ("/result", Is("ran"))]),
        ),
        (
            "task",
            json!({"agent": "SCRIPTED", "prompt": "say tasked", "project_id": project}),
            To(&[("/task_id", There), ("/status", Is("started"))]),
        ),
        (
            "resume",
            json!({"sessionId": finished, "prompt": "say again"}),
            To(&[("/delivered", Is("started"))]),
        ),
        ("wait_for_attempt", json!({"attempt_id": finished}), To(&[("/last_message", Is("again"))])),
        ("continue_task", json!({"sessionId": finished, "prompt": "say more"}), To(&[("/success", True)])),
        ("wait_for_attempt", json!({"attempt_id": finished}), To(&[("/last_message", Is("more"))])),
        (
            "view",
            json!({"sessionId": finished, "full": true}),
            To(&[("/status", Is("completed")), ("/transcript", There)]),
        ),
        ("view_task", json!({"sessionId": finished}), To(&[("/transcript", There)])),
        (
            "follow_up",
            json!({"attempt_id": finished, "message": "say followed"}),
            To(&[("/success", True), ("/process/id", There)]),
        ),
        ("wait_for_attempt", json!({"attempt_id": finished}), To(&[("/last_message", Is("followed"))])),
        ("get_branch_status", json!({"attempt_id": finished}), To(&[("/target_branch_name", Is("main"))])),
        ("get_commit_info", json!({"attempt_id": finished, "sha": commit}), To(&[("/subject", Is("first"))])),
        ("compare_commit", json!({"attempt_id": finished, "sha": commit}), To(&[("/is_linear", True)])),
        ("rebase_task_attempt", json!({"attempt_id": finished}), To(&[("/success", True)])),
        (
            "change_target_branch",
            json!({"attempt_id": finished, "target_branch": "main"}),
            To(&[("/target_branch", Is("main"))]),
        ),
        (
            "push_task_attempt",
            json!({"attempt_id": finished}),
            To(&[("/success", True), ("/message", Is("pushed"))]),
        ),
        ("create_pr", json!({"attempt_id": finished}), Refused("github")),
        ("attach_pr", json!({"attempt_id": finished, "pr_number": 1}), Refused("github")),
        ("continue_rebase", json!({"attempt_id": finished}), To(&[("/message", Is("no rebase waits"))])),
        ("abort_conflicts", json!({"attempt_id": finished}), To(&[("/success", True)])),
        ("start_dev_server", json!({"attempt_id": finished}), To(&[("/message", Is("started"))])),
        ("open_editor", json!({"attempt_id": finished, "editor": "CUSTOM"}), Refused("editor")),
        (
            "delete_file",
            json!({"attempt_id": finished, "file_path": "one.txt"}),
            To(&[("/message", Is("deleted"))]),
        ),
        (
            "list_processes",
            json!({"attempt_id": finished}),
            To(&[("/processes/0/run_reason", Is("codingagent"))]),
        ),
        ("get_process", json!({"process_id": run}), To(&[("/status", Is("completed"))])),
        ("stop_process", json!({"process_id": run}), Refused("not running")),
        (
            "replace_process",
            json!({"attempt_id": finished, "prompt": "say replaced"}),
            To(&[("/new_execution_id", There)]),
        ),
        ("wait_for_attempt", json!({"attempt_id": finished}), To(&[("/last_message", Is("replaced"))])),
        (
            "save_draft",
            json!({"attempt_id": finished, "content": "a draft"}),
            To(&[("/prompt", Is("a draft"))]),
        ),
        ("get_draft", json!({"attempt_id": finished}), To(&[("/prompt", Is("a draft"))])),
        (
            "delete_draft",
            json!({"attempt_id": finished, "type": "retry"}),
            To(&[("/message", Is("deleted"))]),
        ),
        (
            "set_draft_queue",
            json!({"attempt_id": finished, "queued": true, "prompt": "say drafted"}),
            To(&[("/task_attempt_id", There)]),
        ),
        ("wait_for_attempt", json!({"attempt_id": finished}), To(&[("/last_message", Is("drafted"))])),
        ("upload_image", json!({"data": PIXEL, "mime_type": "image/png"}), To(&[("/image_id", There)])),
        (
            "get_image",
            json!({"image_id": image}),
            To(&[("/data", Is(PIXEL)), ("/mime_type", Is("image/png"))]),
        ),
        ("get_config", json!({}), To(&[("/theme", There)])),
        ("update_config", json!({"config": {"theme": "DARK"}}), To(&[("/config/theme", Is("DARK"))])),
        ("get_forge_config", json!({}), To(&[("/omni_enabled", There)])),
        ("update_forge_config", json!({"config": {"omni_enabled": false}}), To(&[("/omni_enabled", There)])),
        ("get_project_settings", json!({"project_id": project}), To(&[("/omni_enabled", There)])),
        (
            "update_project_settings",
            json!({"project_id": project, "settings": {"omni_enabled": false}}),
            To(&[("/omni_enabled", There)]),
        ),
        ("get_omni_status", json!({}), To(&[("/enabled", There)])),
        ("list_omni_instances", json!({}), To(&[("/instances", There)])),
        ("list_omni_notifications", json!({}), To(&[("/notifications", There)])),
        (
            "validate_omni_config",
            json!({"host": "http://127.0.0.1:9", "api_key": "k"}),
            To(&[("/valid", There)]),
        ),
        ("merge_task_attempt", json!({"attempt_id": finished}), To(&[("/message", Is("merged"))])),
        ("stop", json!({"sessionId": working}), To(&[("/stopped", True)])),
        ("stop_task_attempt", json!({"attempt_id": working}), To(&[("/stopped", True)])),
        ("delete_task", json!({"task_id": task}), To(&[("/deleted_task_id", There)])),
        (
            "create_project",
            json!({"name": "made", "git_repo_path": "made", "use_existing_repo": false}),
            To(&[("/project_id", There)]),
        ),
        ("delete_project", json!({"project_id": project}), To(&[("/deleted", True)])),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_does_what_it_says() {
    let world = World::new().await;
    let mut stage = stage(&world);
    let mut client = Mcp::new(&world);
    let uploaded = client.call("upload_image", json!({"data": PIXEL, "mime_type": "image/png"})).unwrap();
    stage.image = uploaded["image_id"].as_str().unwrap().to_string();
    let mut called = BTreeSet::new();
    for (tool, mut arguments, comes) in good(&stage) {
        called.insert(tool.to_string());
        if arguments["git_repo_path"] == "made" {
            arguments["git_repo_path"] = json!(world.dir.path().join("made"));
        }
        let answer = client.call(tool, arguments);
        match (comes, answer) {
            (To(places), Ok(told)) => {
                for (place, wanted) in places {
                    let found = told.pointer(place).unwrap_or(&Value::Null);
                    let is_right = match wanted {
                        Is(text) => found == text,
                        True => found == true,
                        There => !found.is_null(),
                    };
                    assert!(is_right, "{tool} tells {found} at {place}: {told}");
                }
            }
            (Refused(why), Err(told)) => {
                assert!(
                    told["error"].as_str().unwrap().to_lowercase().contains(why),
                    "{tool} refuses otherwise: {told}"
                );
            }
            (_, answer) => panic!("{tool} came to something else: {answer:?}"),
        }
    }
    let listed: BTreeSet<String> =
        client.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect();
    assert_eq!(called, listed, "a tool that is listed is called here");
}

/// Every argument of every tool is once something that it cannot be, and the refusal names it.
#[tokio::test(flavor = "multi_thread")]
async fn every_tool_refuses_what_cannot_be_and_names_the_argument() {
    let world = World::new().await;
    let stage = stage(&world);
    let mut client = Mcp::new(&world);
    let cases = good(&stage);
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        let (_, arguments, _) = cases.iter().find(|case| case.0 == name).unwrap();
        let required: Vec<&str> = tool["inputSchema"]["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for argument in &required {
            let mut without = arguments.clone();
            let object = without.as_object_mut().unwrap();
            // Some arguments have older names, which count as well.
            object.retain(|key, _| tool["inputSchema"]["properties"].get(key).is_some() && key != argument);
            let told = client.call(name, without).expect_err(name);
            let error = told["error"].as_str().unwrap();
            assert!(error.contains(&format!("`{argument}`")), "{name} without {argument}: {error}");
        }
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let wrong = match schema["type"].as_str() {
                Some("string" | "boolean" | "array" | "object") => json!(7),
                Some("integer") => json!("seven"),
                _ => continue,
            };
            let mut spoiled = arguments.clone();
            spoiled[argument] = wrong;
            let told = client.call(name, spoiled).expect_err(&format!("{name} took a wrong {argument}"));
            let error = told["error"].as_str().unwrap();
            assert!(error.contains(&format!("`{argument}`")), "{name} with a wrong {argument}: {error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_with_the_servers_sentence() {
    let world = World::new().await;
    let mut client = Mcp::new(&world);
    let nobody = "00000000-0000-4000-8000-000000000000";
    for (tool, argument, what) in [
        ("get_task", "task_id", "task"),
        ("get_project", "project_id", "project"),
        ("get_task_attempt", "attempt_id", "attempt"),
        ("view", "sessionId", "attempt"),
        ("get_process", "process_id", "run"),
        ("delete_task", "task_id", "task"),
    ] {
        let told = client.call(tool, json!({ argument: nobody })).unwrap_err();
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(&format!("no {what}")) && error.contains(nobody), "{tool}: {error}");
    }
    let told = client.call("list_tasks", json!({"status": "sleeping"})).unwrap_err();
    assert_eq!(told["details"], "sleeping");
    assert!(told["error"].as_str().unwrap().contains("in-progress"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_are_understood_in_both_spellings_and_told_in_one() {
    let world = World::new().await;
    let project = world.project();
    let mut client = Mcp::new(&world);
    let made = client.call("create_task", json!({"project_id": project, "title": "One"})).unwrap();
    for spelling in ["inprogress", "in-progress", "in_progress", "InProgress"] {
        let told =
            client.call("update_task", json!({"task_id": made["task_id"], "status": spelling})).unwrap();
        assert_eq!(told["task"]["status"], "in-progress", "{spelling}");
        let listed = client.call("list_tasks", json!({"project_id": project, "status": spelling})).unwrap();
        assert_eq!((&listed["count"], &listed["project_id"]), (&json!(1), &json!(project)), "{spelling}");
    }
    let everywhere = client.call("list_tasks", json!({"limit": -3})).unwrap();
    assert_eq!((&everywhere["count"], &everywhere["applied_filters"]["limit"]), (&json!(0), &json!(0)));
    let everywhere = client.call("list_tasks", json!({})).unwrap();
    assert_eq!(everywhere["tasks"][0]["project_id"], json!(project));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_and_resume_pass_through_to_forge() {
    let world = World::new().await;
    let project = world.project();
    let mut client = Mcp::new(&world);
    let ran = client.call("run", json!({"agent": "scripted", "prompt": "say one"})).unwrap();
    let session = ran["session_id"].as_str().unwrap();
    // What a tool started is an attempt like any other.
    let attempt = world.wait_for(session, "finished");
    assert_eq!((&attempt["project_id"], &attempt["executor"]), (&json!(project), &json!("SCRIPTED")));
    client.call("resume", json!({"sessionId": session, "prompt": "say two"})).unwrap();
    world.wait_for(session, "finished");
    let runs = world.get(&format!("/api/execution-processes?task_attempt_id={session}")).data();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
    let unknown = client.call("run", json!({"agent": "script", "prompt": "x"})).unwrap_err();
    assert!(unknown["error"].as_str().unwrap().contains("scripted"), "{unknown}");
}
