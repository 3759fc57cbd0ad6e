//! Landing: what an attempt made becomes one commit on its target, or nothing moves at all.

use std::fs;
use std::path::Path;

use forge_engine::{Delivered, Dismiss, Error, ErrorKind, FollowUp, Land, RebaseRequest, Rebased};
use forge_model::{Attempt, AttemptState, Merge, MergeKind, RunState, TaskStatus};

use crate::world::{World, eventually, git};

impl World {
    /// An attempt that has come to rest.
    pub(crate) fn rested(&self, script: &str) -> Attempt {
        let id = self.start(script).attempt.attempt.id;
        eventually("the attempt rests", || {
            let view = self.attempt(id);
            (!view.attempt.state.is_live()).then_some(view.attempt)
        })
    }

    pub(crate) fn land(&self, attempt: &Attempt) -> Result<Merge, Error> {
        self.run(self.engine().land(attempt.id, Land::default())).map(|landed| landed.merge)
    }

    pub(crate) fn rebase(&self, attempt: &Attempt) -> Result<Rebased, Error> {
        self.run(self.engine().rebase(attempt.id, RebaseRequest::default()))
    }

    /// Writes a file in the person's checkout and commits it.
    pub(crate) fn commit(&self, file: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.repository.join(file), content).unwrap();
        self.git(&["add", "--force", "--all"]);
        self.git(&["commit", "--quiet", "--message", &format!("change {file}")]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn tip(&self, branch: &str) -> String {
        self.git(&["rev-parse", branch])
    }
}

/// Checks that an attempt is as it was: on its branch, at that tip, with nothing left over.
fn assert_untouched(world: &World, attempt: &Attempt, tip: &str) {
    assert_eq!(world.tip(&attempt.branch), tip);
    assert_eq!(git(&attempt.worktree, &["branch", "--show-current"]), attempt.branch);
    assert_eq!(git(&attempt.worktree, &["status", "--porcelain"]), "");
}

fn told(refused: Result<Merge, Error>, code: Option<&str>) -> String {
    let error = refused.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, code), "{error}");
    error.to_string()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn an_attempt_lands_as_one_commit_and_its_task_is_done() {
    let world = World::new();
    let attempt =
        world.rested("edit one.txt first\nrun git add -A && git commit -q -m own\nedit two.txt second");
    let tip = world.tip(&attempt.branch);
    let base = world.tip("main");
    fs::write(world.repository.join("README.md"), "an edit of mine\n").unwrap();
    let merge = world.land(&attempt).unwrap();
    let commit = world.tip("main");
    assert_eq!(merge.how, MergeKind::Direct { commit: commit.clone(), tip: Some(tip.clone()) });
    assert_eq!(world.tip("main^"), base);
    let message = world.git(&["log", "-1", "--format=%an|%s", "main"]);
    assert_eq!(message, "Ada|a task");
    assert_eq!(read(world.repository.join("two.txt")), "second\n");
    assert_eq!(world.git(&["status", "--porcelain"]), " M README.md");
    assert_eq!(read(world.repository.join("README.md")), "an edit of mine\n");
    // The attempt's branch is at that commit, and what it was before is kept.
    assert_untouched(&world, &attempt, &commit);
    assert_eq!(world.tip(&format!("refs/forge/landed/{}/1", attempt.id)), tip);
    let view = world.attempt(attempt.id);
    assert!(view.is_merged);
    let task = world.run(world.engine().task(attempt.task.unwrap())).unwrap();
    assert!(task.has_merged_attempt);
    assert_eq!(task.task.status, TaskStatus::Done);
    let status = world.run(world.engine().branch_status(attempt.id)).unwrap();
    assert_eq!((status.counts, status.merges.len()), (Some((0, 0)), 1));
    let again = told(world.land(&attempt), Some("already_merged"));
    assert!(again.contains("is merged already"), "{again}");
    assert_eq!(world.tip("main"), commit);
    world.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_second_turn_after_a_landing_lands_again() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    world.land(&attempt).unwrap();
    let follow = FollowUp::new("edit one.txt second");
    world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished);
    world.land(&attempt).unwrap();
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "3");
    assert_eq!(read(world.repository.join("one.txt")), "second\n");
}

