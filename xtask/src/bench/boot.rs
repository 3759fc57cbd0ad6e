//! How long a server with much history takes until it answers.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{Row, Size, Times, figure, history, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::{Birth, Server};
use crate::wait::SOON;
use crate::world::World;

const ATTEMPTS: u32 = 10_000;
const TIMES: usize = 9;
const LIMIT: Duration = Duration::from_millis(200);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::new(world.port);
    let project = world.project(&api)?;
    let attempt = start_task(&api, &project, "history", "say hello\nedit a.txt b")?;
    until_finished(&api, &attempt, SOON)?;
    server.kill()?;
    let attempts = size.of(ATTEMPTS, 50);
    history::multiply(&world.home(), attempts, attempts)?;
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..size.of(TIMES, 1) {
        let begun = Instant::now();
        let status = world.command(forge).arg("--version").stdout(Stdio::null()).status();
        floors.push(begun.elapsed());
        anyhow::ensure!(status.context("could not run forge")?.success(), "forge --version failed");
        let mut server = Server::start(&world, None)?;
        match server.until_healthy(&api)? {
            Birth::Healthy(after) => times.push(after),
            Birth::Killed => bail!("the server did not stay"),
        }
        let found = api.list("/api/task-attempts")?.len();
        anyhow::ensure!(found > attempts as usize, "only {found} attempts are there");
        server.kill()?;
    }
    let (times, floors) = (Times::sorted(times), Times::sorted(floors));
    let time = times.percentile(50);
    Ok(vec![Row {
        what: "until healthy, 10,000 attempts stored",
        measured: format!("{} (worst {})", milliseconds(time), milliseconds(times.percentile(100))),
        floor: format!("{} forge --version", milliseconds(floors.percentile(50))),
        limit: milliseconds(LIMIT),
        figure: Some(figure(time)),
        ok: time <= LIMIT,
    }])
}
