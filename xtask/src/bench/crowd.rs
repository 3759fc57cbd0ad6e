//! A hundred attempts at once, and how the API answers meanwhile.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Row, Size, Times, figure, milliseconds, run_of, start_task};
use crate::api::Api;
use crate::server::Server;
use crate::world::World;

const AGENTS: usize = 100;
/// How many clients read all the time.
const READERS: usize = 3;
const STARTS: usize = 40;
/// Between two starts.
const PAUSE: Duration = Duration::from_millis(50);
const LIMIT: Duration = Duration::from_millis(100);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 20)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let alone = gets(&api, &project, &start_task(&api, &project, "alone", "lines 5 100")?)?;
    let agents = size.of(AGENTS, 3);
    for number in 0..agents {
        start_task(&api, &project, &format!("agent {number}"), "lines 6000 100")?;
    }
    let over = AtomicBool::new(false);
    let (reads, starts) = std::thread::scope(|scope| {
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| read(world.port, &project, &over))).collect();
        let starts = start_some(&world, &api, &project, size.of(STARTS, 2));
        over.store(true, Ordering::SeqCst);
        let mut reads = Vec::new();
        for reader in readers {
            reads.extend(reader.join().unwrap_or_else(|_| anyhow::bail!("a reader broke off"))?);
        }
        anyhow::Ok((reads, starts?))
    })?;
    let (starts, floors) = starts;
    let live = api.list("/api/task-attempts")?.iter().filter(|one| one["state"] == "running").count();
    anyhow::ensure!(live >= agents, "only {live} attempts run");
    let (reads, alone) = (Times::sorted(reads), Times::sorted(alone));
    let (starts, floors) = (Times::sorted(starts), Times::sorted(floors));
    let (read, start, floor) = (reads.percentile(95), starts.percentile(95), floors.percentile(95));
    // A start holds a worktree add; where that alone is slow among so many processes, so is a start.
    let limit = LIMIT.max(floor * 2);
    Ok(vec![
        Row {
            what: "100 attempts at once, 3 clients that read, p95",
            measured: format!("{} ({} reads)", milliseconds(read), reads.0.len()),
            floor: format!("{} one attempt, one client", milliseconds(alone.percentile(95))),
            limit: milliseconds(LIMIT),
            figure: Some(figure(reads.percentile(50))),
            ok: read <= LIMIT,
        },
        Row {
            what: "100 attempts at once, create-and-start meanwhile, p95",
            measured: format!("{} (p50 {})", milliseconds(start), milliseconds(starts.percentile(50))),
            floor: format!(
                "{} (p50 {}) worktree add meanwhile",
                milliseconds(floor),
                milliseconds(floors.percentile(50))
            ),
            limit: format!("100 ms or twice the floor = {}", milliseconds(limit)),
            figure: Some(figure(starts.percentile(50))),
            ok: start <= limit,
        },
    ])
}

/// Starts tasks and adds worktrees in turns, and returns how long each took.
fn start_some(
    world: &World,
    api: &Api,
    project: &str,
    count: usize,
) -> anyhow::Result<(Vec<Duration>, Vec<Duration>)> {
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for number in 0..count {
        let begun = Instant::now();
        start_task(api, project, &format!("extra {number}"), "say hello")?;
        starts.push(begun.elapsed());
        std::thread::sleep(PAUSE);
        let (branch, path) = (format!("floor-{number}"), world.root().join(format!("floor-{number}")));
        let path = path.to_string_lossy().into_owned();
        let begun = Instant::now();
        world.git(&["worktree", "add", "--quiet", "-b", &branch, &path, "main"])?;
        floors.push(begun.elapsed());
        std::thread::sleep(PAUSE);
    }
    Ok((starts, floors))
}

/// Reads round and round until it is over, and returns how long each read took.
fn read(port: u16, project: &str, over: &AtomicBool) -> anyhow::Result<Vec<Duration>> {
    let api = Api::keeping(port);
    let mut times = Vec::new();
    let mut round = 0;
    while !over.load(Ordering::SeqCst) {
        let attempts = api.list("/api/task-attempts")?;
        let attempt = attempts[round % attempts.len()]["id"].as_str().unwrap_or_default().to_string();
        times.extend(gets(&api, project, &attempt)?);
        round += 1;
    }
    Ok(times)
}

/// Reads what a board reads, and returns how long each took.
fn gets(api: &Api, project: &str, attempt: &str) -> anyhow::Result<Vec<Duration>> {
    let run = run_of(api, attempt)?;
    let paths = [
        "/api/projects".to_string(),
        format!("/api/tasks?project_id={project}"),
        "/api/task-attempts".to_string(),
        format!("/api/task-attempts/{attempt}"),
        format!("/api/execution-processes?task_attempt_id={attempt}"),
        format!("/api/execution-processes/{run}"),
        "/api/approvals/pending".to_string(),
    ];
    let mut times = Vec::new();
    for path in paths {
        let begun = Instant::now();
        api.read(&path)?;
        times.push(begun.elapsed());
    }
    Ok(times)
}
