//! A GitHub on loopback: real bare repositories over smart HTTP, and an API whose every request is held against
//! GitHub's published description. Its answers are the description's own examples, changed where it matters.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge_engine::{GitHubAddress, GitHubOptions, Secret};
use serde_json::{Value, json};

use crate::described;
use crate::smart_http::{Door, Request, SmartHttp};
use crate::world::git;

pub(crate) const TOKEN: &str = "ghp_planted";
/// `x-access-token:ghp_planted`, as git sends it.
pub(crate) const HEADER: &str = "Basic eC1hY2Nlc3MtdG9rZW46Z2hwX3BsYW50ZWQ=";

#[derive(Default)]
struct State {
    /// Where its pages are, and where its repositories are on the disk.
    url: String,
    root: PathBuf,
    pulls: Vec<Value>,
    /// The operations that were called, in order.
    calls: Vec<String>,
    /// Requests that the description does not allow.
    wrong: Vec<String>,
    /// What every call of the API is answered with meanwhile.
    broken: Option<String>,
    /// How each check run of any commit ended, and each status; an end that is null is still to come.
    runs: Vec<Value>,
    statuses: Vec<Value>,
    /// How checks are refused.
    no_checks: Option<&'static str>,
    /// Pushes are not heard of.
    lags: bool,
}

pub(crate) struct LocalGitHub {
    pub(crate) http: SmartHttp,
    state: Arc<Mutex<State>>,
    dir: tempfile::TempDir,
}

impl LocalGitHub {
    /// Starts one that has nothing, and lets nobody in without the token.
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let played = state.clone();
        let http = SmartHttp::start(dir.path(), Door::Locked(HEADER.into()), move |request| {
            let path = request.target.strip_prefix("/api/v3")?;
            Some(answer(&mut played.lock().unwrap(), request, path))
        });
        (state.lock().unwrap().url, state.lock().unwrap().root) = (http.url(), dir.path().to_path_buf());
        Self { http, state, dir }
    }

    /// How an engine reaches it; it asks about pull requests every `poll`.
    pub(crate) fn options(&self, poll: Duration) -> GitHubOptions {
        GitHubOptions {
            address: GitHubAddress::new(Some(&self.http.url()), None).unwrap(),
            token: Some(Secret::new(TOKEN)),
            poll,
            ..GitHubOptions::default()
        }
    }

    /// Makes a repository here of one that is elsewhere, and returns where it is on the disk.
    pub(crate) fn host(&self, name: &str, from: &Path) -> PathBuf {
        let bare = self.dir.path().join(format!("{name}.git"));
        git(self.dir.path(), &["clone", "--quiet", "--bare", from.to_str().unwrap(), bare.to_str().unwrap()]);
        git(&bare, &["config", "http.receivepack", "true"]);
        bare
    }

    /// The address of a repository here.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("{}/{name}.git", self.http.url())
    }

    /// Opens a pull request as somebody would on the page.
    pub(crate) fn open(&self, head: &str, base: &str) -> u64 {
        let mut state = self.state.lock().unwrap();
        opened(&mut state, head, base)["number"].as_u64().unwrap()
    }

    /// Changes a pull request as somebody would on the page.
    pub(crate) fn change(&self, number: u64, change: Value) {
        let mut state = self.state.lock().unwrap();
        let pull = state.pulls.iter_mut().find(|pull| pull["number"] == number).unwrap();
        for (key, value) in change.as_object().unwrap() {
            pull[key] = value.clone();
        }
    }

    pub(crate) fn merge(&self, number: u64) {
        let commit = "e5bd3914e2e596debea16f433f57875b5b90bcd6";
        let at = "2026-11-16T04:05:06Z";
        self.change(number, json!({"state": "closed", "merged_at": at, "merge_commit_sha": commit}));
    }

    /// Answers every call of the API like this; with none, as it should.
    pub(crate) fn break_with(&self, head: Option<&str>) {
        self.state.lock().unwrap().broken = head.map(str::to_string);
    }

    /// Lets these check runs and statuses be those of every commit.
    pub(crate) fn check(&self, runs: &[Value], statuses: &[&str]) {
        let mut state = self.state.lock().unwrap();
        state.runs = runs.to_vec();
        state.statuses = statuses.iter().map(|ended| json!(ended)).collect();
    }

    /// Shows nobody the checks any more.
    pub(crate) fn hide_checks(&self) {
        self.state.lock().unwrap().no_checks = Some("403 Forbidden");
    }

    /// Tells nobody of checks, as a server that is ill.
    pub(crate) fn break_checks(&self) {
        self.state.lock().unwrap().no_checks = Some("500 Internal Server Error");
    }

    /// Lets pull requests stay at the commits they are at, as if nobody had pushed since.
    pub(crate) fn lag(&self, lags: bool) {
        self.state.lock().unwrap().lags = lags;
    }

    /// Counts the calls of an operation so far.
    pub(crate) fn calls(&self, operation: &str) -> usize {
        self.state.lock().unwrap().calls.iter().filter(|call| *call == operation).count()
    }

    pub(crate) fn pulls(&self) -> Vec<Value> {
        self.state.lock().unwrap().pulls.clone()
    }
}

