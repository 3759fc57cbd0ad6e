//! The older streams: a whole map, then what changes in it.

use std::time::Duration;

use forge_engine::DraftChange;
use forge_model::DraftKind;
use serde_json::{Value, json};

use crate::board::{Board, Dice, Follower, seed, whole};
use crate::world::{World, eventually, id};

const TASKS: &str = "tasks";
const PROCESSES: &str = "execution_processes";
const DRAFTS: &str = "drafts";

fn tasks_of(project: &str) -> String {
    format!("/api/tasks/stream/ws?project_id={project}")
}

fn processes_of(attempt: &str) -> String {
    format!("/api/execution-processes/stream/ws?task_attempt_id={attempt}&show_soft_deleted=true")
}

fn drafts_of(project: &str) -> String {
    format!("/api/drafts/stream/ws?project_id={project}")
}

/// Writes a draft, or deletes it when there is no text; says whether that was possible.
fn write_draft(world: &World, attempt: &str, kind: DraftKind, text: Option<&str>) -> bool {
    let attempt = attempt.parse().unwrap();
    tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(async {
            match text {
                Some(text) => {
                    let retry = world.engine.runs(attempt, true).await.unwrap().first().map(|run| run.id);
                    let retry = retry.filter(|_| kind == DraftKind::Retry);
                    let change =
                        DraftChange { prompt: Some(text.to_string()), retry, ..DraftChange::default() };
                    world.engine.save_draft(attempt, kind, change).await.is_ok()
                }
                None => world.engine.delete_draft(attempt, kind).await.is_ok(),
            }
        })
    })
}

fn follow(world: &World, map: &str, path: &str) -> Follower {
    let address = world.address;
    Follower::start(map, path, move || Some(address))
}

fn make_task(world: &World, project: &str, title: &str) -> String {
    id(&world.post("/api/tasks", &json!({"project_id": project, "title": title})).data())
}

/// Registers another repository and returns the id of its project.
fn another_project(world: &World, name: &str) -> String {
    let path = world.repository(name);
    let body = json!({"name": name, "git_repo_path": path, "use_existing_repo": true});
    id(&world.post("/api/projects", &body).data())
}

/// Waits until a follower has what a new connection is given.
fn agrees(world: &World, map: &str, path: &str, follower: &Follower) {
    let (mut told, mut now) = (Value::Null, Value::Null);
    let reached = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        eventually(|| {
            now = whole(map, world.address, path);
            told = follower.board().document().clone();
            (told == now).then_some(())
        });
    }));
    assert!(reached.is_ok(), "{path}\ntold {told:#}\nnow {now:#}");
}

