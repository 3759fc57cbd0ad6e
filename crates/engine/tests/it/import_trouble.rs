//! Moving in from sources that are damaged, locked, half written, unknown, or made by hand; nothing of theirs changes.

use std::path::{Path, PathBuf};

use forge_engine::{ErrorKind, ImportRequest, Product};
use rusqlite::Connection;

use crate::importing::{count, fingerprint, import, sample, thing};
use crate::world::World;

/// The schema of an age, made by hand: what every test needs, and no more.
fn old_source(dir: &Path) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    let path = dir.join("db.sqlite");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "create table _sqlx_migrations (version bigint primary key, description text, success boolean);
         insert into _sqlx_migrations values (20250805122100, 'x', 1);
         create table projects (id blob primary key, name text, git_repo_path text, created_at text, updated_at text);
         create table tasks (id blob primary key, project_id blob, title text, description text, status text,
            parent_task_attempt blob, created_at text, updated_at text);
         create table task_attempts (id blob primary key, task_id blob, executor text, branch text, base_branch text,
            created_at text, updated_at text);
         create table execution_processes (id blob primary key, task_attempt_id blob, run_reason text,
            executor_action text, status text, exit_code int, started_at text, completed_at text, created_at text);
         create table execution_process_logs (execution_id blob primary key, logs text, byte_size int, inserted_at text);
         insert into projects values (x'01000000000000000000000000000001', 'P', '/gone/p', '2026-01-01 10:00:00', null);
         insert into tasks values (x'02000000000000000000000000000001', x'01000000000000000000000000000001', 'T', null,
            'todo', null, '2026-01-01 10:00:00', '2026-01-01 10:00:00');
         insert into task_attempts values (x'03000000000000000000000000000001', x'02000000000000000000000000000001',
            'claude-code', 'vk-0300-t', 'main', '2026-01-01 10:00:00.5', '2026-01-01 10:00:00');
         insert into execution_processes values (x'04000000000000000000000000000001',
            x'03000000000000000000000000000001', 'codingagent', '{}', 'completed', 0, '2026-01-01T10:00:01+00:00',
            '2026-01-01 10:00:02', '2026-01-01 10:00:01');
         insert into execution_process_logs values (x'04000000000000000000000000000001',
            '{\"Stdout\":\"hello\\n\"}' || char(10), 20, '2026-01-01 10:00:01');",
    )
    .unwrap();
    path
}

const RUN: &str = "04000000-0000-0000-0000-000000000001";

#[test]
fn the_first_age_with_logs_in_a_table_comes_over() {
    let world = World::new();
    let source = old_source(&world.dir.path().join("old"));
    let report = import(&world, Product::VibeKanban, &source).unwrap();
    assert_eq!(
        ["projects", "tasks", "attempts", "runs"].map(|kind| thing(&report, kind).added),
        [1, 1, 1, 1]
    );
    assert_eq!(world.output(RUN.parse().unwrap()), "hello\n");
    let attempt = world.attempt("03000000-0000-0000-0000-000000000001".parse().unwrap()).attempt;
    assert_eq!(
        (attempt.profile.to_string().as_str(), attempt.target_branch.as_str()),
        ("CLAUDE_CODE", "main")
    );
    assert!(
        report.notes.iter().any(|note| note.contains("not there") && note.contains("\"P\"")),
        "{:?}",
        report.notes
    );
}

#[test]
fn an_age_with_many_rows_a_log_and_one_with_logs_in_columns_are_read_in_order() {
    let world = World::new();
    let source = old_source(&world.dir.path().join("rows"));
    let conn = Connection::open(&source).unwrap();
    conn.execute_batch(
        "drop table execution_process_logs;
         create table execution_process_logs (execution_id blob, logs text, byte_size int, inserted_at text);
         insert into execution_process_logs values
            (x'04000000000000000000000000000001', '{\"Stdout\":\"three\"}', 1, '2026-01-01 10:00:02'),
            (x'04000000000000000000000000000001', '{\"Stdout\":\"one \"}', 1, '2026-01-01T10:00:01.000000+00:00'),
            (x'04000000000000000000000000000001', '{\"Stdout\":\"two \"}', 1, '2026-01-01 10:00:01');",
    )
    .unwrap();
    drop(conn);
    import(&world, Product::VibeKanban, &source).unwrap();
    assert_eq!(world.output(RUN.parse().unwrap()), "one two three");

    let older = World::new();
    let source = old_source(&older.dir.path().join("columns"));
    let conn = Connection::open(&source).unwrap();
    conn.execute_batch(
        "drop table execution_process_logs; alter table execution_processes drop column executor_action;
         alter table execution_processes rename column run_reason to process_type;
         alter table execution_processes add column stdout text; alter table execution_processes add column stderr text;
         update execution_processes set stdout = 'plain' || char(10), stderr = 'oh';
         alter table task_attempts add column merge_commit text;
         update task_attempts set merge_commit = 'abc', branch = null;",
    )
    .unwrap();
    drop(conn);
    let report = import(&older, Product::VibeKanban, &source).unwrap();
    assert_eq!(older.output(RUN.parse().unwrap()), "plain\noh");
    assert_eq!(thing(&report, "merges").added, 1);
}

