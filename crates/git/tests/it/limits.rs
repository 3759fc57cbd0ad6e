//! Calls that do not come to their end: they are ended together with what they started, and are named.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_git::{CommitRequest, Committed, DiffBase, Error, Git, Limits};

use crate::world::World;

/// Far more than what it takes on a busy machine, and far less than git's own limits.
const SOON: Duration = Duration::from_secs(60);

/// A git that hangs, with a child of its own, for calls that name what is in `sick`; it writes down who hangs.
fn sickly(world: &World) -> (Git, PathBuf) {
    let (sick, hung) = (world.path("sick"), world.path("hung"));
    let program = world.path("bin/git");
    let script = format!(
        "if [ -s '{sick}' ] && case \"$*\" in *\"$(cat '{sick}')\"*) ;; *) false ;; esac; then \
         sleep 1000 & echo $$ $! >> '{hung}'; wait; fi; exec '{git}' \"$@\"",
        sick = sick.display(),
        hung = hung.display(),
        git = world.git.program().display(),
    );
    world.script(&program, &script);
    let git = Git::at_in(&program, world.environment()).unwrap();
    (git, sick)
}

fn whole(error: &Error) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

/// The processes that hung, and are there still.
fn hanging(world: &World) -> Vec<String> {
    let hung = fs::read_to_string(world.path("hung")).unwrap_or_default();
    let is_there = |pid: &&str| {
        let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        // A zombie that nobody has collected yet is none.
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
    };
    hung.split_whitespace().filter(is_there).map(str::to_string).collect()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_call_that_hangs_is_ended_with_what_it_started_and_named_and_the_next_one_works() {
    let world = World::new();
    let (git, sick) = sickly(&world);
    let repo = git.open(&world.path("repo")).unwrap();
    git.limit_calls(Duration::from_millis(300));
    fs::write(&sick, "for-each-ref").unwrap();
    let begun = Instant::now();
    let told = whole(&repo.branches().unwrap_err());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    for part in ["git for-each-ref", "300 ms", "repo/.git", "disk", "try again"] {
        assert!(told.contains(part), "{part:?} is not in {told:?}");
    }
    assert_eq!(git.overdue_calls(), 1);
    eventually("everything that hung is gone", || hanging(&world).is_empty());
    fs::remove_file(&sick).unwrap();
    git.limit_calls(SOON);
    assert_eq!(repo.branches().unwrap().len(), 1);
    assert_eq!(git.overdue_calls(), 1);
}

#[test]
fn a_call_that_is_stopped_by_a_signal_is_ended_too() {
    let world = World::new();
    let program = world.path("stopped-git");
    let git = world.git.program().display().to_string();
    let script = format!("case \"$*\" in *for-each-ref*) kill -STOP $$ ;; esac; exec '{git}' \"$@\"");
    world.script(&program, &script);
    let git = Git::at_in(&program, world.environment()).unwrap();
    let repo = git.open(&world.path("repo")).unwrap();
    git.limit_calls(Duration::from_millis(300));
    assert!(whole(&repo.branches().unwrap_err()).contains("took more than"));
}

#[test]
fn whoever_reads_contents_is_not_kept_by_a_git_that_does_not_answer() {
    let world = World::new();
    let (git, sick) = sickly(&world);
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("a.txt"), "changed\n").unwrap();
    let repo = git.open(&world.path("repo")).unwrap();
    let worktree = repo.worktree(worktree.path()).unwrap();
    let base = DiffBase::Branch { name: "main".into(), or: repo.resolve_branch("main").unwrap() };
    let mut differ = repo.differ(&worktree, &world.path("diffs")).unwrap();
    fs::write(&sick, "--batch-command").unwrap();
    git.limit_calls(Duration::from_millis(300));
    let told = whole(&differ.diff(&base).unwrap_err());
    assert!(told.contains("git cat-file") && told.contains("took more than"), "{told}");
    assert_eq!(git.overdue_calls(), 1);
    eventually("everything that hung is gone", || hanging(&world).is_empty());
}

#[test]
fn when_git_is_closed_what_hangs_is_ended_and_nothing_more_is_begun() {
    let world = World::new();
    let (git, sick) = sickly(&world);
    let repo = git.open(&world.path("repo")).unwrap();
    fs::write(&sick, "for-each-ref").unwrap();
    let hangs = std::thread::spawn({
        let repo = repo.clone();
        move || repo.branches().map(|branches| branches.len())
    });
    eventually("it hangs", || hanging(&world).len() == 2);
    git.close();
    let told = whole(&hangs.join().unwrap().unwrap_err());
    assert!(told.contains("Forge stops"), "{told}");
    assert_eq!(hanging(&world), Vec::<String>::new());
    fs::remove_file(&sick).unwrap();
    assert!(whole(&repo.branches().unwrap_err()).contains("Forge stops"));
    assert_eq!(git.overdue_calls(), 0);
}

#[test]
fn what_a_call_leaves_running_does_not_keep_its_caller() {
    let world = World::new();
    let (program, left) = (world.path("leaving-git"), world.path("left"));
    let git = world.git.program().display().to_string();
    let script = format!(
        "case \"$*\" in *for-each-ref*) sleep 1000 & echo $! > '{}' ;; esac; exec '{git}' \"$@\"",
        left.display()
    );
    world.script(&program, &script);
    let git = Git::at_in(&program, world.environment()).unwrap();
    let repo = git.open(&world.path("repo")).unwrap();
    let begun = Instant::now();
    assert_eq!(repo.branches().unwrap().len(), 1);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let left = fs::read_to_string(left).unwrap().trim().to_string();
    assert!(std::process::Command::new("kill").arg(&left).status().unwrap().success());
}

#[test]
fn a_hook_that_hangs_is_ended_with_its_commit_within_the_time_that_commits_have() {
    let world = World::new();
    let hook = world.path("repo/.git/hooks/pre-commit");
    world.script(&hook, &format!("sleep 1000 & echo $$ $! >> '{}'; wait", world.path("hung").display()));
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("a.txt"), "changed\n").unwrap();
    let request = CommitRequest {
        message: "one".into(),
        run_hooks: true,
        time_limit: Duration::from_millis(500),
        limits: Limits::default(),
    };
    let committed = worktree.commit_all(&request).unwrap();
    assert!(matches!(committed.committed, Committed::TimedOut { .. }), "{committed:?}");
    eventually("everything that hung is gone", || hanging(&world).is_empty());
}

#[test]
fn long_inputs_and_long_answers_go_both_ways_at_once() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join(".gitignore"), "*.log\n").unwrap();
    // More than the pipes of both ways hold, so that neither side may wait for the other to be done.
    let asked: Vec<String> = (0..8_000).map(|n| format!("{n}-{}.log", "x".repeat(60))).collect();
    assert_eq!(worktree.ignored_of(&asked).unwrap(), asked);
}
