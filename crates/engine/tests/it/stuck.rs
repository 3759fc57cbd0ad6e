//! What would keep an attempt from ever going on, or from being removed, has a way out.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use forge_engine::{ErrorKind, FollowUp, Options};
use forge_model::{Attempt, AttemptState, FindingState, RunId, RunState};

use crate::world::{World, eventually, git, options};

fn follow_up(world: &World, attempt: &Attempt, script: &str) -> Attempt {
    world.run(world.engine().follow_up(attempt.id, FollowUp::new(script), None)).unwrap();
    world.wait_for(attempt.id, AttemptState::Finished).attempt
}

/// The attempt's own git directory.
fn own(attempt: &Attempt) -> PathBuf {
    PathBuf::from(git(&attempt.worktree, &["rev-parse", "--absolute-git-dir"]))
}

fn reason(world: &World, attempt: &Attempt) -> Option<String> {
    let runs = world.run(world.engine().runs(attempt.id, true)).unwrap();
    runs.last().unwrap().reason.clone()
}

fn committed(world: &World, attempt: &Attempt, file: &str) -> String {
    world.git(&["show", &format!("{}:{file}", attempt.branch)])
}

fn delete(world: &World, attempt: &Attempt) {
    world.run(world.engine().delete_task(attempt.task.unwrap())).unwrap();
    assert_eq!(world.run(world.engine().attempt(attempt.id)).unwrap_err().kind(), ErrorKind::NotFound);
}

/// Every file of that name beneath a directory.
fn named(top: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name() == name {
            found.push(path.clone());
        }
        if entry.file_type().unwrap().is_dir() {
            found.extend(named(&path, name));
        }
    }
    found
}

#[test]
fn locks_that_a_killed_git_left_in_the_attempts_own_git_directory_do_not_stop_it() {
    let world = World::new();
    let attempt = world.rested("edit one.txt one");
    for lock in ["index.lock", "HEAD.lock"] {
        fs::write(own(&attempt).join(lock), "").unwrap();
    }
    let attempt = follow_up(
        &world,
        &attempt,
        "edit two.txt two\nrun touch $(git rev-parse --absolute-git-dir)/index.lock",
    );
    assert_eq!(committed(&world, &attempt, "two.txt"), "two");
    assert_eq!(reason(&world, &attempt), None);
    let findings = world.run(world.engine().findings(attempt.id)).unwrap();
    let told: Vec<_> = findings.iter().map(|finding| (finding.subject.as_str(), finding.state)).collect();
    assert_eq!(told, [("index.lock", FindingState::Restored)]);
    assert_eq!(world.attempt(attempt.id).findings, 0, "nothing is to be done about it");
    fs::write(own(&attempt).join("index.lock"), "").unwrap();
    world.land(&attempt).unwrap();
    assert_eq!(world.git(&["show", "main:two.txt"]), "two");
}

#[test]
fn a_lock_that_a_git_holds_stays() {
    let world = World::new();
    let attempt = world.rested("edit one.txt one");
    let lock = own(&attempt).join("index.lock");
    fs::write(&lock, "").unwrap();
    // A git that waits for its input, in the worktree, as `git commit` waits for an editor.
    let mut git = std::process::Command::new("git")
        .args(["hash-object", "--stdin"])
        .current_dir(&attempt.worktree)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let attempt = follow_up(&world, &attempt, "edit two.txt two");
    assert!(lock.exists(), "somebody may hold it");
    let why = reason(&world, &attempt).unwrap();
    assert!(why.contains("not committed") && why.contains("index.lock"), "{why}");
    drop(git.stdin.take());
    git.wait().unwrap();
    let attempt = follow_up(&world, &attempt, "edit three.txt three");
    assert!(!lock.exists());
    assert_eq!(committed(&world, &attempt, "two.txt"), "two");
}

#[test]
fn a_lock_in_the_directory_that_all_share_is_named_with_its_remedy_and_stays() {
    let world = World::new();
    let attempt = world.rested("edit one.txt one");
    let lock = world.repository.join(".git/refs/heads").join(format!("{}.lock", attempt.branch));
    fs::write(&lock, "").unwrap();
    let attempt = follow_up(&world, &attempt, "edit two.txt two");
    let why = reason(&world, &attempt).unwrap();
    assert!(why.contains(lock.to_str().unwrap()) && why.contains("delete it and try again"), "{why}");
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    let attempt = follow_up(&world, &attempt, "edit three.txt three");
    assert_eq!(committed(&world, &attempt, "two.txt"), "two");
}

