//! The shapes on the wire, key by key: the contract's keys, the additions, and what may be null.

use std::path::PathBuf;

use forge_engine::{
    AttemptView, Branch, Card, Change, ChangeSum, Changed, Delivered, FollowedUp, Started, TaskView, Todos,
};
use forge_model::{
    Answer, Ask, AskId, AskKind, AskState, Attempt, AttemptId, AttemptState, Checks, FirstTurn, Manner,
    ProfileId, ProjectId, PullRequest, PullRequestStatus, Run, RunId, RunKind, RunState, TaskId, TaskStatus,
    Time, Usage,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::decode::Fields;

const ID: &str = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
const AT: Time = Time::from_millis(1_760_000_000_007);
const WHEN: &str = "2025-10-09T08:53:20.007Z";

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>() -> T {
    ID.parse().unwrap()
}

fn project() -> forge_model::Project {
    forge_model::Project {
        id: id(),
        name: "demo".to_string(),
        path: PathBuf::from("/home/ada/demo"),
        setup_script: None,
        dev_script: None,
        cleanup_script: None,
        copy_files: None,
        commit_prompt: None,
        default_base_branch: None,
        created_at: AT,
        trust_filters: false,
        updated_at: AT,
    }
}

fn task() -> forge_model::Task {
    forge_model::Task {
        id: id(),
        project: id(),
        title: "Fix it".to_string(),
        description: None,
        status: TaskStatus::InProgress,
        parent: None,
        dev_server: None,
        created_at: AT,
        updated_at: AT,
    }
}

fn task_view() -> TaskView {
    TaskView {
        task: task(),
        has_in_progress_attempt: true,
        has_merged_attempt: false,
        last_attempt_failed: false,
        executor: "CODEX".to_string(),
        is_chat: false,
        attempt_count: 1,
        position: -7,
        last_attempt: Some(id()),
    }
}

fn attempt_view() -> AttemptView {
    AttemptView {
        attempt: Attempt {
            id: id(),
            project: id(),
            task: Some(id()),
            profile: "CLAUDE_CODE:PLAN".parse().unwrap(),
            state: AttemptState::Running,
            reason: None,
            branch: "forge/6a0c-fix-it".to_string(),
            target_branch: "main".to_string(),
            base_commit: "abc".to_string(),
            worktree: PathBuf::from("/data/worktrees/6a0c-fix-it"),
            worktree_deleted: false,
            in_place: false,
            setup_completed_at: None,
            session: None,
            prompt: "Fix it".to_string(),
            manner: Manner::default(),
            usage: Usage::default(),
            created_at: AT,
            updated_at: AT,
        },
        task: Some(task()),
        status: Some(RunState::Running),
        open_asks: 0,
        queued: 2,
        is_merged: false,
        place: None,
        is_conflicted: false,
        findings: 1,
        limited: None,
        stalled: None,
        card: Card {
            state_since: AT,
            activity: Some("Editing db.ts".to_string()),
            preparing: None,
            todos: None,
            changes: None,
            pull_request: None,
            seen_at: None,
            dismissed_at: None,
            later_until: None,
            comments: 0,
            dev_server: None,
            last_run: Some(id()),
            turns: 1,
        },
    }
}

fn run() -> Run {
    Run {
        id: id(),
        attempt: id(),
        task: Some(id()),
        kind: RunKind::Agent,
        state: RunState::Running,
        profile: ProfileId::new("CODEX", None).unwrap(),
        prompt: "Fix it".to_string(),
        resumed_session: None,
        forked: false,
        memo: None,
        before_head: None,
        after_head: None,
        exit_code: None,
        signal: None,
        reason: None,
        next: None,
        dropped: false,
        log_deleted_at: None,
        started_at: AT,
        completed_at: None,
        created_at: AT,
        updated_at: AT,
    }
}

fn ask() -> Ask {
    Ask {
        id: id(),
        run: id(),
        attempt: id(),
        key: "1".to_string(),
        kind: AskKind::Permission,
        tool: "Bash".to_string(),
        text: "run ls?".to_string(),
        input: json!({"command": "ls"}),
        state: AskState::Open,
        answer: None,
        created_at: AT,
        answered_by: None,
        answered_at: None,
    }
}

fn wire(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn wire_task() -> Value {
    json!({
        "id": ID, "project_id": ID, "title": "Fix it", "description": null, "status": "inprogress",
        "parent_task_attempt": null, "dev_server_id": null, "created_at": WHEN, "updated_at": WHEN,
    })
}

fn with(mut value: Value, more: Value) -> Value {
    let (Value::Object(map), Value::Object(more)) = (&mut value, more) else { panic!("objects only") };
    map.extend(more);
    value
}

fn wire_attempt() -> Value {
    let attempt = json!({
        "id": ID, "task_id": ID, "container_ref": "/data/worktrees/6a0c-fix-it", "branch": "forge/6a0c-fix-it",
        "target_branch": "main", "executor": "CLAUDE_CODE:PLAN", "worktree_deleted": false,
        "setup_completed_at": null, "input_tokens": null, "output_tokens": null, "cache_creation_tokens": null,
        "cache_read_tokens": null, "created_at": WHEN, "updated_at": WHEN,
        "status": "running", "state": "running", "reason": null, "project_id": ID,
        "executor_profile_id": {"executor": "CLAUDE_CODE", "variant": "PLAN"},
        "worktree_path": "/data/worktrees/6a0c-fix-it", "branch_name": "forge/6a0c-fix-it",
        "open_asks": 0, "queued": 2, "queue_place": null, "is_merged": false,
        "is_conflicted": false, "in_place": false, "findings": 1, "cost_micros": null,
        "limited_until": null, "resume_when_limited": null, "stalled": null, "unattended": false,
        "forked_from": null, "task": wire_task(),
    });
    let card = json!({
        "state_since": WHEN, "activity": "Editing db.ts", "preparing": null, "todos_done": null, "todos_total": null,
        "files_changed": null, "lines_added": null, "lines_deleted": null, "pull_request": null, "seen_at": null,
        "dismissed_at": null, "later_until": null, "comments": 0, "dev_server": null, "last_run_id": ID, "turns": 1,
    });
    with(attempt, card)
}

#[test]
fn a_project_has_the_contracts_keys() {
    let expected = json!({
        "id": ID, "name": "demo", "git_repo_path": "/home/ada/demo", "setup_script": null, "dev_script": null,
        "cleanup_script": null, "copy_files": null, "commit_prompt": null, "default_base_branch": null,
        "trust_filters": false, "created_at": WHEN, "updated_at": WHEN,
    });
    assert_eq!(wire(Project::from(project())), expected);
}

#[test]
fn a_branch_has_the_contracts_keys() {
    let branch = Branch { name: "main".to_string(), is_current: true, is_remote: false, last_commit: AT };
    let expected = json!({"name": "main", "is_current": true, "is_remote": false, "last_commit_date": WHEN});
    assert_eq!(wire(GitBranch::from(branch)), expected);
}

#[test]
fn a_task_comes_alone_or_with_what_its_attempts_say() {
    assert_eq!(wire(Task::from(task_view())), wire_task());
    let flags = json!({
        "has_in_progress_attempt": true, "has_merged_attempt": false, "last_attempt_failed": false,
        "executor": "CODEX", "attempt_count": 1, "position": -7, "last_attempt_id": ID,
    });
    assert_eq!(wire(TaskWithAttemptStatus::from(task_view())), with(wire_task(), flags));
}

#[test]
fn an_attempt_has_the_contracts_keys_and_the_ones_clients_look_for() {
    assert_eq!(wire(TaskAttempt::from(attempt_view())), wire_attempt());
}

#[test]
fn the_card_of_an_attempt_is_told_by_keys_of_the_attempt_itself() {
    let mut view = attempt_view();
    view.card = Card {
        todos: Some(Todos { done: 2, total: 5 }),
        changes: Some(ChangeSum { files: 3, added: 20, deleted: 4 }),
        pull_request: Some(PullRequest {
            number: 42,
            url: "https://example.org/42".to_string(),
            status: PullRequestStatus::Open,
            merged_at: None,
            commit: None,
            checks: Some(Checks { passed: 2, failed: 1, waiting: 0 }),
        }),
        dev_server: Some((id(), 20_010)),
        later_until: Some(AT),
        comments: 3,
        ..view.card
    };
    let changed = json!({
        "todos_done": 2, "todos_total": 5, "files_changed": 3, "lines_added": 20, "lines_deleted": 4,
        "pull_request": {"number": 42, "url": "https://example.org/42", "status": "open",
            "checks": {"passed": 2, "failed": 1, "waiting": 0}},
        "dev_server": {"run_id": ID, "port": 20010, "url": "http://6a0c2f1e.localhost:20010/"},
        "later_until": WHEN, "comments": 3,
    });
    assert_eq!(wire(TaskAttempt::from(view)), with(wire_attempt(), changed));
}

#[test]
fn an_attempt_without_a_task_or_worktree_says_null() {
    let mut view = attempt_view();
    (view.attempt.task, view.task, view.status) = (None, None, None);
    view.attempt.state = AttemptState::Queued;
    view.attempt.profile = ProfileId::new("CODEX", None).unwrap();
    let changed = json!({
        "task_id": null, "task": null, "status": null, "state": "queued", "container_ref": null,
        "worktree_path": null, "executor": "CODEX", "executor_profile_id": {"executor": "CODEX"},
    });
    assert_eq!(wire(TaskAttempt::from(view)), with(wire_attempt(), changed));
}

#[test]
fn a_start_answers_the_task_and_the_attempt_under_every_key() {
    let started = Started { task: task_view(), attempt: attempt_view(), run: Some(run()) };
    let expected = with(
        wire(TaskWithAttemptStatus::from(task_view())),
        json!({
            "attempt_id": ID, "attempt": wire_attempt(), "attempts": [wire_attempt()], "task": wire_task(),
        }),
    );
    assert_eq!(wire(StartedTask::from(started)), expected);
}

#[test]
fn a_run_has_the_contracts_keys_whatever_it_is_for() {
    let process = |action: Value, reason: &str, status: &str| {
        json!({
            "id": ID, "task_attempt_id": ID, "execution_run_id": null, "run_reason": reason,
            "executor_action": {"typ": action, "next_action": null}, "before_head_commit": null,
            "after_head_commit": null, "status": status, "exit_code": null, "dropped": false,
            "started_at": WHEN, "completed_at": null, "created_at": WHEN, "updated_at": WHEN,
        })
    };
    let profile = json!({"executor": "CODEX"});
    let first =
        json!({"type": "CodingAgentInitialRequest", "prompt": "Fix it", "executor_profile_id": profile});
    let first = process(first, "codingagent", "running");
    assert_eq!(wire(ExecutionProcess::from(run())), first);

    let resumed = Run { resumed_session: Some("s1".to_string()), state: RunState::Lost, ..run() };
    let action = json!({
        "type": "CodingAgentFollowUpRequest", "prompt": "Fix it", "session_id": "s1", "executor_profile_id": profile,
    });
    assert_eq!(wire(ExecutionProcess::from(resumed)), process(action, "codingagent", "failed"));

    let scripts = [
        (RunKind::Setup, "setupscript", "SetupScript"),
        (RunKind::Cleanup, "cleanupscript", "CleanupScript"),
        (RunKind::DevServer, "devserver", "DevServer"),
    ];
    for (kind, reason, context) in scripts {
        let script = Run { kind, state: RunState::Pending, ..run() };
        let action =
            json!({"type": "ScriptRequest", "script": "Fix it", "language": "Bash", "context": context});
        assert_eq!(wire(ExecutionProcess::from(script)), process(action, reason, "running"));
    }
    let next = Some(FirstTurn { prompt: "Fix it".to_string(), profile: run().profile });
    let setup = Run { kind: RunKind::Setup, prompt: "npm ci".to_string(), next, ..run() };
    let action =
        json!({"type": "ScriptRequest", "script": "npm ci", "language": "Bash", "context": "SetupScript"});
    let mut chain = process(action, "setupscript", "running");
    chain["executor_action"]["next_action"] = first["executor_action"].clone();
    assert_eq!(wire(ExecutionProcess::from(setup)), chain);

    let followed = FollowedUp { run: run(), delivered: Delivered::Queued };
    assert_eq!(wire(FollowUpProcess::from(followed)), with(first, json!({"delivered": "queued"})));
}

#[test]
fn an_ask_has_the_contracts_keys_and_a_deadline_that_never_comes() {
    let expected = json!({
        "approval_id": ID, "execution_process_id": ID, "tool_name": "Bash", "requested_at": WHEN,
        "timeout_at": "2026-10-09T08:53:20.007Z", "task_attempt_id": ID, "kind": "permission",
        "text": "run ls?", "input": {"command": "ls"}, "status": {"status": "pending"}, "state": "open",
        "answered_by": null, "answered_at": null, "answer": null, "answers": {}, "for_session": false,
    });
    assert_eq!(wire(Approval::from(ask())), expected);
}

#[test]
fn an_answer_is_told_inside_the_envelope_and_beside_it() {
    let told = |state, answer| wire(Responded::from(Ask { state, answer, ..ask() }));
    let envelope = |data: Value, state: &str| {
        let inside = json!({
            "success": true, "data": data, "error_data": null, "message": null, "state": state,
        });
        with(inside, data)
    };
    let approved = told(AskState::Approved, Some(Answer::yes()));
    assert_eq!(approved, envelope(json!({"status": "approved"}), "approved"));
    let denied = told(AskState::Denied, Some(Answer::Deny { reason: Some("no".to_string()) }));
    assert_eq!(denied, envelope(json!({"status": "denied", "reason": "no"}), "denied"));
    let no_reason = envelope(json!({"status": "denied", "reason": null}), "denied");
    assert_eq!(told(AskState::Denied, None), no_reason);
    assert_eq!(told(AskState::Open, None), envelope(json!({"status": "pending"}), "open"));
    // The contract has one word for both; what was added beside it tells them apart.
    assert_eq!(told(AskState::Expired, None), envelope(json!({"status": "timed_out"}), "expired"));
    assert_eq!(told(AskState::Cancelled, None), envelope(json!({"status": "timed_out"}), "cancelled"));
}

#[test]
fn an_answer_is_read_as_either_kind_of_client_sends_it() {
    let read = |value: Value| match value {
        Value::Object(map) => Answer::try_from(Fields::new(map)),
        _ => panic!("objects only"),
    };
    let approve = |text: Option<&str>| text.map_or(Answer::yes(), Answer::words);
    let deny = |reason: Option<&str>| Answer::Deny { reason: reason.map(str::to_string) };
    let cases = [
        (json!({"execution_process_id": ID, "status": {"status": "approved"}}), approve(None)),
        (json!({"execution_process_id": ID, "status": "approved"}), approve(None)),
        (json!({"status": {"status": "denied", "reason": "no"}}), deny(Some("no"))),
        (json!({"status": "denied", "reason": "no"}), deny(Some("no"))),
        (json!({"approved": true}), approve(None)),
        (json!({"approved": true, "text": "blue"}), approve(Some("blue"))),
        (json!({"approved": true, "answer": "blue"}), approve(Some("blue"))),
        (json!({"approved": false, "comment": "no"}), deny(Some("no"))),
        (json!({"approved": false, "comment": null}), deny(None)),
        (json!({"status": {"status": "approved"}, "text": "blue"}), approve(Some("blue"))),
        (
            json!({"approved": true, "answers": {"Which?": "blue"}, "scope": "session"}),
            Answer::Approve {
                text: None,
                answers: [("Which?".into(), "blue".into())].into(),
                for_session: true,
            },
        ),
        (json!({"approved": true, "scope": "once"}), approve(None)),
    ];
    for (body, expected) in cases {
        assert_eq!(read(body.clone()).unwrap(), expected, "{body}");
    }
    let refused = [
        (json!({}), "`status` must be a text that is not blank"),
        (json!({"status": "pending"}), "`status` must be `approved` or `denied`"),
        (json!({"status": {}}), "`status.status` must be a text that is not blank"),
        (json!({"approved": "yes"}), "`approved` must be true or false"),
        (json!({"approved": true, "answers": ["blue"]}), "`answers` must be an object of texts"),
        (json!({"approved": true, "answers": {"Which?": 1}}), "`answers` must be an object of texts"),
        (json!({"approved": true, "scope": "ever"}), "`scope` must be `once` or `session`"),
    ];
    for (body, told) in refused {
        let problem = format!("{:?}", read(body.clone()).unwrap_err());
        assert!(problem.contains(told), "{body}: {problem}");
    }
}

#[test]
fn changes_are_patches_on_one_document() {
    let changes = vec![
        Change::Project { id: id::<ProjectId>(), added: true, value: Some(project()) },
        Change::Task { id: id::<TaskId>(), added: false, value: Some(task_view()) },
        Change::Attempt { id: id::<AttemptId>(), added: true, loose: false, value: None },
        Change::Attempt { id: id::<AttemptId>(), added: true, loose: true, value: None },
        Change::Run { id: id::<RunId>(), added: true, value: Some(run()) },
        Change::Ask { id: id::<AskId>(), added: false, value: Some(ask()) },
    ];
    let expected = json!([
        {"op": "add", "path": format!("/projects/{ID}"), "value": wire(Project::from(project()))},
        {"op": "replace", "path": format!("/tasks/{ID}"), "value": wire(TaskWithAttemptStatus::from(task_view()))},
        {"op": "remove", "path": format!("/task_attempts/{ID}")},
        {"op": "remove", "path": format!("/execution_runs/{ID}")},
        {"op": "add", "path": format!("/execution_processes/{ID}"), "value": wire(ExecutionProcess::from(run()))},
        {"op": "replace", "path": format!("/approvals/{ID}"), "value": wire(Approval::from(ask()))},
    ]);
    let changed: Vec<_> = changes.into_iter().map(|change| Changed { project: None, change }).collect();
    assert_eq!(wire(changed.iter().collect::<Patch>()), expected);
}

#[test]
fn a_task_is_read_with_its_project_from_the_body_or_the_path() {
    let fields = |value: Value| match value {
        Value::Object(map) => Fields::new(map),
        _ => Fields::new(Map::new()),
    };
    let body = fields(json!({"title": " Fix it ", "description": "", "project_id": ID, "unknown": 1}));
    let new = new_task(&body, Some(ProjectId::random())).unwrap();
    assert_eq!((new.project, new.title.as_str(), new.description), (id(), "Fix it", None));
    let path = ProjectId::random();
    assert_eq!(new_task(&fields(json!({"title": "x"})), Some(path)).unwrap().project, path);
    let problem = new_task(&fields(json!({"title": "x"})), None).unwrap_err();
    assert!(format!("{problem:?}").contains("`project_id` must be an id"));
}
