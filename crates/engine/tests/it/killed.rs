//! A server that is killed at any git call of a landing, its undoing or a rebase: what it was at is finished or taken back, and can
//! be asked for again or aborted.
//!
//! The server is `forge-verb-for-tests`, and its git is a script that counts the calls and kills its parent at one of them,
//! before or after git has done its work.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_engine::Rebased;
use forge_model::Attempt;

use crate::world::{World, eventually, forge_binary, git};

/// A prepared world that is put back to its beginning for every kill.
struct Stage {
    world: World,
    attempt: Attempt,
    kept: PathBuf,
}

impl Stage {
    fn new(script: &str, prepare: impl FnOnce(&World, &Attempt)) -> Self {
        let mut world = World::new();
        let attempt = world.rested(script);
        prepare(&world, &attempt);
        close(&mut world);
        let kept = world.dir.path().join("kept");
        fs::create_dir(&kept).unwrap();
        // The last connection to the database closes on a thread of its own, and takes files with it.
        eventually("the data directory is still", || {
            let _gone = fs::remove_dir_all(kept.join("home"));
            is_copied(&world.home, &kept.join("home")).then_some(())
        });
        // A copy of the binary for shims; nobody is looked after here, and it would be copied for every kill.
        fs::remove_dir_all(kept.join("home/bin")).unwrap();
        copy(&world.repository, &kept.join("repository"));
        let counting = world.dir.path().join("bin");
        fs::create_dir(&counting).unwrap();
        let script = counting.join("git");
        let body = "printf '%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
        let mut write = Command::new("/bin/sh");
        assert!(write.args(["-c", body, "sh"]).arg(&script).arg(COUNTING).status().unwrap().success());
        Self { world, attempt, kept }
    }

    fn reset(&mut self) {
        for name in ["home", "repository"] {
            let (place, fresh) = (self.world.dir.path().join(name), self.world.dir.path().join("fresh"));
            copy(&self.kept.join(name), &fresh);
            // The engine before may still be copying its binary, which makes the directory for it again.
            eventually("the old directory is gone", || {
                let _gone = fs::remove_dir_all(&place);
                fs::rename(&fresh, &place).ok()
            });
        }
    }

    /// Runs a verb in a server that is killed at a call of git. Says whether it came to that.
    fn killed(&self, verb: &str, call: usize, when: &str) -> bool {
        let dir = self.world.dir.path();
        let counter = dir.join("counter");
        let _none_yet = fs::remove_file(&counter);
        let real =
            String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout)
                .unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_forge-verb-for-tests"));
        server.arg(verb).arg(&self.world.home).arg(self.attempt.id.to_string());
        server.arg(forge_binary()).arg(&counter);
        server.env("PATH", format!("{}:{path}", dir.join("bin").display()));
        server.env("FORGE_TEST_COUNTER", &counter).env("FORGE_TEST_GIT", real.trim());
        server.env("FORGE_TEST_CALL", call.to_string()).env("FORGE_TEST_WHEN", when);
        let output = server.stdin(Stdio::null()).output().unwrap();
        let killed = output.status.signal() == Some(9);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(killed || output.status.success(), "{verb} {call} {when}: {:?} {told}", output.status);
        killed
    }

    fn tip(&self, branch: &str) -> String {
        git(&self.world.repository, &["rev-parse", branch])
    }

    /// Nothing of git's own is damaged or left half-done, and no act is left in the way.
    fn assert_sound(&self) {
        let repository = &self.world.repository;
        git(repository, &["fsck", "--no-dangling", "--no-progress"]);
        assert_eq!(git(repository, &["status", "--porcelain"]), "");
        assert_eq!(git(&self.attempt.worktree, &["status", "--porcelain"]), "");
        assert_eq!(git(&self.attempt.worktree, &["branch", "--show-current"]), self.attempt.branch);
    }
}

/// A git that counts its calls once the counter is there, and kills its parent at one of them. A call that git itself
/// makes has another parent and is not counted.
const COUNTING: &str = r#"#!/bin/bash
if [ -f "$FORGE_TEST_COUNTER" ] && [ "$(readlink /proc/$PPID/exe)" != "$FORGE_TEST_GIT" ] && [ -z "$FORGE_TEST_INNER" ]; then
    export FORGE_TEST_INNER=1
    exec 9<"$FORGE_TEST_COUNTER"; flock 9
    count=$(($(cat "$FORGE_TEST_COUNTER") + 1)); echo $count > "$FORGE_TEST_COUNTER"
    exec 9<&-
    if [ "$count" = "$FORGE_TEST_CALL" ]; then
        if [ "$FORGE_TEST_WHEN" = before ]; then kill -9 $PPID; exit 1; fi
        "$FORGE_TEST_GIT" "$@"; status=$?
        kill -9 $PPID; exit $status
    fi
fi
exec "$FORGE_TEST_GIT" "$@""#;

