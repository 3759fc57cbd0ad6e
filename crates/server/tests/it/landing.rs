//! Landing over the API: the shapes and the statuses that clients look for.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{World, git, id};

/// A finished attempt: its address in the API, its worktree, and the person's checkout.
fn finished(world: &World, script: &str) -> (String, PathBuf, PathBuf) {
    let project = world.project();
    let started = world.start(&project, "Land it", script);
    let attempt = world.wait_for(started["attempt_id"].as_str().unwrap(), "finished");
    let worktree = PathBuf::from(attempt["worktree_path"].as_str().unwrap());
    let project = world.get(&format!("/api/projects/{project}")).data();
    let repository = PathBuf::from(project["git_repo_path"].as_str().unwrap());
    (format!("/api/task-attempts/{}", id(&attempt)), worktree, repository)
}

fn commit(repository: &Path, file: &str, content: &str) -> String {
    std::fs::write(repository.join(file), content).unwrap();
    git(repository, &["add", "--all"]);
    git(repository, &["-c", "user.name=A", "-c", "user.email=a@x", "commit", "--quiet", "--message=change"]);
    git(repository, &["rev-parse", "HEAD"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_answers_null_and_the_status_tells_it() {
    let world = World::new().await;
    let (attempt, _worktree, repository) = finished(&world, "edit note.txt hello");
    let status = world.get(&format!("{attempt}/branch-status")).data();
    assert_eq!((&status["commits_ahead"], &status["commits_behind"]), (&json!(1), &json!(0)));
    assert_eq!(
        (&status["has_uncommitted_changes"], &status["target_branch_name"]),
        (&json!(false), &json!("main"))
    );
    assert_eq!(world.call("POST", &format!("{attempt}/merge"), &[], None).data(), Value::Null);
    let head = git(&repository, &["rev-parse", "main"]);
    let status = world.get(&format!("{attempt}/branch-status")).data();
    let merge = &status["merges"][0];
    assert_eq!((&merge["type"], &merge["merge_commit"]), (&json!("direct"), &json!(head)));
    assert_eq!((&merge["target_branch_name"], &status["head_oid"]), (&json!("main"), &json!(head)));
    let told = world.get(&attempt).data();
    assert_eq!((&told["is_merged"], &told["task"]["status"]), (&json!(true), &json!("done")));
    let tasks = world.get(&format!("/api/tasks?project_id={}", told["project_id"].as_str().unwrap())).data();
    assert_eq!(tasks[0]["has_merged_attempt"], true);
    world.call("POST", &format!("{attempt}/merge"), &[], None).refusal(409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_is_undone_and_its_task_is_in_review_again() {
    let world = World::new().await;
    let (attempt, _worktree, repository) = finished(&world, "edit note.txt hello");
    let before = git(&repository, &["rev-parse", "main"]);
    let undo = || world.call("POST", &format!("{attempt}/merge/undo"), &[], None);
    let refusal = undo().refusal(409);
    assert!(refusal.contains("is not merged"), "{refusal}");
    world.call("POST", &format!("{attempt}/merge"), &[], None).data();
    assert_eq!(undo().data(), Value::Null);
    assert_eq!(git(&repository, &["rev-parse", "main"]), before);
    let status = world.get(&format!("{attempt}/branch-status")).data();
    assert_eq!((&status["commits_ahead"], &status["merges"]), (&json!(1), &json!([])));
    let told = world.get(&attempt).data();
    assert_eq!((&told["is_merged"], &told["task"]["status"]), (&json!(false), &json!("inreview")));
    world.call("POST", &format!("{attempt}/merge"), &[], None).data();
    let later = commit(&repository, "later.txt", "later\n");
    let refusal = undo().refusal(409);
    assert!(refusal.contains("'main' has moved on since; run `git revert"), "{refusal}");
    assert_eq!(git(&repository, &["rev-parse", "main"]), later);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diverged_branch_is_a_conflict_and_a_rebase_with_conflicts_is_told_with_200() {
    let world = World::new().await;
    let (attempt, worktree, repository) = finished(&world, "edit README.md mine");
    commit(&repository, "README.md", "theirs\n");
    let refusal = world.call("POST", &format!("{attempt}/merge"), &[], None).refusal(409);
    assert!(
        refusal.starts_with("Branches diverged: Cannot merge: base branch 'main' is 1 commits ahead"),
        "{refusal}"
    );
    let body = json!({"base_branch": "nowhere"});
    let refusal = world.post(&format!("{attempt}/rebase"), &body).refusal(200);
    assert_eq!(refusal, "Branch 'nowhere' does not exist in the repository");
    let answer = world.post(&format!("{attempt}/rebase"), &json!({}));
    assert_eq!(answer.status, 200);
    let told = answer.json();
    assert_eq!((&told["success"], &told["error_data"]["type"]), (&json!(false), &json!("merge_conflicts")));
    assert_eq!(
        (&told["error_data"]["op"], &told["error_data"]["message"]),
        (&json!("rebase"), &told["message"])
    );
    assert_eq!(told["error_data"]["files"], json!(["README.md"]));
    let status = world.get(&format!("{attempt}/branch-status")).data();
    assert_eq!((&status["is_rebase_in_progress"], &status["conflict_op"]), (&json!(true), &json!("rebase")));
    assert_eq!(status["conflicted_files"], json!(["README.md"]));
    assert_eq!(world.get(&attempt).data()["is_conflicted"], true);
    let again = world.post(&format!("{attempt}/rebase"), &json!({})).json();
    assert_eq!(again["error_data"], json!({"type": "rebase_in_progress"}));
    let left = world.call("POST", &format!("{attempt}/conflicts/continue"), &[], None).json();
    assert_eq!((&left["success"], &left["error_data"]["type"]), (&json!(false), &json!("merge_conflicts")));
    assert_eq!(left["error_data"]["files"], json!(["README.md"]));
    world.call("POST", &format!("{attempt}/conflicts/abort"), &[], None).data();
    world.call("POST", &format!("{attempt}/conflicts/abort"), &[], None).data();
    world.call("POST", &format!("{attempt}/conflicts/continue"), &[], None).data();
    assert_eq!(std::fs::read_to_string(worktree.join("README.md")).unwrap(), "mine\n");
    let status = world.get(&format!("{attempt}/branch-status")).data();
    assert_eq!((&status["is_rebase_in_progress"], &status["conflict_op"]), (&json!(false), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_is_changed_by_either_name_and_commits_are_compared() {
    let world = World::new().await;
    let (attempt, _worktree, repository) = finished(&world, "edit note.txt hello");
    git(&repository, &["checkout", "--quiet", "-b", "next"]);
    let sha = commit(&repository, "two.txt", "x\n");
    for key in ["new_target_branch", "target_branch"] {
        let changed = world.post(&format!("{attempt}/change-target-branch"), &json!({ key: "next" })).data();
        assert_eq!(changed, json!({"new_target_branch": "next", "status": [1, 1]}));
    }
    let refusal =
        world.post(&format!("{attempt}/change-target-branch"), &json!({"target_branch": "nowhere"}));
    assert_eq!(refusal.refusal(200), "Branch 'nowhere' does not exist in the repository");
    let info = world.get(&format!("{attempt}/commit-info?sha={sha}")).data();
    assert_eq!(info, json!({"sha": sha, "subject": "change"}));
    let compared = world.get(&format!("{attempt}/commit-compare?sha={sha}")).data();
    assert_eq!((&compared["ahead_from_head"], &compared["behind_from_head"]), (&json!(1), &json!(1)));
    assert_eq!((&compared["is_linear"], &compared["target_oid"]), (&json!(false), &json!(sha)));
    world.get(&format!("{attempt}/commit-info")).refusal(400);
    world.get(&format!("{attempt}/commit-info?sha=main")).refusal(422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_deleted_and_none_outside_the_worktree() {
    let world = World::new().await;
    let (attempt, worktree, repository) = finished(&world, "edit note.txt hello");
    world.call("POST", &format!("{attempt}/delete-file?file_path=note.txt"), &[], None).data();
    assert!(!worktree.join("note.txt").exists());
    for path in ["..%2F..%2F..%2Frepository%2FREADME.md", "%2Fetc%2Fhostname", ".git"] {
        let refusal =
            world.call("POST", &format!("{attempt}/delete-file?file_path={path}"), &[], None).refusal(422);
        assert!(refusal.contains("cannot be deleted"), "{refusal}");
    }
    world.call("POST", &format!("{attempt}/delete-file"), &[], None).refusal(400);
    assert!(repository.join("README.md").exists());
}
