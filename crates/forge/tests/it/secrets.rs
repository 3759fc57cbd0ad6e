//! Secrets that were planted everywhere are found nowhere: not in what Forge writes, logs, answers or calls.
//!
//! Three files may hold them, because that is what they are for: the settings, the profiles and the token. Only
//! their owner can read those.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::world::{DEADLINE, Running, World, eventually, mode};

const OF_THE_SERVER: &str = "planted-in-the-environment-of-the-server";
const OF_THE_REMOTE: &str = "planted-in-a-remote-url";
const PAT: &str = "planted-personal-access-token";
const OAUTH: &str = "planted-oauth-token";
const OF_THE_PROFILE: &str = "planted-in-the-environment-of-a-profile";
const GUESS: &str = "planted-wrong-token";

/// Where secrets live, and nobody else reads.
const KEEPERS: [&str; 3] = ["config.json", "profiles.json", "token"];

/// The server's address, and every answer it has given.
struct Api {
    address: String,
    answers: Vec<String>,
}

impl Api {
    fn call(&mut self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n",
            self.address
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let value = serde_json::from_str(text).unwrap_or_default();
        self.answers.push(format!("{method} {path}: {answer}"));
        (status, value)
    }

    fn get(&mut self, path: &str) -> Value {
        let (status, value) = self.call("GET", path, "", "");
        assert_eq!(status, 200, "{path}: {value}");
        value["data"].clone()
    }

    fn send(&mut self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, path, "", &body.to_string()).1
    }
}