#[test]
fn two_who_land_at_once_make_one_commit() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let both: Vec<_> = (0..2)
        .map(|_| {
            let (engine, id) = (world.engine().clone(), attempt.id);
            world.spawn(async move { engine.land(id, Land::default()).await })
        })
        .collect();
    let outcomes: Vec<_> = both.into_iter().map(|one| world.run(one).unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "2");
    assert_eq!(world.run(world.engine().merges(attempt.id)).unwrap().len(), 1);
}

#[test]
fn a_target_that_moved_on_is_told_with_both_counts_and_after_a_rebase_it_lands() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let tip = world.tip(&attempt.branch);
    world.commit("two.txt", "theirs\n");
    let main = world.commit("three.txt", "theirs\n");
    let why = told(world.land(&attempt), Some("diverged"));
    assert!(why.contains("'main' is 2 commits ahead") && why.contains("is 1 commits ahead of it"), "{why}");
    assert_eq!(world.tip("main"), main);
    assert_untouched(&world, &attempt, &tip);
    let status = world.run(world.engine().branch_status(attempt.id)).unwrap();
    assert_eq!(status.counts, Some((1, 2)));
    assert_eq!(world.rebase(&attempt).unwrap(), Rebased::Done);
    assert_eq!(read(attempt.worktree.join("two.txt")), "theirs\n");
    assert_eq!(world.attempt(attempt.id).attempt.base_commit, main);
    world.land(&attempt).unwrap();
    assert_eq!(world.tip("main^"), main);
}

#[test]
fn a_file_in_the_way_is_named_and_nothing_moves() {
    for file in ["README.md", "fresh.txt", "secret.env"] {
        let world = World::new();
        world.commit(".gitignore", "*.env\n");
        let attempt = world.rested(&format!("edit {file} theirs\nrun git add -f {file}"));
        let (tip, main) = (world.tip(&attempt.branch), world.tip("main"));
        fs::write(world.repository.join(file), "mine\n").unwrap();
        let before = world.git(&["status", "--porcelain", "--ignored"]);
        let why = told(world.land(&attempt), None);
        assert!(why.contains(file) && why.contains("nothing was changed"), "{why}");
        assert_eq!(read(world.repository.join(file)), "mine\n");
        assert_eq!(world.tip("main"), main);
        assert_eq!(world.git(&["status", "--porcelain", "--ignored"]), before);
        assert_untouched(&world, &attempt, &tip);
        assert!(!world.attempt(attempt.id).is_merged);
        fs::remove_file(world.repository.join(file)).unwrap();
        world.git(&["checkout", "--quiet", "."]);
        world.land(&attempt).unwrap();
        assert_eq!(read(world.repository.join(file)), "theirs\n");
    }
}

#[test]
fn the_target_may_be_checked_out_in_another_worktree_or_nowhere() {
    let world = World::new();
    let other = world.dir.path().join("other");
    world.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    world.git(&["worktree", "add", "--quiet", other.to_str().unwrap(), "main"]);
    let attempt = world.rested("edit one.txt first");
    world.land(&attempt).unwrap();
    assert_eq!(read(other.join("one.txt")), "first\n");
    assert_eq!(git(&other, &["status", "--porcelain"]), "");
    assert!(!world.repository.join("one.txt").exists());
    world.git(&["worktree", "remove", other.to_str().unwrap()]);
    // On a branch that has no commit yet, and with none at all.
    for (number, checkout) in
        [&["checkout", "--quiet", "--orphan", "new"][..], &["checkout", "--quiet", "--detach", "elsewhere"]]
            .iter()
            .enumerate()
    {
        let attempt = world.rested(&format!("edit more{number}.txt more"));
        world.git(checkout);
        let before = world.git(&["status", "--porcelain"]);
        world.land(&attempt).unwrap();
        assert_eq!(world.git(&["show", &format!("main:more{number}.txt")]), "more");
        assert_eq!(world.git(&["status", "--porcelain"]), before);
        world.git(&["reset", "--quiet", "--hard", "elsewhere"]);
    }
}

