//! Pull requests from the opening to the merge, against a GitHub on loopback.

use std::path::PathBuf;
use std::time::Duration;

use forge_engine::{ConfigChange, ErrorKind, FollowUp, NewPullRequest, Result};
use forge_model::{AttemptId, AttemptState, PullRequest, PullRequestStatus, TaskId, TaskStatus};
use serde_json::{Value, json};

use crate::local_github::LocalGitHub;
use crate::smart_http::Door;
use crate::world::{World, eventually, git};

/// Never, as far as a test is concerned.
const NEVER: Duration = Duration::from_secs(3600);
const OFTEN: Duration = Duration::from_millis(50);

struct Place {
    github: LocalGitHub,
    world: World,
    bare: PathBuf,
}

impl Place {
    fn new(poll: Duration) -> Self {
        let github = LocalGitHub::start();
        let world = World::with_github(github.options(poll));
        let bare = github.host("octocat/demo", &world.repository);
        world.git(&["remote", "add", "origin", &github.url("octocat/demo")]);
        Self { github, world, bare }
    }

    /// An attempt that has made a commit.
    fn done(&self) -> (AttemptId, String) {
        let started = self.world.start("edit new.txt new");
        let view = self.world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
        (view.attempt.id, view.attempt.branch)
    }

    fn create(&self, id: AttemptId) -> Result<PullRequest> {
        self.world.run(self.world.engine().create_pull_request(id, new()))
    }

    fn attach(&self, id: AttemptId, number: Option<u64>) -> Result<Option<PullRequest>> {
        Ok(self.world.run(self.world.engine().attach_pull_request(id, number))?.0)
    }

    fn task_of(&self, id: AttemptId) -> TaskId {
        self.world.attempt(id).attempt.task.unwrap()
    }

    fn status(&self, id: AttemptId) -> TaskStatus {
        let task = self.task_of(id);
        self.world.run(self.world.engine().task(task)).unwrap().task.status
    }

    fn wait_for_done(&self, id: AttemptId) {
        eventually("the task is done", || (self.status(id) == TaskStatus::Done).then_some(()));
        assert!(self.world.attempt(id).is_merged);
    }
}

fn new() -> NewPullRequest {
    NewPullRequest { title: "A title".into(), body: Some("Words".into()), target_branch: None }
}

#[test]
fn a_pull_request_is_opened_once_however_often_it_is_asked_for() {
    let place = Place::new(NEVER);
    let (id, branch) = place.done();
    let engine = place.world.engine().clone();
    let clicks: Vec<_> = (0..3)
        .map(|_| {
            let engine = engine.clone();
            place.world.spawn(async move { engine.create_pull_request(id, new()).await.unwrap().url })
        })
        .collect();
    let urls: Vec<String> = clicks.into_iter().map(|click| place.world.run(click).unwrap()).collect();
    assert_eq!(urls, vec![format!("{}/octocat/demo/pull/7", place.github.http.url()); 3]);
    assert_eq!(place.github.calls("pulls/create"), 1);
    let pulls = place.github.pulls();
    assert_eq!(pulls.len(), 1);
    assert_eq!((&pulls[0]["title"], &pulls[0]["body"]), (&json!("A title"), &json!("Words")));
    assert_eq!(
        (&pulls[0]["head"]["label"], &pulls[0]["base"]["ref"]),
        (&json!(format!("octocat:{branch}")), &json!("main"))
    );
    assert_eq!(git(&place.bare, &["rev-parse", &branch]), place.world.git(&["rev-parse", &branch]));
    assert_eq!(place.status(id), TaskStatus::InReview);
}

#[test]
fn one_that_a_crash_kept_from_being_recorded_is_found_again_at_github() {
    let place = Place::new(NEVER);
    let (id, branch) = place.done();
    // This is all that is left of it: the record was never written.
    let number = place.github.open(&format!("octocat:{branch}"), "main");
    let found = place.create(id).unwrap();
    assert_eq!(u64::try_from(found.number).unwrap(), number);
    assert_eq!(place.github.calls("pulls/create"), 0);
}

