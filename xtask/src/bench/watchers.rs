//! Many clients that watch one run, in one thread that does little: what they cost would spoil what is measured.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, poll};

use crate::raw_log::{RawLog, Read};

/// Between two looks. What has come in the meantime is taken in one go.
const PAUSE: Duration = Duration::from_millis(2);

/// The clients.
#[derive(Debug)]
pub(super) struct Watchers(Vec<Watcher>);

/// What a client saw of the numbered lines.
#[derive(Debug, Default, Clone)]
pub(super) struct Sight {
    pub(super) frames: u64,
    pub(super) lines: u64,
    /// Whether each line came after the one before it.
    pub(super) in_order: bool,
}

#[derive(Debug)]
struct Watcher {
    log: RawLog,
    /// A line whose end has not come yet.
    rest: String,
    sight: Sight,
    over: bool,
}

impl Watchers {
    /// Connects so many clients to a run, all from its beginning.
    pub(super) fn open(port: u16, run: &str, count: usize) -> anyhow::Result<Self> {
        let open = || {
            let log = RawLog::open(port, run, 0)?.without_waiting()?;
            let sight = Sight { in_order: true, ..Sight::default() };
            Ok(Watcher { log, rest: String::new(), sight, over: false })
        };
        (0..count).map(|_| open()).collect::<anyhow::Result<_>>().map(Self)
    }

    /// Reads until each has been told the end; fails when all are silent for longer than that.
    pub(super) fn read_all(&mut self, silence: Duration) -> anyhow::Result<Vec<Sight>> {
        let mut heard = Instant::now();
        loop {
            let ready = self.ready()?;
            if ready.is_empty() && self.0.iter().all(|watcher| watcher.over) {
                return Ok(self.0.iter().map(|watcher| watcher.sight.clone()).collect());
            }
            for at in &ready {
                self.0[*at].take()?;
                heard = Instant::now();
            }
            if heard.elapsed() > silence {
                bail!("no client heard anything for {} s", silence.as_secs());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Says which clients that wait have something to read.
    fn ready(&self) -> anyhow::Result<Vec<usize>> {
        let waiting: Vec<usize> = (0..self.0.len()).filter(|at| !self.0[*at].over).collect();
        let mut sockets: Vec<_> =
            waiting.iter().map(|at| PollFd::new(&self.0[*at].log, PollFlags::IN)).collect();
        let now = rustix::event::Timespec::default();
        poll(&mut sockets, Some(&now)).context("could not look at the sockets")?;
        let ready = waiting.iter().zip(&sockets).filter(|(_, socket)| !socket.revents().is_empty());
        Ok(ready.map(|(at, _)| *at).collect())
    }
}

impl Watcher {
    /// Takes everything that is there.
    fn take(&mut self) -> anyhow::Result<()> {
        loop {
            match self.log.next_there()? {
                Read::Piece(piece) => {
                    self.sight.frames += 1;
                    self.rest.push_str(&piece.stdout);
                    self.count();
                }
                Read::Nothing => return Ok(()),
                Read::End => {
                    self.over = true;
                    return Ok(());
                }
            }
        }
    }

    /// Counts the lines that are whole, and leaves the rest.
    fn count(&mut self) {
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        for line in self.rest[..whole].lines() {
            let Some((_, number)) = line.strip_prefix("T=").and_then(|line| line.split_once(" line ")) else {
                continue;
            };
            self.sight.lines += 1;
            self.sight.in_order &= number.parse() == Ok(self.sight.lines);
        }
        self.rest.drain(..whole);
    }
}