#[test]
fn nothing_lands_while_the_checkout_of_the_target_is_in_the_middle_of_something() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "-b", "other"]);
    world.commit("README.md", "other\n");
    world.git(&["checkout", "--quiet", "main"]);
    let main = world.commit("README.md", "main\n");
    let attempt = world.rested("edit one.txt first");
    let tip = world.tip(&attempt.branch);
    for operation in ["merge", "rebase", "cherry-pick"] {
        let mut begin = std::process::Command::new("git");
        begin.arg("-C").arg(&world.repository).args([operation, "other"]);
        assert!(!begin.output().unwrap().status.success());
        let why = told(world.land(&attempt), None);
        assert!(why.contains("is under way in"), "{why}");
        world.git(&[operation, "--abort"]);
        assert_eq!(world.tip("main"), main);
        assert_untouched(&world, &attempt, &tip);
    }
    world.land(&attempt).unwrap();
}

#[test]
fn an_attempt_that_changed_nothing_is_refused() {
    let world = World::new();
    let attempt = world.rested("say nothing to do");
    let why = told(world.land(&attempt), Some("empty"));
    assert!(why.contains("there is nothing to merge"), "{why}");
    let and_back =
        world.rested("edit one.txt x\nrun git add -A && git commit -qm one\nrun git revert --no-edit HEAD");
    told(world.land(&and_back), Some("empty"));
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "1");
}

#[test]
fn what_a_failed_run_left_over_is_committed_and_lands() {
    let world = World::new();
    let attempt = world.rested("edit one.txt half\nedit README.md changed\nexit 3");
    assert_eq!(attempt.state, AttemptState::Failed);
    let landed = world.run(world.engine().land(attempt.id, Land::default())).unwrap();
    let committed = landed.committed.expect("who lands it is told of the commit");
    let message = world.git(&["log", "-1", "--format=%B", &committed]);
    assert!(message.starts_with("a task\n") && message.contains("before it was merged"), "{message}");
    assert_eq!(read(world.repository.join("one.txt")), "half\n");
    assert_eq!(read(world.repository.join("README.md")), "changed\n");
}

#[test]
fn a_hook_that_refuses_blocks_a_landing_until_it_is_overridden() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let (tip, main) = (world.tip(&attempt.branch), world.tip("main"));
    let hook = world.repository.join(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\necho no trailing spaces >&2\nexit 1\n").unwrap();
    let mut chmod = std::process::Command::new("chmod");
    assert!(chmod.arg("755").arg(&hook).status().unwrap().success());
    let why = told(world.land(&attempt), Some("hook_failed"));
    assert!(why.contains("pre-commit") && why.contains("no trailing spaces"), "{why}");
    assert_eq!(world.tip("main"), main);
    assert_untouched(&world, &attempt, &tip);
    world.run(world.engine().land(attempt.id, Land { skip_hooks: true })).unwrap();
    assert_eq!(world.tip("main^"), main);
}

#[test]
fn an_attempt_that_runs_is_neither_landed_nor_rebased() {
    let world = World::new();
    let attempt = world.start("edit one.txt first\nsay there\nhang").attempt.attempt;
    for refused in [world.land(&attempt).map(drop), world.rebase(&attempt).map(drop)] {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("busy")), "{error}");
    }
    world.run(world.engine().stop_attempt(attempt.id)).unwrap();
}

