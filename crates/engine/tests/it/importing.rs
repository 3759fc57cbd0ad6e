//! Moving in with real data of other products: what came must be exactly what their sample says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use forge_engine::{
    ChunkStream, EntriesFrom, FollowUp, ImportCount, ImportReport, ImportRequest, Product, Result,
};
use forge_model::{AttemptId, AttemptState, ProjectId, RunId, TaskStatus};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::world::{World, git};

/// Unpacks a sample and returns its directory.
pub(crate) fn sample(world: &World, name: &str) -> PathBuf {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/import").join(format!("{name}.tar.gz"));
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(world.dir.path()).status();
    assert!(unpacked.unwrap().success());
    world.dir.path().join(name)
}

pub(crate) fn import(world: &World, product: Product, path: &Path) -> Result<ImportReport> {
    let request = ImportRequest { product, path: Some(path.into()), images: None, dry_run: false };
    world.run(world.engine().import(request))
}

/// Asks the database of the world a question that has one number for an answer.
pub(crate) fn count(world: &World, sql: &str) -> i64 {
    database(world).query_row(sql, [], |row| row.get(0)).unwrap()
}

pub(crate) fn database(world: &World) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(world.home.join("forge.db"), flags).unwrap()
}

fn texts(world: &World, sql: &str) -> Vec<String> {
    let conn = database(world);
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(|text| text.unwrap()).collect()
}

fn counted(world: &World, sql: &str) -> BTreeMap<String, i64> {
    let conn = database(world);
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

pub(crate) fn thing(report: &ImportReport, kind: &str) -> ImportCount {
    report.things.iter().copied().find(|count| count.kind == kind).unwrap_or_default()
}

fn expected(sample: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(sample.join("expected.json")).unwrap()).unwrap()
}

/// Everything that an import writes and that a second one must leave as it is.
fn everything(world: &World) -> String {
    let conn = database(world);
    let tables =
        ["projects", "tasks", "attempts", "runs", "drafts", "images", "task_images", "tags", "merges"];
    let tables = tables.iter().chain(&["standing_agents", "imported", "events"]);
    let mut hash = Sha256::new();
    for table in tables {
        let mut statement = conn.prepare(&format!("select * from {table} order by 1, 2, 3")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                hash.update(format!("{:?}|", row.get_ref(column).unwrap()));
            }
        }
    }
    for run in texts(world, "select id from runs order by id") {
        let dir = world.home.join("runs").join(run);
        for file in ["log-00000000000000000000.flog", "exit.json"] {
            hash.update(std::fs::read(dir.join(file)).unwrap_or_default());
        }
    }
    hash.update(std::fs::read(world.home.join("config.json")).unwrap_or_default());
    hash.update(std::fs::read(world.home.join("profiles.json")).unwrap_or_default());
    format!("{:x}", hash.finalize())
}

/// Of every file below a directory, its name, length, time and bytes.
pub(crate) fn fingerprint(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            all.extend(fingerprint(&entry));
        } else {
            let modified = std::fs::metadata(&entry).unwrap().modified().unwrap();
            let bytes = Sha256::digest(std::fs::read(&entry).unwrap());
            all.insert(entry, format!("{modified:?} {bytes:x}"));
        }
    }
    all
}

/// The standard output of a run and the length of its other output, as people read them.
fn output(world: &World, run: RunId) -> (String, usize) {
    world.run(async {
        let mut tail = world.engine().log_so_far(run, 0).await.unwrap();
        let (mut out, mut err) = (String::new(), 0);
        while let Some(batch) = tail.next().await.unwrap() {
            for chunk in batch.chunks {
                match chunk.stream {
                    ChunkStream::Stdout => out.push_str(&chunk.text),
                    ChunkStream::Stderr => err += chunk.text.len(),
                }
            }
        }
        (out, err)
    })
}