#[test]
fn a_pull_request_is_followed_over_a_restart_until_it_is_merged_and_the_task_is_done() {
    let mut place = Place::new(OFTEN);
    let (id, _) = place.done();
    let opened = place.create(id).unwrap();
    assert_eq!((opened.status, opened.merged_at), (PullRequestStatus::Open, None));
    place.world.crash();
    place.github.merge(7);
    place.world.reopen();
    place.wait_for_done(id);
    let merged = place.attach(id, None).unwrap().unwrap();
    assert_eq!(merged.status, PullRequestStatus::Merged);
    assert_eq!(merged.merged_at.unwrap().to_string(), "2026-11-16T04:05:06.000Z");
    assert_eq!(merged.commit.as_deref(), Some("e5bd3914e2e596debea16f433f57875b5b90bcd6"));
}

#[test]
fn a_pull_request_of_a_repository_that_is_away_is_followed_and_keeps_none_from_being_followed() {
    let place = Place::new(OFTEN);
    let (id, _) = place.done();
    place.create(id).unwrap();
    let away = place.world.repository.with_extension("away");
    std::fs::rename(&place.world.repository, &away).unwrap();
    // More than one round goes by with the repository away.
    let before = place.github.calls("pulls/get");
    eventually("it is asked again", || (place.github.calls("pulls/get") > before + 2).then_some(()));
    place.github.merge(7);
    place.wait_for_done(id);
    std::fs::rename(&away, &place.world.repository).unwrap();
}

#[test]
fn a_github_that_is_away_is_asked_again_until_it_is_back() {
    let place = Place::new(OFTEN);
    let (id, _) = place.done();
    place.create(id).unwrap();
    for head in ["500 No", "401 No", "429 No\r\nRetry-After: 0", "200 OK"] {
        place.github.break_with(Some(head));
        let before = place.github.calls("pulls/get");
        eventually("it is asked", || (place.github.calls("pulls/get") > before).then_some(()));
    }
    assert_eq!(place.status(id), TaskStatus::InReview);
    place.github.merge(7);
    place.github.break_with(None);
    place.wait_for_done(id);
}

#[test]
fn the_checks_of_a_pull_request_are_counted_again_and_again_and_told() {
    let place = Place::new(OFTEN);
    let (id, _) = place.done();
    assert_eq!(place.create(id).unwrap().checks, None, "nobody has asked yet");
    let wait_for = |expected: &str| {
        eventually(&format!("the checks are {expected}"), || {
            let card = place.world.attempt(id).card.pull_request.unwrap();
            card.checks.filter(|checks| checks.to_string() == expected)
        })
    };
    wait_for("0/0/0");
    let before = *place.world.engine().bell().borrow();
    place.github.check(&[Value::Null, json!("success"), json!("skipped")], &["pending", "success"]);
    wait_for("3/0/2");
    let after = *place.world.engine().bell().borrow();
    assert!(after > before, "whoever follows the events hears of it");
    place.github.check(&[json!("failure"), json!("success"), json!("timed_out")], &["error", "success"]);
    wait_for("2/3/0");
    // A token that may not see them any more takes nothing back, and the pull request is followed as before.
    place.github.hide_checks();
    place.github.check(&[], &[]);
    let asked = place.github.calls("checks/list-for-ref");
    eventually("it is asked twice more", || {
        (place.github.calls("checks/list-for-ref") > asked + 1).then_some(())
    });
    wait_for("2/3/0");
    place.github.merge(7);
    place.wait_for_done(id);
    let merged = place.attach(id, None).unwrap().unwrap();
    assert_eq!(merged.status, PullRequestStatus::Merged);
    assert_eq!(place.world.attempt(id).card.pull_request.unwrap().checks.unwrap().to_string(), "2/3/0");
}

#[test]
fn checks_that_cannot_be_told_keep_no_pull_request_from_being_followed() {
    let place = Place::new(OFTEN);
    let [one, two] = [place.done(), place.done()].map(|(id, _)| id);
    let [first, second] = [one, two].map(|id| place.create(id).unwrap().number.unsigned_abs());
    place.github.break_checks();
    let asked = place.github.calls("checks/list-for-ref");
    eventually("it is asked", || (place.github.calls("checks/list-for-ref") > asked).then_some(()));
    place.github.merge(second);
    place.wait_for_done(two);
    place.github.change(first, json!({"state": "closed"}));
    eventually("the other is known to be closed", || {
        let request = place.world.attempt(one).card.pull_request?;
        (request.status == PullRequestStatus::Closed).then_some(())
    });
}

