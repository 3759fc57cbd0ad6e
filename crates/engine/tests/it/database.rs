//! The database is watched, copied and never made anew where one was lost; the lock outlives its file.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use forge_engine::{Engine, Error, NewTask};
use rusqlite::{Connection, OpenFlags};

use crate::world::{World, eventually, options};

fn task(world: &World, title: &str, description: String) {
    let description = Some(description);
    let (project, title) = (world.project, title.to_string());
    let new = NewTask { project, title, description, parent: None, images: Vec::new() };
    world.run(world.engine().create_task(new)).unwrap();
}

/// Ends the engine and waits until all of the database is in its one file.
fn put_down(world: &mut World) -> PathBuf {
    world.crash();
    let wal = world.home.join("forge.db-wal");
    eventually("the old engine lets go of its database", || (!wal.exists()).then_some(()));
    world.home.join("forge.db")
}

fn refusal(home: &Path) -> Error {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    eventually("the data directory is free", || {
        let error = runtime.block_on(Engine::open(options(home, ""))).unwrap_err();
        Some(error).filter(|error| error.code() != Some("locked"))
    })
}

fn copies(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.home.join("backups")).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[test]
fn pages_that_nobody_reads_are_found_to_be_damaged_and_told() {
    let mut world = World::new();
    for index in 0..300 {
        task(&world, &format!("task {index}"), "x".repeat(10_000));
    }
    assert_eq!(world.run(world.engine().check_database()).unwrap(), None);
    assert_eq!(world.engine().warnings(), Vec::<String>::new());
    let path = put_down(&mut world);
    let file = fs::File::options().write(true).open(&path).unwrap();
    let middle = file.metadata().unwrap().len() / 4096 / 2 * 4096;
    file.write_all_at(&[0; 20 * 4096], middle).unwrap();
    drop(file);
    world.reopen();
    let damage = world.run(world.engine().check_database()).unwrap();
    assert!(damage.is_some(), "it is served without a word");
    let warnings = world.engine().warnings();
    assert!(warnings[0].contains("The database is damaged"), "{warnings:?}");
    assert!(warnings[0].contains("there is no copy"), "{warnings:?}");
    let info = world.run(world.engine().info()).unwrap();
    assert_eq!(info.warnings, warnings);
    assert!(!world.run(world.engine().copy_database_daily()).unwrap(), "a damaged one replaces no good copy");
    assert_eq!(copies(&world), Vec::<PathBuf>::new());
}

#[test]
fn a_copy_is_made_each_day_and_holds_everything() {
    let world = World::new();
    task(&world, "kept", String::new());
    assert!(world.run(world.engine().copy_database_daily()).unwrap());
    let first = copies(&world);
    assert_eq!(first.len(), 1, "{first:?}");
    let conn = Connection::open_with_flags(&first[0], OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let title: String = conn.query_row("select title from tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(title, "kept");
    assert!(!world.run(world.engine().copy_database_daily()).unwrap(), "there is one of today");
    for days in [2, -2] {
        let now = std::time::SystemTime::now();
        let day = std::time::Duration::from_secs(24 * 60 * 60);
        let at = if days > 0 { now - 2 * day } else { now + 2 * day };
        for copy in copies(&world) {
            fs::File::options().write(true).open(copy).unwrap().set_modified(at).unwrap();
        }
        assert!(world.run(world.engine().copy_database_daily()).unwrap(), "the newest is {days} days old");
    }
    assert_eq!(copies(&world).len(), 3);
}

#[test]
fn an_empty_or_missing_database_beside_runs_is_refused_and_names_a_copy_only_when_there_is_one() {
    let mut world = World::new();
    let started = world.start("say hi");
    world.wait_until_told(started.attempt.attempt.id);
    let path = put_down(&mut world);
    let good = fs::read(&path).unwrap();
    fs::write(&path, "").unwrap();
    let error = refusal(&world.home).to_string();
    for words in ["forge.db is empty", "runs", "there is no copy", "forge backup", "nothing was changed"] {
        assert!(error.contains(words), "{words:?} is not in {error:?}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0, "it is left as it is");
    let copy = world.home.join("backups/forge-daily-2026-01-31T00-00-00.000Z.db");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::write(&copy, &good).unwrap();
    fs::remove_file(&path).unwrap();
    let error = refusal(&world.home).to_string();
    assert!(error.contains("forge.db is missing") && error.contains(copy.to_str().unwrap()), "{error}");
    assert!(!path.exists());
    // The remedy works.
    fs::copy(&copy, &path).unwrap();
    world.reopen();
    assert_eq!(world.attempt(started.attempt.attempt.id).attempt.id, started.attempt.attempt.id);
}

#[test]
fn the_lock_is_held_also_when_its_file_was_removed() {
    let world = World::new();
    fs::remove_file(world.home.join("lock")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for _ in 0..2 {
        let error = runtime.block_on(Engine::open(options(&world.home, ""))).unwrap_err();
        assert_eq!(error.code(), Some("locked"), "{error}");
        let _ = fs::remove_file(world.home.join("lock"));
    }
}