#[test]
fn a_branch_that_was_deleted_left_or_is_gone_as_a_target_is_told_with_its_remedy() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let tip = world.tip(&attempt.branch);
    git(&attempt.worktree, &["checkout", "--quiet", "--detach"]);
    let why = told(world.land(&attempt), Some("wrong_branch"));
    assert!(why.contains(&format!("switch {}", attempt.branch)), "{why}");
    git(&attempt.worktree, &["switch", "--quiet", &attempt.branch]);
    world.git(&["update-ref", "-d", &format!("refs/heads/{}", attempt.branch)]);
    let why = told(world.land(&attempt), Some("branch_gone"));
    assert!(why.contains(&format!("reset --soft {tip}")), "{why}");
    git(&attempt.worktree, &["reset", "--quiet", "--soft", &tip]);
    world.git(&["checkout", "--quiet", "-b", "kept"]);
    world.git(&["branch", "--quiet", "-D", "main"]);
    let why = told(world.land(&attempt), Some("no_target"));
    assert!(why.contains("change the target branch"), "{why}");
    assert_eq!(world.run(world.engine().change_target(attempt.id, "kept".into())).unwrap(), (1, 0));
    world.land(&attempt).unwrap();
    assert_eq!(read(world.repository.join("one.txt")), "first\n");
}

#[test]
fn a_branch_called_like_the_prefix_is_refused_and_one_below_it_lands() {
    let world = World::new();
    world.git(&["branch", "forge/mine"]);
    let mut wanted = world.wanted("edit one.txt first");
    wanted.base_branch = Some("forge/mine".into());
    let attempt = world.run(world.engine().create_and_start(wanted, None)).unwrap().attempt.attempt;
    world.wait_for(attempt.id, AttemptState::Finished);
    world.land(&attempt).unwrap();
    assert_eq!(world.git(&["show", "forge/mine:one.txt"]), "first");
    let clash = World::new();
    clash.git(&["branch", "forge"]);
    let error = clash.run(clash.engine().create_and_start(clash.wanted("say x"), None)).unwrap_err();
    assert!(error.to_string().contains("rename forge"), "{error}");
}

/// An attempt whose rebase stops at a conflict in README.md.
fn torn(world: &World) -> Attempt {
    let attempt = world.rested("edit README.md mine\nedit one.txt first");
    let aside = world.run(world.engine().put_aside(attempt.id, Dismiss::Now)).unwrap().card.dismissed_at;
    world.commit("README.md", "theirs\n");
    let Rebased::Conflicts { files, message } = world.rebase(&attempt).unwrap() else {
        panic!("it conflicts")
    };
    assert_eq!(files, ["README.md"]);
    assert!(message.contains("'main'") && message.contains("README.md"), "{message}");
    let view = world.attempt(attempt.id);
    assert!(
        view.is_conflicted && Some(view.card.state_since) > aside,
        "what is put aside is not the conflict"
    );
    attempt
}

#[test]
fn a_conflict_that_somebody_resolves_with_git_survives_a_restart_and_lands() {
    let mut world = World::new();
    let attempt = torn(&world);
    world.restart();
    let status = world.run(world.engine().branch_status(attempt.id)).unwrap();
    assert_eq!(status.operation(), Some(forge_git::Operation::Rebase));
    assert_eq!(status.standing.unwrap().conflicted, [Path::new("README.md")]);
    told(world.land(&attempt), Some("rebase_in_progress"));
    let again = world.rebase(&attempt).unwrap_err();
    assert_eq!(again.code(), Some("rebase_in_progress"));
    fs::write(attempt.worktree.join("README.md"), "both\n").unwrap();
    git(&attempt.worktree, &["add", "README.md"]);
    git(&attempt.worktree, &["-c", "core.editor=true", "rebase", "--continue"]);
    let status = world.run(world.engine().branch_status(attempt.id)).unwrap();
    assert_eq!((status.operation(), status.counts), (None, Some((1, 0))));
    assert!(!world.attempt(attempt.id).is_conflicted);
    world.land(&attempt).unwrap();
    assert_eq!(read(world.repository.join("README.md")), "both\n");
    assert_eq!(read(world.repository.join("one.txt")), "first\n");
}