#[test]
fn checks_of_a_commit_say_nothing_about_the_next_one_that_is_pushed() {
    let place = Place::new(NEVER);
    let (id, _) = place.done();
    place.create(id).unwrap();
    place.github.check(&[json!("success")], &[]);
    let checks =
        || place.world.attempt(id).card.pull_request.unwrap().checks.map(|checks| checks.to_string());
    assert_eq!(place.attach(id, None).unwrap().unwrap().checks.unwrap().passed, 1);
    place.world.run(place.world.engine().push_attempt(id)).unwrap();
    assert_eq!(checks().as_deref(), Some("1/0/0"), "nothing was pushed");
    let more = FollowUp::new("edit more.txt more");
    place.world.run(place.world.engine().follow_up(id, more, None)).unwrap();
    place.world.wait_for(id, AttemptState::Finished);
    place.world.run(place.world.engine().push_attempt(id)).unwrap();
    assert_eq!(checks(), None);
}

#[test]
fn checks_of_a_commit_are_not_told_again_by_a_github_that_has_not_heard_of_the_push() {
    let place = Place::new(OFTEN);
    let (id, _) = place.done();
    place.create(id).unwrap();
    place.github.check(&[json!("success")], &[]);
    let checks = || place.world.attempt(id).card.pull_request.unwrap().checks;
    eventually("the check is known", || checks().filter(|checks| checks.passed == 1));
    place.github.lag(true);
    place.world.run(place.world.engine().follow_up(id, FollowUp::new("edit more.txt more"), None)).unwrap();
    place.world.wait_for(id, AttemptState::Finished);
    place.world.run(place.world.engine().push_attempt(id)).unwrap();
    let asked = place.github.calls("checks/list-for-ref");
    eventually("it is asked three times more", || {
        assert_eq!(checks(), None);
        (place.github.calls("checks/list-for-ref") > asked + 3).then_some(())
    });
    place.github.lag(false);
    eventually("the check of the new commit is known", || checks().filter(|checks| checks.passed == 1));
}

#[test]
fn a_pull_request_that_was_closed_leaves_the_task_and_makes_room_for_another() {
    let place = Place::new(OFTEN);
    let (id, _) = place.done();
    place.create(id).unwrap();
    place.github.change(7, json!({"state": "closed"}));
    let second = eventually("another is opened", || {
        Some(place.create(id).unwrap()).filter(|request| request.number != 7)
    });
    assert_eq!((second.number, second.status), (8, PullRequestStatus::Open));
    assert_eq!(place.status(id), TaskStatus::InReview);
}

#[test]
fn a_pull_request_is_attached_by_its_branch_or_its_number() {
    let place = Place::new(NEVER);
    let (id, branch) = place.done();
    assert_eq!(place.attach(id, None).unwrap(), None);
    assert_eq!(place.attach(id, Some(99)).unwrap(), None);
    let closed = place.github.open(&format!("octocat:{branch}"), "main");
    place.github.change(closed, json!({"state": "closed"}));
    let attached = place.attach(id, None).unwrap().unwrap();
    assert_eq!((attached.number, attached.status), (7, PullRequestStatus::Closed));
    place.github.open(&format!("octocat:{branch}"), "main");
    let attached = place.attach(id, None).unwrap().unwrap();
    assert_eq!((attached.number, attached.status), (8, PullRequestStatus::Open), "the open one goes first");
    assert_eq!(place.status(id), TaskStatus::InReview);
    let by_hand = place.github.open("octocat:elsewhere", "main");
    place.github.merge(by_hand);
    let attached = place.attach(id, Some(by_hand)).unwrap().unwrap();
    assert_eq!(attached.status, PullRequestStatus::Merged);
    assert_eq!(place.status(id), TaskStatus::Done);
}

#[test]
fn each_refusal_of_github_has_the_code_that_clients_know() {
    let place = Place::new(NEVER);
    let (id, _) = place.done();
    for (head, code) in [
        ("401 No", Some("TOKEN_INVALID")),
        ("403 No", Some("INSUFFICIENT_PERMISSIONS")),
        ("404 No", Some("REPO_NOT_FOUND_OR_NO_ACCESS")),
        ("422 No", None),
    ] {
        place.github.break_with(Some(head));
        let error = place.create(id).unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, code), "{error}");
        assert!(error.to_string().starts_with("Failed to create PR: "), "{error}");
        assert!(!format!("{error:?}").contains("planted"), "{error:?}");
    }
    for head in ["429 No\r\nRetry-After: 30", "502 No"] {
        place.github.break_with(Some(head));
        assert_eq!(place.create(id).unwrap_err().kind(), ErrorKind::Unavailable);
    }
    place.github.http.set(Door::Locked("Basic other".into()));
    let error = place.create(id).unwrap_err();
    assert!(error.to_string().starts_with("Failed to push branch to GitHub: "), "{error}");
}

