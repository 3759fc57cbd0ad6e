//! From an agent's line to a WebSocket client, beside a bare pipe and a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;

use super::{Row, Size, Times, figure, milliseconds, run_of, start_task};
use crate::api::Api;
use crate::raw_log::RawLog;
use crate::server::Server;
use crate::world::World;

const LINES: u32 = 500;
const EVERY: Duration = Duration::from_millis(5);
const P50: Duration = Duration::from_millis(1);
const P99: Duration = Duration::from_millis(5);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let lines = size.of(LINES, 20);
    // The pause lets the client be there before the first line.
    let script = format!("sleep 500\nlines {lines} {}", EVERY.as_millis());
    let attempt = start_task(&api, &project, "latency", &script)?;
    let mut log = RawLog::open(world.port, &run_of(&api, &attempt)?, 0)?;
    let mut times = Vec::new();
    while let Some(piece) = log.next()? {
        let now = SystemTime::now();
        times.extend(piece.stdout.lines().filter_map(|line| since(line, now)));
    }
    anyhow::ensure!(times.len() == lines as usize, "{} of {lines} lines arrived", times.len());
    let (times, floor) = (Times::sorted(times), bare(lines, EVERY)?);
    let (p50, p99) = (times.percentile(50), times.percentile(99));
    Ok(vec![Row {
        what: "agent line to WebSocket client, p50 / p99",
        measured: format!("{} / {}", milliseconds(p50), milliseconds(p99)),
        floor: format!(
            "{} / {} pipe + socket",
            milliseconds(floor.percentile(50)),
            milliseconds(floor.percentile(99))
        ),
        limit: "1 / 5 ms".to_string(),
        figure: Some(figure(p50)),
        ok: p50 <= P50 && p99 <= P99,
    }])
}

/// Returns how long ago a line says it was printed; none when it says nothing about that.
pub(super) fn since(line: &str, now: SystemTime) -> Option<Duration> {
    let (seconds, micros) = line.strip_prefix("T=")?.split_once(' ')?.0.split_once('.')?;
    let printed = Duration::from_secs(seconds.parse().ok()?) + Duration::from_micros(micros.parse().ok()?);
    Some(now.duration_since(UNIX_EPOCH).ok()?.saturating_sub(printed))
}

/// The same lines at the same pace through a pipe, a thread that copies, and a socket.
pub(super) fn bare(lines: u32, every: Duration) -> anyhow::Result<Times> {
    let listener = TcpListener::bind("127.0.0.1:0").context("could not listen")?;
    let mut sender = TcpStream::connect(listener.local_addr()?).context("could not connect")?;
    sender.set_nodelay(true)?;
    let (receiver, _) = listener.accept().context("could not accept")?;
    let (mut reader, mut writer) = std::io::pipe().context("could not make a pipe")?;
    thread::spawn(move || {
        for number in 0..lines {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let line = format!("T={}.{:06} line {number}\n", now.as_secs(), now.subsec_micros());
            if writer.write_all(line.as_bytes()).is_err() {
                return;
            }
            thread::sleep(every);
        }
    });
    thread::spawn(move || {
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = reader.read(&mut block) {
            if sender.write_all(&block[..read]).is_err() {
                return;
            }
        }
    });
    let mut times = Vec::new();
    for line in BufReader::new(receiver).lines() {
        times.extend(since(&line.context("the socket broke off")?, SystemTime::now()));
    }
    Ok(Times::sorted(times))
}
