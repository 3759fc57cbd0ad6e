//! Pull requests: every request is held against GitHub's own description, and every answer is its own example.

use std::time::Duration;

use forge_hosts::Secret;
use forge_hosts::github::{Address, Error, GitHub, NewPullRequest, PullState, Repository};
use serde_json::{Value, json};

use crate::described::{self, Described};
use crate::played_github::{PlayedGitHub, Reply, good};

const PULLS: &str = "/repos/{owner}/{repo}/pulls";
const PULL: &str = "/repos/{owner}/{repo}/pulls/{pull_number}";

/// Plays GitHub's API for requests that its description allows.
pub(crate) fn played(play: impl Fn(Described) -> Reply + Send + Sync + 'static) -> (PlayedGitHub, GitHub) {
    let played = PlayedGitHub::start(move |request| {
        match described::request(&request.method, &request.path, &request.headers, &request.body) {
            Ok(described) => play(described),
            Err(why) => Reply::Told("400 Bad Request".into(), why),
        }
    });
    let address = Address::new(Some(&played.url()), Some(&played.url())).unwrap();
    (played, GitHub::new(address, Duration::from_secs(30)))
}

pub(crate) fn repository() -> Repository {
    Repository { owner: "octocat".into(), name: "Hello-World".into() }
}

pub(crate) fn token() -> Secret {
    Secret::new("ghp_planted")
}

fn new() -> NewPullRequest {
    NewPullRequest {
        title: "A title".into(),
        body: Some("Words".into()),
        head: "forge/1a2b-work".into(),
        base: "main".into(),
    }
}

fn refusing(head: &'static str, body: Value) -> Error {
    let (_played, github) = played(move |_| Reply::Told(head.into(), body.to_string()));
    let error = github.open_pull_request(&token(), &repository(), &new()).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("planted"), "{error:?}");
    error
}

#[test]
fn a_pull_request_is_opened_with_what_the_description_wants() {
    let (played, github) = played(|described| {
        assert_eq!(described.operation, "pulls/create");
        assert_eq!((described.given["owner"].as_str(), &described.body["base"]), ("octocat", &json!("main")));
        Reply::Told("201 Created".into(), described::example(PULLS, "post", "201").to_string())
    });
    let opened = github.open_pull_request(&token(), &repository(), &new()).unwrap();
    assert_eq!(
        (opened.number, opened.url.as_str()),
        (1347, "https://github.com/octocat/Hello-World/pull/1347")
    );
    assert_eq!(opened.base, "master");
    assert_eq!(opened.head_commit, "6dcb09b5b57875f334f61aebed695e2e4193db5e");
    let request = &played.requests()[0];
    let sent: Value = serde_json::from_str(&request.body).unwrap();
    let expected = json!({"title": "A title", "body": "Words", "head": "forge/1a2b-work", "base": "main"});
    assert_eq!(sent, expected);
    assert_eq!(request.headers["authorization"], "Bearer ghp_planted");
    // Without words of its own the key is left out: the description wants a text there.
    github.open_pull_request(&token(), &repository(), &NewPullRequest { body: None, ..new() }).unwrap();
    assert!(!played.requests()[1].body.contains("body"));
}

#[test]
fn the_pull_requests_of_a_branch_are_found_whatever_became_of_them() {
    let (_played, github) = played(|described| {
        assert_eq!(described.operation, "pulls/list");
        assert_eq!(
            (described.given["head"].as_str(), described.given["state"].as_str()),
            ("me:forge/a+b #1", "all")
        );
        let mut list = described::example(PULLS, "get", "200");
        list[0]["merged_at"] = Value::Null;
        let mut closed = list[0].clone();
        closed["state"] = "closed".into();
        list.as_array_mut().unwrap().push(closed);
        good(&list.to_string())
    });
    let found = github.pull_requests_of(&token(), &repository(), "me:forge/a+b #1").unwrap();
    let states: Vec<_> = found.iter().map(|pull| pull.state.clone()).collect();
    assert_eq!(states, [PullState::Open, PullState::Closed]);
}

#[test]
fn a_pull_request_that_was_merged_says_when_and_as_what() {
    let (_played, github) = played(|described| {
        assert_eq!(described.operation, "pulls/get");
        assert_eq!(described.given["pull_number"], "1347");
        let mut pull = described::example(PULL, "get", "200");
        (pull["state"], pull["merged_at"]) = ("closed".into(), "2026-11-16T04:00:00Z".into());
        pull["merge_commit_sha"] = "e5bd3914e2e596debea16f433f57875b5b90bcd6".into();
        good(&pull.to_string())
    });
    let merged = github.pull_request(&token(), &repository(), 1347).unwrap();
    let commit = Some("e5bd3914e2e596debea16f433f57875b5b90bcd6".to_string());
    assert_eq!(merged.state, PullState::Merged { at: "2026-11-16T04:00:00Z".into(), commit });
}

#[test]
fn each_refusal_is_told_from_the_others_and_never_holds_the_token() {
    let nothing = json!({"message": "Bad credentials"});
    assert!(matches!(refusing("401 No", nothing.clone()), Error::TokenInvalid { .. }));
    assert!(matches!(refusing("403 No", nothing.clone()), Error::NotAllowed { .. }));
    assert!(matches!(refusing("404 No", nothing.clone()), Error::NotFound { .. }));
    let impossible = refusing(
        "422 No",
        json!({"message": "Validation Failed", "errors": [{"code": "custom", "message": "No commits between a and b"}]}),
    );
    assert!(
        impossible.to_string().ends_with("Validation Failed: No commits between a and b"),
        "{impossible}"
    );
    for head in [
        "429 No\r\nRetry-After: 7",
        "403 No\r\nRetry-After: 7",
        "403 No\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 99999999999",
    ] {
        let error = refusing(head, nothing.clone());
        let Error::TooMany { wait: Some(wait), .. } = error else { panic!("{head}: {error:?}") };
        assert!(wait == Duration::from_secs(7) || wait == Duration::from_secs(3600), "{wait:?}");
        assert!(error.to_string().contains("try again in"), "{error}");
    }
    assert!(refusing("502 No", nothing).to_string().contains("status 502"));
}
