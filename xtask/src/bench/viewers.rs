//! Many who watch one attempt: what each of them sees, what the server needs for it, and what another attempt
//! notices of it.

use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::Context;

use super::watchers::Watchers;
use super::{Row, Size, Times, figure, latency, memory, milliseconds, run_of, start_task};
use crate::api::Api;
use crate::raw_log::RawLog;
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const VIEWERS: usize = 200;
/// 200 lines a second, for ten seconds.
const LINES: u32 = 2_000;
const EVERY: Duration = Duration::from_millis(5);
/// The other attempt prints slowly, for as long.
const OTHER_LINES: u32 = 500;
const OTHER_EVERY: Duration = Duration::from_millis(20);
const MOST: u64 = 120 << 20;
const P99: Duration = Duration::from_millis(20);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let (clients, lines, others) = (size.of(VIEWERS, 3), size.of(LINES, 50), size.of(OTHER_LINES, 20));
    // Both wait for a file, so that everybody is there before the first line.
    let go = world.root().join("go");
    let wait = format!("run while ! test -e {}; do sleep 0.05; done", go.display());
    let watched =
        start_task(&api, &project, "watched", &format!("{wait}\nlines {lines} {}", EVERY.as_millis()))?;
    let other = format!("{wait}\nlines {others} {}", OTHER_EVERY.as_millis());
    let other = run_of(&api, &start_task(&api, &project, "the other", &other)?)?;
    let idle = memory::peak(server.pid())?;
    let mut viewers = Watchers::open(world.port, &run_of(&api, &watched)?, clients)?;
    let connected = memory::peak(server.pid())?;
    let log = RawLog::open(world.port, &other, 0)?;
    std::fs::write(&go, "").context("could not give the sign")?;
    let (times, floor, seen) = thread::scope(|scope| {
        let times = scope.spawn(|| follow(log, others));
        let floor = scope.spawn(|| latency::bare(others, OTHER_EVERY));
        let seen = viewers.read_all(SOON);
        let broken = |_| anyhow::anyhow!("a reader broke off");
        anyhow::Ok((times.join().map_err(broken)??, floor.join().map_err(broken)??, seen?))
    })?;
    let peak = memory::peak(server.pid())?;
    let p99 = times.percentile(99);
    let whole = seen.iter().filter(|seen| seen.lines == u64::from(lines) && seen.in_order).count();
    let frames: u64 = seen.iter().map(|seen| seen.frames).sum();
    Ok(vec![
        Row {
            what: "200 viewers of 200 lines/s, who saw each line once and in order",
            measured: format!("{whole} ({} frames each)", frames / clients as u64),
            floor: "-".to_string(),
            limit: format!("{clients}"),
            figure: None,
            ok: whole == clients,
        },
        Row {
            what: "200 viewers, peak memory",
            measured: format!("{} MB", peak >> 20),
            floor: format!("{} MB idle, {} MB connected", idle >> 20, connected >> 20),
            limit: format!("{} MB", MOST >> 20),
            figure: Some(memory::megabytes(peak)),
            ok: peak <= MOST,
        },
        Row {
            what: "200 viewers, line of another attempt to its client, p50 / p99",
            measured: format!("{} / {}", milliseconds(times.percentile(50)), milliseconds(p99)),
            floor: format!(
                "{} / {} pipe + socket meanwhile",
                milliseconds(floor.percentile(50)),
                milliseconds(floor.percentile(99))
            ),
            limit: format!("p99 {}", milliseconds(P99)),
            figure: Some(figure(times.percentile(50))),
            ok: p99 <= P99,
        },
    ])
}

/// Reads the other attempt's lines, and returns how old each was.
fn follow(mut log: RawLog, lines: u32) -> anyhow::Result<Times> {
    let mut times = Vec::new();
    while let Some(piece) = log.next()? {
        let now = SystemTime::now();
        times.extend(piece.stdout.lines().filter_map(|line| latency::since(line, now)));
    }
    anyhow::ensure!(times.len() == lines as usize, "{} of {lines} lines arrived", times.len());
    Ok(Times::sorted(times))
}