fn agrees(world: &World, wanted: &Value) {
    let counts = &wanted["counts"];
    let logs = wanted["run_logs"].as_object().unwrap();
    for (run, log) in logs {
        let (out, err) = output(world, run.parse().unwrap());
        assert_eq!(format!("{:x}", Sha256::digest(&out)), log["stdout_sha256"].as_str().unwrap(), "{run}");
        assert_eq!(out.lines().count() as u64, log["stdout_lines"].as_u64().unwrap(), "{run}");
        assert_eq!(err as u64, log["stderr_bytes"].as_u64().unwrap(), "{run}");
    }
    assert_eq!(logs.len() as u64, counts["runs_with_logs"].as_u64().unwrap());
    let reasons = counted(
        world,
        "select case kind when 'setup' then 'setupscript' when 'cleanup' then 'cleanupscript'
            when 'dev_server' then 'devserver' else 'codingagent' end, count(*) from runs group by kind",
    );
    let mut wanted_reasons = numbers(&counts["runs_by_reason"]);
    if let Some(archived) = wanted_reasons.remove("archivescript") {
        *wanted_reasons.entry("cleanupscript".into()).or_default() += archived;
    }
    assert_eq!(reasons, wanted_reasons);
    let mut wanted_states = numbers(&counts["runs_by_status"]);
    let running = wanted_states.remove("running").unwrap_or(0);
    *wanted_states.entry("failed".into()).or_default() += running;
    assert_eq!(counted(world, "select state, count(*) from runs group by state"), wanted_states);
    assert_eq!(count(world, "select count(*) from runs where reason like '%was running%'"), running);
    for (sql, key) in [
        ("select count(*) from runs", "runs"),
        ("select count(*) from runs where dropped = 1", "runs_dropped"),
        ("select count(*) from attempts where task_id is not null", "attempts"),
        ("select count(*) from tasks where parent_attempt_id is not null", "child_tasks"),
        ("select count(*) from images", "images"),
        ("select count(*) from merges where kind = 'direct'", "merges_direct"),
        ("select count(*) from standing_agents", "forge_agents"),
    ] {
        assert_eq!(count(world, sql), counts[key].as_i64().unwrap(), "{key}");
    }
    for attempt in wanted["attempts"].as_array().unwrap() {
        let view = world.attempt(attempt["id"].as_str().unwrap().parse().unwrap());
        assert_eq!(view.attempt.branch, attempt["branch"].as_str().unwrap());
        assert_ne!(view.attempt.worktree.to_str().unwrap(), attempt["worktree"].as_str().unwrap());
        assert!(matches!(
            view.attempt.state,
            AttemptState::Finished | AttemptState::Failed | AttemptState::Stopped
        ));
    }
    for image in wanted["images"].as_array().unwrap() {
        let hash = image["sha256"].as_str().unwrap();
        let id = texts(world, &format!("select id from images where hash = '{hash}'"));
        let (_, bytes) = world.run(world.engine().image(id[0].parse().unwrap())).unwrap();
        assert_eq!(format!("{:x}", Sha256::digest(&bytes)), hash);
    }
    let names: Vec<String> = wanted["projects"].as_array().unwrap().iter().map(text).collect();
    let found = texts(world, "select name from projects where name <> 'demo' order by name");
    assert_eq!(found, names);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}

fn numbers(value: &Value) -> BTreeMap<String, i64> {
    value.as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.as_i64().unwrap())).collect()
}

#[test]
fn automagik_forge_0_7_4_comes_over_exactly_as_its_sample_says_and_twice_changes_nothing() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    let (wanted, before) = (expected(&sample), fingerprint(&sample));
    let report = import(&world, Product::AutomagikForge, &sample.join("home")).unwrap();
    assert_eq!((report.product, report.migrations), (Product::AutomagikForge, 52));
    agrees(&world, &wanted);
    let statuses = counted(&world, "select status, count(*) from tasks group by status");
    assert_eq!(statuses, numbers(&wanted["counts"]["tasks_by_status"]));
    let titles: Vec<String> = wanted["task_titles"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(texts(&world, "select title from tasks order by title"), titles);
    assert_eq!(count(&world, "select count(*) from merges where kind = 'pr'"), 1);
    assert_eq!(count(&world, "select count(*) from task_images"), 3);
    assert_eq!(count(&world, "select count(*) from attempts where session is not null"), 8);
    let drafts = texts(&world, "select prompt from drafts where queue_id is null order by prompt");
    assert_eq!(drafts, ["queued next", "retry text", "unsent thought"]);
    assert_eq!(count(&world, "select count(*) from queue"), 0);
    let tags = texts(&world, "select name from tags order by name");
    assert!(["my_tag", "bug_analysis", "bug_analysis_2"].iter().all(|tag| tags.contains(&tag.to_string())));
    assert_eq!(thing(&report, "tags").found, 4);
    assert_eq!(report.logs.written, 18);
    let config = world.run(world.engine().config()).unwrap();
    assert_eq!((&config["theme"], &config["github"]["username"]), (&"DARK".into(), &"octo".into()));
    assert_eq!(config["workspace_dir"], Value::Null);
    let notes = report.notes.join("\n");
    for told in ["under way", "waited to be sent", "not there", "workspace_dir"] {
        assert!(notes.contains(told), "{told}: {notes}");
    }

    let settled = everything(&world);
    let again = import(&world, Product::AutomagikForge, &sample.join("home")).unwrap();
    for count in &again.things {
        assert_eq!((count.added, count.updated, count.kept), (0, 0, 0), "{count:?}");
    }
    assert_eq!(again.logs.written, 0);
    assert_eq!(everything(&world), settled);
    assert_eq!(fingerprint(&sample), before, "the source is as it was");
    assert!(!world.home.join("import").exists());
}

