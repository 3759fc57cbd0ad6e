//! The server's peak memory while it streams a gigabyte and folds it into entries, and when it only streams; and how
//! soon a client that attaches anywhere reads.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::{Row, Size, Times, entries, figure, milliseconds, run_of, start_task, until_finished};
use crate::api::Api;
use crate::random::Random;
use crate::raw_log::RawLog;
use crate::server::Server;
use crate::world::World;

/// A line is about 35 bytes, so these are a gigabyte.
const LINES: u64 = 30_000_000;
const STREAMING: u64 = 30 << 20;
const FOLDING: u64 = 60 << 20;
/// How long the run may take to be over once its log has been read.
const FOLDED: Duration = Duration::from_secs(600);
const AT_ONCE: Duration = Duration::from_millis(100);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let idle = peak(server.pid())?;
    let attempt = start_task(&api, &project, "a gigabyte", &format!("lines {} 0", size.of(LINES, 20_000)))?;
    let run = run_of(&api, &attempt)?;
    let begun = Instant::now();
    let (bytes, end) = read_all(world.port, &run)?;
    let took = begun.elapsed();
    until_finished(&api, &attempt, FOLDED)?;
    let (folded, folding) = (begun.elapsed(), peak(server.pid())?);
    server.kill()?;
    let cache = entries::cache(&world.home().join("runs").join(&run))?;
    let kept = std::fs::metadata(cache.join("records")).context("could not look at the entries")?.len();
    let server = Server::start_healthy(&world)?;
    let begun = Instant::now();
    read_all(world.port, &run)?;
    let (streamed, streaming) = (begun.elapsed(), peak(server.pid())?);
    let mut random = Random::new(1);
    let mut firsts = Vec::new();
    for _ in 0..10 {
        let from = random.between(0, end);
        let begun = Instant::now();
        let mut log = RawLog::open(world.port, &run, from)?;
        log.next()?.context("nothing after a position inside the log")?;
        firsts.push(begun.elapsed());
    }
    let firsts = Times::sorted(firsts);
    let worst = firsts.percentile(100);
    let speed = |took: Duration| bytes as f64 / 1e6 / took.as_secs_f64();
    Ok(vec![
        Row {
            what: "peak memory, 1 GB log, one reader from the start, entries folding",
            measured: format!(
                "{} MB ({:.2} GB read at {:.0} MB/s, folded at {:.0} MB/s into {:.1} GB)",
                folding >> 20,
                bytes as f64 / 1e9,
                speed(took),
                speed(folded),
                kept as f64 / 1e9
            ),
            floor: format!("{} MB idle", idle >> 20),
            limit: format!("{} MB", FOLDING >> 20),
            figure: Some(megabytes(folding)),
            ok: folding <= FOLDING,
        },
        Row {
            what: "peak memory, the same log streamed after a restart",
            measured: format!("{} MB ({:.0} MB/s)", streaming >> 20, speed(streamed)),
            floor: format!("{} MB idle", idle >> 20),
            limit: format!("{} MB", STREAMING >> 20),
            figure: Some(megabytes(streaming)),
            ok: streaming <= STREAMING,
        },
        Row {
            what: "first output at any offset of 1 GB, p50 / worst of 10",
            measured: format!("{} / {}", milliseconds(firsts.percentile(50)), milliseconds(worst)),
            floor: "-".to_string(),
            limit: "100 ms".to_string(),
            figure: Some(figure(firsts.percentile(50))),
            ok: worst <= AT_ONCE,
        },
    ])
}

/// Reads a log to its end; returns how much output it has, and where it ends.
fn read_all(port: u16, run: &str) -> anyhow::Result<(u64, u64)> {
    let mut log = RawLog::open(port, run, 0)?;
    let (mut bytes, mut end) = (0, 0);
    while let Some(piece) = log.next()? {
        bytes += piece.stdout.len() as u64;
        end = piece.position;
    }
    Ok((bytes, end))
}

/// Returns so many bytes as a figure to compare.
pub(super) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns the most memory a process has had, in bytes.
pub(super) fn peak(pid: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).context("could not read a status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmHWM is no number")?;
    Ok(kilobytes * 1024)
}