#[test]
fn planted_secrets_are_in_no_file_no_log_no_answer_and_no_argument() {
    let world = World::new();
    let remote = format!("https://ada:{OF_THE_REMOTE}@127.0.0.1:1/x.git");
    world.git(&["remote", "add", "origin", &remote]);
    // A repository that promises its objects elsewhere, and lacks one.
    world.git(&["config", "remote.origin.promisor", "true"]);
    let mut command = world.forge(&["serve", "--port", "0"]);
    command.env("ANTHROPIC_API_KEY", OF_THE_SERVER).env("FORGE_BASE_URL", format!("http://{OF_THE_SERVER}"));
    command.env("RUST_LOG", "trace").env("HOST", "127.0.0.1");
    let mut server = Running::start(command);
    let line = server.line_with("Forge 0.1.0 on http://");
    let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_string();
    let mut api = Api { address, answers: Vec::new() };

    let config = json!({"github": {"pat": PAT, "oauth_token": OAUTH}});
    assert_eq!(api.send("PUT", "/api/config", &config)["success"], true);
    let variables = json!({"env": {"OF_THE_PROFILE": OF_THE_PROFILE}});
    let missing = json!({"env": {"X": OF_THE_PROFILE}, "base_command_override": "/no/such/program"});
    let text = api.get("/api/profiles")["content"].as_str().unwrap().to_string();
    let mut profiles: Value = serde_json::from_str(&text).unwrap();
    profiles["executors"]["SCRIPTED"]["PLANTED"] = json!({"SCRIPTED": variables});
    profiles["executors"]["SCRIPTED"]["MISSING"] = json!({"SCRIPTED": missing});
    let kept = api.send("PUT", "/api/profiles", &profiles);
    assert_eq!(kept["success"], true, "{kept}");
    let project = json!({
        "name": "demo", "git_repo_path": world.repository(), "use_existing_repo": true,
    });
    let project = api.send("POST", "/api/projects", &project)["data"]["id"].as_str().unwrap().to_string();
    let start = |variant: &str, base: &str, script: &str| {
        json!({
            "task": {"project_id": project, "title": "Mine", "description": script}, "base_branch": base,
            "executor_profile_id": {"executor": "SCRIPTED", "variant": variant},
        })
    };
    let started = api.send("POST", "/api/tasks/create-and-start", &start("PLANTED", "main", "say hi\nhang"));
    let attempt = started["data"]["attempt_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_string();

    // The agent has what it was given; what it was given is planted too.
    let run = api.get(&format!("/api/execution-processes?task_attempt_id={attempt}"))[0]["id"].clone();
    let marker = format!("FORGE_RUN={}", run.as_str().unwrap());
    let environment = eventually("the agent has its variables", || {
        environments()
            .into_iter()
            .map(|(_, text)| text)
            .find(|text| text.split('\0').any(|one| one == marker))
    });
    let variable = |name: &str| {
        let value = environment.split('\0').find_map(|one| one.strip_prefix(&format!("{name}=")));
        value.map(str::to_string)
    };
    assert_eq!(variable("ANTHROPIC_API_KEY").as_deref(), Some(OF_THE_SERVER));
    assert_eq!(variable("OF_THE_PROFILE").as_deref(), Some(OF_THE_PROFILE));
    for name in ["HOST", "PORT", "BACKEND_PORT", "FORGE_BASE_URL", "FORGE_SEAM"] {
        assert_eq!(variable(name), None, "{name} is the server's");
    }
    let scoped = variable("FORGE_TOKEN").unwrap();
    let owner = fs::read_to_string(world.home().join("token")).unwrap().trim().to_string();
    assert!(owner.len() == 64 && scoped.len() > 64 && !scoped.contains(&owner));

    // Everything that tells much, and everything that fails.
    for path in ["/api/info", "/api/config", "/api/profiles", "/api/routes", "/api/projects", "/health"] {
        api.get(path);
    }
    api.get(&format!("/api/projects/{project}/branches"));
    api.get(&format!("/api/task-attempts/{attempt}"));
    api.get(&format!("/api/execution-processes/{}", run.as_str().unwrap()));
    for path in ["/metrics", "/api/openapi.json", "/docs", "/", "/api/nothing", "/api/tasks/nonsense"] {
        api.call("GET", path, "", "");
    }
    for (variant, base) in [("MISSING", "main"), ("PLANTED", "no-such-branch"), ("NOBODY", "main")] {
        let failed = api.send("POST", "/api/tasks/create-and-start", &start(variant, base, "say hi"));
        assert_eq!(failed["success"], false, "{variant} {base}: {failed}");
    }
    assert_eq!(api.call("GET", "/api/info", &format!("Authorization: Bearer {GUESS}\r\n"), "").0, 401);
    assert_eq!(api.call("GET", "/api/info", &format!("Authorization: Bearer {scoped}\r\n"), "").0, 403);
    assert_eq!(api.call("PUT", "/api/config", "", &format!("{{\"github\": {{\"pat\": \"{PAT}\"")).0, 400);
    assert_eq!(api.call("PUT", "/api/config", "", &json!({"github": {"pat": [PAT]}}).to_string()).0, 422);
    profiles["executors"]["SCRIPTED"]["PLANTED"]["SCRIPTED"]["env"] = json!([OF_THE_PROFILE]);
    assert_eq!(api.send("PUT", "/api/profiles", &profiles)["success"], false);

    let secrets = [OF_THE_SERVER, OF_THE_REMOTE, PAT, OAUTH, OF_THE_PROFILE, GUESS, &owner, &scoped];
    let found = |text: &str| secrets.into_iter().find(|secret| text.contains(*secret));
    for (pid, environment) in environments() {
        if pid == server.pid() || environment.contains(world.home().to_str().unwrap()) {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            assert_eq!(found(&command), None, "an argument: {command}");
        }
    }
    for answer in &api.answers {
        assert_eq!(found(answer), None, "an answer: {answer}");
    }
    look_through(&world, &found);

    let ended = world.run(&["stop", &attempt]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    server.signal(Signal::TERM);
    let told = server.end();
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stderr.contains(" INFO forge_engine"), "there is no log: {told:?}");
    for text in [&told.stdout, &told.stderr, &ended.stdout, &ended.stderr] {
        assert_eq!(found(text), None, "the log: {text}");
    }
    look_through(&world, &found);
}

/// Reads every file that Forge wrote.
fn look_through<'a>(world: &World, found: &dyn Fn(&str) -> Option<&'a str>) {
    let mut files = Vec::new();
    for root in [world.home(), world.path("temporary")] {
        gather(&root, &mut files);
    }
    let names: Vec<_> = files.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    for name in ["spec.json", "shim.json", "forge.db", "server.json"].iter().chain(&KEEPERS) {
        let gone = *name == "server.json" && !world.home().join(name).exists();
        assert!(names.contains(name) || gone, "no {name} among {names:?}");
    }
    // What a repository's own config was before a turn is kept, so that it can be put back: whole, and for its owner.
    let kept = world.home().join("guard/objects");
    for path in &files {
        if path.starts_with(&kept) {
            assert_eq!(mode(path), 0o600, "{}", path.display());
            continue;
        }
        if KEEPERS.iter().any(|name| *path == world.home().join(name)) {
            assert_eq!(mode(path), 0o600, "{}", path.display());
            continue;
        }
        let bytes = fs::read(path).unwrap_or_default();
        assert_eq!(found(&String::from_utf8_lossy(&bytes)), None, "{}", path.display());
    }
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            gather(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// Every process that can be looked into, with its environment.
fn environments() -> Vec<(u32, String)> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            Some((pid, String::from_utf8_lossy(&environment).into_owned()))
        })
        .collect()
}
