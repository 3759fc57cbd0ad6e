//! Committing everything in a worktree, with the person's hooks.

use std::fs;
use std::time::{Duration, Instant};

use forge_git::{CommitRequest, Committed, Error, Git, Limits, Worktree};

use crate::world::World;

#[test]
fn everything_is_committed_as_the_person() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("a.txt"), "changed\n").unwrap();
    fs::remove_file(worktree.path().join("sub/b.txt")).unwrap();
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    fs::write(worktree.path().join("ignored.env"), "secret\n").unwrap();
    let message = "do it\n\n# not a comment\n";
    let committed =
        worktree.commit_all(&CommitRequest { message: message.into(), ..request() }).unwrap().committed;
    let oid = oid_of(committed);
    assert_eq!(oid, worktree.head().unwrap());
    assert_eq!(world.repo().resolve_branch("forge/one").unwrap(), oid);
    assert!(worktree.is_clean().unwrap());
    let files = world.run(worktree.path(), ["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(files, ".gitignore\na.txt\nnew.txt");
    let log = world.run(worktree.path(), ["log", "-1", "--format=%an <%ae>%n%B"]);
    assert_eq!(log.trim_end(), "Person <person@example.com>\ndo it\n\n# not a comment");
    assert_eq!(worktree.commit_all(&request()).unwrap().committed, Committed::Nothing);
}

#[test]
fn a_clean_tree_gives_nothing_and_takes_no_lock() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.git_dir().join("index.lock"), "").unwrap();
    assert_eq!(worktree.commit_all(&request()).unwrap().committed, Committed::Nothing);
    assert!(worktree.is_clean().unwrap());
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    assert!(!worktree.is_clean().unwrap());
    let error = worktree.commit_all(&request()).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("index.lock"), "{error}");
}

#[test]
fn a_change_that_was_staged_and_taken_back_is_nothing() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("a.txt"), "changed\n").unwrap();
    world.run(worktree.path(), ["add", "a.txt"]);
    fs::write(worktree.path().join("a.txt"), "one\n").unwrap();
    assert_eq!(worktree.commit_all(&request()).unwrap().committed, Committed::Nothing);
}

#[test]
fn a_file_that_becomes_a_directory_and_the_other_way_round_is_committed() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::remove_file(worktree.path().join("a.txt")).unwrap();
    fs::create_dir(worktree.path().join("a.txt")).unwrap();
    fs::write(worktree.path().join("a.txt/inside"), "inside\n").unwrap();
    fs::remove_dir_all(worktree.path().join("sub")).unwrap();
    fs::write(worktree.path().join("sub"), "a file\n").unwrap();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
    assert!(worktree.is_clean().unwrap());
    let files = world.run(worktree.path(), ["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(files, ".gitignore\na.txt/inside\nsub");
}

#[test]
fn a_failing_hook_leaves_the_changes_and_its_output() {
    let world = World::new();
    let worktree = world.worktree("one");
    let before = worktree.head().unwrap();
    for (hook, body) in [
        ("pre-commit", "git status >/dev/null; echo too many tabs >&2; exit 3"),
        ("commit-msg", "grep -q TICKET \"$1\" || { echo no ticket; exit 1; }"),
    ] {
        let path = world.path("repo/.git/hooks").join(hook);
        world.script(&path, body);
        fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
        let Committed::HookFailed { hook: named, output } =
            worktree.commit_all(&request()).unwrap().committed
        else {
            panic!("the hook did not run")
        };
        assert_eq!(named, hook);
        assert!(output.contains("too many tabs") || output.contains("no ticket"), "{output}");
        assert_eq!(worktree.head().unwrap(), before);
        assert!(!worktree.is_clean().unwrap());
        fs::remove_file(path).unwrap();
    }
    oid_of(worktree.commit_all(&request()).unwrap().committed);
}

#[test]
fn hooks_are_left_out_when_the_caller_says_so() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.script(&world.path("repo/.git/hooks/pre-commit"), "exit 1");
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    oid_of(worktree.commit_all(&CommitRequest { run_hooks: false, ..request() }).unwrap().committed);
}

#[test]
fn the_persons_own_hook_directory_is_honoured_and_hooks_run_in_the_worktree() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(&world.path("repo"), ["config", "core.hooksPath", ".husky"]);
    let seen = world.path("seen");
    world.script(
        &worktree.path().join(".husky/pre-commit"),
        &format!("pwd > '{}'; echo formatted > new.txt; git add new.txt", seen.display()),
    );
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
    assert_eq!(fs::read_to_string(seen).unwrap().trim(), worktree.path().to_str().unwrap());
    assert_eq!(world.run(worktree.path(), ["show", "HEAD:new.txt"]), "formatted");
}

#[test]
fn a_hook_that_hangs_is_ended_with_everything_it_started() {
    let world = World::new();
    let worktree = world.worktree("one");
    let before = worktree.head().unwrap();
    let pids = world.path("pids");
    let body = format!("echo waiting; sleep 1000 & echo $! $$ > '{}'; wait", pids.display());
    world.script(&world.path("repo/.git/hooks/pre-commit"), &body);
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let started = Instant::now();
    let time_limit = Duration::from_secs(8);
    let committed = worktree.commit_all(&CommitRequest { time_limit, ..request() }).unwrap().committed;
    assert_eq!(committed, Committed::TimedOut { after: time_limit, output: "waiting".into() });
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(worktree.head().unwrap(), before);
    for pid in fs::read_to_string(pids).unwrap().split_whitespace() {
        eventually(|| has_ended(pid));
    }
    assert!(!worktree.git_dir().join("index.lock").exists());
    fs::remove_file(world.path("repo/.git/hooks/pre-commit")).unwrap();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
}