#[test]
fn a_conflict_that_is_aborted_leaves_the_attempt_and_its_target_as_they_were() {
    let world = World::new();
    let attempt = world.rested("edit README.md mine");
    let tip = world.tip(&attempt.branch);
    world.git(&["checkout", "--quiet", "-b", "next"]);
    world.commit("README.md", "theirs\n");
    let onto_next = RebaseRequest { new_base: Some("next".into()), ..RebaseRequest::default() };
    let outcome = world.run(world.engine().rebase(attempt.id, onto_next)).unwrap();
    assert!(matches!(outcome, Rebased::Conflicts { .. }), "{outcome:?}");
    assert_eq!(world.attempt(attempt.id).attempt.target_branch, "next");
    fs::write(attempt.worktree.join("README.md"), "half way\n").unwrap();
    for _ in 0..2 {
        world.run(world.engine().abort_conflicts(attempt.id)).unwrap();
        assert_untouched(&world, &attempt, &tip);
        let view = world.attempt(attempt.id);
        assert_eq!((view.attempt.target_branch.as_str(), view.is_conflicted), ("main", false));
    }
    // What was written half way is in the snapshot before the abort.
    let snapshot = format!("refs/forge/snapshots/{}:README.md", attempt.id);
    assert_eq!(world.git(&["show", &snapshot]), "half way");
    world.land(&attempt).unwrap();
    assert_eq!(world.git(&["show", "main:README.md"]), "mine");
}

#[test]
fn an_agent_that_resolves_the_conflict_finishes_the_rebase_and_one_that_does_not_leaves_it_open() {
    let world = World::new();
    let attempt = torn(&world);
    let say = |prompt: &str| {
        let follow = FollowUp::new(prompt);
        let run = world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap().run.id;
        eventually("the run is over", || {
            let run = world.run(world.engine().run(run)).unwrap();
            run.state.is_over().then_some(run)
        })
    };
    let run = say("say I looked at it");
    assert_eq!(run.state, RunState::Completed);
    let view = world.attempt(attempt.id);
    assert!(view.is_conflicted);
    let reason = view.attempt.reason.unwrap();
    assert!(reason.contains("waits for conflicts to be resolved in README.md"), "{reason}");
    say("edit README.md both");
    let view = world.attempt(attempt.id);
    assert!(!view.is_conflicted, "{view:?}");
    assert_eq!(git(&attempt.worktree, &["branch", "--show-current"]), attempt.branch);
    world.land(&attempt).unwrap();
    assert_eq!(read(world.repository.join("README.md")), "both\n");
}

#[test]
fn a_person_who_resolves_the_conflicts_in_the_files_goes_on_commit_by_commit() {
    let world = World::new();
    let attempt = world.rested("edit README.md mine");
    let follow = FollowUp::new("edit two.txt mine");
    let run = world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap().run.id;
    eventually("the run is over", || {
        world.run(world.engine().run(run)).unwrap().state.is_over().then_some(())
    });
    world.commit("README.md", "theirs\n");
    world.commit("two.txt", "theirs\n");
    let go_on = || world.run(world.engine().continue_rebase(attempt.id)).unwrap();
    let waits_for = |outcome: Rebased, file: &str| {
        let Rebased::Conflicts { files, message } = outcome else { panic!("{file} is not resolved") };
        assert_eq!(files, [file]);
        assert!(message.contains("Rebase onto 'main' stopped at 1 conflict"), "{message}");
        assert!(message.contains("git add"), "{message}");
        assert!(world.attempt(attempt.id).is_conflicted);
    };
    waits_for(world.rebase(&attempt).unwrap(), "README.md");
    waits_for(go_on().unwrap(), "README.md");
    fs::write(attempt.worktree.join("README.md"), "both\n").unwrap();
    waits_for(go_on().unwrap(), "two.txt");
    fs::write(attempt.worktree.join("two.txt"), "both\n").unwrap();
    assert_eq!(go_on(), Some(Rebased::Done));
    assert_eq!(go_on(), None, "a second click finds nothing to do");
    let view = world.attempt(attempt.id);
    assert_eq!((view.is_conflicted, view.attempt.target_branch.as_str()), (false, "main"));
    assert_eq!(git(&attempt.worktree, &["branch", "--show-current"]), attempt.branch);
    world.land(&attempt).unwrap();
    assert_eq!(read(world.repository.join("README.md")), "both\n");
    assert_eq!(read(world.repository.join("two.txt")), "both\n");
}

