//! One project's trouble stays its own: a repository that does not answer, and what others do meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use forge_engine::{
    ConfigChange, Delivered, DiffWanted, Error, ErrorKind, FollowUp, NewProject, SearchFor, Started,
};
use forge_model::{AttemptId, AttemptState, ProjectId};
use serde_json::json;

use crate::world::{World, eventually, make_repository};

/// Far more than anything here takes on a busy machine, and less than any time limit of git that is not shortened.
const SOON: Duration = Duration::from_secs(50);

/// A repository whose config is a pipe that nobody writes to: git opens it, and waits.
struct Sick {
    config: PathBuf,
    aside: PathBuf,
}

impl Sick {
    fn make(repository: &Path) -> Sick {
        let config = repository.join(".git/config");
        let aside = repository.join(".git/config.aside");
        fs::rename(&config, &aside).unwrap();
        assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
        Sick { config, aside }
    }

    /// Has the disk answer again.
    fn heal(self) {
        fs::rename(&self.aside, &self.config).unwrap();
    }
}

fn another(world: &World, name: &str) -> (ProjectId, PathBuf) {
    let path = make_repository(&world.dir.path().join(name));
    let new = NewProject { name: name.into(), path: path.clone(), ..NewProject::default() };
    (world.run(world.engine().create_project(new)).unwrap().id, path)
}

fn finished(world: &World, project: ProjectId) -> (AttemptId, PathBuf) {
    let mut wanted = world.wanted("edit work.txt text\nsay done");
    wanted.task.project = project;
    let Started { attempt, .. } = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let view = world.wait_until_told(attempt.attempt.id);
    (view.attempt.id, view.attempt.worktree)
}

fn soon<T>(world: &World, what: &str, verb: impl Future<Output = T>) -> T {
    let waited = world.run(async { tokio::time::timeout(SOON, verb).await });
    waited.unwrap_or_else(|_| panic!("in vain: {what}"))
}

fn is_named(error: &Error) {
    let told = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{told}");
    for part in ["git ", "took more than", "disk", "try again"] {
        assert!(told.contains(part), "{part:?} is not in {told:?}");
    }
}

#[test]
fn a_repository_that_does_not_answer_when_it_is_opened_holds_up_no_other() {
    let mut world = World::new();
    let (other, path) = another(&world, "other");
    // What was opened is remembered, and here nothing is to be.
    world.crash();
    let sick = Sick::make(&path);
    world.reopen();
    let engine = world.engine().clone();
    let hangs = world.spawn(async move { engine.branches(other).await });
    eventually("git hangs in the sick project", || is_hanging(&path).then_some(()));
    let branches =
        soon(&world, "the branches of the project that is well", world.engine().branches(world.project));
    assert_eq!(branches.unwrap().len(), 1);
    assert!(!hangs.is_finished(), "it was answered after the sick one");
    sick.heal();
    end_those_that_wait();
    let _refused = soon(&world, "the sick one ends", hangs).unwrap();
    assert_eq!(world.run(world.engine().branches(other)).unwrap().len(), 1);
}

#[test]
fn a_call_of_git_that_takes_too_long_is_ended_and_named_and_the_next_works_when_the_disk_does() {
    let mut world = World::new();
    world.restart_with("git=limit:1500");
    let sick = Sick::make(&world.repository);
    let project = world.project;
    is_named(&soon(&world, "it ends", world.engine().branches(project)).unwrap_err());
    assert!(world.run(world.engine().vitals()).unwrap().overdue_git_calls >= 1);
    sick.heal();
    assert_eq!(world.run(world.engine().branches(project)).unwrap().len(), 1);
}

#[test]
fn a_worktree_that_cannot_be_brought_back_holds_up_none_of_another_project() {
    let world = World::new();
    let (other, path) = another(&world, "other");
    let (mine, my_worktree) = finished(&world, world.project);
    let (theirs, their_worktree) = finished(&world, other);
    fs::remove_dir_all(&my_worktree).unwrap();
    fs::remove_dir_all(&their_worktree).unwrap();
    let sick = Sick::make(&path);
    let engine = world.engine().clone();
    let hangs = world.spawn(async move { engine.follow_up(theirs, FollowUp::new("say theirs"), None).await });
    eventually("git hangs in the sick project", || is_hanging(&path).then_some(()));
    let followed = world.engine().follow_up(mine, FollowUp::new("say mine"), None);
    soon(&world, "a worktree comes back", followed).unwrap();
    assert!(my_worktree.join("work.txt").exists());
    assert!(!hangs.is_finished(), "it came back after the sick one");
    world.wait_for(mine, AttemptState::Finished);
    sick.heal();
    end_those_that_wait();
    let _refused = soon(&world, "the sick one ends", hangs).unwrap();
}