/// Ends the engine and waits until its last thread has let go of the data directory.
fn close(world: &mut World) {
    world.crash();
    let lock = fs::File::open(world.home.join("lock")).unwrap();
    eventually("the data directory is free", || {
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).ok()
    });
}

fn copy(from: &Path, to: &Path) {
    assert!(is_copied(from, to), "{} could not be copied", from.display());
}

fn is_copied(from: &Path, to: &Path) -> bool {
    Command::new("cp").args(["-a", "-T"]).arg(from).arg(to).status().unwrap().success()
}

/// Kills at every call until one ends by itself, and returns how many calls there were.
fn at_every_call(stage: &mut Stage, verb: &str, mut check: impl FnMut(&mut Stage, bool)) -> usize {
    let mut calls = 0;
    // Killed after one call and killed before the next is the same place: it is asked for again once, and aborted once.
    for call in 1.. {
        for (when, again) in [("before", call % 2 == 0), ("after", call % 2 == 0)] {
            stage.reset();
            if !stage.killed(verb, call, when) {
                return calls;
            }
            stage.world.reopen();
            check(stage, again);
            close(&mut stage.world);
        }
        calls = call;
    }
    calls
}

#[test]
fn a_landing_that_is_killed_at_any_git_call_has_happened_or_not_and_can_be_asked_for_again() {
    let mut stage = Stage::new("edit one.txt first\nexit 3", |_, _| {});
    let base = stage.tip("main");
    let mut landed = 0;
    let calls = at_every_call(&mut stage, "land", |stage, again| {
        let view = stage.world.attempt(stage.attempt.id);
        let has_landed = stage.tip("main") != base;
        assert_eq!(view.is_merged, has_landed);
        if has_landed {
            landed += 1;
            assert_eq!(stage.tip("main"), stage.tip(&stage.attempt.branch));
        } else {
            assert_eq!(git(&stage.world.repository, &["status", "--porcelain"]), "");
            assert_eq!(fs::read_to_string(stage.attempt.worktree.join("one.txt")).unwrap(), "first\n");
        }
        if again {
            let outcome = stage.world.land(&stage.attempt);
            assert_eq!(outcome.is_ok(), !has_landed, "{outcome:?}");
            assert_eq!(git(&stage.world.repository, &["show", "main:one.txt"]), "first");
            assert_eq!(git(&stage.world.repository, &["rev-list", "--count", "main"]), "2");
            assert_eq!(stage.world.run(stage.world.engine().merges(stage.attempt.id)).unwrap().len(), 1);
            stage.assert_sound();
        } else {
            stage.world.run(stage.world.engine().abort_conflicts(stage.attempt.id)).unwrap();
        }
    });
    println!("a landing has {calls} calls of git; {landed} of {} kills found it landed", calls * 2);
    assert!(calls >= 15, "only {calls} calls were counted");
    assert!(landed >= 1, "no kill came after the target had moved");
}

#[test]
fn an_undoing_that_is_killed_at_any_git_call_has_happened_or_not_and_can_be_asked_for_again() {
    let mut stage = Stage::new("edit one.txt first\nedit README.md mine", |world, attempt| {
        world.land(attempt).unwrap();
    });
    let (landed, base) = (stage.tip("main"), stage.tip("main^"));
    let mut undone = 0;
    let calls = at_every_call(&mut stage, "undo", |stage, again| {
        let is_undone = stage.tip("main") == base;
        assert_eq!(stage.world.attempt(stage.attempt.id).is_merged, !is_undone);
        assert_eq!(stage.world.repository.join("one.txt").exists(), !is_undone);
        stage.assert_sound();
        undone += usize::from(is_undone);
        if again {
            let outcome = stage.world.run(stage.world.engine().undo_landing(stage.attempt.id));
            assert_eq!(outcome.is_ok(), !is_undone, "{outcome:?}");
            assert_eq!(stage.tip("main"), base);
            assert_eq!(stage.tip(&stage.attempt.branch), landed);
            stage.assert_sound();
        } else if is_undone {
            stage.world.land(&stage.attempt).unwrap();
            assert_eq!(git(&stage.world.repository, &["show", "main:one.txt"]), "first");
        }
    });
    println!("an undoing has {calls} calls of git; {undone} of {} kills found it undone", calls * 2);
    assert!(calls >= 8, "only {calls} calls were counted");
    assert!(undone >= 1 && undone < calls * 2, "no kill came before, or none after the target had moved");
}