#[test]
fn an_age_with_repositories_beside_projects_makes_a_project_of_each_pair() {
    let world = World::new();
    let source = old_source(&world.dir.path().join("repos"));
    let conn = Connection::open(&source).unwrap();
    conn.execute_batch(
        "alter table projects drop column git_repo_path;
         create table repos (id blob primary key, path text, name text, display_name text, setup_script text);
         insert into repos values (x'0a000000000000000000000000000001', '/gone/a', 'a', '__NEEDS_BACKFILL__', 'make'),
            (x'0a000000000000000000000000000002', '/gone/b', 'b', 'B', null),
            (x'0a000000000000000000000000000003', '/gone/c', 'c', '__NEEDS_BACKFILL__', '');
         create table project_repos (id blob, project_id blob, repo_id blob);
         insert into project_repos values
            (x'00', x'01000000000000000000000000000001', x'0a000000000000000000000000000001'),
            (x'01', x'01000000000000000000000000000001', x'0a000000000000000000000000000002');
         create table attempt_repos (id blob, attempt_id blob, repo_id blob, target_branch text);
         insert into attempt_repos values
            (x'00', x'03000000000000000000000000000001', x'0a000000000000000000000000000002', 'develop');
         update task_attempts set base_branch = null;",
    )
    .unwrap();
    drop(conn);
    let report = import(&world, Product::VibeKanban, &source).unwrap();
    assert_eq!(thing(&report, "projects").added, 3);
    assert_eq!(count(&world, "select count(*) from projects where name in ('P', 'P (B)', 'c')"), 3);
    assert_eq!(count(&world, "select count(*) from projects where name = 'P' and setup_script = 'make'"), 1);
    let attempt = world.attempt("03000000-0000-0000-0000-000000000001".parse().unwrap()).attempt;
    assert_eq!(attempt.project.to_string(), "0a000000-0000-0000-0000-000000000002");
    assert_eq!(attempt.target_branch, "develop");
}

#[test]
fn calls_without_a_task_come_over_as_what_they_are() {
    let world = World::new();
    let data = sample(&world, "af-0.7.4").join("home/.local/share/automagik-forge");
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    conn.execute_batch(
        "create table execution_runs (id blob primary key, project_id blob, branch text, target_branch text,
            executor text, variant text, prompt text, created_at text, updated_at text);
         insert into execution_runs select x'05000000000000000000000000000001', id, 'run/05000000', 'main', 'CLAUDE_CODE',
            'PLAN', 'Look around', '2026-11-15 20:43:00', '2026-11-15 20:43:00' from projects where name = 'Shop';
         alter table execution_processes add column execution_run_id blob;",
    )
    .unwrap();
    drop(conn);
    import(&world, Product::AutomagikForge, &data).unwrap();
    let loose = world.run(world.engine().loose_attempts(None)).unwrap();
    assert_eq!(loose.len(), 1);
    let attempt = &loose[0].attempt;
    assert_eq!(
        (attempt.prompt.as_str(), attempt.profile.to_string().as_str()),
        ("Look around", "CLAUDE_CODE:PLAN")
    );
}

