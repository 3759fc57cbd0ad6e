//! A long conversation: how soon its last entries are there, warm, after a restart, and made anew from the log.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tungstenite::Message;

use super::{Row, Size, Times, figure, milliseconds, run_of, start_task, until_finished};
use crate::api::Api;
use crate::raw_log::RawLog;
use crate::server::Server;
use crate::world::World;

/// Each line that the agent prints is an entry.
const LINES: u64 = 200_000;
const LIMIT: Duration = Duration::from_millis(300);
const ANEW: Duration = Duration::from_secs(10);
const AT_ONCE: Duration = Duration::from_millis(100);
const PLAYED: Duration = Duration::from_secs(120);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let lines = size.of(LINES, 2_000);
    let world = World::new(forge, 10)?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let attempt = start_task(&api, &project, "a long conversation", &format!("lines {lines} 0"))?;
    let run = run_of(&api, &attempt)?;
    until_finished(&api, &attempt, PLAYED)?;
    let mut times = Vec::new();
    for _ in 0..20 {
        times.push(last_entries(&api, &attempt, lines)?);
    }
    let bytes = api.size(&format!("/api/task-attempts/{attempt}/entries?limit=200"))?;
    server.kill()?;
    let mut server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let restarted = last_entries(&api, &attempt, lines)?;
    server.kill()?;

    // Another version of the fold is one whose entries are not there.
    let dir = world.home().join("runs").join(&run);
    let cache = cache(&dir)?;
    let kept = bytes_below(&cache)?;
    let log = bytes_below(&dir)?;
    fs::remove_dir_all(&cache).context("could not remove the entries")?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let begun = Instant::now();
    let first = std::thread::scope(|scope| {
        let first = scope.spawn(|| first_entries(world.port, &run, begun));
        let raw = {
            let mut log = RawLog::open(world.port, &run, 0)?;
            log.next()?.context("a log without output")?;
            begun.elapsed()
        };
        let first = first.join().map_err(|_| anyhow::anyhow!("the reader of entries broke"))??;
        anyhow::Ok((raw, first))
    })?;
    let (raw, first) = first;
    last_entries(&api, &attempt, lines)?;
    let anew = begun.elapsed();
    let times = Times::sorted(times);
    let worst = times.percentile(100).max(restarted);
    Ok(vec![
        Row {
            what: "last 200 entries of 200,000, p50 / worst / after a restart",
            measured: format!(
                "{} / {} / {} ({} KB)",
                milliseconds(times.percentile(50)),
                milliseconds(times.percentile(100)),
                milliseconds(restarted),
                bytes / 1024
            ),
            floor: format!("{} MB of entries, {} MB of log", kept >> 20, (log - kept) >> 20),
            limit: milliseconds(LIMIT),
            figure: Some(figure(times.percentile(50))),
            ok: worst <= LIMIT,
        },
        Row {
            what: "another fold version, 200,000 entries: log / first entries / last 200",
            measured: format!("{} / {} / {}", milliseconds(raw), milliseconds(first), milliseconds(anew)),
            floor: "-".to_string(),
            limit: format!("{} / {} s", milliseconds(AT_ONCE), ANEW.as_secs()),
            figure: Some(figure(anew)),
            ok: raw <= AT_ONCE && anew <= ANEW,
        },
    ])
}

/// Reads the last entries, and returns how long that took.
fn last_entries(api: &Api, attempt: &str, lines: u64) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let window = api.read(&format!("/api/task-attempts/{attempt}/entries?limit=200"))?;
    let took = begun.elapsed();
    let entries = window["entries"].as_array().context("a window without entries")?;
    let last = entries.last().and_then(|entry| entry["index"].as_u64());
    // Before the lines come the prompt and its title, which is said back.
    if entries.len() != 200 || last != Some(lines + 1) {
        bail!("{} entries, the last is {last:?}", entries.len());
    }
    Ok(took)
}

/// Waits for the first frame of a run's entries.
pub(super) fn first_entries(port: u16, run: &str, begun: Instant) -> anyhow::Result<Duration> {
    let stream = TcpStream::connect(("127.0.0.1", port)).context("could not connect for entries")?;
    stream.set_read_timeout(Some(PLAYED))?;
    let url = format!("ws://127.0.0.1:{port}/api/execution-processes/{run}/normalized-logs/ws");
    let opened = tungstenite::client(&url, stream);
    let (mut socket, _) = opened.map_err(|error| anyhow::anyhow!("could not open {url}: {error}"))?;
    loop {
        match socket.read().context("no entries came")? {
            Message::Text(text) if text.contains("\"add\"") => return Ok(begun.elapsed()),
            Message::Close(_) => bail!("the stream ended without entries"),
            _ => {}
        }
    }
}

/// Finds the directory of a run's entries.
pub(super) fn cache(run: &Path) -> anyhow::Result<PathBuf> {
    for entry in fs::read_dir(run).with_context(|| format!("could not list {}", run.display()))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("entries-v") {
            return Ok(entry.path());
        }
    }
    bail!("{} has no entries", run.display())
}

/// Sums up the sizes of the files below a directory.
fn bytes_below(dir: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir).with_context(|| format!("could not list {}", dir.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() { bytes_below(&entry.path())? } else { about.len() };
    }
    Ok(sum)
}