#[test]
fn a_rebase_that_is_killed_at_any_git_call_can_be_asked_for_again_or_aborted() {
    let mut stage =
        Stage::new("edit one.txt first\nexit 3", |world, _| drop(world.commit("two.txt", "theirs\n")));
    let main = stage.tip("main");
    let calls = at_every_call(&mut stage, "rebase", |stage, again| {
        if again {
            assert_eq!(stage.world.rebase(&stage.attempt).unwrap(), Rebased::Done);
            assert_eq!(stage.tip(&format!("{}^", stage.attempt.branch)), main);
            assert_eq!(fs::read_to_string(stage.attempt.worktree.join("two.txt")).unwrap(), "theirs\n");
            stage.assert_sound();
        } else {
            stage.world.run(stage.world.engine().abort_conflicts(stage.attempt.id)).unwrap();
        }
        assert_eq!(fs::read_to_string(stage.attempt.worktree.join("one.txt")).unwrap(), "first\n");
        assert_eq!(stage.tip("main"), main);
    });
    println!("a rebase has {calls} calls of git");
    assert!(calls >= 20, "only {calls} calls were counted");
}

#[test]
fn a_rebase_with_a_conflict_that_is_killed_at_any_git_call_can_be_resolved_or_aborted() {
    let mut stage = Stage::new("edit README.md mine", |world, _| drop(world.commit("README.md", "theirs\n")));
    let (tip, main) = (stage.tip(&stage.attempt.branch), stage.tip("main"));
    let calls = at_every_call(&mut stage, "rebase", |stage, again| {
        if again {
            if !stage.world.attempt(stage.attempt.id).is_conflicted {
                let outcome = stage.world.rebase(&stage.attempt).unwrap();
                assert!(matches!(outcome, Rebased::Conflicts { .. }), "{outcome:?}");
            }
            fs::write(stage.attempt.worktree.join("README.md"), "both\n").unwrap();
            git(&stage.attempt.worktree, &["add", "README.md"]);
            git(&stage.attempt.worktree, &["-c", "core.editor=true", "rebase", "--continue"]);
            stage.world.land(&stage.attempt).unwrap();
            assert_eq!(git(&stage.world.repository, &["show", "main:README.md"]), "both");
        } else {
            stage.world.run(stage.world.engine().abort_conflicts(stage.attempt.id)).unwrap();
            assert_eq!(stage.tip(&stage.attempt.branch), tip);
            assert_eq!(stage.tip("main"), main);
        }
        assert!(!stage.world.attempt(stage.attempt.id).is_conflicted);
        stage.assert_sound();
    });
    println!("a rebase that stops at a conflict has {calls} calls of git");
    assert!(calls >= 20, "only {calls} calls were counted");
}

#[test]
fn an_abort_that_is_killed_at_any_git_call_can_be_asked_for_again() {
    let mut stage = Stage::new("edit README.md mine", |world, attempt| {
        world.commit("README.md", "theirs\n");
        let outcome = world.rebase(attempt).unwrap();
        assert!(matches!(outcome, Rebased::Conflicts { .. }), "{outcome:?}");
    });
    let tip = git(&stage.world.repository, &["rev-parse", &stage.attempt.branch]);
    let calls = at_every_call(&mut stage, "abort", |stage, _| {
        stage.world.run(stage.world.engine().abort_conflicts(stage.attempt.id)).unwrap();
        assert_eq!(stage.tip(&stage.attempt.branch), tip);
        assert!(!stage.world.attempt(stage.attempt.id).is_conflicted);
        stage.assert_sound();
    });
    println!("an abort has {calls} calls of git");
    assert!(calls >= 8, "only {calls} calls were counted");
}

#[test]
fn a_rebase_that_is_killed_at_any_git_call_of_going_on_can_be_gone_on_with_again_or_aborted() {
    let mut stage = Stage::new("edit README.md mine", |world, attempt| {
        world.commit("README.md", "theirs\n");
        let outcome = world.rebase(attempt).unwrap();
        assert!(matches!(outcome, Rebased::Conflicts { .. }), "{outcome:?}");
        fs::write(attempt.worktree.join("README.md"), "both\n").unwrap();
    });
    let (tip, main) = (stage.tip(&stage.attempt.branch), stage.tip("main"));
    let mut gone_on = 0;
    let calls = at_every_call(&mut stage, "continue", |stage, again| {
        let was_open = stage.world.attempt(stage.attempt.id).is_conflicted;
        gone_on += usize::from(!was_open);
        if again {
            let outcome = stage.world.run(stage.world.engine().continue_rebase(stage.attempt.id));
            assert_eq!(outcome.unwrap(), was_open.then_some(Rebased::Done));
            stage.world.land(&stage.attempt).unwrap();
            assert_eq!(git(&stage.world.repository, &["show", "main:README.md"]), "both");
        } else {
            stage.world.run(stage.world.engine().abort_conflicts(stage.attempt.id)).unwrap();
            assert_eq!(stage.tip(&stage.attempt.branch) == tip, was_open);
            assert_eq!(stage.tip("main"), main);
        }
        assert!(!stage.world.attempt(stage.attempt.id).is_conflicted);
        stage.assert_sound();
    });
    println!("going on has {calls} calls of git; {gone_on} of {} kills found it done", calls * 2);
    assert!(calls >= 8, "only {calls} calls were counted");
    assert!(gone_on >= 1, "no kill came after it had gone on");
}