#[test]
fn a_hook_that_fails_or_hangs_after_the_commit_does_not_hide_it() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.script(&world.path("repo/.git/hooks/post-commit"), "sleep 1000");
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let committed = worktree
        .commit_all(&CommitRequest { time_limit: Duration::from_secs(8), ..request() })
        .unwrap()
        .committed;
    assert_eq!(committed, Committed::Commit { oid: worktree.head().unwrap() });
}

#[test]
fn something_left_running_by_a_hook_does_not_hold_up_the_commit() {
    let world = World::new();
    let worktree = world.worktree("one");
    let pid = world.path("pid");
    world.script(
        &world.path("repo/.git/hooks/pre-commit"),
        &format!("sleep 1000 & echo $! > '{}'", pid.display()),
    );
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let started = Instant::now();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
    assert!(started.elapsed() < Duration::from_secs(60));
    let pid = fs::read_to_string(pid).unwrap();
    std::process::Command::new("kill").arg(pid.trim()).status().unwrap();
}

#[test]
fn without_an_identity_the_commit_is_forges() {
    let world = World::new();
    fs::write(world.path("home/gitconfig"), "").unwrap();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
    let format = "--format=%an <%ae> %cn <%ce>";
    let expected = "Forge <forge@localhost> Forge <forge@localhost>";
    assert_eq!(world.run(worktree.path(), ["log", "-1", format]), expected);

    // An identity in the environment is one, too.
    let mut environment = world.environment();
    environment.push(("GIT_AUTHOR_NAME".into(), "Env".into()));
    environment.push(("EMAIL".into(), "env@example.com".into()));
    let repo = Git::find_in(environment).unwrap().open(&world.path("repo")).unwrap();
    fs::write(worktree.path().join("new.txt"), "newer\n").unwrap();
    oid_of(repo.worktree(worktree.path()).unwrap().commit_all(&request()).unwrap().committed);
    assert_eq!(world.run(worktree.path(), ["log", "-1", "--format=%an <%ae>"]), "Env <env@example.com>");
}

#[test]
fn an_unresolved_conflict_is_not_committed() {
    let world = World::new();
    let worktree = world.worktree("one");
    conflict(&world, &worktree);
    let error = worktree.commit_all(&request()).unwrap_err();
    assert!(matches!(&error, Error::Unmerged { paths } if paths.len() == 1), "{error}");
    assert!(error.to_string().contains("a.txt"));
    // Once the agent has resolved it, the merge is concluded.
    fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
    world.run(worktree.path(), ["add", "a.txt"]);
    oid_of(worktree.commit_all(&request()).unwrap().committed);
    assert_eq!(world.run(worktree.path(), ["log", "-1", "--format=%p"]).split(' ').count(), 2);
}

#[test]
fn a_nested_repository_without_a_commit_is_in_nobodys_way() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["init", "-q", "empty"]);
    assert_eq!(worktree.commit_all(&request()).unwrap().committed, Committed::Nothing);
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    oid_of(worktree.commit_all(&request()).unwrap().committed);
}

#[test]
fn a_nested_repository_is_committed_as_the_commit_that_it_is_at() {
    let world = World::new();
    let worktree = world.worktree("one");
    let inner = worktree.path().join("inner");
    world.run(worktree.path(), ["init", "-q", "inner"]);
    for message in ["first", "second"] {
        let oid = world.commit(&inner, message);
        oid_of(worktree.commit_all(&request()).unwrap().committed);
        assert_eq!(world.run(worktree.path(), ["rev-parse", "HEAD:inner"]), oid);
        assert!(worktree.is_clean().unwrap());
    }
}

#[test]
fn a_worktree_that_lost_its_git_file_never_commits_into_a_repository_above_it() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(&world.path(""), ["init", "-q", "worktrees"]);
    fs::remove_file(worktree.path().join(".git")).unwrap();
    assert!(matches!(
        worktree.commit_all(&request()).map(|kept| kept.committed),
        Err(Error::NotOurWorktree { .. })
    ));
    assert!(!world.attempt(&world.path("worktrees"), ["rev-parse", "--verify", "HEAD"]).0);
    // It is saved all the same: for that git is told where everything is.
    assert!(worktree.snapshot(&crate::world::snapshot_request()).is_ok());
}

/// Leaves a worktree in the middle of a merge with one conflict.
pub(crate) fn conflict(world: &World, worktree: &Worktree) {
    fs::write(worktree.path().join("a.txt"), "ours\n").unwrap();
    world.commit(worktree.path(), "ours");
    fs::write(world.path("repo/a.txt"), "theirs\n").unwrap();
    world.commit(&world.path("repo"), "theirs");
    assert!(!world.attempt(worktree.path(), ["merge", "-q", "main"]).0);
}

fn request() -> CommitRequest {
    CommitRequest {
        message: "work".into(),
        time_limit: Duration::from_secs(120),
        run_hooks: true,
        limits: Limits::default(),
    }
}

fn oid_of(committed: Committed) -> String {
    match committed {
        Committed::Commit { oid } => oid,
        other => panic!("{other:?}"),
    }
}

fn eventually(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "it did not come to be");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tells whether a process is gone, or only waits for its parent to look.
fn has_ended(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.is_empty() || state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}
