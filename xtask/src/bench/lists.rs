//! Long lists: how soon they are there, while nothing else happens and while many agents write.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use rusqlite::{Connection, OpenFlags};

use super::{Row, Size, Times, figure, history, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const TASKS: u32 = 10_000;
const ATTEMPTS: u32 = 1_000;
const AGENTS: usize = 50;
/// How often each list is read.
const READS: usize = 60;
const IDLE: Duration = Duration::from_millis(50);
const BUSY: Duration = Duration::from_millis(100);

/// What was measured of one list.
struct List {
    times: Times,
    /// Reading the same rows from the file, without anything that follows from others.
    floor: Times,
    bytes: usize,
}

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::new(world.port);
    let project = world.project(&api)?;
    // A task says what is wanted in a few sentences.
    let wish = format!("say {}", "This is one sentence of what is wanted. ".repeat(6).trim_end());
    let attempt = start_task(&api, &project, "Something that is wanted in this project", &wish)?;
    until_finished(&api, &attempt, SOON)?;
    server.kill()?;
    let (many, some, agents) = (size.of(TASKS, 60), size.of(ATTEMPTS, 40), size.of(AGENTS, 2));
    history::multiply(&world.home(), many, some)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let idle = [tasks(&world, &api, &project, many)?, attempts(&world, &api, some)?];
    let (map_idle, map_bytes) = first_frame(world.port, &project)?;
    for number in 0..agents {
        start_task(&api, &project, &format!("agent {number}"), "lines 6000 100")?;
    }
    let busy = [tasks(&world, &api, &project, many)?, attempts(&world, &api, some)?];
    let (map_busy, _) = first_frame(world.port, &project)?;
    let live = api.list("/api/task-attempts")?.iter().filter(|one| one["state"] == "running").count();
    anyhow::ensure!(live >= agents, "only {live} attempts run");
    let [idle_tasks, idle_attempts] = idle;
    let [busy_tasks, busy_attempts] = busy;
    Ok(vec![
        row("10,000 tasks of a project, idle, p95", &idle_tasks, IDLE),
        row("1,000 attempts, idle, p95", &idle_attempts, IDLE),
        row("10,000 tasks of a project, 50 agents write, p95", &busy_tasks, BUSY),
        row("1,000 attempts, 50 agents write, p95", &busy_attempts, BUSY),
        Row {
            what: "first frame of the map of 10,000 tasks, idle / 50 agents write, p50",
            measured: format!(
                "{} / {} ({} KB)",
                milliseconds(map_idle.percentile(50)),
                milliseconds(map_busy.percentile(50)),
                map_bytes / 1024
            ),
            floor: "-".to_string(),
            limit: "-".to_string(),
            figure: Some(figure(map_idle.percentile(50))),
            ok: true,
        },
    ])
}

fn row(what: &'static str, list: &List, limit: Duration) -> Row {
    let time = list.times.percentile(95);
    Row {
        what,
        measured: format!(
            "{} (p50 {}, {} KB)",
            milliseconds(time),
            milliseconds(list.times.percentile(50)),
            list.bytes / 1024
        ),
        floor: format!("{} the rows alone from the file", milliseconds(list.floor.percentile(95))),
        limit: milliseconds(limit),
        figure: Some(figure(list.times.percentile(50))),
        ok: time <= limit,
    }
}

fn tasks(world: &World, api: &Api, project: &str, least: u32) -> anyhow::Result<List> {
    let found = api.list(&format!("/api/tasks?project_id={project}"))?.len();
    anyhow::ensure!(found > least as usize, "only {found} tasks are there");
    list(
        world,
        api,
        &format!("/api/tasks?project_id={project}"),
        "select * from tasks order by created_at desc",
    )
}

fn attempts(world: &World, api: &Api, least: u32) -> anyhow::Result<List> {
    let found = api.list("/api/task-attempts")?.len();
    anyhow::ensure!(found > least as usize, "only {found} attempts are there");
    list(world, api, "/api/task-attempts", "select * from attempts order by created_at desc")
}

/// Reads a list over one connection, and its rows from the file, in turns.
fn list(world: &World, api: &Api, path: &str, sql: &str) -> anyhow::Result<List> {
    let file = world.home().join("forge.db");
    let database = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .with_context(|| format!("could not open {}", file.display()))?;
    let (mut times, mut floors, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..READS {
        let begun = Instant::now();
        bytes = api.size(path)?;
        times.push(begun.elapsed());
        let begun = Instant::now();
        read_rows(&database, sql)?;
        floors.push(begun.elapsed());
    }
    Ok(List { times: Times::sorted(times), floor: Times::sorted(floors), bytes })
}

/// Reads every column of every row, and returns how many there were.
fn read_rows(database: &Connection, sql: &str) -> anyhow::Result<usize> {
    let mut statement = database.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let _: rusqlite::types::Value = row.get(column)?;
            seen += 1;
        }
    }
    Ok(seen)
}

/// Opens the map of a project's tasks a few times; returns how soon all of it was there, and its bytes.
fn first_frame(port: u16, project: &str) -> anyhow::Result<(Times, usize)> {
    let (mut times, mut bytes) = (Vec::new(), 0);
    for _ in 0..10 {
        let begun = Instant::now();
        let stream = std::net::TcpStream::connect(("127.0.0.1", port)).context("could not connect")?;
        stream.set_read_timeout(Some(SOON))?;
        let url = format!("ws://127.0.0.1:{port}/api/tasks/stream/ws?project_id={project}");
        let opened = tungstenite::client(&url, stream);
        let (mut socket, _) = opened.map_err(|error| anyhow::anyhow!("could not open {url}: {error}"))?;
        bytes = socket.read().context("the map did not come")?.len();
        times.push(begun.elapsed());
    }
    Ok((Times::sorted(times), bytes))
}
