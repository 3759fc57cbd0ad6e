//! A world in disorder: each trouble gets one sentence with its remedy, and nothing is lost.

use std::path::{Path, PathBuf};
use std::process::Command;

use forge_engine::{Engine, ErrorKind, NewProject};
use forge_model::AttemptState;

use crate::world::{World, make_repository, options};

/// A mounted filesystem, unmounted at the end.
struct Mount(PathBuf);

impl Mount {
    fn new(path: &Path, args: &[&str]) -> Self {
        std::fs::create_dir_all(path).unwrap();
        let output = Command::new("mount").args(args).arg(path).output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "this test must mount a filesystem, which takes root: {why}");
        Self(path.to_path_buf())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(&self.0).status().unwrap();
    }
}

fn sentence(error: &forge_engine::Error, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

#[test]
fn a_disk_that_is_nearly_full_refuses_a_start_and_a_full_one_refuses_a_write() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    let _mount = Mount::new(&disk, &["-t", "tmpfs", "-o", "size=200m", "tmpfs"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let engine = runtime.block_on(Engine::open(options(&disk.join("home"), ""))).unwrap();
    let path = make_repository(&dir.path().join("repository"));
    let new = NewProject { name: "demo".into(), path, ..NewProject::default() };
    let project = runtime.block_on(engine.create_project(new)).unwrap();
    let floor = serde_json::json!({"limits": {"min_free_mb": 100}}).as_object().unwrap().clone();
    runtime.block_on(engine.change_config(forge_engine::ConfigChange::new(floor).unwrap())).unwrap();
    let task = |title: &str| forge_engine::NewTask {
        project: project.id,
        title: title.into(),
        description: None,
        parent: None,
        images: Vec::new(),
    };
    runtime.block_on(engine.create_task(task("before"))).unwrap();

    // More than what nothing is ever started with, less than what the person wants to stay free.
    fill(&disk.join("filler"), 90 << 20);
    let start = forge_engine::StartTask {
        task: task("start"),
        profile: forge_model::ProfileId::new("SCRIPTED", None).unwrap(),
        base_branch: None,
        use_worktree: true,
        manner: forge_model::Manner::default(),
    };
    let error = runtime.block_on(engine.create_and_start(start.clone(), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    sentence(&error, &["MB are free", "make room", "100 MB", "`limits.min_free_mb`"]);
    assert_eq!(runtime.block_on(engine.tasks(project.id)).unwrap().len(), 1, "it leaves no task");
    assert!(runtime.block_on(engine.attempts(None)).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(disk.join("home/runs")).unwrap().count(), 0);
    assert!(std::fs::read_dir(disk.join("home/worktrees")).is_err(), "and no worktree");
    let branches = crate::world::git(&project.path, &["for-each-ref", "--format=%(refname)", "refs/heads"]);
    assert_eq!(branches, "refs/heads/main");

    let error = (0..2000).find_map(|index| {
        // What somebody else gives back, such as a copy that did not fit, is filled again.
        fill_up(&disk.join("filler2"));
        let mut task = task(&format!("full {index}"));
        task.description = Some("x".repeat(4096));
        runtime.block_on(engine.create_task(task)).err()
    });
    sentence(&error.unwrap(), &["full", "make room"]);

    std::fs::remove_file(disk.join("filler")).unwrap();
    std::fs::remove_file(disk.join("filler2")).unwrap();
    runtime.block_on(engine.create_task(task("after"))).unwrap();
    let titles: Vec<_> =
        runtime.block_on(engine.tasks(project.id)).unwrap().into_iter().map(|view| view.task.title).collect();
    assert!(titles.contains(&"before".to_string()) && titles.contains(&"after".to_string()));
    runtime.block_on(engine.create_and_start(start, None)).unwrap();
    runtime.block_on(engine.stop_all()).unwrap();
}

/// Writes zeros until only so many bytes are left, as far as the disk says so.
fn fill(path: &Path, leave: u64) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    let block = vec![0_u8; 64 << 10];
    loop {
        let stat = rustix::fs::statvfs(path.parent().unwrap()).unwrap();
        let free = stat.f_bavail * stat.f_frsize;
        if free <= leave {
            return;
        }
        file.write_all(&block[..block.len().min((free - leave) as usize)]).unwrap();
    }
}

/// Writes zeros until the disk refuses. It is not asked what is free: with many cores, memory's answer is off by
/// megabytes.
fn fill_up(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    let block = vec![0_u8; 4 << 10];
    while file.write_all(&block).is_ok() {}
}

#[test]
fn a_read_only_place_for_worktrees_fails_the_start_and_leaves_nothing() {
    let world = World::new();
    let root = world.home.join("worktrees");
    std::fs::create_dir_all(&root).unwrap();
    let mount = Mount::new(&root, &["-t", "tmpfs", "-o", "ro,size=2g", "tmpfs"]);
    let error = world.run(world.engine().create_and_start(world.wanted("say hi"), None)).unwrap_err();
    sentence(&error, &["ead-only", root.to_str().unwrap()]);
    assert_eq!(world.made().0, Vec::<String>::new());
    drop(mount);
    let started = world.start("say hi");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
}

#[test]
fn a_base_branch_that_does_not_exist_is_named() {
    let world = World::new();
    let mut wanted = world.wanted("say hi");
    wanted.base_branch = Some("nowhere".into());
    let error = world.run(world.engine().create_and_start(wanted.clone(), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    sentence(&error, &["there is no branch nowhere"]);
    wanted.base_branch = Some("--force".into());
    let error = world.run(world.engine().create_and_start(wanted, None)).unwrap_err();
    sentence(&error, &["--force", "cannot be the name of a branch"]);
    assert_eq!(world.made(), (vec![], vec![]));
}

#[test]
fn a_repository_without_commits_is_told_to_make_one() {
    let world = World::new();
    let empty = world.dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    crate::world::git(&empty, &["init", "--quiet", "--initial-branch=main"]);
    let new = NewProject { name: "empty".into(), path: empty, ..NewProject::default() };
    let project = world.run(world.engine().create_project(new)).unwrap();
    let mut wanted = world.wanted("say hi");
    wanted.task.project = project.id;
    let error = world.run(world.engine().create_and_start(wanted, None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    sentence(&error, &["no commits yet", "make a first commit"]);
}

#[test]
fn a_branch_that_stands_in_the_way_of_the_prefix_is_named() {
    let world = World::new();
    world.git(&["branch", "forge"]);
    let error = world.run(world.engine().create_and_start(world.wanted("say hi"), None)).unwrap_err();
    sentence(&error, &["while branch forge exists", "rename forge"]);
}

#[test]
fn a_second_engine_on_the_same_data_is_told_who_has_it() {
    let world = World::new();
    let error = world.run(Engine::open(options(&world.home, ""))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    sentence(&error, &["another Forge", &std::process::id().to_string(), "--data"]);
}

#[test]
fn a_lock_that_outlives_its_dead_holder_for_a_moment_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    std::fs::write(home.join("lock"), dead.id().to_string()).unwrap();
    let inherited = std::fs::File::open(home.join("lock")).unwrap();
    inherited.lock().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let opening = runtime.spawn(Engine::open(options(&home, "")));
    runtime.block_on(tokio::task::yield_now());
    drop(inherited);
    runtime.block_on(opening).unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(home.join("lock")).unwrap(), std::process::id().to_string());
}

#[test]
fn a_damaged_database_is_refused_and_left_as_it_is() {
    let mut world = World::new();
    world.crash();
    let path = world.home.join("forge.db");
    for file in ["forge.db-wal", "forge.db-shm"] {
        let _ = std::fs::remove_file(world.home.join(file));
    }
    let damaged = b"this is no database at all, and has not been one for a long time".repeat(100);
    std::fs::write(&path, &damaged).unwrap();
    let error = open_again(&world.home);
    sentence(&error, &["damaged", "nothing was changed", "FORGE_HOME"]);
    assert_eq!(std::fs::read(&path).unwrap(), damaged);
}

#[test]
fn a_database_of_a_newer_forge_is_refused_and_left_as_it_is() {
    let mut world = World::new();
    world.crash();
    let path = world.home.join("forge.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("pragma user_version = 999").unwrap();
    drop(conn);
    let error = open_again(&world.home);
    sentence(&error, &["newer Forge", "999", "FORGE_HOME"]);
    let conn = rusqlite::Connection::open(&path).unwrap();
    let projects: i64 = conn.query_row("select count(*) from projects", [], |row| row.get(0)).unwrap();
    assert_eq!(projects, 1);
}

fn open_again(home: &Path) -> forge_engine::Error {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    crate::world::eventually("the data directory is free", || {
        let error = runtime.block_on(Engine::open(options(home, ""))).unwrap_err();
        Some(error).filter(|error| error.code() != Some("locked"))
    })
}

#[test]
fn a_repository_is_made_where_it_does_no_harm_and_nowhere_else() {
    let world = World::new();
    let make = |path: PathBuf| {
        let new = NewProject { name: "new".into(), path, create: true, ..NewProject::default() };
        world.run(world.engine().create_project(new))
    };
    for path in ["/", "/tmp/.."] {
        sentence(&make(path.into()).unwrap_err(), &["no place for a repository"]);
    }
    sentence(&make(world.home.join("inside")).unwrap_err(), &["Forge's own data directory"]);
    sentence(&make(world.repository.join("deeper/still")).unwrap_err(), &["is inside the repository"]);
    sentence(&make(world.repository.join(".git/hooks")).unwrap_err(), &["inside another repository"]);
    sentence(&make("/dev/null/x".into()).unwrap_err(), &["Failed to create directory"]);
    assert!(!world.home.join("inside").exists() && !world.repository.join("deeper").exists());
    let made = make(world.dir.path().join("fresh/one")).unwrap();
    assert_eq!(crate::world::git(&made.path, &["branch", "--show-current"]), "main");
}
