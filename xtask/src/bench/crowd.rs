//! A hundred attempts at once, and how the API answers meanwhile.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Row, Times, milliseconds, run_of, start_task};
use crate::api::Api;
use crate::server::Server;
use crate::world::World;

const AGENTS: usize = 100;
const CLIENTS: usize = 4;
/// How often each client goes round the calls that are measured.
const ROUNDS: usize = 40;
const LIMIT: Duration = Duration::from_millis(100);

pub(super) fn measure(forge: &Path) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 20)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let empty = gets(&api, &project, &start_task(&api, &project, "alone", "lines 5 100")?)?;
    for number in 0..AGENTS {
        start_task(&api, &project, &format!("agent {number}"), "lines 6000 100")?;
    }
    let answered = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn({
                    let (port, project) = (world.port, project.as_str());
                    move || call(port, project, client)
                })
            })
            .collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined
            .map(|times| times.unwrap_or_else(|_| anyhow::bail!("a client broke off")))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let (mut reads, mut starts) = (Vec::new(), Vec::new());
    for (some_reads, some_starts) in answered {
        reads.extend(some_reads);
        starts.extend(some_starts);
    }
    let live = api.list("/api/task-attempts")?.iter().filter(|one| one["state"] == "running").count();
    anyhow::ensure!(live >= AGENTS, "only {live} attempts run");
    let all = Times::sorted(reads.iter().chain(&starts).copied().collect());
    let (reads, starts) = (Times::sorted(reads), Times::sorted(starts));
    let p95 = all.percentile(95);
    Ok(vec![Row {
        what: "100 attempts at once, API p95",
        measured: format!(
            "{} (reads {}, starts {})",
            milliseconds(p95),
            milliseconds(reads.percentile(95)),
            milliseconds(starts.percentile(95))
        ),
        floor: format!("{} reads, one attempt", milliseconds(Times::sorted(empty).percentile(95))),
        limit: milliseconds(LIMIT),
        ok: p95 <= LIMIT,
    }])
}

/// Goes round the calls again and again; one in ten rounds starts something too.
fn call(port: u16, project: &str, client: usize) -> anyhow::Result<(Vec<Duration>, Vec<Duration>)> {
    let api = Api::keeping(port);
    let (mut reads, mut starts) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let attempts = api.list("/api/task-attempts")?;
        let attempt = attempts[round % attempts.len()]["id"].as_str().unwrap_or_default().to_string();
        reads.extend(gets(&api, project, &attempt)?);
        if round % 10 == client {
            let begun = Instant::now();
            start_task(&api, project, &format!("extra {client} {round}"), "say hello")?;
            starts.push(begun.elapsed());
        }
    }
    Ok((reads, starts))
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
