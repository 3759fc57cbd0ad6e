//! A command against a running server: what it costs beyond the request that it makes.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

/// How often the command runs; the first few warm the disk's cache and do not count.
const RUNS: usize = 60;
const WARM: usize = 5;
const ATTEMPTS: usize = 20;
const LIMIT: Duration = Duration::from_millis(15);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    for number in 0..size.of(ATTEMPTS, 2) {
        let attempt = start_task(&api, &project, &format!("task {number}"), "say hello")?;
        until_finished(&api, &attempt, SOON)?;
    }
    let (mut whole, mut request) = (Vec::new(), Vec::new());
    for run in 0..size.of(RUNS, 2) + WARM {
        let begun = Instant::now();
        let mut command = world.command(&world.forge);
        let status = command.arg("list").stdin(Stdio::null()).stdout(Stdio::null()).status();
        let status = status.context("could not run forge list")?;
        let took = begun.elapsed();
        anyhow::ensure!(status.success(), "forge list ended with {status}");
        let begun = Instant::now();
        api.read("/api/task-attempts")?;
        if run >= WARM {
            whole.push(took);
            request.push(begun.elapsed());
        }
    }
    let (whole, request) = (Times::sorted(whole), Times::sorted(request));
    let beyond = whole.percentile(50).saturating_sub(request.percentile(50));
    Ok(vec![Row {
        what: "forge list, from start to exit, beyond its request, p50",
        measured: format!("{} (p95 {} with it)", milliseconds(beyond), milliseconds(whole.percentile(95))),
        floor: format!("{} the request alone", milliseconds(request.percentile(50))),
        limit: milliseconds(LIMIT),
        figure: Some(figure(beyond)),
        ok: beyond <= LIMIT,
    }])
}