#[test]
fn without_a_token_a_person_is_told_how_to_give_one_and_where_to_go_meanwhile() {
    let github = LocalGitHub::start();
    let options = forge_engine::GitHubOptions { token: None, ..github.options(NEVER) };
    let world = World::with_github(options);
    let bare = github.host("octocat/demo", &world.repository);
    world.git(&["remote", "add", "origin", &github.url("octocat/demo")]);
    let place = Place { github, world, bare };
    let (id, branch) = place.done();
    let error = place.create(id).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("TOKEN_INVALID")));
    let page = format!("{}/octocat/demo/compare/main...octocat:{branch}?expand=1", place.github.http.url());
    assert!(error.to_string().contains(&page) && error.to_string().contains("gh auth login"), "{error}");
    assert_eq!(
        git(&place.bare, &["for-each-ref", &format!("refs/heads/{branch}")]),
        "",
        "nothing was pushed"
    );
    assert_eq!(place.attach(id, None).unwrap_err().code(), Some("TOKEN_INVALID"));
}

#[test]
fn a_token_of_the_settings_goes_before_that_of_the_environment() {
    let place = Place::new(NEVER);
    let (id, _) = place.done();
    let set = |pat: serde_json::Value| {
        let serde_json::Value::Object(change) = json!({"github": {"pat": pat}}) else { unreachable!() };
        place.world.run(place.world.engine().change_config(ConfigChange::new(change).unwrap())).unwrap();
    };
    set(json!("ghp_old"));
    assert_eq!(place.attach(id, None).unwrap_err().code(), Some("TOKEN_INVALID"));
    set(json!(null));
    assert_eq!(place.attach(id, None).unwrap(), None);
}

#[test]
fn a_remote_that_is_no_github_is_pushed_to_and_has_no_pull_requests() {
    let place = Place::new(NEVER);
    let (id, _) = place.done();
    place.world.git(&["remote", "set-url", "origin", place.bare.to_str().unwrap()]);
    place.world.run(place.world.engine().push_attempt(id)).unwrap();
    let error = place.create(id).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("no_host")));
    assert!(error.to_string().contains("push the branch and open one at that host"), "{error}");
}

#[test]
fn a_branch_that_is_pushed_to_a_fork_is_asked_for_by_its_owner() {
    let place = Place::new(NEVER);
    let fork = place.github.host("ada/demo", &place.world.repository);
    place.world.git(&["remote", "add", "mine", &place.github.url("ada/demo")]);
    place.world.git(&["config", "remote.pushDefault", "mine"]);
    let (id, branch) = place.done();
    place.create(id).unwrap();
    assert_eq!(place.github.pulls()[0]["head"]["label"], json!(format!("ada:{branch}")));
    assert_eq!(git(&fork, &["rev-parse", &branch]), place.world.git(&["rev-parse", &branch]));
    assert_eq!(git(&place.bare, &["for-each-ref", &format!("refs/heads/{branch}")]), "");
}

#[test]
fn commits_that_somebody_pushed_to_the_branch_are_counted_after_a_poll() {
    let place = Place::new(OFTEN);
    let (id, branch) = place.done();
    let counts = || place.world.run(place.world.engine().remote_counts(id)).unwrap();
    assert_eq!(counts(), None, "without a pull request there is nothing to count");
    place.create(id).unwrap();
    assert_eq!(counts(), Some((0, 0)));
    let tree = git(&place.bare, &["rev-parse", &format!("{branch}^{{tree}}")]);
    let who =
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit-tree", "-m", "theirs", "-p", &branch, &tree];
    let theirs = git(&place.bare, &who);
    git(&place.bare, &["update-ref", &format!("refs/heads/{branch}"), &theirs]);
    eventually("their commit is counted", || (counts() == Some((0, 1))).then_some(()));
    let status = place.world.run(place.world.engine().branch_status(id)).unwrap();
    assert_eq!((status.remote_counts, status.merges.len()), (Some((0, 1)), 1));
    assert_eq!(
        place.world.git(&["for-each-ref", "refs/remotes"]).lines().count(),
        1,
        "only what the push left"
    );
}
