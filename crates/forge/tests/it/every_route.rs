//! Everything the API can do has a command: every route is called by a command that runs here, or stands in a list with
//! the reason why none does.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::recorder::Recorder;
use crate::world::{Ended, Running, World};

/// Routes that no command calls, and why.
const WITHOUT: &[(&str, &[&str])] = &[
    (
        "a page, or a part of one",
        &[
            "GET /",
            "GET /docs",
            "GET /site.webmanifest",
            "GET /api/sounds/{sound}",
            // A browser's cookie; a command sends the token itself.
            "POST /api/session",
        ],
    ),
    (
        "another path to what a command does",
        &[
            "GET /api/health",
            "GET /api/projects/{project_id}/tasks",
            "POST /api/projects/{project_id}/tasks",
            "POST /api/projects/{project_id}/tasks/create-and-start",
            "GET /api/projects/{project_id}/tasks/{task_id}",
            "PUT /api/projects/{project_id}/tasks/{task_id}",
            "DELETE /api/projects/{project_id}/tasks/{task_id}",
            // `forge attempt draft save` puts.
            "POST /api/task-attempts/{attempt_id}/draft",
            // An attempt without a task is an attempt, and the commands of attempts take it.
            "GET /api/execution-runs/{execution_run_id}",
            "POST /api/execution-runs/{execution_run_id}/follow-up",
            "POST /api/execution-runs/{execution_run_id}/stop",
            "GET /api/execution-runs/{execution_run_id}/processes",
        ],
    ),
    (
        "a stream that tells what `forge events`, `forge logs` and `forge diff` tell",
        &[
            "GET /api/live/ws",
            "GET /api/tasks/stream/ws",
            "GET /api/projects/{project_id}/tasks/stream/ws",
            "GET /api/execution-processes/stream/ws",
            "GET /api/execution-processes/{run_id}/normalized-logs/ws",
            "GET /api/execution-runs/{execution_run_id}/logs/ws",
            "GET /api/task-attempts/{attempt_id}/diff/ws",
            "GET /api/drafts/stream/ws",
        ],
    ),
    ("for a program beside an agent, which is known by its session", &["POST /api/approvals/create"]),
];

#[test]
fn every_route_has_a_command_that_calls_it_or_a_reason() {
    let walk = Walk::new();
    walk.projects();
    let (task, attempt) = walk.tasks();
    walk.attempts(&task, &attempt);
    walk.asks();
    walk.kept_texts(&task);
    walk.settings();
    walk.removal(&task);

    let failed = walk.failed.borrow();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let called = walk.recorder.calls();
    let missing: BTreeSet<&str> =
        routes().into_iter().filter(|route| !called.iter().any(|call| fits(route, call))).collect();
    let without: BTreeSet<&str> = WITHOUT.iter().flat_map(|(_, routes)| routes.iter().copied()).collect();
    assert_eq!(missing, without, "left: called by no command; right: the list of those");
}

struct Walk {
    world: World,
    recorder: Recorder,
    /// Commands that failed and should not have: all are told at once.
    failed: RefCell<Vec<String>>,
    _server: Running,
}

impl Walk {
    fn new() -> Self {
        let world = World::new();
        fs::create_dir_all(world.home()).unwrap();
        let settings = "{\"editor\": {\"editor_type\": \"CUSTOM\", \"custom_command\": \"true\"}}";
        fs::write(world.home().join("config.json"), settings).unwrap();
        let mut recorder = Recorder::new();
        let name = format!("127.0.0.1:{}", recorder.port);
        let server = world.serve_with(&["--port", "0", "--allow-host", &name]);
        recorder.pass_to(world.server_file().unwrap()["url"].as_str().unwrap());
        Self { world, recorder, failed: RefCell::default(), _server: server }
    }

    /// Runs a command by way of the recorder.
    fn run(&self, args: &[&str]) -> Ended {
        let mut command = self.world.forge(args);
        command.env("FORGE_BASE_URL", format!("http://127.0.0.1:{}", self.recorder.port));
        let ended = Running::start(command).end();
        assert!(!ended.stderr.contains("Usage: forge"), "{args:?} is no command line: {ended:?}");
        ended
    }