#[test]
fn vibe_kanban_0_1_44_comes_over_from_its_newer_database_with_logs_from_files() {
    let world = World::new();
    let sample = sample(&world, "vk-0.1.44");
    let (wanted, before) = (expected(&sample), fingerprint(&sample));
    let report = import(&world, Product::VibeKanban, &sample.join("home")).unwrap();
    assert!(report.database.ends_with("db.v2.sqlite"));
    assert_eq!(report.migrations, 76);
    agrees(&world, &wanted);
    let mapped = &wanted["if_mapped_as_in_import_md"];
    assert_eq!(count(&world, "select count(*) from tasks"), mapped["tasks"].as_i64().unwrap());
    assert_eq!(count(&world, "select count(*) from drafts"), mapped["drafts"].as_i64().unwrap());
    // The damaged log: two records make one line, and three faults are counted.
    assert_eq!((report.logs.bad_lines, report.logs.other_records), (2, 1));
    assert_eq!(count(&world, "select count(*) from merges where kind = 'pr'"), 1);
    let made = "0a0a0a0a-0000-4000-8000-000000000001";
    let task = world.run(world.engine().task(made.parse().unwrap())).unwrap().task;
    assert!(task.description.unwrap().contains("remember this"));
    assert_eq!(
        texts(&world, "select prompt || kind || variant from drafts"),
        ["unsent follow-upfollow_upPLAN"]
    );
    let profiles = std::fs::read_to_string(world.home.join("profiles.json")).unwrap();
    assert!(profiles.contains("MY_VARIANT") && profiles.contains("changed default"), "{profiles}");
    let (config, notes) =
        (std::fs::read_to_string(world.home.join("config.json")).unwrap(), report.notes.join("\n"));
    assert!(!config.contains("FAKE-PAT") && !notes.contains("FAKE-PAT"));
    for told in ["token", "several repositories", "several sessions", "no attempt belongs to them"] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    let settled = everything(&world);
    let again = import(&world, Product::VibeKanban, &sample.join("home")).unwrap();
    assert!(
        again.things.iter().all(|count| count.added + count.updated + count.kept == 0),
        "{:?}",
        again.things
    );
    assert_eq!(everything(&world), settled);
    assert_eq!(fingerprint(&sample), before, "the source is as it was");
}

#[test]
fn vibe_kanban_0_0_71_comes_over_with_its_templates_as_tags() {
    let world = World::new();
    let database = sample(&world, "vk-0.1.44").join("home/.local/share/vibe-kanban/db.sqlite");
    let report = import(&world, Product::VibeKanban, &database).unwrap();
    assert_eq!((report.migrations, report.newest_migration), (36, 20_250_819_000_000));
    let found = ["projects", "tasks", "attempts", "runs", "tags"].map(|kind| thing(&report, kind).added);
    assert_eq!(found, [2, 15, 9, 17, 5]);
    let content = texts(&world, "select content from tags where name = 'proj_template'");
    assert_eq!(content, ["Proj T"]);
    assert_eq!(
        count(&world, "select count(*) from attempts where agent = 'CLAUDE_CODE' and target_branch = 'main'"),
        9
    );
    // Its conversation is made of its log as if it had run here.
    let run = texts(&world, "select id from runs where kind = 'agent' and state = 'completed' order by id");
    let entries = world.run(async {
        let mut tail =
            world.engine().entries_so_far(run[0].parse().unwrap(), EntriesFrom::Index(0)).await.unwrap();
        let mut all = 0;
        while let Some(batch) = tail.next().await.unwrap() {
            all += batch.entries.len();
        }
        all
    });
    assert!(entries > 1, "{entries}");
}