impl Drop for LocalGitHub {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let wrong = &self.state.lock().unwrap().wrong;
            assert!(wrong.is_empty(), "GitHub's description does not allow this: {wrong:?}");
        }
    }
}

fn answer(state: &mut State, request: &Request, path: &str) -> (String, String) {
    let body = String::from_utf8_lossy(&request.body);
    let described = match described::request(&request.method, path, &request.headers, &body) {
        Ok(described) => described,
        Err(why) => {
            state.wrong.push(why.clone());
            return ("400 Bad Request".into(), why);
        }
    };
    state.calls.push(described.operation.clone());
    if let Some(head) = &state.broken {
        return (head.clone(), json!({"message": "not today"}).to_string());
    }
    if request.headers["authorization"] != format!("Bearer {TOKEN}") {
        return ("401 Unauthorized".into(), json!({"message": "Bad credentials"}).to_string());
    }
    let given = |name: &str| described.given.get(name).map(String::as_str).unwrap_or_default();
    let told = match described.operation.as_str() {
        "pulls/list" => {
            let is_wanted = |pull: &&Value| pull["head"]["label"] == given("head");
            let found: Vec<&Value> = state.pulls.iter().rev().filter(is_wanted).collect();
            json!(found)
        }
        "pulls/create" => {
            let owner = given("owner").to_string();
            let head = described.body["head"].as_str().unwrap();
            let head = if head.contains(':') { head.to_string() } else { format!("{owner}:{head}") };
            let base = described.body["base"].as_str().unwrap();
            let is_there = |pull: &Value| pull["head"]["label"] == head.as_str() && pull["state"] == "open";
            if state.pulls.iter().any(is_there) {
                let errors = json!([{"code": "custom", "message": format!("A pull request already exists for {head}.")}]);
                let told = json!({"message": "Validation Failed", "errors": errors});
                return ("422 Unprocessable Entity".into(), told.to_string());
            }
            let mut pull = opened(state, &head, base);
            (pull["title"], pull["body"]) = (described.body["title"].clone(), described.body["body"].clone());
            *state.pulls.last_mut().unwrap() = pull.clone();
            return (format!("201 Created\r\nLocation: {}", pull["url"]), pull.to_string());
        }
        "pulls/get" => {
            let found = state
                .pulls
                .iter()
                .find(|pull| Some(pull["number"].as_u64().unwrap()) == given("pull_number").parse().ok());
            match found {
                Some(found) if state.lags => found.clone(),
                Some(found) => with_newest_commit(found.clone(), &state.root),
                None => return ("404 Not Found".into(), json!({"message": "Not Found"}).to_string()),
            }
        }
        "checks/list-for-ref" if let Some(head) = state.no_checks => {
            let told = json!({"message": "Resource not accessible by personal access token"});
            return (head.into(), told.to_string());
        }
        "checks/list-for-ref" => listed("check-runs", "check_runs", "conclusion", &state.runs),
        "repos/get-combined-status-for-ref" => listed("status", "statuses", "state", &state.statuses),
        other => panic!("{other} is not played"),
    };
    ("200 OK".into(), told.to_string())
}

/// The description's own example, with its first item as often as there are ends, each ended like that.
fn listed(what: &str, list: &str, key: &str, ends: &[Value]) -> Value {
    let path = format!("/repos/{{owner}}/{{repo}}/commits/{{ref}}/{what}");
    let mut told = described::example(&path, "get", "200");
    let first = told[list][0].clone();
    let with_end = |end: &Value| {
        let mut item = first.clone();
        item[key] = end.clone();
        item
    };
    told[list] = ends.iter().map(with_end).collect();
    told["total_count"] = json!(ends.len());
    told
}

fn opened(state: &mut State, head: &str, base: &str) -> Value {
    let mut pull = described::example("/repos/{owner}/{repo}/pulls", "post", "201");
    let number = 7 + state.pulls.len();
    (pull["number"], pull["state"]) = (json!(number), json!("open"));
    (pull["merged_at"], pull["merge_commit_sha"]) = (Value::Null, Value::Null);
    (pull["head"]["label"], pull["base"]["ref"]) = (json!(head), json!(base));
    pull["html_url"] = json!(format!("{}/octocat/demo/pull/{number}", state.url));
    let pull = with_newest_commit(pull, &state.root);
    state.pulls.push(pull.clone());
    pull
}

/// A pull request follows its branch.
fn with_newest_commit(mut pull: Value, root: &Path) -> Value {
    let (owner, branch) = pull["head"]["label"].as_str().unwrap().split_once(':').unwrap();
    let reference = format!("refs/heads/{branch}");
    let found =
        git(&root.join(owner).join("demo.git"), &["for-each-ref", "--format=%(objectname)", &reference]);
    pull["head"]["sha"] = json!(found);
    pull
}