/// Reads frames off a socket until one holds an operation, and returns its operations as `op path`.
fn operations(socket: &mut crate::world::Socket) -> Vec<String> {
    loop {
        let tungstenite::Message::Text(text) = socket.read().unwrap() else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let patch = frame["JsonPatch"].as_array().unwrap().iter();
        return patch.map(|op| format!("{} {}", text(&op["op"]), text(&op["path"]))).collect();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_tasks_begins_with_the_whole_map_even_when_it_is_empty() {
    let world = World::new().await;
    let project = world.project();
    for path in [tasks_of(&project), format!("/api/projects/{project}/tasks/stream/ws")] {
        assert_eq!(whole(TASKS, world.address, &path), json!({"tasks": {}}));
    }
    let task = make_task(&world, &project, "one");
    let all = whole(TASKS, world.address, &tasks_of(&project));
    let listed = world.get(&format!("/api/tasks?project_id={project}")).data();
    assert_eq!(all, json!({"tasks": {task: listed[0]}}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_thing_is_an_add_a_known_one_a_replace_and_only_a_known_one_is_removed() {
    let world = World::new().await;
    let project = world.project();
    let elsewhere = another_project(&world, "elsewhere");
    let foreign = make_task(&world, &elsewhere, "foreign");
    let mut socket = world.socket(&tasks_of(&project));
    assert_eq!(operations(&mut socket), ["replace /tasks"]);

    let task = make_task(&world, &project, "one");
    assert_eq!(operations(&mut socket), [format!("add /tasks/{task}")]);
    world.put(&format!("/api/tasks/{task}"), &json!({"title": "two"})).data();
    assert_eq!(operations(&mut socket), [format!("replace /tasks/{task}")]);
    // Neither a change nor a removal elsewhere is told here.
    world.put(&format!("/api/tasks/{foreign}"), &json!({"title": "two"})).data();
    world.send("DELETE", &format!("/api/tasks/{foreign}"), &[], b"").data();
    world.send("DELETE", &format!("/api/tasks/{task}"), &[], b"").data();
    assert_eq!(operations(&mut socket), [format!("remove /tasks/{task}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_with_an_agent_is_on_no_board_and_a_task_that_becomes_one_leaves_it() {
    let world = World::new().await;
    let project = world.project();
    let task = make_task(&world, &project, "one");
    let mut socket = world.socket(&tasks_of(&project));
    assert_eq!(operations(&mut socket), ["replace /tasks"]);
    world.engine.create_standing_agent(project.parse().unwrap(), "wish").await.unwrap();
    world.put(&format!("/api/tasks/{task}"), &json!({"status": "agent"})).data();
    assert_eq!(operations(&mut socket), [format!("remove /tasks/{task}")]);
    assert_eq!(whole(TASKS, world.address, &tasks_of(&project)), json!({"tasks": {}}));
    world.put(&format!("/api/tasks/{task}"), &json!({"status": "todo"})).data();
    assert_eq!(operations(&mut socket), [format!("add /tasks/{task}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_starts_and_ends_changes_its_task_on_the_board() {
    let world = World::new().await;
    let project = world.project();
    let follower = follow(&world, TASKS, &tasks_of(&project));
    let started = world.start(&project, "hello", "ask may I?");
    let (task, attempt) = (id(&started), started["attempt_id"].as_str().unwrap().to_string());
    let told = |key: &str, value: Value| {
        eventually(|| (follower.board().document()["tasks"][&task][key] == value).then_some(()));
    };
    told("has_in_progress_attempt", json!(true));
    world.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({})).data();
    told("has_in_progress_attempt", json!(false));
    told("last_attempt_failed", json!(true));
    agrees(&world, TASKS, &tasks_of(&project), &follower);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_an_attempt_are_followed_and_an_unknown_attempt_has_none() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "hello", "say hi");
    let attempt = started["attempt_id"].as_str().unwrap().to_string();
    let follower = follow(&world, PROCESSES, &processes_of(&attempt));
    let run = id(&world.run_of(&attempt));
    eventually(|| (follower.board().document()[PROCESSES][&run]["status"] == "completed").then_some(()));
    agrees(&world, PROCESSES, &processes_of(&attempt), &follower);
    // The older board asks for a task's id, too.
    let nothing = json!({"execution_processes": {}});
    assert_eq!(whole(PROCESSES, world.address, &processes_of(&id(&started))), nothing);
    world.send("DELETE", &format!("/api/tasks/{}", id(&started)), &[], b"").data();
    eventually(|| (*follower.board().document() == nothing).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_has_an_entry_among_the_drafts_and_a_new_one_is_added() {
    let world = World::new().await;
    let project = world.project();
    let mut socket = world.socket(&drafts_of(&project));
    assert_eq!(operations(&mut socket), ["replace /drafts"]);
    let started = world.start(&project, "hello", "say hi");
    let attempt = started["attempt_id"].as_str().unwrap().to_string();
    assert_eq!(operations(&mut socket), [format!("add /drafts/{attempt}")]);
    world.wait_for(&attempt, "finished");

    let empty = whole(DRAFTS, world.address, &drafts_of(&project));
    let draft = &empty["drafts"][&attempt];
    assert!(draft["retry"].is_null() && draft["follow_up"]["version"] == 0, "{draft}");
    assert_eq!(draft["follow_up"]["created_at"], world.attempt(&attempt)["created_at"]);
    assert_eq!(empty, whole(DRAFTS, world.address, &drafts_of(&project)), "an empty draft is the same twice");

    assert!(write_draft(&world, &attempt, DraftKind::FollowUp, Some("go on")));
    assert_eq!(operations(&mut socket), [format!("replace /drafts/{attempt}/follow_up")]);
    assert!(write_draft(&world, &attempt, DraftKind::Retry, Some("again")));
    assert_eq!(operations(&mut socket), [format!("replace /drafts/{attempt}/retry")]);
    assert!(write_draft(&world, &attempt, DraftKind::Retry, None));
    assert_eq!(operations(&mut socket), [format!("replace /drafts/{attempt}/retry")]);
    assert_eq!(whole(DRAFTS, world.address, &drafts_of(&project))["drafts"][&attempt]["retry"], Value::Null);
    world.send("DELETE", &format!("/api/tasks/{}", id(&started)), &[], b"").data();
    assert_eq!(operations(&mut socket), [format!("remove /drafts/{attempt}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_map_that_cannot_be_is_refused_before_the_upgrade() {
    let world = World::new().await;
    let nobody = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    for (path, status, told) in [
        (tasks_of(nobody), 404, nobody),
        (format!("/api/projects/{nobody}/tasks/stream/ws"), 404, nobody),
        (tasks_of("x"), 400, "`project_id`"),
        ("/api/tasks/stream/ws".to_string(), 400, "`project_id`"),
        (processes_of("x"), 400, "`task_attempt_id`"),
        (drafts_of(nobody), 404, nobody),
        (drafts_of("x"), 400, "`project_id`"),
        ("/api/execution-processes/stream/ws".to_string(), 400, "`task_attempt_id`"),
    ] {
        let refusal = world.get(&path).refusal(status);
        assert!(refusal.contains(told), "{path}: {refusal}");
    }
    let refusal = world.get(&processes_of(nobody)).refusal(400);
    assert!(refusal.contains("WebSocket"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closing_server_says_that_it_goes_away() {
    let mut world = World::new().await;
    let mut socket = world.socket(&tasks_of(&world.project()));
    operations(&mut socket);
    world.stop().await;
    let frame = loop {
        if let tungstenite::Message::Close(frame) = socket.read().unwrap() {
            break frame;
        }
    };
    assert_eq!(frame.unwrap().code, tungstenite::protocol::frame::coding::CloseCode::Away);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stalls_for_five_seconds_catches_up_and_gets_each_thing_once() {
    let world = World::new().await;
    let project = world.project();
    let task = make_task(&world, &project, "long");
    let mut socket = world.socket(&tasks_of(&project));
    let begun = std::time::Instant::now();
    // More than the buffers of both ends hold, so that the server has to wait for us.
    let rounds = 40;
    for round in 0..rounds {
        let text = format!("{round} {}", "x".repeat(1_000_000));
        world.put(&format!("/api/tasks/{task}"), &json!({"description": text})).data();
    }
    // The stall itself is what is tried, so this is no wait for anything.
    std::thread::sleep(Duration::from_secs(5).saturating_sub(begun.elapsed()));
    let last = make_task(&world, &project, "last");
    let mut board = Board::new(TASKS);
    let mut frames = 0;
    while board.exact["tasks"].get(&last).is_none() {
        if let tungstenite::Message::Text(text) = socket.read().unwrap() {
            board.apply(&serde_json::from_str(&text).unwrap());
            frames += 1;
        }
    }
    assert!(frames < rounds, "{frames} frames of {rounds} changes: nothing was coalesced");
    assert_eq!(*board.document(), whole(TASKS, world.address, &tasks_of(&project)));
}

#[tokio::test(flavor = "multi_thread")]
async fn patches_applied_to_a_snapshot_give_a_fresh_snapshot_whatever_happens() {
    Walk::new(World::new().await, seed()).go(48);
}

/// A random walk through what people do, with readers of every map.
struct Walk {
    world: World,
    dice: Dice,
    projects: Vec<String>,
    tasks: Vec<String>,
    attempts: Vec<String>,
    followers: Vec<(&'static str, String, Follower)>,
}

impl Walk {
    fn new(world: World, seed: u64) -> Self {
        let mut walk = Self {
            projects: Vec::new(),
            tasks: Vec::new(),
            attempts: Vec::new(),
            followers: Vec::new(),
            dice: Dice::new(seed),
            world,
        };
        walk.add_project();
        walk.add_project();
        walk
    }

    fn go(&mut self, steps: usize) {
        for step in 0..steps {
            self.step();
            if step % 12 == 11 {
                self.check();
            }
        }
        // In the end everything goes at once.
        for attempt in self.attempts.clone() {
            self.stop(&attempt);
        }
        for project in self.projects.clone() {
            self.delete(&format!("/api/projects/{project}"));
        }
        self.check();
    }

    fn step(&mut self) {
        let (task, attempt) = (self.pick(&self.tasks.clone()), self.pick(&self.attempts.clone()));
        let project = self.pick(&self.projects.clone()).unwrap_or_default();
        match (self.dice.roll(17), task, attempt) {
            (0..=1, ..) => {
                let title = format!("task {}", self.dice.roll(1000));
                self.tasks.push(make_task(&self.world, &project, &title));
            }
            (2..=3, Some(task), _) => {
                let statuses = ["todo", "inprogress", "inreview", "done", "cancelled", "archived", "agent"];
                let status = statuses[self.dice.roll(statuses.len())];
                // It may be gone with its project.
                self.world.put(&format!("/api/tasks/{task}"), &json!({ "status": status }));
            }
            (4, Some(task), _) => {
                let title = format!("renamed {}", self.dice.roll(1000));
                self.world.put(&format!("/api/tasks/{task}"), &json!({ "title": title }));
            }
            (5, Some(task), _) => self.delete(&format!("/api/tasks/{task}")),
            (6..=8, ..) => self.start(&project),
            (9, _, Some(attempt)) => self.stop(&attempt),
            (10..=11, _, Some(attempt)) => {
                let body = json!({"prompt": "say more"});
                self.world.post(&format!("/api/task-attempts/{attempt}/follow-up"), &body);
            }
            (12, ..) => self.delete(&format!("/api/projects/{project}")),
            (14..=16, _, Some(attempt)) => {
                let kind = DraftKind::ALL[self.dice.roll(2)];
                let text = format!("text {}", self.dice.roll(1000));
                // It may be gone, or have nothing to delete.
                write_draft(&self.world, &attempt, kind, (self.dice.roll(4) > 0).then_some(text.as_str()));
            }
            (13, ..) => {
                let (_, _, follower) = &self.followers[self.dice.roll(self.followers.len())];
                follower.pause();
            }
            _ => {}
        }
        if self.projects.is_empty() {
            self.add_project();
        }
    }

    fn pick(&mut self, of: &[String]) -> Option<String> {
        (!of.is_empty()).then(|| of[self.dice.roll(of.len())].clone())
    }

    fn add_project(&mut self) {
        let project = another_project(&self.world, &format!("repository-{}", self.followers.len()));
        self.follow(TASKS, tasks_of(&project));
        self.follow(DRAFTS, drafts_of(&project));
        self.projects.push(project);
    }

    fn start(&mut self, project: &str) {
        let scripts = ["say hi", "edit a.txt hi\nsay done", "exit 3", "ask may I?\nsay thanks", "sleep 300"];
        let script = scripts[self.dice.roll(scripts.len())];
        let started = self.world.start(project, "started", script);
        self.tasks.push(id(&started));
        let attempt = started["attempt_id"].as_str().unwrap().to_string();
        self.follow(PROCESSES, processes_of(&attempt));
        self.attempts.push(attempt);
    }

    /// Stops an attempt, if it is there and runs.
    fn stop(&self, attempt: &str) {
        self.world.post(&format!("/api/task-attempts/{attempt}/stop"), &json!({}));
    }

    /// Removes something, unless it is busy.
    fn delete(&mut self, path: &str) {
        let answer = self.world.send("DELETE", path, &[], b"");
        if answer.status < 300 {
            self.projects.retain(|project| !path.ends_with(project.as_str()));
        }
    }

    fn follow(&mut self, map: &'static str, path: String) {
        let follower = follow(&self.world, map, &path);
        self.followers.push((map, path, follower));
    }

    /// Every reader has what a new one is given. A removed project is refused to a new one; then nothing is left.
    fn check(&self) {
        for (map, path, follower) in &self.followers {
            follower.go_on();
            let project = path.split_once("?project_id=").map(|(_, project)| project);
            if project.is_some_and(|project| !self.projects.iter().any(|one| one == project)) {
                let nothing = json!({ *map: {} });
                eventually(|| (*follower.board().document() == nothing).then_some(()));
            } else {
                agrees(&self.world, map, path, follower);
            }
        }
    }
}
