//! Create-and-start of a small repository, beside `git worktree add` alone, in turns.

use std::path::Path;
use std::time::{Duration, Instant};

use super::pool::configure;
use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const FILES: usize = 100;
const TIMES: usize = 40;
/// What a start may take beyond the worktree.
const BEYOND: Duration = Duration::from_millis(15);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, size.of(FILES, 10))?;
    configure(&world, 0)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    // The first start of a data directory copies the binary; nobody starts a data directory twice.
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for number in 0..size.of(TIMES, 2) {
        let (branch, path) = (format!("floor-{number}"), world.root().join(format!("floor-{number}")));
        let path = path.to_string_lossy().into_owned();
        let begun = Instant::now();
        world.git(&["worktree", "add", "--quiet", "-b", &branch, &path, "main"])?;
        floors.push(begun.elapsed());
        let begun = Instant::now();
        let attempt = start_task(&api, &project, &format!("start {number}"), "say hello")?;
        starts.push(begun.elapsed());
        // The end of one attempt should not be measured as part of the next one's start.
        until_finished(&api, &attempt, SOON)?;
    }
    let (starts, floors) = (Times::sorted(starts), Times::sorted(floors));
    let (start, floor) = (starts.percentile(50), floors.percentile(50));
    Ok(vec![Row {
        what: "create-and-start p50, 100 files, cold",
        measured: format!("{} (p95 {})", milliseconds(start), milliseconds(starts.percentile(95))),
        floor: format!("{} worktree add", milliseconds(floor)),
        limit: format!("floor + 15 ms = {}", milliseconds(floor + BEYOND)),
        figure: Some(figure(start)),
        ok: start <= floor + BEYOND,
    }])
}
