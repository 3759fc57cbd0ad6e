//! How long moving in takes with much history, and how much memory one very long log.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use rusqlite::Connection;
use serde_json::json;

use super::memory::{megabytes, peak};
use super::{Row, Size, figure, milliseconds};
use crate::api::Api;
use crate::server::Server;
use crate::world::World;

const TASKS: u32 = 5_000;
/// A log of each task, and one long one: 500 MB together.
const EACH: usize = 80_000;
const LONG: usize = 100 << 20;
const LIMIT: Duration = Duration::from_secs(60);
const MEMORY: u64 = 60 << 20;

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let path = world.root().join("foreign.sqlite");
    let (tasks, long) = (size.of(TASKS, 20), size.of(LONG, 1 << 20));
    let bytes = make(&path, tasks, long)?;
    // What a plain copy of as much takes.
    let begun = Instant::now();
    std::fs::copy(&path, world.root().join("copy")).context("could not copy")?;
    let floor = begun.elapsed();
    let server = Server::start_healthy(&world)?;
    let (api, idle) = (Api::new(world.port), peak(server.pid())?);
    let body = json!({"source": "vibe-kanban", "path": path});
    let mut times = Vec::new();
    for _ in 0..2 {
        let begun = Instant::now();
        let answer = api.post("/api/import", &body, None).map_err(|away| anyhow::anyhow!("{away:?}"))?;
        let report = answer.data()?;
        let found = report["things"].as_array().into_iter().flatten().find(|thing| thing["kind"] == "tasks");
        let found = found.and_then(|thing| thing["found"].as_u64()).unwrap_or(0);
        anyhow::ensure!(found == u64::from(tasks), "{found} tasks came over: {report}");
        times.push(begun.elapsed());
    }
    let most = peak(server.pid())?;
    Ok(vec![
        Row {
            what: "import, 5,000 tasks and 500 MB of logs",
            measured: format!(
                "{} ({} MB; again {})",
                milliseconds(times[0]),
                bytes >> 20,
                milliseconds(times[1])
            ),
            floor: format!("{} to copy the file", milliseconds(floor)),
            limit: milliseconds(LIMIT),
            figure: Some(figure(times[0])),
            ok: times[0] <= LIMIT,
        },
        Row {
            what: "peak memory of it, 100 MB of logs in one row",
            measured: format!("{} MB", most >> 20),
            floor: format!("{} MB idle", idle >> 20),
            limit: format!("{} MB", MEMORY >> 20),
            figure: Some(megabytes(most)),
            ok: most <= MEMORY,
        },
    ])
}

/// Makes a database as another product would have it, and returns how much of it is logs.
fn make(path: &Path, tasks: u32, longest: usize) -> anyhow::Result<usize> {
    let mut conn = Connection::open(path)?;
    conn.execute_batch(
        "pragma synchronous = off;
         create table _sqlx_migrations (version bigint primary key, description text, success boolean);
         insert into _sqlx_migrations values (20251020120000, 'x', 1);
         create table projects (id blob primary key, name text, git_repo_path text, created_at text);
         create table tasks (id blob primary key, project_id blob, title text, description text, status text,
            created_at text);
         create table task_attempts (id blob primary key, task_id blob, executor text, branch text, target_branch text,
            created_at text);
         create table execution_processes (id blob primary key, task_attempt_id blob, run_reason text,
            executor_action text, status text, exit_code int, started_at text, completed_at text, created_at text);
         create table execution_process_logs (execution_id blob primary key, logs text, byte_size int,
            inserted_at text);
         insert into projects values (randomblob(16), 'much', '/gone/much', '2026-01-01 10:00:00');",
    )?;
    let line = format!("{{\"Stdout\":\"{}\\n\"}}\n", "what an agent says, line by line. ".repeat(29));
    let short = line.repeat(EACH / line.len());
    let mut bytes = 0;
    let tx = conn.transaction()?;
    for number in 0..tasks {
        let id = |kind: u8| {
            let mut id = [kind; 16];
            id[..4].copy_from_slice(&number.to_be_bytes());
            id
        };
        let (task, attempt, run) = (id(1), id(2), id(3));
        let at = "2026-01-01T10:00:00.123456789+00:00";
        tx.execute(
            "insert into tasks select ?1, id, ?2, 'what is wanted', 'inreview', ?3 from projects",
            (&task, format!("Task {number}"), at),
        )?;
        tx.execute(
            "insert into task_attempts values (?1, ?2, 'CLAUDE_CODE', ?3, 'main', ?4)",
            (&attempt, &task, format!("vk/{number}"), at),
        )?;
        let action = r#"{"typ":{"type":"CodingAgentInitialRequest","prompt":"what is wanted",
            "executor_profile_id":{"executor":"CLAUDE_CODE"}},"next_action":null}"#;
        tx.execute(
            "insert into execution_processes values (?1, ?2, 'codingagent', ?3, 'completed', 0, ?4, ?4, ?4)",
            (&run, &attempt, action, at),
        )?;
        let long;
        let log = if number == 0 {
            long = line.repeat(longest / line.len());
            &long
        } else {
            &short
        };
        bytes += log.len();
        tx.execute(
            "insert into execution_process_logs values (?1, ?2, ?3, ?4)",
            (&run, log, log.len() as i64, at),
        )?;
    }
    tx.commit()?;
    Ok(bytes)
}