/// What has opened the pipe waits for a writer also when there is a file in its place.
fn end_those_that_wait() {
    for pid in waiting() {
        let _gone = Command::new("kill").arg(pid.to_string()).status();
    }
}

/// Says whether a call of git has opened the pipe of a repository, or waits to.
fn is_hanging(repository: &Path) -> bool {
    let repository = repository.to_string_lossy().into_owned();
    let line = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    waiting().iter().any(|pid| String::from_utf8_lossy(&line(pid)).contains(&repository))
}

/// The processes of git that were started by this one.
fn waiting() -> Vec<u32> {
    let me = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_git = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains("(git)")
            && stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)) == Some(&me)
    };
    pids.filter(is_git).collect()
}

#[test]
fn a_worktree_that_is_there_waits_for_none_that_comes_back_in_the_same_project() {
    let mut world = World::new();
    let (gone, worktree) = finished(&world, world.project);
    let (there, _) = finished(&world, world.project);
    world.restart_with("back.made=hold:DIR/go");
    fs::remove_dir_all(&worktree).unwrap();
    let engine = world.engine().clone();
    let held = world.spawn(async move { engine.follow_up(gone, FollowUp::new("say gone"), None).await });
    let reached = world.dir.path().join("go.reached");
    eventually("the worktree is being brought back", || reached.exists().then_some(()));
    let followed = world.engine().follow_up(there, FollowUp::new("say there"), None);
    soon(&world, "the other goes on", followed).unwrap();
    fs::write(world.dir.path().join("go"), "").unwrap();
    soon(&world, "the first goes on", held).unwrap().unwrap();
    world.wait_for(gone, AttemptState::Finished);
    world.wait_for(there, AttemptState::Finished);
}

#[test]
fn callers_who_hang_up_leave_nothing_behind_that_holds_up_the_next() {
    let mut world = World::new();
    let (attempt, _) = finished(&world, world.project);
    world.restart_with("git=limit:1500");
    let sick = Sick::make(&world.repository);
    let project = world.project;
    for _ in 0..2 {
        let engine = world.engine().clone();
        let diff = world.spawn({
            let engine = engine.clone();
            async move { engine.diff(attempt, DiffWanted::default()).await.map(drop) }
        });
        let search = world.spawn({
            let engine = engine.clone();
            async move { engine.search_files(project, "work", SearchFor::Prompt).await.map(drop) }
        });
        let list = world.spawn(async move { engine.branches(project).await.map(drop) });
        eventually("git hangs", || (!waiting().is_empty()).then_some(()));
        for caller in [diff, search, list] {
            caller.abort();
        }
    }
    sick.heal();
    let diff = world.engine().diff(attempt, DiffWanted::default());
    let (_, files) = soon(&world, "a diff", diff).unwrap();
    assert_eq!(files.len(), 1);
    let found = world.engine().search_files(project, "readme", SearchFor::Prompt);
    assert_eq!(soon(&world, "a search", found).unwrap().len(), 1);
    assert!(!soon(&world, "a list", world.engine().branches(project)).unwrap().is_empty());
    eventually("the calls that nobody waits for are ended", || waiting().is_empty().then_some(()));
}

#[test]
fn an_engine_that_closes_ends_the_git_that_hangs_and_begins_no_more() {
    let world = World::new();
    let sick = Sick::make(&world.repository);
    let (engine, project) = (world.engine().clone(), world.project);
    let hangs = world.spawn(async move { engine.branches(project).await });
    eventually("git hangs", || (!waiting().is_empty()).then_some(()));
    soon(&world, "the engine closes", world.engine().close());
    let told = world.run(hangs).unwrap().unwrap_err().to_string();
    assert!(told.contains("Forge stops"), "{told}");
    assert!(waiting().is_empty());
    sick.heal();
    assert!(world.run(world.engine().branches(project)).is_err());
}