#[test]
fn an_agent_that_makes_a_repository_of_its_own_loses_nothing_and_its_attempt_goes_on() {
    let world = World::new();
    let script = "edit one.txt one\nrun rm .git && git init --quiet && git add one.txt && \
                  git -c user.name=A -c user.email=a@b commit --quiet -m own";
    let attempt = world.rested(script);
    assert_eq!(attempt.state, AttemptState::Finished);
    assert_eq!(committed(&world, &attempt, "one.txt"), "one", "the files are the work, whatever git says");
    let why = reason(&world, &attempt).unwrap();
    let place = world.home.join("trash").join(attempt.id.to_string()).join("replaced");
    assert!(why.contains(place.to_str().unwrap()), "{why}");
    assert!(
        !named(&place, "COMMIT_EDITMSG").is_empty() || !named(&place, "HEAD").is_empty(),
        "it is there whole"
    );
    let attempt = follow_up(&world, &attempt, "edit two.txt two");
    assert_eq!(committed(&world, &attempt, "two.txt"), "two");
    world.land(&attempt).unwrap();
}

#[test]
fn what_was_put_in_place_of_a_worktree_by_hand_goes_to_the_trash_and_the_attempt_goes_on() {
    let world = World::new();
    // A repository of its own.
    let attempt = world.rested("edit one.txt one");
    fs::remove_file(attempt.worktree.join(".git")).unwrap();
    git(&attempt.worktree, &["init", "--quiet"]);
    fs::write(attempt.worktree.join("loose.txt"), "typed").unwrap();
    let attempt = follow_up(&world, &attempt, "edit two.txt two");
    assert_eq!(committed(&world, &attempt, "loose.txt"), "typed");
    // A link: it leads to something of the person's, which stays.
    let elsewhere = world.dir.path().join("elsewhere");
    fs::rename(&attempt.worktree, &elsewhere).unwrap();
    symlink(&elsewhere, &attempt.worktree).unwrap();
    let attempt = follow_up(&world, &attempt, "edit three.txt three");
    assert!(fs::symlink_metadata(&attempt.worktree).unwrap().is_dir());
    assert_eq!(committed(&world, &attempt, "three.txt"), "three");
    assert!(elsewhere.join("loose.txt").exists());
    // A directory that git knows nothing of.
    let entry = own(&attempt);
    fs::remove_dir_all(&entry).unwrap();
    fs::write(attempt.worktree.join("late.txt"), "late").unwrap();
    let attempt = follow_up(&world, &attempt, "edit four.txt four");
    assert_eq!(committed(&world, &attempt, "late.txt"), "late");
    world.git(&["fsck", "--no-dangling"]);
}

#[test]
fn whatever_stands_in_place_of_a_worktree_its_task_can_be_deleted() {
    let world = World::new();
    let trash = world.home.join("trash");
    let replaced = world.rested("edit one.txt one");
    fs::remove_file(replaced.worktree.join(".git")).unwrap();
    git(&replaced.worktree, &["init", "--quiet"]);
    fs::write(replaced.worktree.join("loose-one.txt"), "typed").unwrap();
    delete(&world, &replaced);
    assert!(!replaced.worktree.exists());
    assert_eq!(named(&trash, "loose-one.txt").len(), 1);
    assert_eq!(world.git(&["show", &format!("refs/forge/snapshots/{}:loose-one.txt", replaced.id)]), "typed");

    let linked = world.rested("edit one.txt one");
    let elsewhere = world.dir.path().join("elsewhere");
    fs::rename(&linked.worktree, &elsewhere).unwrap();
    symlink(&elsewhere, &linked.worktree).unwrap();
    delete(&world, &linked);
    assert!(fs::symlink_metadata(&linked.worktree).is_err(), "the link is in the trash");
    assert!(elsewhere.join("one.txt").exists(), "and what it led to is not");

    let unknown = world.rested("edit one.txt one");
    fs::remove_dir_all(own(&unknown)).unwrap();
    fs::write(unknown.worktree.join("loose-three.txt"), "typed").unwrap();
    delete(&world, &unknown);
    assert!(!unknown.worktree.exists());
    assert_eq!(named(&trash, "loose-three.txt").len(), 1);

    let broken = world.rested("edit one.txt one");
    let chain = world.repository.join(".git/refs/forge/snapshots").join(broken.id.to_string());
    fs::write(&chain, "1234567890123456789012345678901234567890\n").unwrap();
    delete(&world, &broken);
    assert!(!broken.worktree.exists());
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn an_entry_that_a_killed_git_left_of_a_removed_attempt_is_swept_and_nobody_elses_is() {
    let world = World::new();
    let attempt = world.rested("edit one.txt one");
    let entry = own(&attempt);
    let kept = world.dir.path().join("kept");
    assert!(std::process::Command::new("cp").arg("-a").arg(&entry).arg(&kept).status().unwrap().success());
    delete(&world, &attempt);
    assert!(!entry.exists());
    // The call that drops it was killed after it had unlocked it.
    fs::create_dir_all(entry.parent().unwrap()).unwrap();
    fs::rename(&kept, &entry).unwrap();
    fs::remove_file(entry.join("locked")).unwrap();
    // One of the person's, whose disk is not there today.
    let own_path = world.dir.path().join("own");
    world.git(&["worktree", "add", "--quiet", "-b", "own", own_path.to_str().unwrap()]);
    fs::rename(&own_path, world.dir.path().join("unplugged")).unwrap();
    world.run(world.engine().gc(true)).unwrap();
    assert!(entry.exists(), "a dry run changes nothing");
    world.run(world.engine().gc(false)).unwrap();
    assert!(!entry.exists());
    assert!(world.repository.join(".git/worktrees/own").exists());
}

fn log_of(world: &World, run: RunId) -> PathBuf {
    let dir = world.home.join("runs").join(run.to_string());
    let mut logs: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).collect();
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "flog"));
    logs.sort();
    logs.pop().unwrap()
}

