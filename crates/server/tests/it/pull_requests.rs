//! Pushes, pull requests and pulls over the API. GitHub is played on loopback, and every request of it is held against
//! its own description; branches go to a real bare repository.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use forge_engine::{GitHubAddress, GitHubOptions, Secret};
use serde_json::{Value, json};

use crate::described;
use crate::played_github::{PlayedGitHub, Reply};
use crate::world::{World, git, id};

struct Place {
    world: World,
    played: PlayedGitHub,
    repository: PathBuf,
    bare: PathBuf,
    project: String,
    attempt: String,
    /// What GitHub has.
    pulls: Arc<Mutex<Vec<Value>>>,
}

impl Place {
    async fn new(token: Option<&str>) -> Self {
        let pulls = Arc::new(Mutex::new(Vec::<Value>::new()));
        let kept = pulls.clone();
        let played = PlayedGitHub::start(move |request| {
            let path = request.path.strip_prefix("/api/v3").unwrap();
            let asked = described::request(&request.method, path, &request.headers, &request.body).unwrap();
            let mut pulls = kept.lock().unwrap();
            let found = asked.given.get("pull_number").map(|number| {
                pulls.iter().find(|pull| pull["number"].as_u64() == number.parse().ok()).cloned()
            });
            let (head, body) = match (asked.operation.as_str(), found) {
                ("pulls/create", _) => {
                    let mut pull = described::example("/repos/{owner}/{repo}/pulls", "post", "201");
                    (pull["title"], pull["body"]) = (asked.body["title"].clone(), asked.body["body"].clone());
                    (pull["merged_at"], pull["base"]["ref"]) = (Value::Null, asked.body["base"].clone());
                    pulls.push(pull.clone());
                    ("201 Created", pull)
                }
                ("pulls/list", _) => ("200 OK", json!(*pulls)),
                (_, Some(Some(found))) => ("200 OK", found),
                _ => ("404 Not Found", json!({"message": "Not Found"})),
            };
            Reply::Told(head.into(), body.to_string())
        });
        let address = GitHubAddress::new(Some(&played.url()), None).unwrap();
        let token = token.map(Secret::new);
        let world = World::with_github(GitHubOptions { address, token, ..GitHubOptions::default() }).await;
        let project = world.project();
        let repository = PathBuf::from(
            world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].as_str().unwrap(),
        );
        let bare = repository.with_file_name("origin.git");
        let (from, to) = (repository.to_str().unwrap(), bare.to_str().unwrap());
        git(&repository, &["clone", "--quiet", "--bare", from, to]);
        git(&repository, &["remote", "add", "origin", &format!("{}/octocat/demo.git", played.url())]);
        git(&repository, &["config", "remote.origin.pushurl", to]);
        let attempt = id(&world.start(&project, "Work", "edit new.txt new")["attempt"]);
        world.wait_for(&attempt, "finished");
        Self { world, played, repository, bare, project, attempt, pulls }
    }

    fn path(&self, tail: &str) -> String {
        format!("/api/task-attempts/{}/{tail}", self.attempt)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_is_pushed_and_a_remote_that_refuses_is_a_409_with_its_words() {
    let place = Place::new(None).await;
    assert_eq!(place.world.send("POST", &place.path("push"), &[], b"").data(), Value::Null);
    let branch = place.world.attempt(&place.attempt)["branch"].as_str().unwrap().to_string();
    assert_eq!(git(&place.bare, &["rev-parse", &branch]), git(&place.repository, &["rev-parse", &branch]));
    assert!(place.played.requests().is_empty(), "a push that nobody asks a login for needs no GitHub");
    git(&place.repository, &["remote", "remove", "origin"]);
    let answer = place.world.send("POST", &place.path("push"), &[], b"");
    assert!(answer.refusal(409).contains("git remote add origin"));
    assert_eq!(answer.json()["error_data"], json!({"type": "no_remote"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_answers_with_its_page_and_older_clients_may_call_its_text_a_description() {
    let place = Place::new(Some("ghp_planted")).await;
    let told = place.world.post(&place.path("pr"), &json!({"body": "no title"})).refusal(422);
    assert!(told.contains("`title`"), "{told}");
    let body = json!({"title": "A title", "description": "Words", "target_branch": "trunk"});
    let url = place.world.post(&place.path("pr"), &body).data();
    assert_eq!(url, "https://github.com/octocat/Hello-World/pull/1347");
    let pulls = place.pulls.lock().unwrap().clone();
    assert_eq!((&pulls[0]["title"], &pulls[0]["body"]), (&json!("A title"), &json!("Words")));
    assert_eq!(pulls[0]["base"]["ref"], "trunk");
    let again = place.world.post(&place.path("pr"), &body).data();
    assert_eq!((again, place.pulls.lock().unwrap().len()), (url, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_that_cannot_be_is_told_with_200_and_the_word_that_clients_act_on() {
    let place = Place::new(None).await;
    let body = json!({"title": "A title"});
    let answer = place.world.post(&place.path("pr"), &body);
    assert_eq!((answer.status, &answer.json()["error_data"]), (200, &json!("TOKEN_INVALID")));
    assert!(
        answer.json()["message"].as_str().unwrap().contains("/compare/main...octocat:"),
        "{}",
        answer.text
    );
    assert_eq!(answer.json()["success"], false);
    let nobody = "/api/task-attempts/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/pr";
    place.world.post(nobody, &body).refusal(404);
    git(&place.repository, &["remote", "set-url", "origin", "https://git.example.org/a/b.git"]);
    let answer = place.world.post(&place.path("pr"), &body);
    assert_eq!((answer.status, &answer.json()["error_data"]), (200, &json!({"type": "no_host"})));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_fails_before_a_pull_request_is_told_with_200() {
    let place = Place::new(Some("ghp_planted")).await;
    std::fs::remove_dir_all(&place.bare).unwrap();
    let answer = place.world.post(&place.path("pr"), &json!({"title": "A title"}));
    let message = answer.json()["message"].as_str().unwrap().to_string();
    assert_eq!((answer.status, &answer.json()["success"]), (200, &json!(false)));
    assert!(message.starts_with("Failed to push branch to GitHub: "), "{message}");
    assert!(place.pulls.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_is_attached_with_or_without_its_number_and_a_merged_one_ends_the_task() {
    let place = Place::new(Some("ghp_planted")).await;
    let none = json!({"pr_attached": false, "pr_url": null, "pr_number": null, "pr_status": null});
    assert_eq!(place.world.send("POST", &place.path("pr/attach"), &[], b"").data(), none);
    assert_eq!(place.world.post(&place.path("pr/attach"), &json!({"pr_number": 4})).data(), none);
    let told = place.world.post(&place.path("pr/attach"), &json!({"pr_number": 0})).refusal(422);
    assert!(told.contains("`pr_number`"), "{told}");
    place.world.post(&place.path("pr"), &json!({"title": "A title"})).data();
    let merged = json!("2026-11-16T04:05:06Z");
    (place.pulls.lock().unwrap()[0]["merged_at"], place.pulls.lock().unwrap()[0]["state"]) =
        (merged, json!("closed"));
    let attached = place.world.post(&place.path("pr/attach"), &json!({"pr_number": 1347})).data();
    let expected = json!({
        "pr_attached": true, "pr_number": 1347, "pr_status": "merged",
        "pr_url": "https://github.com/octocat/Hello-World/pull/1347",
    });
    assert_eq!(attached, expected);
    let task = place.world.attempt(&place.attempt)["task_id"].as_str().unwrap().to_string();
    assert_eq!(place.world.get(&format!("/api/tasks/{task}")).data()["status"], "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_compared_with_its_remote_and_pulled_forward() {
    let place = Place::new(None).await;
    git(&place.repository, &["remote", "set-url", "origin", place.bare.to_str().unwrap()]);
    let head = git(&place.repository, &["rev-parse", "HEAD"]);
    let tree = format!("{head}^{{tree}}");
    let commit =
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit-tree", "-m", "theirs", "-p", &head, &tree];
    let theirs = git(&place.bare, &commit);
    git(&place.bare, &["update-ref", "refs/heads/main", &theirs]);
    let path = format!("/api/forge/projects/{}", place.project);
    let seen = place.world.get(&format!("{path}/branch-status?base=main")).data();
    let expected = json!({
        "commits_behind": 1, "commits_ahead": 0, "has_uncommitted_changes": false, "head_oid": head,
        "uncommitted_count": 0, "untracked_count": 0, "target_branch_name": "main", "remote_commits_behind": 1,
        "remote_commits_ahead": 0, "merges": [], "is_rebase_in_progress": false, "conflict_op": null,
        "conflicted_files": [],
    });
    assert_eq!(seen, expected);
    let pulled = place.world.send("POST", &format!("{path}/pull"), &[], b"");
    assert_eq!(
        (pulled.status, pulled.json()),
        (200, json!({"success": true, "message": "main moved forward by 1 commit"}))
    );
    assert_eq!(git(&place.repository, &["rev-parse", "main"]), theirs);
    std::fs::remove_dir_all(&place.bare).unwrap();
    let refused = place.world.send("POST", &format!("{path}/pull"), &[], b"").json();
    assert_eq!(refused["success"], false);
    assert!(refused["message"].is_string() && refused["details"].is_string(), "{refused}");
    let seen = place.world.get(&format!("{path}/branch-status")).data();
    assert_eq!((&seen["commits_behind"], &seen["head_oid"]), (&Value::Null, &json!(theirs)));
    place.world.get("/api/forge/projects/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/branch-status").refusal(404);
    place
        .world
        .send("POST", "/api/forge/projects/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/pull", &[], b"")
        .refusal(404);
}
