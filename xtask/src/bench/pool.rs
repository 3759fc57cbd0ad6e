//! Starts in large repositories: with worktrees that wait, and without, beside `git worktree add` alone.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::Api;
use crate::server::Server;
use crate::wait::{SOON, eventually};
use crate::world::World;

/// A start that gets a worktree that waited, however large the repository is.
const WARM: Duration = Duration::from_millis(40);
/// So many starts at once, all of which get one.
const CROWD: usize = 20;
const WARM_CROWD: Duration = Duration::from_millis(500);
/// A start without one, as a multiple of `git worktree add`.
const COLD: f64 = 1.3;
/// To have worktrees of 50,000 files wait takes a second for each, more on a busy machine.
const FILLED: Duration = Duration::from_secs(600);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let (many, most) = (size.of(5_000, 50), size.of(50_000, 200));
    let times = |whole| size.of(whole, 2);
    Ok(vec![
        warm(forge, "create-and-start p50, 5,000 files, a worktree waits", many, times(15))?,
        warm(forge, "create-and-start p50, 50,000 files, a worktree waits", most, times(7))?,
        cold(forge, "create-and-start p50, 5,000 files, none waits", many, times(9))?,
        cold(forge, "create-and-start p50, 50,000 files, none waits", most, times(5))?,
        warm_crowd(forge, many, size.of(CROWD, 4))?,
        cold_crowd(forge, many, size.of(CROWD, 4))?,
    ])
}

/// Starts one after the other, each with a worktree that waited.
fn warm(forge: &Path, what: &'static str, files: usize, times: usize) -> anyhow::Result<Row> {
    let world = World::new(forge, files)?;
    configure(&world, times)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    until_ready(&api, times)?;
    let (_, before) = pool(&api)?;
    let mut starts = Vec::new();
    for number in 0..times {
        let begun = Instant::now();
        let attempt = start_task(&api, &project, &format!("start {number}"), "say hello")?;
        starts.push(begun.elapsed());
        until_finished(&api, &attempt, SOON)?;
    }
    let handed_over = pool(&api)?.1 - before;
    anyhow::ensure!(handed_over == times, "only {handed_over} of {times} starts got a worktree that waited");
    let floor = add(&world, "floor")?;
    let starts = Times::sorted(starts);
    let start = starts.percentile(50);
    Ok(Row {
        what,
        measured: format!("{} (p95 {})", milliseconds(start), milliseconds(starts.percentile(95))),
        floor: format!("{} worktree add", milliseconds(floor)),
        limit: milliseconds(WARM),
        figure: Some(figure(start)),
        ok: start <= WARM,
    })
}

/// Starts and adds worktrees in turns, with none that wait.
fn cold(forge: &Path, what: &'static str, files: usize, times: usize) -> anyhow::Result<Row> {
    let world = World::new(forge, files)?;
    configure(&world, 0)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for number in 0..times {
        floors.push(add(&world, &format!("floor-{number}"))?);
        let begun = Instant::now();
        let attempt = start_task(&api, &project, &format!("start {number}"), "say hello")?;
        starts.push(begun.elapsed());
        until_finished(&api, &attempt, SOON)?;
    }
    let (starts, floors) = (Times::sorted(starts), Times::sorted(floors));
    Ok(beside_floor(what, starts.percentile(50), floors.percentile(50), "worktree add"))
}

/// Many starts at once, with a worktree for each.
fn warm_crowd(forge: &Path, files: usize, members: usize) -> anyhow::Result<Row> {
    let world = World::new(forge, files)?;
    configure(&world, members)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    until_ready(&api, members)?;
    let (_, before) = pool(&api)?;
    let took = crowd(members, |number| {
        let attempt = start_task(&Api::keeping(world.port), &project, &format!("start {number}"), "say hi");
        attempt.map(drop)
    })?;
    let handed_over = pool(&api)?.1 - before;
    anyhow::ensure!(handed_over == members, "only {handed_over} of {members} got a worktree that waited");
    Ok(Row {
        what: "20 starts at once, 5,000 files, a worktree waits for each",
        measured: milliseconds(took),
        floor: format!("{} worktree add, once", milliseconds(add(&world, "floor")?)),
        limit: milliseconds(WARM_CROWD),
        figure: Some(figure(took)),
        ok: took <= WARM_CROWD,
    })
}

