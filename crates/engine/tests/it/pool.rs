//! The warm pool: starts that get a worktree that waited, and everything that must not get one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_engine::{AttemptView, Engine, NewProject};
use forge_model::AttemptState;

use crate::world::{World, eventually, git, make_repository, options};

/// Something that somebody does to a worktree that waits.
type Touch = fn(&Path);

/// A world in which so many worktrees wait for any repository, however small, from after its first start on: nothing
/// waited for that one.
fn warm_world(seam: &str, ready: u32) -> World {
    let world = World::with_seam(seam);
    let first = world.start("say hi");
    assert!(!is_warm(&first.attempt));
    world.wait_for(first.attempt.attempt.id, AttemptState::Finished);
    configure(&world, &format!(r#"{{"ready": {ready}, "from_files": 1}}"#));
    world
}

fn configure(world: &World, pool: &str) {
    fs::write(world.home.join("config.json"), format!(r#"{{"worktree_pool": {pool}}}"#)).unwrap();
}

fn until_ready(world: &World, ready: u64) {
    until(world, &format!("{ready} worktrees wait"), |found| found == ready);
}

fn until(world: &World, what: &str, is_enough: impl Fn(u64) -> bool) {
    eventually(what, || {
        let vitals = world.run(world.engine().vitals()).unwrap();
        is_enough(vitals.ready_worktrees).then_some(())
    });
}

/// Says whether an attempt got a worktree that waited: its entry is still called as it was then.
fn is_warm(view: &AttemptView) -> bool {
    let link = fs::read_to_string(view.attempt.worktree.join(".git")).unwrap();
    link.contains("/worktrees/ready-")
}

/// The worktrees of all data directories that wait, or are being made.
fn pooled(root: &Path) -> Vec<PathBuf> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let mut found: Vec<_> = list(&root.join(".pool")).iter().flat_map(|dir| list(dir)).collect();
    found.retain(|path| path.file_name().unwrap() != ".gone");
    found.sort();
    found
}

fn waiting(world: &World) -> Vec<PathBuf> {
    pooled(&world.home.join("worktrees"))
}

/// Checks that git finds nothing wrong, and that every entry leads to a worktree.
fn sane(world: &World) {
    world.git(&["fsck", "--strict"]);
    assert_eq!(world.git(&["worktree", "prune", "--dry-run", "--verbose"]), "");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_start_gets_a_worktree_that_waited_and_another_takes_its_place() {
    let world = warm_world("", 2);
    until_ready(&world, 2);
    let before = waiting(&world);
    assert_eq!(before.len(), 2);
    let started = world.start("edit made.txt text");
    assert!(is_warm(&started.attempt));
    let attempt = &started.attempt.attempt;
    assert_eq!(git(&attempt.worktree, &["symbolic-ref", "--short", "HEAD"]), attempt.branch);
    let view = world.wait_for(attempt.id, AttemptState::Finished);
    assert_eq!(world.git(&["show", &format!("{}:made.txt", view.attempt.branch)]), "text");
    assert_eq!(world.git(&["rev-parse", &format!("{}~", view.attempt.branch)]), view.attempt.base_commit);
    eventually("another waits in its place", || {
        let now = waiting(&world);
        (now.len() == 2 && now != before).then_some(())
    });
    until_ready(&world, 2);
    assert_eq!(world.run(world.engine().vitals()).unwrap().handed_over, 1);
    sane(&world);
    // It is removed like any other, and those that wait stay.
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    assert!(!attempt.worktree.exists());
    assert_eq!(waiting(&world).len(), 2);
}

#[test]
fn of_many_starts_at_once_each_gets_its_own_and_who_finds_none_makes_one() {
    let world = warm_world("", 3);
    until_ready(&world, 3);
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let (engine, wanted) = (world.engine().clone(), world.wanted("edit made.txt text"));
            world.spawn(async move { engine.create_and_start(wanted, None).await })
        })
        .collect();
    let started: Vec<_> = starts.into_iter().map(|start| world.run(start).unwrap().unwrap()).collect();
    assert_eq!(started.iter().filter(|started| is_warm(&started.attempt)).count(), 3);
    for one in &started {
        let view = world.wait_for(one.attempt.attempt.id, AttemptState::Finished);
        assert_eq!(world.git(&["show", &format!("{}:made.txt", view.attempt.branch)]), "text");
    }
    // On a machine that is slow enough they look like a stream, for which more wait.
    until(&world, "three wait again", |ready| ready >= 3);
    sane(&world);
}

#[test]
fn a_stream_of_starts_finds_worktrees_waiting_and_what_waited_for_it_goes_afterwards() {
    const PACE: Duration = Duration::from_millis(250);
    let mut world = warm_world("", 2);
    until_ready(&world, 2);
    let (mut in_a_row, mut most) = (0, 0);
    let mut last = Instant::now();
    eventually("ten starts in a row find one, because more than two wait", || {
        // The pace of the stream, which nothing else waits for.
        std::thread::sleep(PACE.saturating_sub(last.elapsed()));
        last = Instant::now();
        in_a_row = if is_warm(&world.start("say hi").attempt) { in_a_row + 1 } else { 0 };
        most = most.max(world.run(world.engine().vitals()).unwrap().ready_worktrees);
        (in_a_row >= 10 && most > 2).then_some(())
    });
    assert!(most <= 15, "{most} waited");
    eventually("all are finished", || {
        let attempts = world.run(world.engine().attempts(None)).unwrap();
        attempts.iter().all(|one| one.attempt.state == AttemptState::Finished).then_some(())
    });
    sane(&world);
    // Nobody knows of the stream any more.
    world.restart();
    eventually("two are left", || (waiting(&world).len() == 2).then_some(()));
    until_ready(&world, 2);
    sane(&world);
    let trash = fs::read_dir(world.home.join("trash")).unwrap();
    assert_eq!(trash.count(), 0, "nobody touched them, so nothing of them is kept");
}

#[test]
fn what_somebody_touches_during_a_stream_is_handed_to_no_start() {
    const PACE: Duration = Duration::from_millis(250);
    let world = warm_world("", 2);
    until_ready(&world, 2);
    let (mut number, mut touched, mut warm) = (0, 0, 0);
    let mut last = Instant::now();
    eventually("some were touched and some handed over", || {
        std::thread::sleep(PACE.saturating_sub(last.elapsed()));
        last = Instant::now();
        number += 1;
        // Of the same length, and in the second in which others are being made.
        let readme = waiting(&world).last().map(|top| top.join("README.md")).filter(|_| number % 3 == 0);
        if readme.is_some_and(|readme| readme.exists() && fs::write(&readme, "hallo\n").is_ok()) {
            touched += 1;
        }
        let started = world.start("say hi");
        let found = fs::read_to_string(started.attempt.attempt.worktree.join("README.md")).unwrap();
        assert_eq!(found, "hello\n");
        warm += u32::from(is_warm(&started.attempt));
        (touched >= 4 && warm >= 8).then_some(())
    });
}

#[test]
fn the_first_start_finds_a_worktree_when_its_project_was_registered_and_when_the_server_came_up() {
    let mut world = World::new();
    configure(&world, r#"{"ready": 2, "from_files": 1}"#);
    let new = make_repository(&world.dir.path().join("new"));
    let new = NewProject { name: "new".into(), path: new, ..NewProject::default() };
    let project = world.run(world.engine().create_project(new)).unwrap().id;
    // One for each of the two projects that nobody has started anything in: more would be made for nothing.
    until_ready(&world, 2);
    assert_eq!(waiting(&world).len(), 2);
    let mut wanted = world.wanted("say hi");
    wanted.task.project = project;
    let started = world.run(world.engine().create_and_start(wanted.clone(), None)).unwrap();
    assert!(is_warm(&started.attempt));
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    until_ready(&world, 3);
    let before = waiting(&world);
    world.restart();
    until_ready(&world, 3);
    assert_eq!(waiting(&world), before, "they are the same ones");
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    assert!(is_warm(&started.attempt));
    assert!(is_warm(&world.start("say hi").attempt));
}

#[test]
fn worktrees_wait_for_eight_projects_and_first_of_all_for_those_that_are_worked_in() {
    let world = World::new();
    let first = world.start("say hi");
    world.wait_for(first.attempt.attempt.id, AttemptState::Finished);
    for number in 0..9 {
        let path = make_repository(&world.dir.path().join(format!("other-{number}")));
        let new = NewProject { name: format!("other {number}"), path, ..NewProject::default() };
        world.run(world.engine().create_project(new)).unwrap();
    }
    configure(&world, r#"{"ready": 2, "from_files": 1}"#);
    // Two for the project that has attempts and one for each of seven others.
    until_ready(&world, 9);
    assert!(is_warm(&world.start("say hi").attempt));
    until_ready(&world, 9);
    assert_eq!(waiting(&world).len(), 9);
}

#[test]
fn a_worktree_that_somebody_touched_is_not_handed_out_and_its_files_are_kept() {
    let world = warm_world("", 1);
    until_ready(&world, 1);
    let touches: [(&str, Touch); 4] = [
        ("a change", |top| fs::write(top.join("README.md"), "theirs\n").unwrap()),
        ("a file", |top| fs::write(top.join("theirs.txt"), "theirs\n").unwrap()),
        ("the index", |top| {
            git(top, &["update-index", "--assume-unchanged", "README.md"]);
        }),
        ("HEAD", |top| {
            git(top, &["commit", "--quiet", "--allow-empty", "--message=theirs"]);
        }),
    ];
    for (what, touch) in touches {
        let top = waiting(&world).remove(0);
        touch(&top);
        let started = world.start("say hi");
        assert!(!is_warm(&started.attempt), "{what}");
        assert_eq!(
            fs::read_to_string(started.attempt.attempt.worktree.join("README.md")).unwrap(),
            "hello\n"
        );
        eventually(&format!("a worktree waits after {what}"), || {
            let now = waiting(&world);
            (now.len() == 1 && (now[0] != top || what == "the index")).then_some(())
        });
        until_ready(&world, 1);
    }
    let trash = world.home.join("trash");
    let kept: Vec<_> = fs::read_dir(&trash).unwrap().map(|entry| entry.unwrap().path()).collect();
    let holds = |name: &str, text: &str| {
        kept.iter().any(|dir| fs::read_to_string(dir.join(name)).is_ok_and(|found| found == text))
    };
    assert!(holds("README.md", "theirs\n") && holds("theirs.txt", "theirs\n"), "{kept:?}");
    assert!(is_warm(&world.start("say hi").attempt));
    sane(&world);
}

#[test]
fn worktrees_that_wait_follow_their_base() {
    let world = warm_world("", 2);
    until_ready(&world, 2);
    let before = waiting(&world);
    fs::write(world.repository.join("README.md"), "moved\n").unwrap();
    world.git(&["commit", "--quiet", "--all", "--message=second"]);
    let new = world.git(&["rev-parse", "main"]);
    eventually("they are at the new commit", || {
        let at_new = |path: &PathBuf| git(path, &["rev-parse", "HEAD"]) == new;
        waiting(&world).iter().all(at_new).then_some(())
    });
    until_ready(&world, 2);
    assert_eq!(waiting(&world), before, "they were moved, not made again");
    let started = world.start("say hi");
    assert!(is_warm(&started.attempt));
    assert_eq!(started.attempt.attempt.base_commit, new);
    assert_eq!(fs::read_to_string(started.attempt.attempt.worktree.join("README.md")).unwrap(), "moved\n");
    sane(&world);
}

#[test]
fn a_start_from_another_commit_is_made_by_itself() {
    let world = warm_world("", 1);
    world.git(&["branch", "other"]);
    until_ready(&world, 1);
    let tree = world.git(&["rev-parse", "main^{tree}"]);
    let commit = world.git(&["commit-tree", "-p", "main", "-m", "elsewhere", &tree]);
    world.git(&["update-ref", "refs/heads/other", &commit]);
    let mut wanted = world.wanted("say hi");
    wanted.base_branch = Some("other".into());
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    assert!(!is_warm(&started.attempt));
    assert_eq!(started.attempt.attempt.base_commit, commit);
    // The next ones are expected from there.
    eventually("one waits at the other commit", || {
        let found = waiting(&world);
        (found.len() == 1 && git(&found[0], &["rev-parse", "HEAD"]) == commit).then_some(())
    });
}

#[test]
fn a_hand_over_that_breaks_off_leaves_a_start_whole_or_nothing() {
    for seam in ["pool.renamed", "pool.pointed", "start.worktree#2", "start.spawned#2"] {
        let mut world = warm_world(&format!("{seam}=hold:DIR/never"), 1);
        until_ready(&world, 1);
        let (engine, wanted) = (world.engine().clone(), world.wanted("say hi"));
        let _caller = world.spawn(async move { engine.create_and_start(wanted, None).await });
        let reached = world.dir.path().join("never.reached");
        eventually("the start is under way", || reached.exists().then_some(()));
        world.restart();
        let attempts = world.run(world.engine().attempts(None)).unwrap();
        let (branches, worktrees) = world.made();
        if seam == "start.spawned#2" {
            // The process was there, so it counts.
            assert_eq!((attempts.len(), branches.len(), worktrees.len()), (2, 2, 2), "{seam}");
            world.wait_for(attempts[0].attempt.id, AttemptState::Finished);
        } else {
            assert_eq!((attempts.len(), branches.len(), worktrees.len()), (1, 1, 1), "{seam}");
        }
        sane(&world);
        until_ready(&world, 1);
        let started = world.start("say hi");
        assert!(is_warm(&started.attempt), "{seam}");
        world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
        sane(&world);
    }
}

#[test]
fn a_worktree_that_was_being_made_when_the_server_died_is_finished_or_gone() {
    let mut world = warm_world("pool.filled=hold:DIR/never", 1);
    let reached = world.dir.path().join("never.reached");
    eventually("one is being made", || reached.exists().then_some(()));
    let half = waiting(&world);
    assert_eq!(half.len(), 1);
    assert!(!is_warm(&world.start("say hi").attempt), "it is not ready");
    world.restart();
    until_ready(&world, 1);
    assert_eq!(waiting(&world).len(), 1);
    assert_ne!(waiting(&world), half);
    sane(&world);
    // A worktree that waited is ready again after the next restart, without being made again.
    let before = waiting(&world);
    world.restart();
    until_ready(&world, 1);
    assert_eq!(waiting(&world), before);
    assert!(is_warm(&world.start("say hi").attempt));
}

#[test]
fn a_name_that_is_taken_is_drawn_again_and_the_worktree_waits_on() {
    let world = warm_world("pool.pointed=hold:DIR/go", 1);
    until_ready(&world, 1);
    let before = waiting(&world);
    let (engine, wanted) = (world.engine().clone(), world.wanted("say hi"));
    let start = world.spawn(async move { engine.create_and_start(wanted, None).await });
    let reached = world.dir.path().join("go.reached");
    eventually("the start is under way", || reached.exists().then_some(()));
    let (branches, worktrees) = world.made();
    let taken = worktrees.iter().find(|name| !branches.contains(&format!("forge/{name}"))).unwrap();
    world.git(&["branch", &format!("forge/{taken}"), "main"]);
    fs::write(world.dir.path().join("go"), "").unwrap();
    let started = world.run(start).unwrap().unwrap();
    assert_ne!(started.attempt.attempt.branch, format!("forge/{taken}"));
    assert!(!world.home.join("worktrees").join(taken).exists());
    until_ready(&world, 1);
    assert_eq!(waiting(&world), before);
    sane(&world);
}

#[test]
fn what_is_waiting_goes_with_its_project_or_when_none_is_wanted() {
    let world = warm_world("", 2);
    until_ready(&world, 2);
    configure(&world, r#"{"ready": 0, "from_files": 1}"#);
    eventually("none waits", || waiting(&world).is_empty().then_some(()));
    configure(&world, r#"{"ready": 2, "from_files": 1}"#);
    // Nothing tells it while no project is warm, but a start does.
    world.start("say hi");
    until_ready(&world, 2);
    eventually("nothing runs", || world.run(world.engine().delete_project(world.project)).ok());
    eventually("none waits", || waiting(&world).is_empty().then_some(()));
    until_ready(&world, 0);
    eventually("git knows of none", || {
        let listed = world.git(&["worktree", "list", "--porcelain"]);
        (listed.lines().filter(|line| line.starts_with("worktree ")).count() == 1).then_some(())
    });
    sane(&world);
    let trash: Vec<_> = fs::read_dir(world.home.join("trash")).unwrap().collect();
    assert!(
        trash
            .iter()
            .all(|entry| { !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("ready-") })
    );
}

#[test]
fn a_small_repository_and_one_that_is_too_large_for_the_disk_have_none_waiting() {
    let world = World::new();
    fs::write(world.repository.join("large"), vec![b'x'; 3 << 20]).unwrap();
    world.git(&["add", "large"]);
    world.git(&["commit", "--quiet", "--message=large"]);
    // By default so few files are not worth it.
    let first = world.start("say hi");
    world.wait_for(first.attempt.attempt.id, AttemptState::Finished);
    configure(&world, r#"{"ready": 2, "from_files": 1, "disk_mb": 2}"#);
    world.start("say hi");
    let small = make_repository(&world.dir.path().join("small"));
    let new = NewProject { name: "small".into(), path: small, ..NewProject::default() };
    let project = world.run(world.engine().create_project(new)).unwrap().id;
    let mut wanted = world.wanted("say hi");
    wanted.task.project = project;
    world.run(world.engine().create_and_start(wanted.clone(), None)).unwrap();
    // The small one fits, so it has been looked at; and the large one had been started from before it.
    until_ready(&world, 2);
    assert!(is_warm(&world.run(world.engine().create_and_start(wanted, None)).unwrap().attempt));
    assert!(!is_warm(&world.start("say hi").attempt));
    configure(&world, r#"{"ready": 2, "from_files": 1, "disk_mb": 5}"#);
    world.start("say hi");
    // Now one of the large ones fits beside it, in the order in which the projects were used last.
    until_ready(&world, 3);
    assert!(is_warm(&world.start("say hi").attempt));
}

#[test]
fn two_data_directories_on_one_repository_and_one_place_keep_their_own() {
    let mut world = World::new();
    let root = world.dir.path().join("shared");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = |name: &str| {
        let home = world.dir.path().join(name);
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("config.json"), r#"{"worktree_pool": {"ready": 1, "from_files": 1}}"#).unwrap();
        let mut options = options(&home, "");
        options.worktrees = Some(root.clone());
        let engine = runtime.block_on(Engine::open(options)).unwrap();
        let new = NewProject { name: "demo".into(), path: world.repository.clone(), ..NewProject::default() };
        let project = runtime.block_on(engine.create_project(new)).unwrap().id;
        (engine, project)
    };
    let start = |engine: &Engine, project| {
        let mut wanted = world.wanted("say hi");
        wanted.task.project = project;
        runtime.block_on(engine.create_and_start(wanted, None)).unwrap()
    };
    let wait = |engine: &Engine, ready: u64| {
        eventually("worktrees wait", || {
            let vitals = runtime.block_on(engine.vitals()).unwrap();
            (vitals.ready_worktrees == ready).then_some(())
        });
    };
    let (one, two) = (open("one"), open("two"));
    for (engine, project) in [&one, &two] {
        start(engine, *project);
    }
    wait(&one.0, 1);
    wait(&two.0, 1);
    let both = pooled(&root);
    assert_eq!(both.len(), 2);
    assert_ne!(both[0].parent(), both[1].parent());
    let started = start(&one.0, one.1);
    assert!(is_warm(&started.attempt));
    wait(&one.0, 1);
    assert_eq!(both.iter().filter(|path| path.exists()).count(), 1, "one of them was taken, by its own");
    runtime.block_on(one.0.stop_all()).unwrap();
    eventually("the project goes", || runtime.block_on(one.0.delete_project(one.1)).ok());
    eventually("one of each is left", || (pooled(&root).len() == 1).then_some(()));
    wait(&two.0, 1);
    assert!(is_warm(&start(&two.0, two.1).attempt));
    runtime.block_on(two.0.stop_all()).unwrap();
    world.git(&["fsck", "--strict"]);
    drop((one, two));
    runtime.shutdown_timeout(crate::world::SOON);
    world.restart();
}

#[test]
fn a_copy_of_a_data_directory_leaves_the_worktrees_of_the_first_alone() {
    let mut world = warm_world("", 1);
    until_ready(&world, 1);
    let before = waiting(&world);
    world.crash();
    // The last thread of the old engine puts the database down, and then all of it is in its one file.
    let wal = world.home.join("forge.db-wal");
    eventually("the old engine lets go of its database", || (!wal.exists()).then_some(()));
    let copy = world.dir.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["forge.db", "config.json"] {
        fs::copy(world.home.join(name), copy.join(name)).unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut options = options(&copy, "");
    options.worktrees = Some(world.home.join("worktrees"));
    let engine = runtime.block_on(Engine::open(options)).unwrap();
    // It takes none, makes none, and hands none over.
    let refused = runtime.block_on(engine.create_and_start(world.wanted("say hi"), None)).unwrap_err();
    assert_eq!(refused.code(), Some("copy"), "{refused}");
    assert!(before[0].exists());
    assert_eq!(waiting(&world), before);
    runtime.block_on(engine.close());
    drop(engine);
    runtime.shutdown_timeout(crate::world::SOON);
    world.reopen();
    until_ready(&world, 1);
    assert_eq!(before.iter().filter(|path| path.exists()).count(), 1);
}
