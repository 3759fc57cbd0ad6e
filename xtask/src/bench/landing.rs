//! Landing an attempt that changed many files, beside `git merge --squash` and `git commit` by hand, in turns.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::{Api, text};
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const FILES: usize = 5_000;
const TIMES: usize = 5;
/// Landing looks at what it is about to move and keeps what was there; a person at a shell does neither.
const MOST: f64 = 2.0;

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, size.of(FILES, 60))?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let (mut landings, mut floors) = (Vec::new(), Vec::new());
    let wanted = size.of(1_000, 20);
    for round in 0..size.of(TIMES, 1) {
        let script = format!("run ls source/*/* | head -n {wanted} | xargs sed -i '1i round {round}'");
        let attempt = start_task(&api, &project, &format!("round {round}"), &script)?;
        let branch = text(&until_finished(&api, &attempt, SOON)?, "branch")?;
        floors.push(by_hand(&world, round, &branch)?);
        let begun = Instant::now();
        let answer = api.post(&format!("/api/task-attempts/{attempt}/merge"), &json!({}), None);
        landings.push(begun.elapsed());
        answer.context("could not land")?.data().context("the landing was refused")?;
        let changed = world.git(&["diff", "--name-only", "HEAD^", "HEAD"])?.lines().count();
        anyhow::ensure!(changed == wanted, "{changed} files landed and not {wanted}");
    }
    let (landings, floors) = (Times::sorted(landings), Times::sorted(floors));
    let (landing, floor) = (landings.percentile(50), floors.percentile(50));
    let limit = floor.mul_f64(MOST);
    Ok(vec![Row {
        what: "landing of 1,000 changed files of 5,000, p50",
        measured: format!("{} ({:.2} x)", milliseconds(landing), landing.as_secs_f64() / floor.as_secs_f64()),
        floor: format!("{} merge --squash, commit", milliseconds(floor)),
        limit: format!("{MOST} x floor = {}", milliseconds(limit)),
        figure: Some(figure(landing)),
        ok: landing <= limit,
    }])
}

/// Lands a branch as a person would, in a clone that has the files of before.
fn by_hand(world: &World, round: usize, branch: &str) -> anyhow::Result<Duration> {
    let clone = world.root().join(format!("clone-{round}")).to_string_lossy().into_owned();
    world.git(&["clone", "--quiet", ".", &clone])?;
    let begun = Instant::now();
    world.git(&["-C", &clone, "merge", "--quiet", "--squash", &format!("origin/{branch}")])?;
    world.git(&["-C", &clone, "commit", "--quiet", "--message", "landed"])?;
    Ok(begun.elapsed())
}
