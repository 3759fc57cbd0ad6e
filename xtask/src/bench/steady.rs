//! A steady stream of starts, and the first start of a project: whether a worktree is ready for each.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::pool::{add, pool};
use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::{Api, text};
use crate::server::Server;
use crate::wait::{SOON, eventually};
use crate::world::World;

const EVERY: Duration = Duration::from_millis(350);
const STREAM: Duration = Duration::from_secs(60);
const FILES: usize = 5_000;
const FEW_FILES: usize = 100;
/// What is promised for a machine on which `git worktree add` of 5,000 files takes 175 ms; others are held to as much of
/// what it takes there.
const FLOOR: f64 = 175.0;
const START: f64 = 30.0;
const SMALL_START: f64 = 15.0;
/// How often the floor is measured.
const FLOORS: usize = 7;
/// What the pool has to make a worktree ready when nothing else happens.
const READY: Duration = Duration::from_secs(5);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let (files, few) = (size.of(FILES, 60), size.of(FEW_FILES, 60));
    let stream = size.of(STREAM, EVERY * 2);
    let world = World::new(forge, files)?;
    let mut floors = Vec::new();
    for number in 0..size.of(FLOORS, 1) {
        floors.push(add(&world, &format!("floor-{number}"))?);
    }
    let floor = Times::sorted(floors).percentile(50);
    let mut rows = firsts(&world, floor)?;
    rows.push(steady(&world, stream, "create-and-start every 350 ms, 5,000 files, p50", floor, START)?);
    drop(world);
    let world = World::new(forge, few)?;
    let what = "create-and-start every 350 ms, 100 files, p50";
    rows.push(steady(&world, stream, what, floor, SMALL_START)?);
    Ok(rows)
}

/// Starts at a steady pace, whatever each start takes.
fn steady(
    world: &World,
    stream: Duration,
    what: &'static str,
    floor: Duration,
    promised: f64,
) -> anyhow::Result<Row> {
    let _server = Server::start_healthy(world)?;
    let api = Api::keeping(world.port);
    let project = first_start(world, &api)?;
    let (_, before) = pool(&api)?;
    let (mut starts, begun) = (Vec::new(), Instant::now());
    for number in 0.. {
        let at = EVERY * number;
        if at >= stream {
            break;
        }
        sleep(at.saturating_sub(begun.elapsed()));
        let begun = Instant::now();
        start_task(&api, &project, &format!("start {number}"), "say hello")?;
        starts.push(begun.elapsed());
    }
    let handed_over = pool(&api)?.1 - before;
    let (count, starts) = (starts.len(), Times::sorted(starts));
    let (p50, limit) = (starts.percentile(50), floor.mul_f64(promised / FLOOR));
    Ok(Row {
        what,
        measured: format!(
            "{} (p95 {}, {handed_over} of {count} waited)",
            milliseconds(p50),
            milliseconds(starts.percentile(95))
        ),
        floor: format!("{} worktree add, 5,000 files", milliseconds(floor)),
        limit: format!("{:.2} x floor = {}", promised / FLOOR, milliseconds(limit)),
        figure: Some(figure(p50)),
        ok: p50 <= limit,
    })
}

/// Registers the world's project, and starts something in it whose time does not count: the first start of a data
/// directory copies the binary.
fn first_start(world: &World, api: &Api) -> anyhow::Result<String> {
    let projects = api.list("/api/projects")?;
    let known = projects.iter().find(|project| project["name"] == "world");
    let project = known.map_or_else(|| world.project(api), |project| text(project, "id"))?;
    let first = start_task(api, &project, "first", "say hello")?;
    until_finished(api, &first, SOON)?;
    Ok(project)
}

/// Starts once in a project that was just registered, and once after the server came up.
fn firsts(world: &World, floor: Duration) -> anyhow::Result<Vec<Row>> {
    let mut server = Server::start_healthy(world)?;
    let api = Api::new(world.port);
    first_start(world, &api)?;
    let clone = world.root().join("registered");
    world.git(&["clone", "--quiet", ".", &clone.to_string_lossy()])?;
    let ready = pool_after(&api, |ready| ready >= 2)?;
    let body = json!({"name": "registered", "git_repo_path": clone, "use_existing_repo": true});
    let project = text(&api.post("/api/projects", &body, None)?.data()?, "id")?;
    pool_after(&api, |now| now > ready)?;
    let registered = first(&api, &project, "registered", floor)?;
    server.kill()?;
    let _server = Server::start_healthy(world)?;
    pool_after(&api, |now| now > ready)?;
    let up = first(&api, &project, "up", floor)?;
    Ok(vec![
        Row { what: "first start of a project that was registered, 5,000 files", ..registered },
        Row { what: "first start after the server came up, 5,000 files", ..up },
    ])
}

/// Waits until that many worktrees wait, or for as long as that may take; returns how many do.
fn pool_after(api: &Api, is_enough: impl Fn(usize) -> bool) -> anyhow::Result<usize> {
    let begun = Instant::now();
    eventually(READY * 2, "the pool", || {
        let (ready, _) = pool(api)?;
        Ok((is_enough(ready) || begun.elapsed() > READY).then_some(ready))
    })
}

fn first(api: &Api, project: &str, title: &str, floor: Duration) -> anyhow::Result<Row> {
    let (_, before) = pool(api)?;
    let begun = Instant::now();
    let attempt = start_task(api, project, title, "say hello")?;
    let took = begun.elapsed();
    until_finished(api, &attempt, SOON).context("the first start did not finish")?;
    let waited = pool(api)?.1 - before;
    Ok(Row {
        what: "",
        measured: format!("{} ({waited} of 1 waited)", milliseconds(took)),
        floor: format!("{} worktree add", milliseconds(floor)),
        limit: "one waits".to_string(),
        figure: Some(figure(took)),
        ok: waited == 1,
    })
}