#[test]
fn a_journal_that_a_kill_left_is_rolled_back_in_the_copy_alone() {
    let world = World::new();
    let dir = world.dir.path().join("hot");
    let source = old_source(&dir);
    // A writer in the middle of a transaction, its pages on the disk already: the files are what a kill would leave.
    let mut writer = Connection::open(&source).unwrap();
    writer.execute_batch("pragma cache_size = 1; pragma cache_spill = 1").unwrap();
    let tx = writer.transaction().unwrap();
    for number in 0..300 {
        let text = "x".repeat(4000);
        tx.execute(
            "insert into tasks (id, title, status) values (randomblob(16), ?1 || ?2, 'todo')",
            (number, text),
        )
        .unwrap();
    }
    tx.execute("update tasks set title = 'never was' where title = 'T'", []).unwrap();
    let killed = world.dir.path().join("killed");
    std::fs::create_dir(&killed).unwrap();
    for name in ["db.sqlite", "db.sqlite-journal"] {
        std::fs::copy(dir.join(name), killed.join(name)).unwrap();
    }
    drop(tx);
    let before = fingerprint(&killed);
    let report = import(&world, Product::VibeKanban, &killed).unwrap();
    assert_eq!(thing(&report, "tasks").found, 1);
    assert_eq!(count(&world, "select count(*) from tasks where title = 'T'"), 1);
    assert_eq!(fingerprint(&killed), before, "the source is as it was, and nothing lies beside it");
}

#[test]
fn what_is_only_in_a_write_ahead_log_comes_over_and_nothing_appears_beside_it() {
    let world = World::new();
    let dir = world.dir.path().join("wal");
    let source = old_source(&dir);
    let writer = Connection::open(&source).unwrap();
    writer
        .execute_batch(
            "pragma journal_mode = wal; pragma wal_autocheckpoint = 0;
             insert into tasks (id, project_id, title, status) values (x'02000000000000000000000000000002',
                x'01000000000000000000000000000001', 'Only in the log', 'done');",
        )
        .unwrap();
    let copied = world.dir.path().join("copied");
    std::fs::create_dir(&copied).unwrap();
    for name in ["db.sqlite", "db.sqlite-wal"] {
        std::fs::copy(dir.join(name), copied.join(name)).unwrap();
    }
    drop(writer);
    let before = fingerprint(&copied);
    import(&world, Product::VibeKanban, &copied).unwrap();
    assert_eq!(count(&world, "select count(*) from tasks where title = 'Only in the log'"), 1);
    assert_eq!(fingerprint(&copied), before);
    // One that was closed well has no log, and gets none from being read.
    let before = fingerprint(&dir);
    import(&world, Product::VibeKanban, &dir).unwrap();
    assert_eq!(fingerprint(&dir), before);
}

