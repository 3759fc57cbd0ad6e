//! Undoing a landing: the target goes back to where it was and no work is lost, or nothing moves at all.

use std::fs;

use forge_engine::{Error, ErrorKind, FollowUp};
use forge_model::{Attempt, AttemptState, Merge, TaskStatus};

use crate::world::{World, git};

impl World {
    fn undo_landing(&self, attempt: &Attempt) -> Result<Merge, Error> {
        self.run(self.engine().undo_landing(attempt.id))
    }

    /// An attempt that has landed, with the commit that it became and the one before.
    fn landed(&self, script: &str) -> (Attempt, String, String) {
        let attempt = self.rested(script);
        self.land(&attempt).unwrap();
        (attempt, self.git(&["rev-parse", "main"]), self.git(&["rev-parse", "main^"]))
    }
}

fn told(refused: Result<Merge, Error>, code: &str) -> String {
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some(code)), "{error}");
    error.to_string()
}

#[test]
fn a_landing_that_is_undone_leaves_the_target_as_it_was_and_lands_again() {
    let world = World::new();
    let attempt =
        world.rested("edit one.txt first\nrun git add -A && git commit -q -m own\nedit two.txt second");
    let refused = told(world.undo_landing(&attempt), "not_merged");
    assert!(refused.contains("there is no merge to undo"), "{refused}");
    let base = world.git(&["rev-parse", "main"]);
    fs::write(world.repository.join("README.md"), "an edit of mine\n").unwrap();
    let merge = world.land(&attempt).unwrap();
    let landed = world.git(&["rev-parse", "main"]);
    assert_eq!(world.undo_landing(&attempt).unwrap().id, merge.id);
    assert_eq!(world.git(&["rev-parse", "main"]), base);
    assert!(!world.repository.join("one.txt").exists());
    assert_eq!(world.git(&["status", "--porcelain"]), " M README.md");
    // The work is all on the attempt's branch, and it is to be reviewed.
    assert_eq!(git(&attempt.worktree, &["rev-parse", "HEAD"]), landed);
    assert_eq!(git(&attempt.worktree, &["status", "--porcelain"]), "");
    assert!(!world.attempt(attempt.id).is_merged);
    let task = world.run(world.engine().task(attempt.task.unwrap())).unwrap();
    assert_eq!((task.task.status, task.has_merged_attempt), (TaskStatus::InReview, false));
    let status = world.run(world.engine().branch_status(attempt.id)).unwrap();
    assert_eq!((status.counts, status.merges.len()), (Some((1, 0)), 0));
    told(world.undo_landing(&attempt), "not_merged");
    world.land(&attempt).unwrap();
    assert_eq!(fs::read_to_string(world.repository.join("two.txt")).unwrap(), "second\n");
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "2");
}

#[test]
fn merging_after_an_undone_merge_keeps_the_commits_of_both() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first\nrun git add -A && git commit -q -m own");
    let tip = |name: &str| world.git(&["rev-parse", name]);
    let mut tips = vec![tip(&attempt.branch)];
    world.land(&attempt).unwrap();
    for text in ["second", "third"] {
        world.undo_landing(&attempt).unwrap();
        let follow = FollowUp::new(format!("edit one.txt {text}"));
        world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap();
        world.wait_for(attempt.id, AttemptState::Finished);
        tips.push(tip(&attempt.branch));
        world.land(&attempt).unwrap();
    }
    let kept: Vec<String> =
        (1..=3).map(|number| tip(&format!("refs/forge/landed/{}/{number}", attempt.id))).collect();
    assert_eq!(kept, tips);
}

#[test]
fn two_who_undo_at_once_undo_once() {
    let world = World::new();
    let (attempt, _landed, base) = world.landed("edit one.txt first");
    let both: Vec<_> = (0..2)
        .map(|_| {
            let (engine, id) = (world.engine().clone(), attempt.id);
            world.spawn(async move { engine.undo_landing(id).await })
        })
        .collect();
    let outcomes: Vec<_> = both.into_iter().map(|one| world.run(one).unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(world.git(&["rev-parse", "main"]), base);
}

#[test]
fn what_somebody_has_built_on_or_was_given_stays_and_how_to_revert_it_is_told() {
    let world = World::new();
    let (attempt, landed, _base) = world.landed("edit one.txt first");
    let assert_refused = |code: &str, why: &str| {
        let main = world.git(&["rev-parse", "main"]);
        let refused = told(world.undo_landing(&attempt), code);
        assert!(refused.contains(why), "{refused}");
        assert!(refused.contains(&format!("`git revert {}`", &landed[..10])), "{refused}");
        assert_eq!(world.git(&["rev-parse", "main"]), main);
        assert!(world.attempt(attempt.id).is_merged);
    };
    world.git(&["update-ref", "refs/remotes/origin/main", &landed]);
    assert_refused("built_on", "'origin/main' has it already");
    world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    world.git(&["tag", "v1"]);
    assert_refused("built_on", "'v1' is built on it");
    world.git(&["tag", "-d", "v1"]);
    world.git(&["branch", "next"]);
    assert_refused("built_on", "'next' is built on it");
    world.git(&["branch", "-D", "next"]);
    world.commit("README.md", "later\n");
    assert_refused("moved_on", "'main' has moved on since");
    world.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    assert_refused("moved_on", "'main' does not have it any more");
}

#[test]
fn a_file_that_was_changed_since_is_named_and_the_landing_stays() {
    let world = World::new();
    let (attempt, landed, base) = world.landed("edit one.txt first");
    fs::write(world.repository.join("one.txt"), "mine\n").unwrap();
    let error = world.undo_landing(&attempt).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(
        error.to_string().contains("in the way of main") && error.to_string().contains("one.txt"),
        "{error}"
    );
    assert_eq!(world.git(&["rev-parse", "main"]), landed);
    assert_eq!(fs::read_to_string(world.repository.join("one.txt")).unwrap(), "mine\n");
    assert!(world.attempt(attempt.id).is_merged);
    world.git(&["checkout", "--quiet", "one.txt"]);
    world.undo_landing(&attempt).unwrap();
    assert_eq!(world.git(&["rev-parse", "main"]), base);
}

#[test]
fn what_the_agent_did_after_the_landing_stays_with_the_attempt() {
    let world = World::new();
    let (attempt, _landed, base) = world.landed("edit one.txt first");
    let follow = FollowUp::new("edit one.txt second");
    world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    world.undo_landing(&attempt).unwrap();
    assert_eq!(world.git(&["rev-parse", "main"]), base);
    assert_eq!(fs::read_to_string(attempt.worktree.join("one.txt")).unwrap(), "second\n");
    world.land(&attempt).unwrap();
    assert_eq!(fs::read_to_string(world.repository.join("one.txt")).unwrap(), "second\n");
}

#[test]
fn a_task_that_was_moved_on_by_hand_stays_where_it_was_put() {
    let world = World::new();
    let (attempt, _landed, _base) = world.landed("edit one.txt first");
    let archived = forge_engine::TaskChange { status: Some(TaskStatus::Archived), ..Default::default() };
    world.run(world.engine().update_task(attempt.task.unwrap(), archived)).unwrap();
    world.undo_landing(&attempt).unwrap();
    let task = world.run(world.engine().task(attempt.task.unwrap())).unwrap();
    assert_eq!(task.task.status, TaskStatus::Archived);
}