/// Many starts at once and many `git worktree add` at once, in turns.
fn cold_crowd(forge: &Path, files: usize, members: usize) -> anyhow::Result<Row> {
    let world = World::new(forge, files)?;
    configure(&world, 0)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let first = start_task(&api, &project, "first", "say hello")?;
    until_finished(&api, &first, SOON)?;
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for round in 0..3 {
        floors.push(add_crowd(&world, members, round)?);
        starts.push(crowd(members, |number| {
            let title = format!("start {round} {number}");
            start_task(&Api::keeping(world.port), &project, &title, "say hi").map(drop)
        })?);
        // The end of these should not be measured as part of the next ones' start.
        eventually(FILLED, "all attempts to finish", || {
            let running = api.list("/api/task-attempts")?.iter().any(|one| one["status"] == "running");
            Ok((!running).then_some(()))
        })?;
    }
    let (starts, floors) = (Times::sorted(starts), Times::sorted(floors));
    let what = "20 starts at once, 5,000 files, none waits";
    Ok(beside_floor(what, starts.percentile(50), floors.percentile(50), "20 worktree adds at once"))
}

/// Adds many worktrees at once. Git itself trips now and then, when one reads the place of another that is half made;
/// what it took then is not counted.
fn add_crowd(world: &World, members: usize, round: usize) -> anyhow::Result<Duration> {
    let mut took = Ok(Duration::ZERO);
    for time in 0..5 {
        took = crowd(members, |number| add(world, &format!("floor-{round}-{time}-{number}")).map(drop));
        match &took {
            Err(error) if format!("{error:#}").contains("commondir") => {}
            _ => break,
        }
    }
    took
}

fn beside_floor(what: &'static str, took: Duration, floor: Duration, of: &str) -> Row {
    let limit = floor.mul_f64(COLD);
    Row {
        what,
        measured: format!("{} ({:.2} x)", milliseconds(took), took.as_secs_f64() / floor.as_secs_f64()),
        floor: format!("{} {of}", milliseconds(floor)),
        limit: format!("{COLD} x floor = {}", milliseconds(limit)),
        figure: Some(figure(took)),
        ok: took <= limit,
    }
}

/// Does something as often as a crowd has members, all at once, and returns when the last was done.
fn crowd(members: usize, act: impl Fn(usize) -> anyhow::Result<()> + Sync) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    thread::scope(|scope| {
        let members: Vec<_> = (0..members)
            .map(|number| {
                scope.spawn({
                    let act = &act;
                    move || act(number)
                })
            })
            .collect();
        for member in members {
            member.join().unwrap_or_else(|_| anyhow::bail!("one of the crowd broke off"))?;
        }
        anyhow::Ok(())
    })?;
    Ok(begun.elapsed())
}

/// Adds a worktree as a person would.
pub(super) fn add(world: &World, name: &str) -> anyhow::Result<Duration> {
    let path = world.root().join(name).to_string_lossy().into_owned();
    let begun = Instant::now();
    world.git(&["worktree", "add", "--quiet", "-b", name, &path, "main"])?;
    Ok(begun.elapsed())
}

/// Says how many worktrees are to wait. The server is not there yet.
pub(super) fn configure(world: &World, ready: usize) -> anyhow::Result<()> {
    let (home, config) =
        (world.home(), json!({"worktree_pool": {"ready": ready, "from_files": 1, "disk_mb": 16_000}}));
    std::fs::create_dir_all(&home).with_context(|| format!("could not make {}", home.display()))?;
    let file = home.join("config.json");
    std::fs::write(&file, config.to_string()).with_context(|| format!("could not write {}", file.display()))
}

pub(super) fn until_ready(api: &Api, wanted: usize) -> anyhow::Result<()> {
    eventually(FILLED, "worktrees to wait", || Ok((pool(api)?.0 == wanted).then_some(())))
}

/// Reads how many worktrees wait and how many were handed over.
pub(super) fn pool(api: &Api) -> anyhow::Result<(usize, usize)> {
    let metrics = api.get("/metrics")?;
    let text = metrics.body.as_str().context("metrics are no text")?;
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().parse().ok()).with_context(|| format!("no figure {name}"))
    };
    Ok((figure("forge_worktrees_ready ")?, figure("forge_worktrees_handed_over_total ")?))
}