/// Makes the repositories of a sample, and lets its rows lead to them.
fn with_repositories(world: &World, sample: &Path) -> PathBuf {
    let shop = world.dir.path().join("shop");
    git(world.dir.path(), &["clone", "--quiet", sample.join("repos/shop.bundle").to_str().unwrap(), "shop"]);
    for branch in git(&shop, &["for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin"]).lines()
    {
        if branch != "HEAD" && branch != "main" && branch != "master" {
            git(&shop, &["branch", "--quiet", branch, &format!("origin/{branch}")]);
        }
    }
    git(&shop, &["config", "user.name", "Ada"]);
    git(&shop, &["config", "user.email", "ada@example.org"]);
    let data = sample.join("home/.local/share/automagik-forge");
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    conn.execute("update projects set git_repo_path = ?1 where name = 'Shop'", [shop.to_str().unwrap()])
        .unwrap();
    shop
}

#[test]
fn an_imported_attempt_goes_on_in_a_worktree_of_ours_and_removing_it_touches_nothing_of_theirs() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    let shop = with_repositories(&world, &sample);
    // Their worktree of the attempt is still there.
    let theirs = world.dir.path().join("theirs");
    let id: AttemptId = "ce390482-1c53-44bb-97ba-22d07649a372".parse().unwrap();
    let branch = "forge/ce39-attempt-fails";
    let conn = Connection::open(sample.join("home/.local/share/automagik-forge/db.sqlite")).unwrap();
    conn.execute(
        "update task_attempts set executor = 'SCRIPTED', container_ref = ?1",
        [theirs.to_str().unwrap()],
    )
    .unwrap();
    drop(conn);
    import(&world, Product::AutomagikForge, &sample.join("home")).unwrap();
    let task = world.attempt(id).attempt.task.unwrap();
    git(&shop, &["worktree", "add", "--quiet", theirs.to_str().unwrap(), branch]);
    let follow = |text: &str| FollowUp::new(text);
    let refused = world.run(world.engine().follow_up(id, follow("say hi"), None)).unwrap_err();
    assert!(refused.to_string().contains("ce39-attempt-fails"), "{refused}");
    git(&shop, &["worktree", "remove", theirs.to_str().unwrap()]);
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("note"), "theirs").unwrap();
    world.run(world.engine().follow_up(id, follow("say hi"), None)).unwrap();
    let view = world.wait_for(id, AttemptState::Finished);
    assert!(
        view.attempt.worktree.starts_with(world.home.join("worktrees")) && view.attempt.worktree.is_dir()
    );
    world.run(world.engine().delete_task(task)).unwrap();
    assert_eq!(std::fs::read_to_string(theirs.join("note")).unwrap(), "theirs");
    assert!(git(&shop, &["branch", "--list", branch]).contains("ce39"), "branches stay");
    // Removed here, it stays removed.
    let again = import(&world, Product::AutomagikForge, &sample.join("home")).unwrap();
    assert_eq!((thing(&again, "tasks").removed_here, thing(&again, "tasks").added), (1, 0));
    assert!(world.run(world.engine().task(task)).is_err());
}

#[test]
fn an_attempt_on_its_own_target_is_not_gone_on_with() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    with_repositories(&world, &sample);
    let conn = Connection::open(sample.join("home/.local/share/automagik-forge/db.sqlite")).unwrap();
    conn.execute("update task_attempts set branch = 'main', executor = 'SCRIPTED'", []).unwrap();
    drop(conn);
    import(&world, Product::AutomagikForge, &sample.join("home")).unwrap();
    let id: AttemptId = "ce390482-1c53-44bb-97ba-22d07649a372".parse().unwrap();
    let follow = FollowUp::new("say hi");
    let refused = world.run(world.engine().follow_up(id, follow, None)).unwrap_err();
    assert!(refused.to_string().contains("main"), "{refused}");
    assert!(!world.attempt(id).attempt.worktree.exists());
}

