//! Checks of a commit: every request is held against GitHub's own description, and every answer is its own example.

use forge_hosts::github::{Checks, Error};
use serde_json::{Value, json};

use crate::described::{self, Described};
use crate::played_github::{Reply, good};
use crate::pulls::{played, repository, token};

const RUNS: &str = "/repos/{owner}/{repo}/commits/{ref}/check-runs";
const STATUSES: &str = "/repos/{owner}/{repo}/commits/{ref}/status";
const COMMIT: &str = "6dcb09b5b57875f334f61aebed695e2e4193db5e";

/// Answers both questions, each with items that ended like that.
fn told(described: &Described, runs: &[Value], statuses: &[Value]) -> Reply {
    assert_eq!((described.given["ref"].as_str(), described.given["per_page"].as_str()), (COMMIT, "100"));
    let (path, list, key, ends) = match described.operation.as_str() {
        "checks/list-for-ref" => (RUNS, "check_runs", "conclusion", runs),
        "repos/get-combined-status-for-ref" => (STATUSES, "statuses", "state", statuses),
        other => panic!("{other} is not asked for"),
    };
    let mut answer = described::example(path, "get", "200");
    let first = answer[list][0].clone();
    answer[list] = ends
        .iter()
        .map(|end| {
            let mut item = first.clone();
            item[key] = end.clone();
            item
        })
        .collect();
    good(&answer.to_string())
}

fn counted(runs: Value, statuses: Value) -> Checks {
    let (_played, github) =
        played(move |described| told(&described, runs.as_array().unwrap(), statuses.as_array().unwrap()));
    github.checks(&token(), &repository(), COMMIT).unwrap()
}

#[test]
fn runs_and_statuses_count_alike_and_what_may_be_merged_has_passed() {
    let runs = json!([
        "success",
        "neutral",
        "skipped",
        null,
        "failure",
        "cancelled",
        "timed_out",
        "action_required"
    ]);
    let statuses = json!(["success", "pending", "failure", "error"]);
    assert_eq!(counted(runs, statuses), Checks { passed: 4, failed: 6, waiting: 2 });
}

#[test]
fn a_repository_without_checks_has_none() {
    assert_eq!(counted(json!([]), json!([])), Checks::default());
}

#[test]
fn a_token_that_may_not_see_checks_is_told_from_a_github_that_is_away() {
    let refused = |head: &'static str| {
        let (_played, github) =
            played(move |_| Reply::Told(head.into(), json!({"message": "no"}).to_string()));
        github.checks(&token(), &repository(), COMMIT).unwrap_err()
    };
    assert!(matches!(refused("403 No"), Error::NotAllowed { .. }));
    assert!(refused("502 No").to_string().contains("could not look at check runs"));
}
