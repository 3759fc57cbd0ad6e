//! From the call that stops an attempt to the moment when its last process is reaped.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::{Row, Size, Times, figure, milliseconds, pids, run_of, start_task};
use crate::api::Api;
use crate::processes;
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const TIMES: usize = 20;
const LIMIT: Duration = Duration::from_millis(100);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let (mut gone, mut answered, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..size.of(TIMES, 2) {
        let attempt = start_task(&api, &project, &format!("willing {number}"), "lines 100000 10")?;
        let (shim, agent) = pids(&world.home(), &run_of(&api, &attempt)?)?;
        let begun = Instant::now();
        let path = format!("/api/task-attempts/{attempt}/stop");
        let (ended, answer) = std::thread::scope(|scope| {
            let call = scope.spawn(|| (api.post(&path, &json!({}), None), begun.elapsed()));
            let ended = until_gone(&[shim, agent], begun);
            (ended, call.join())
        });
        let Ok((answer, after)) = answer else { anyhow::bail!("the call broke off") };
        answer?.data().context("could not stop an attempt")?;
        gone.push(ended?);
        answered.push(after);
        floors.push(bare()?);
    }
    let (gone, answered, floors) = (Times::sorted(gone), Times::sorted(answered), Times::sorted(floors));
    let p95 = gone.percentile(95);
    Ok(vec![Row {
        what: "stop until the last process is reaped, p50 / p95",
        measured: format!(
            "{} / {} (answered {})",
            milliseconds(gone.percentile(50)),
            milliseconds(p95),
            milliseconds(answered.percentile(95))
        ),
        floor: format!("{} signal + wait", milliseconds(floors.percentile(50))),
        limit: milliseconds(LIMIT),
        figure: Some(figure(gone.percentile(50))),
        ok: p95 <= LIMIT,
    }])
}

/// Returns how long after `begun` the processes were gone from the process table.
fn until_gone(pids: &[u32], begun: Instant) -> anyhow::Result<Duration> {
    while pids.iter().any(|pid| processes::exists(*pid)) {
        anyhow::ensure!(begun.elapsed() < SOON, "a stopped process is still there");
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(begun.elapsed())
}

/// What it takes to signal a child and to reap it.
fn bare() -> anyhow::Result<Duration> {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().context("could not run sleep")?;
    let begun = Instant::now();
    child.kill().context("could not signal a child")?;
    child.wait().context("could not reap a child")?;
    Ok(begun.elapsed())
}
