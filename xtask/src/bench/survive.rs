//! After `kill -9` of the server: every agent lives, and every line is kept once.

use std::path::Path;
use std::time::Instant;

use super::{Row, Size, figure, milliseconds, pids, run_of, start_task, until_finished};
use crate::api::Api;
use crate::processes;
use crate::raw_log;
use crate::server::{Birth, Server};
use crate::wait::{SOON, eventually};
use crate::world::World;

const AGENTS: usize = 8;
const LINES: usize = 300;
const KILLS: usize = 3;

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?.with_witnesses();
    let mut server = Server::start_healthy(&world)?;
    let api = Api::new(world.port);
    let project = world.project(&api)?;
    let (agents, lines, kills) = (size.of(AGENTS, 2), size.of(LINES, 200), size.of(KILLS, 1));
    let mut started = Vec::new();
    for number in 0..agents {
        let attempt = start_task(&api, &project, &format!("agent {number}"), &format!("lines {lines} 10"))?;
        let run = run_of(&api, &attempt)?;
        let (_, agent) = pids(&world.home(), &run)?;
        started.push((attempt, run, agent));
    }
    let (mut alive, mut back) = (agents, Vec::new());
    for _ in 0..kills {
        let begun = Instant::now();
        server.kill()?;
        server = Server::start(&world, None)?;
        anyhow::ensure!(matches!(server.until_healthy(&api)?, Birth::Healthy(_)), "the server did not stay");
        back.push(begun.elapsed());
        alive = alive.min(started.iter().filter(|(_, _, agent)| processes::exists(*agent)).count());
    }
    let (mut kept, mut printed) = (0, 0);
    for (attempt, run, _) in &started {
        until_finished(&api, attempt, SOON)?;
        let witness = world.witness_dir().join(run);
        let said = eventually(SOON, "a witness", || Ok(std::fs::read_to_string(&witness).ok()))?;
        printed += said.lines().count();
        let log = raw_log::read_whole(world.port, run)?;
        kept += if log == said { said.lines().count() } else { 0 };
    }
    back.sort_unstable();
    Ok(vec![Row {
        what: "after kill -9: agents alive, lines kept exactly once",
        measured: format!(
            "{alive} of {agents}, {kept} of {printed} (back in {})",
            milliseconds(back[kills / 2])
        ),
        floor: "-".to_string(),
        limit: "all, once".to_string(),
        figure: Some(figure(back[kills / 2])),
        ok: alive == agents && kept == printed && printed > agents * lines,
    }])
}