    /// Runs a command that must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        if ended.code != Some(0) {
            eprintln!("{args:?} failed");
            self.failed.borrow_mut().push(format!("{args:?}: {ended:?}"));
        }
        ended.stdout
    }

    fn json(&self, args: &[&str]) -> Value {
        let told = self.ok(&[&["--json"], args].concat());
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{args:?}: {error}: {told}"))
    }

    fn id(&self, args: &[&str]) -> String {
        self.json(args)["id"].as_str().unwrap().to_string()
    }

    fn projects(&self) {
        self.ok(&["status"]);
        self.ok(&["project", "add", "--setup-script", "true"]);
        assert!(self.ok(&["project"]).contains("repository"));
        self.ok(&["project", "show"]);
        self.ok(&["project", "set", "--setup-script", "", "--dev-script", "sleep 60"]);
        assert!(self.ok(&["project", "branches"]).contains("*  main"));
        assert_eq!(self.ok(&["project", "search", "READ"]), "README.md\n");
        self.ok(&["project", "open"]);
        self.ok(&["project", "profiles"]);
        self.ok(&["list", "agents"]);
        self.ok(&["project", "notices", "enabled=false"]);
        self.ok(&["project", "notices"]);
        self.ok(&["project", "agents", "--add", "wish"]);
        assert!(self.ok(&["project", "agents"]).contains("wish"));
        self.ok(&["rules", "add", "allow", "read-only"]);
        // There is no remote to compare with, which is a refusal that names the reason.
        self.run(&["project", "status"]);
        self.run(&["project", "pull"]);
        self.run(&["project", "find", self.world.path("").to_str().unwrap()]);
        self.ok(&["project", "browse", self.world.repository().to_str().unwrap()]);
    }

    /// Makes a task and an attempt at it, and returns their ids.
    fn tasks(&self) -> (String, String) {
        let task = self.id(&["task", "add", "edit a.txt one"]);
        let above = self.id(&["task", "add", "another"]);
        assert!(self.ok(&["task", "list"]).contains("another"));
        self.ok(&["task", "edit", &task, "--description", "edit b.txt two"]);
        self.ok(&["task", "move", &task[..8], "in-progress", "--above", &above]);
        self.ok(&["task", "show", &task]);
        self.ok(&["task", "add", "say hi", "--start", "SCRIPTED", "--wait"]);
        let attempt = self.id(&["attempt", "start", &task, "--agent", "SCRIPTED"]);
        self.ok(&["wait", &attempt]);
        (task, attempt)
    }

    fn attempts(&self, task: &str, id: &str) {
        let loose = self.id(&["attempt", "start", "--prompt", "say loose", "--agent", "SCRIPTED"]);
        self.ok(&["attempt", "wait", &loose[..8]]);
        for look in [
            "show",
            "path",
            "runs",
            "children",
            "entries",
            "logs",
            "snapshots",
            "findings",
            "queue",
            "status",
        ] {
            self.ok(&["attempt", look, id]);
        }
        self.ok(&["attempt", "open", id]);
        self.ok(&["attempt", "diff", id, "--stat"]);
        let path = self.ok(&["attempt", "path", id]);
        assert_eq!(self.ok(&["attempt", "at", path.trim()]).trim(), id);
        let commit = self.world.git(&["rev-parse", "HEAD"]);
        self.ok(&["attempt", "commit", id, commit.trim()]);
        self.ok(&["attempt", "setup", id, "--agent", "SCRIPTED"]);
        self.ok(&["attempt", "seen", id]);
        self.ok(&["attempt", "dismiss", id]);
        self.ok(&["attempt", "follow-up", id, "edit c.txt three", "--wait"]);
        self.ok(&["attempt", "draft", "save", id, "say later"]);
        self.ok(&["attempt", "draft", "show", id]);
        self.ok(&["attempt", "draft", "send", id]);
        self.run(&["attempt", "draft", "drop", id]);
        self.ok(&["wait", id]);
        self.ok(&["attempt", "retry", id, "edit d.txt four", "--wait"]);
        self.ok(&["attempt", "comments", "add", id, "d.txt:1", "say no"]);
        let comment = self.json(&["attempt", "comments", "list", id])[0]["id"].as_str().unwrap().to_string();
        self.ok(&["attempt", "comments", "edit", id, &comment, "say yes"]);
        self.ok(&["attempt", "comments", "send", id, "--wait"]);
        self.ok(&["attempt", "comments", "delete", id, &comment]);
        let snapshot = self.json(&["snapshots", id])[0]["id"].as_str().unwrap().to_string();
        self.ok(&["attempt", "restore", id, &snapshot]);
        self.ok(&["attempt", "dev", "start", id]);
        self.ok(&["attempt", "dev", "logs", id]);
        self.ok(&["attempt", "dev", "stop", id]);
        self.ok(&["attempt", "delete-file", id, "a.txt"]);
        self.ok(&["attempt", "target", id, "main"]);
        self.ok(&["rebase", id]);
        // Nothing waits, there is no remote, and nobody is logged in: each is refused with its reason.
        self.run(&["attempt", "continue", id]);
        self.run(&["attempt", "abort", id]);
        self.run(&["push", id]);
        self.run(&["attempt", "pr", "create", id]);
        self.run(&["attempt", "pr", "attach", id]);
        self.ok(&["attempt", "merge", id]);
        self.ok(&["attempt", "unmerge", id]);
        self.ok(&["merge", id]);
        assert_eq!(self.json(&["task", "show", task])["status"], "done");
        self.ok(&["usage"]);
        self.outside();
    }

    /// What an attempt changed outside its worktree is put back and dismissed.
    fn outside(&self) {
        let top = self.world.repository().canonicalize().unwrap();
        let script = format!("run echo spoiled > {0}/README.md; echo stray > {0}/stray", top.display());
        self.ok(&["run", "--agent", "SCRIPTED", &script]);
        let id = self.json(&["list"])[0]["id"].as_str().unwrap().to_string();
        let found = self.ok(&["findings", &id]);
        let findings: Vec<&str> = found.lines().filter_map(|line| line.split(' ').next()).collect();
        self.ok(&["findings", &id, "--restore", findings[0]]);
        self.ok(&["findings", &id, "--dismiss", findings[1]]);
    }

    fn asks(&self) {
        let asks = |script: &str| {
            let id = self.world.attempt(script);
            self.world.until_state(&id, "waiting");
            id
        };
        let id = asks("permit Bash {\"command\": \"make\"}");
        let ask = self.json(&["asks", &id])[0]["approval_id"].as_str().unwrap().to_string();
        // What is told to one that works already waits, and can be changed and taken back.
        self.ok(&["approve", &id]);
        self.ok(&["wait", &id]);
        assert_eq!(self.run(&["approve", &ask]).code, Some(4), "it was answered already");
        let id = asks("permit Bash {\"command\": \"make\"}");
        self.ok(&["deny", &id, "not now"]);
        self.ok(&["wait", &id]);
        let id = asks("ask which?");
        self.ok(&["stop", &id]);
        self.queued();
    }

    /// What waits for room is changed and taken back.
    fn queued(&self) {
        self.ok(&["config", "set", "limits.max_running", "1"]);
        let rests = self.json(&["list"])[0]["id"].as_str().unwrap().to_string();
        let holds = self.world.attempt("ask hold");
        self.world.until_state(&holds, "waiting");
        self.ok(&["follow-up", &rests, "say one"]);
        self.ok(&["queue", &rests, "edit", "1", "say two"]);
        self.ok(&["queue", &rests, "remove", "1"]);
        self.ok(&["stop", &holds]);
        self.ok(&["config", "set", "limits.max_running", "null"]);
    }

    fn kept_texts(&self, task: &str) {
        self.ok(&["tag", "add", "tests", "Run the tests"]);
        assert!(self.ok(&["tag", "list", "tes"]).contains("tests"));
        assert_eq!(self.ok(&["tag", "show", "tests"]), "Run the tests\n");
        self.ok(&["tag", "edit", "tests", "--content", "Run all tests"]);
        self.ok(&["tag", "delete", "tests"]);
        self.ok(&["template", "add", "release", "--title", "Make a release"]);
        assert!(self.ok(&["template", "list"]).contains("Make a release"));
        self.ok(&["template", "show", "release"]);
        self.ok(&["template", "edit", "release", "--description", "With notes"]);
        self.ok(&["template", "delete", "release"]);

        // The smallest picture there is.
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
        let file = self.world.path("dot.png");
        fs::write(&file, png).unwrap();
        let file = file.to_str().unwrap();
        let image = self.id(&["image", "add", file, "--task", task]);
        self.ok(&["task", "add", "with a picture", "--image", file]);
        assert!(self.ok(&["image", "list", task]).contains("dot.png"));
        let back = self.world.path("back.png");
        self.ok(&["image", "get", &image, "--output", back.to_str().unwrap()]);
        assert_eq!(fs::read(&back).unwrap(), png);
        self.ok(&["image", "delete", &image]);
    }

    fn settings(&self) {
        self.ok(&["agents"]);
        self.ok(&["agents", "profiles", "list"]);
        let profiles = self.ok(&["agents", "profiles", "show"]);
        self.ok(&["agents", "profiles", "set", &profiles]);
        self.ok(&["agents", "mcp", "CLAUDE_CODE", "set", "db", "npx", "-y", "db-mcp"]);
        assert!(self.ok(&["agents", "mcp", "CLAUDE_CODE"]).contains("db-mcp"));
        self.ok(&["agents", "mcp", "CLAUDE_CODE", "remove", "db"]);
        assert_eq!(self.ok(&["config", "get", "theme"]).trim(), "SYSTEM");
        self.ok(&["notices", "status"]);
        self.ok(&["notices", "list"]);
        self.ok(&["notices", "set"]);
        self.ok(&["notices", "set", "enabled=false"]);
        self.run(&["notices", "instances"]);
        self.run(&["notices", "try", "http://127.0.0.1:1", "key"]);
        assert_eq!(self.run(&["github", "status"]).code, Some(4));
        // No app is named to log in with. The poll is what a login that began would do next.
        assert_ne!(self.run(&["github", "login"]).code, Some(0));
        self.run(&["api", "-X", "POST", "/api/auth/github/device/poll"]);
        self.ok(&["backup", self.world.path("backup.tar").to_str().unwrap()]);
        self.ok(&["disk"]);
        self.ok(&["gc", "--dry-run"]);
        // Nobody has moved in here. How far one is, the command asks when it takes long.
        assert_eq!(self.run(&["import", "vibe-kanban", "--dry-run"]).code, Some(3));
        self.ok(&["top"]);
        self.ok(&["events", "--after", "0", "--count", "1"]);
        for path in [
            "/metrics",
            "/api/routes",
            "/api/openapi.json",
            "/api/forge/releases",
            "/api/forge/auth-required",
            "/api/import",
        ] {
            assert!(!self.ok(&["api", path]).is_empty());
        }
        assert_eq!(self.run(&["api", "/api/nothing"]).code, Some(3));
    }

    fn removal(&self, task: &str) {
        self.ok(&["task", "delete", task]);
        self.ok(&["recover", &task[..8]]);
        self.ok(&["project", "remove", "repository"]);
        self.ok(&["project", "demo"]);
    }
}

/// Returns every route that clients know, as `GET /api/projects`.
fn routes() -> Vec<&'static str> {
    include_str!("../../../server/routes.txt").lines().filter(|line| !line.trim().is_empty()).collect()
}

/// Says whether a call is one of a route. A word of the path itself goes before a name in braces.
fn fits(route: &str, call: &str) -> bool {
    let is_fitting = |route: &str| {
        let (mut pattern, mut path) = (route.split('/'), call.split('/'));
        loop {
            match (pattern.next(), path.next()) {
                (None, None) => return true,
                (Some(word), Some(given)) if word == given || word.starts_with('{') && !given.is_empty() => {}
                _ => return false,
            }
        }
    };
    is_fitting(route) && (!route.contains('{') || !routes().contains(&call))
}