#[test]
fn a_log_that_was_spoiled_while_its_run_was_alive_is_told_in_the_runs_reason() {
    for how in ["garbled", "cut"] {
        let world = World::new();
        let go = world.dir.path().join("go");
        let script = format!(
            "say {}\nsay marker\nrun while ! [ -e {} ]; do sleep 0.05; done\nsay after",
            "x".repeat(2000),
            go.display()
        );
        let started = world.start(&script);
        world.wait_for_output(started.run.id, "marker");
        let log = log_of(&world, started.run.id);
        match how {
            "cut" => {
                let file = fs::File::options().write(true).open(&log).unwrap();
                file.set_len(fs::metadata(&log).unwrap().len() / 2).unwrap();
            }
            _ => {
                use std::io::{Seek, SeekFrom, Write};
                let mut file = fs::File::options().write(true).open(&log).unwrap();
                file.seek(SeekFrom::Start(fs::metadata(&log).unwrap().len() / 2)).unwrap();
                file.write_all(&[0xff; 300]).unwrap();
            }
        }
        fs::write(&go, "").unwrap();
        let run = eventually("the run is over", || {
            let run = world.run(world.engine().run(started.run.id)).unwrap();
            run.state.is_over().then_some(run)
        });
        let why = run.reason.unwrap_or_default();
        assert!(why.contains("bytes of its log are damaged or gone"), "{how}: {:?} {why:?}", run.state);
    }
    let world = World::new();
    let attempt = world.rested("say fine");
    assert_eq!(reason(&world, &attempt), None);
}

#[test]
fn a_root_that_forge_makes_and_the_files_with_keys_are_their_owners_alone() {
    let mut world = World::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let root = world.dir.path().join("made/worktrees");
    fs::set_permissions(world.home.join("forge.db"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(world.home.join("profiles.json"), "{\"executors\": {}}").unwrap();
    fs::set_permissions(world.home.join("profiles.json"), fs::Permissions::from_mode(0o644)).unwrap();
    world.restart_as(Options { worktrees: Some(root.clone()), ..options(&world.home, "") });
    let attempt = world.rested("edit one.txt one");
    assert!(attempt.worktree.starts_with(&root));
    assert_eq!(mode(&root), 0o700);
    for name in ["forge.db", "profiles.json"] {
        assert_eq!(mode(&world.home.join(name)), 0o600, "{name}");
    }
    // One that was there is the person's: it stays as it is, and `forge doctor` tells.
    let theirs = world.dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
    world.restart_as(Options { worktrees: Some(theirs.clone()), ..options(&world.home, "") });
    assert_eq!(world.rested("edit one.txt one").state, AttemptState::Finished);
    assert_eq!(mode(&theirs), 0o755);
}

#[test]
fn a_run_that_ended_by_a_stop_says_no_more_than_that() {
    let world = World::new();
    let started = world.start("say begun\nhang");
    world.wait_for_output(started.run.id, "begun");
    let run = world.run(world.engine().stop_run(started.run.id)).unwrap();
    assert_eq!((run.state, run.reason.as_deref()), (RunState::Killed, Some("stopped")));
}