#[test]
fn only_a_rebase_is_gone_on_with_and_none_beside_an_agent() {
    let world = World::new();
    let attempt = torn(&world);
    let follow = FollowUp::new("hang");
    world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap();
    let refused = world.run(world.engine().continue_rebase(attempt.id)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    world.run(world.engine().stop_attempt(attempt.id)).unwrap();
    world.wait_for(attempt.id, AttemptState::Stopped);
    world.run(world.engine().abort_conflicts(attempt.id)).unwrap();
    let merged =
        std::process::Command::new("git").arg("-C").arg(&attempt.worktree).args(["merge", "main"]).output();
    assert!(!merged.unwrap().status.success(), "it conflicts");
    let refused = world.run(world.engine().continue_rebase(attempt.id)).unwrap_err();
    assert!(refused.to_string().contains("waits in") && refused.kind() == ErrorKind::Conflict, "{refused}");
}

#[test]
fn binary_and_renamed_files_that_conflict_are_left_open_and_nothing_is_lost() {
    let world = World::new();
    world.commit("picture", [0_u8, 1, 2]);
    world.commit("old.txt", "a\nb\nc\nd\ne\nf\n");
    let script = "run printf '\\000mine' > picture\nrun git mv old.txt left.txt";
    let attempt = world.rested(script);
    let tip = world.tip(&attempt.branch);
    world.git(&["mv", "old.txt", "right.txt"]);
    world.commit("picture", [0_u8, b't']);
    let Rebased::Conflicts { files, .. } = world.rebase(&attempt).unwrap() else { panic!("it conflicts") };
    assert!(
        files.contains(&"picture".to_string()) && files.iter().any(|file| file == "left.txt"),
        "{files:?}"
    );
    let follow = FollowUp::new("say hm");
    let run = world.run(world.engine().follow_up(attempt.id, follow, None)).unwrap().run.id;
    eventually("the run is over", || {
        world.run(world.engine().run(run)).unwrap().state.is_over().then_some(())
    });
    assert!(world.attempt(attempt.id).is_conflicted);
    world.run(world.engine().abort_conflicts(attempt.id)).unwrap();
    assert_untouched(&world, &attempt, &tip);
    assert_eq!(fs::read(attempt.worktree.join("picture")).unwrap(), b"\0mine");
}

#[test]
fn a_rebase_does_not_overwrite_an_ignored_file_of_the_worktree() {
    let world = World::new();
    world.commit(".gitignore", "*.env\n");
    let attempt = world.rested("edit one.txt first\nedit secret.env mine");
    let tip = world.tip(&attempt.branch);
    world.commit("secret.env", "theirs\n");
    let error = world.rebase(&attempt).unwrap_err();
    assert!(error.kind() == ErrorKind::Conflict && error.to_string().contains("secret.env"), "{error}");
    assert_untouched(&world, &attempt, &tip);
    assert_eq!(read(attempt.worktree.join("secret.env")), "mine\n");
}

#[test]
fn a_branch_that_does_not_exist_is_neither_a_base_nor_a_target() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let request = RebaseRequest { new_base: Some("nowhere".into()), ..RebaseRequest::default() };
    for error in [
        world.run(world.engine().rebase(attempt.id, request)).unwrap_err(),
        world.run(world.engine().change_target(attempt.id, "nowhere".into())).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "Branch 'nowhere' does not exist in the repository");
    }
    let own = world.run(world.engine().change_target(attempt.id, attempt.branch)).unwrap_err();
    assert_eq!(own.kind(), ErrorKind::Invalid);
}