#[test]
fn an_engine_that_closes_waits_for_a_start_whose_turn_came() {
    let mut world = World::new();
    world.restart_with("start.spawned#2=hold:DIR/go");
    let change = json!({"limits": {"max_running": 1}}).as_object().unwrap().clone();
    world.run(world.engine().change_config(ConfigChange::new(change).unwrap())).unwrap();
    let first = world.start("hang").attempt.attempt.id;
    let second = world.run(world.engine().create_and_start(world.wanted("say hi\nhang"), None)).unwrap();
    let second = second.attempt.attempt.id;
    assert_eq!(world.attempt(second).attempt.state, AttemptState::Queued);
    world.run(world.engine().stop_attempt(first)).unwrap();
    let reached = world.dir.path().join("go.reached");
    eventually("the second is being started", || reached.exists().then_some(()));
    let engine = world.engine().clone();
    let closes = world.spawn(async move { engine.close().await });
    let waits = world
        .run(async { tokio::time::timeout(Duration::from_millis(300), std::future::pending::<()>()).await });
    assert!(waits.is_err() && !closes.is_finished(), "it closed with a start under way");
    fs::write(world.dir.path().join("go"), "").unwrap();
    soon(&world, "the engine closes", closes).unwrap();
    assert_eq!(world.attempt(second).attempt.state, AttemptState::Running);
    // Nobody looks after its run in an engine that is closed.
    world.restart();
}

#[test]
fn settings_that_cannot_be_read_switch_no_limit_off_and_stop_no_conversation() {
    let mut world = World::new();
    let (rests, _) = finished(&world, world.project);
    let change = json!({"limits": {"max_running": 1}}).as_object().unwrap().clone();
    world.run(world.engine().change_config(ConfigChange::new(change).unwrap())).unwrap();
    let busy = world.start("hang").attempt.attempt.id;
    let config = world.home.join("config.json");
    let good = fs::read_to_string(&config).unwrap();
    fs::write(&config, "{ not JSON").unwrap();
    let follow = |world: &World| {
        let followed = world.run(world.engine().follow_up(rests, FollowUp::new("say more"), None));
        assert_eq!(followed.unwrap().delivered, Delivered::Queued, "the limit is one, and one runs");
    };
    follow(&world);
    assert_eq!(world.attempt(rests).place, Some(1));
    // A server that never could read them knows what the one before it knew.
    world.restart();
    follow(&world);
    assert_eq!(world.attempt(rests).attempt.state, AttemptState::Finished);
    world.run(world.engine().stop_attempt(busy)).unwrap();
    // It is still so when there is room: what waits goes on.
    eventually("what waited was told", || {
        let runs = world.run(world.engine().runs(rests, true)).unwrap();
        (runs.len() >= 2).then_some(())
    });
    fs::write(&config, good).unwrap();
}

#[test]
fn a_run_that_cannot_be_followed_says_so_on_its_attempt_and_is_followed_again_when_it_can() {
    let mut world = World::new();
    let started = world.start("say first\nhang");
    let (attempt, run) = (started.attempt.attempt.id, started.run.id);
    world.wait_for_output(run, "first");
    world.crash();
    let log = fs::read_dir(world.home.join("runs").join(run.to_string())).unwrap().flatten();
    let log = log.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|kind| kind == "flog"));
    let (log, aside) = (log.unwrap(), world.dir.path().join("aside"));
    fs::rename(&log, &aside).unwrap();
    fs::create_dir(&log).unwrap();
    world.reopen();
    let said = || world.attempt(attempt).card.activity.filter(|words| words.contains("cannot follow"));
    let words = eventually("it is said on the attempt", said);
    assert!(words.contains(&run.to_string()) && words.contains("again in"), "{words}");
    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    eventually("it is followed again", || {
        let words = world.attempt(attempt).card.activity;
        words.is_none_or(|words| !words.contains("cannot follow")).then_some(())
    });
    world.run(world.engine().stop_attempt(attempt)).unwrap();
    world.wait_for(attempt, AttemptState::Stopped);
}