#[test]
fn a_server_that_writes_meanwhile_loses_nothing() {
    let world = World::new();
    let dir = world.dir.path().join("busy");
    let source = old_source(&dir);
    // Long enough that the copy is not made in one breath.
    let conn = Connection::open(&source).unwrap();
    conn.execute_batch(
        "create table filler (x text);
         with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000)
         insert into filler select hex(randomblob(2000)) from n;",
    )
    .unwrap();
    drop(conn);
    let (path, over) = (source.clone(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let stop = over.clone();
    let server = std::thread::spawn(move || {
        let conn = Connection::open(path).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        let mut written = 0_i64;
        while !stop.load(std::sync::atomic::Ordering::Relaxed) || written < 20 {
            let sql = "insert into tasks (id, project_id, title, status)
                values (randomblob(16), x'01000000000000000000000000000001', 'meanwhile', 'todo')";
            conn.execute(sql, []).unwrap();
            written += 1;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        written
    });
    for _ in 0..3 {
        import(&world, Product::VibeKanban, &source).unwrap();
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    let written = server.join().unwrap();
    let conn = Connection::open(&source).unwrap();
    let there: i64 =
        conn.query_row("select count(*) from tasks where title = 'meanwhile'", [], |row| row.get(0)).unwrap();
    assert_eq!(there, written);
    import(&world, Product::VibeKanban, &source).unwrap();
    assert_eq!(count(&world, "select count(*) from tasks where title = 'meanwhile'"), written);
}

#[test]
fn a_source_that_somebody_holds_locked_is_refused_with_a_sentence() {
    let world = World::new();
    let source = old_source(&world.dir.path().join("locked"));
    let holder = Connection::open(&source).unwrap();
    holder.execute_batch("pragma locking_mode = exclusive; begin exclusive;").unwrap();
    let error = import(&world, Product::VibeKanban, &source).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("stop the"), "{error}");
    assert_eq!(count(&world, "select count(*) from tasks"), 0);
    assert!(!world.home.join("import").exists());
}

#[test]
fn what_is_no_source_is_refused_with_a_sentence_that_names_it() {
    let world = World::new();
    let dir = world.dir.path().join("none");
    let whole = std::fs::read(old_source(&dir)).unwrap();
    let refused = |path: &Path, told: &str| {
        let error = import(&world, Product::VibeKanban, path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::NotFound), "{error}");
        assert!(error.to_string().contains(told), "{told}: {error}");
    };
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    refused(&file("text", b"hello ".repeat(50).as_slice()), "is no SQLite database");
    refused(&file("empty", b""), "empty or cut off");
    refused(&file("cut", &whole[..whole.len() / 2]), "cut");
    refused(&dir.join("nothing"), "is not there");
    let other = dir.join("other.sqlite");
    Connection::open(&other).unwrap().execute_batch("create table projects (id text)").unwrap();
    refused(&other, "not of a product that can be imported");
    std::fs::create_dir(dir.join("bare")).unwrap();
    refused(&dir.join("bare"), "there is no database");
    refused(Path::new("relative"), "absolute");
    let request = ImportRequest { product: Product::VibeKanban, path: None, images: None, dry_run: false };
    let error = world.run(world.engine().import(request)).unwrap_err();
    assert!(error.to_string().contains(".local/share/vibe-kanban"), "{error}");
    assert_eq!(count(&world, "select count(*) from imported"), 0);
}

#[test]
fn the_other_word_and_a_newer_schema_are_told_and_everything_comes_all_the_same() {
    let world = World::new();
    let data = sample(&world, "af-0.7.4").join("home/.local/share/automagik-forge");
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    conn.execute_batch(
        "insert into _sqlx_migrations select 30260101000000, 'later', installed_on, 0, checksum, 1
            from _sqlx_migrations limit 1;",
    )
    .unwrap();
    drop(conn);
    let report = import(&world, Product::VibeKanban, &data).unwrap();
    assert_eq!((report.product, thing(&report, "tasks").added), (Product::AutomagikForge, 17));
    let notes = report.notes.join("\n");
    for told in ["data of automagik-forge, not of vibe-kanban", "newer automagik-forge", "did not finish"] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
}

#[test]
fn rows_that_cannot_be_read_are_counted_and_the_rest_comes_over() {
    let world = World::new();
    let source = old_source(&world.dir.path().join("rows"));
    let conn = Connection::open(&source).unwrap();
    conn.execute_batch(
        "insert into tasks (id, project_id, title, status) values
            (x'00', x'01000000000000000000000000000001', 'one byte', 'todo'),
            (x'02000000000000000000000000000003', x'99000000000000000000000000000001', 'orphan', 'todo'),
            ('02000000-0000-0000-0000-000000000004', '01000000000000000000000000000001', cast(x'61ff62' as text), 'flying');
         insert into execution_processes (id, task_attempt_id, status) values
            (x'0700', x'03000000000000000000000000000001', 'completed');
         insert into execution_processes (id, task_attempt_id, status, executor_action) values
            (x'04000000000000000000000000000002', x'03000000000000000000000000000001', 'walking', 'no json');
         create table images (id blob primary key, file_path text, original_name text, hash text);
         insert into images values (x'08000000000000000000000000000001', '../../x', 'x.png', hex(randomblob(32))),
            (x'08000000000000000000000000000002', 'gone.png', 'gone.png', lower(hex(randomblob(32))));
         create table merges (id blob, task_attempt_id blob, merge_type text, merge_commit text);
         insert into merges values (x'09000000000000000000000000000001', x'99', 'direct', 'abc');",
    )
    .unwrap();
    drop(conn);
    let report = import(&world, Product::VibeKanban, &source).unwrap();
    let tasks = thing(&report, "tasks");
    assert_eq!((tasks.found, tasks.added, tasks.skipped), (4, 2, 2));
    assert_eq!(count(&world, "select count(*) from tasks where title = 'a\u{fffd}b' and status = 'todo'"), 1);
    assert_eq!((thing(&report, "runs").added, thing(&report, "runs").skipped), (2, 1));
    assert_eq!((thing(&report, "images").added, thing(&report, "images").skipped), (1, 1));
    assert_eq!(thing(&report, "merges").skipped, 1);
    let notes = report.notes.join("\n");
    for told in ["flying", "orphan", "leads elsewhere", "were not found"] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
}