#[test]
fn one_file_is_deleted_and_committed_and_the_snapshot_has_it() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first\nedit two.txt second\nexit 3");
    world.run(world.engine().delete_file(attempt.id, "README.md".into())).unwrap();
    let show = git(&attempt.worktree, &["show", "--format=%s", "--name-status", "HEAD"]);
    assert_eq!(show, "Delete README.md\n\nD\tREADME.md");
    world.run(world.engine().delete_file(attempt.id, "one.txt".into())).unwrap();
    assert!(!attempt.worktree.join("one.txt").exists());
    let snapshot = format!("refs/forge/snapshots/{}:one.txt", attempt.id);
    assert_eq!(world.git(&["show", &snapshot]), "first");
    assert_eq!(git(&attempt.worktree, &["status", "--porcelain"]), "?? two.txt");
    for bad in ["../repository/README.md", "/etc/passwd", ".git", "none"] {
        let error = world.run(world.engine().delete_file(attempt.id, bad.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{bad}: {error}");
    }
}

#[test]
fn a_commit_is_found_by_the_start_of_its_name_and_compared() {
    let world = World::new();
    let attempt = world.rested("edit one.txt first");
    let main = world.commit("two.txt", "x\n");
    let info = world.run(world.engine().commit_info(attempt.id, main[..8].to_string())).unwrap();
    assert_eq!((info.oid.as_str(), info.subject.as_str()), (main.as_str(), "change two.txt"));
    let compared = world.run(world.engine().compare_commit(attempt.id, main)).unwrap();
    assert_eq!((compared.head, compared.ahead, compared.behind), (world.tip(&attempt.branch), 1, 1));
    for bad in ["main", "HEAD~1", "deadbeef", "--all", "x", ""] {
        assert!(world.run(world.engine().commit_info(attempt.id, bad.into())).is_err(), "{bad}");
    }
}

#[test]
fn a_follow_up_that_comes_during_a_landing_or_a_rebase_is_started_after_it() {
    for act in ["land", "rebase"] {
        let world = World::new();
        let attempt = world.rested("edit one.txt first");
        let id = attempt.id;
        fs::write(attempt.worktree.join("left.txt"), "left\n").unwrap();
        let (hook, dir) = (world.repository.join(".git/hooks/pre-commit"), world.dir.path().display());
        let wait = format!("touch {dir}/reached; until test -e {dir}/go; do sleep 0.01; done");
        fs::write(&hook, format!("#!/bin/sh\n{wait}\n")).unwrap();
        let mut chmod = std::process::Command::new("chmod");
        assert!(chmod.arg("755").arg(&hook).status().unwrap().success());
        let engine = world.engine().clone();
        let acting = world.spawn(async move {
            match act {
                "land" => engine.land(id, Land::default()).await.map(drop),
                _ => engine.rebase(id, RebaseRequest::default()).await.map(drop),
            }
        });
        let reached = world.dir.path().join("reached");
        eventually("the act is under way", || reached.exists().then_some(()));
        let prompt = "edit two.txt second".to_string();
        let follow = FollowUp::new(prompt);
        let told = world.run(world.engine().follow_up(id, follow, None)).unwrap();
        assert_eq!(told.delivered, Delivered::Queued, "{act}");
        assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 1, "{act}");
        fs::write(world.dir.path().join("go"), "").unwrap();
        world.run(acting).unwrap().unwrap();
        eventually("the follow-up has run", || {
            let runs = world.run(world.engine().runs(id, true)).unwrap();
            (runs.len() == 2 && runs[1].state == RunState::Completed).then_some(())
        });
        world.wait_for(id, AttemptState::Finished);
        assert_eq!(read(attempt.worktree.join("two.txt")), "second\n");
        let files = world.git(&["ls-tree", "--name-only", "main"]);
        assert_eq!(files.contains("one.txt"), act == "land", "{files}");
        assert!(!files.contains("two.txt"), "{act}: what came later has not landed: {files}");
    }
}
