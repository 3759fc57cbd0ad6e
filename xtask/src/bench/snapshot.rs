//! The snapshot at a turn's end, of a large tree in which one file was changed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::pool::{configure, until_ready};
use super::{Row, Size, Times, figure, milliseconds, run_of, start_task, until_finished};
use crate::api::{Api, text};
use crate::server::Server;
use crate::wait::{SOON, eventually};
use crate::world::World;

const FILES: usize = 50_000;
const TIMES: usize = 5;
const LIMIT: Duration = Duration::from_millis(300);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let times = size.of(TIMES, 1);
    let world = World::new(forge, size.of(FILES, 1_000))?;
    configure(&world, times)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    until_ready(&api, times)?;
    let (mut snapshots, mut floors) = (Vec::new(), Vec::new());
    for number in 0..times {
        // A turn that failed is snapshotted and not committed.
        let script = format!("edit source/part-{number:03}/changed.txt text\nexit 1");
        let attempt = start_task(&api, &project, &format!("turn {number}"), &script)?;
        let found = until_finished(&api, &attempt, SOON)?;
        let ended = world.home().join("runs").join(run_of(&api, &attempt)?).join("exit.json");
        let kept = world.repository().join(".git/refs/forge/snapshots").join(&attempt);
        eventually(SOON, "a snapshot", || Ok(kept.exists().then_some(())))?;
        snapshots.push(written(&kept)?.duration_since(written(&ended)?).unwrap_or_default());
        let worktree = text(&found, "container_ref")?;
        let begun = Instant::now();
        world.git(&["-C", &worktree, "status", "--porcelain"])?;
        floors.push(begun.elapsed());
    }
    let (snapshots, floors) = (Times::sorted(snapshots), Times::sorted(floors));
    let snapshot = snapshots.percentile(50);
    Ok(vec![Row {
        what: "snapshot of 50,000 files, one changed, after the agent's end, p50",
        measured: format!("{} (slowest {})", milliseconds(snapshot), milliseconds(snapshots.percentile(100))),
        floor: format!("{} git status", milliseconds(floors.percentile(50))),
        limit: milliseconds(LIMIT),
        figure: Some(figure(snapshot)),
        ok: snapshot <= LIMIT,
    }])
}

fn written(path: &Path) -> anyhow::Result<std::time::SystemTime> {
    let found = fs::metadata(path).and_then(|found| found.modified());
    found.with_context(|| format!("could not look at {}", path.display()))
}