#[test]
fn what_was_edited_here_stays_and_the_rest_follows_its_source() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    let data = sample.join("home/.local/share/automagik-forge");
    import(&world, Product::AutomagikForge, &data).unwrap();
    let named = |title: &str| {
        let ids = texts(&world, &format!("select id from tasks where title = '{title}'"));
        ids[0].parse::<forge_model::TaskId>().unwrap()
    };
    let (edited, untouched) = (named("Task todo"), named("Task done"));
    let change = forge_engine::TaskChange { title: Some("Mine now".into()), ..Default::default() };
    world.run(world.engine().update_task(edited, change)).unwrap();
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    conn.execute_batch(
        "update tasks set title = 'Theirs', description = 'new text' where title = 'Task todo';
         update tasks set title = 'Renamed there', status = 'cancelled' where title = 'Task done';
         update execution_processes set status = 'completed', exit_code = 0,
            completed_at = '2026-11-15 21:00:00' where status = 'running';
         update execution_process_logs set logs = logs || char(10) || '{\"Stdout\":\"the rest\\n\"}'
            where execution_id in (select id from execution_processes where completed_at = '2026-11-15 21:00:00');",
    )
    .unwrap();
    let run = conn
        .query_row(
            "select lower(hex(id)) from execution_processes where completed_at = '2026-11-15 21:00:00'",
            [],
            |row| row.get::<_, String>(0),
        )
        .unwrap();
    drop(conn);
    let report = import(&world, Product::AutomagikForge, &data).unwrap();
    let task = |id| world.run(world.engine().task(id)).unwrap().task;
    assert_eq!(task(edited).title, "Mine now");
    assert_eq!(task(edited).description.as_deref(), Some("new text"), "only the field that was edited stays");
    assert_eq!(
        (task(untouched).title.as_str(), task(untouched).status),
        ("Renamed there", TaskStatus::Cancelled)
    );
    let tasks = thing(&report, "tasks");
    assert_eq!((tasks.kept, tasks.updated, tasks.added), (1, 1, 0));
    assert!(
        report.notes.iter().any(|note| note.contains("the title") && note.contains("Theirs")),
        "{:?}",
        report.notes
    );
    // A run that was under way is over there by now, and its log grew.
    assert_eq!((thing(&report, "runs").updated, report.logs.written), (1, 1));
    let id: RunId = run.parse().unwrap();
    assert!(output(&world, id).0.ends_with("the rest\n"));
    let again = import(&world, Product::AutomagikForge, &data).unwrap();
    assert_eq!((thing(&again, "tasks").kept, thing(&again, "runs").updated, again.logs.written), (1, 0, 0));
}

#[test]
fn a_dry_run_counts_everything_and_writes_nothing() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    let before = everything(&world);
    let request = ImportRequest {
        product: Product::AutomagikForge,
        path: Some(sample.join("home")),
        images: None,
        dry_run: true,
    };
    let report = world.run(world.engine().import(request)).unwrap();
    assert_eq!(
        ["tasks", "attempts", "runs", "drafts"].map(|kind| thing(&report, kind).added),
        [17, 8, 18, 3]
    );
    assert_eq!(everything(&world), before);
    assert_eq!(std::fs::read_dir(world.home.join("runs")).unwrap().count(), 0);
}

#[test]
fn a_repository_that_is_here_already_keeps_its_project_and_gets_their_tasks() {
    let world = World::new();
    let sample = sample(&world, "af-0.7.4");
    let data = sample.join("home/.local/share/automagik-forge");
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    let path = format!("{}/", world.repository.display());
    conn.execute("update projects set git_repo_path = ?1 where name = 'Shop'", [path]).unwrap();
    drop(conn);
    let report = import(&world, Product::AutomagikForge, &data).unwrap();
    assert_eq!(count(&world, "select count(*) from projects"), 2);
    let here: ProjectId = world.project;
    assert!(count(&world, &format!("select count(*) from tasks where project_id = '{here}'")) > 10);
    assert_eq!(world.run(world.engine().project(here)).unwrap().name, "demo");
    assert!(report.notes.iter().any(|note| note.contains("here already")), "{:?}", report.notes);
}
