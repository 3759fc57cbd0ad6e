//! Draining the agent's stdout and stderr into the journal.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::journal::Journal;
use crate::frame::Stream;

/// What a pipe holds: one read is one record.
const CHUNK: usize = 64 * 1024;
/// After the sweep nobody of the run holds the pipes. Somebody else may, who was handed one.
const STRANGERS: Duration = Duration::from_millis(500);

/// The threads that drain.
#[derive(Debug)]
pub(super) struct Outputs {
    threads: Vec<JoinHandle<()>>,
    ended: Receiver<()>,
    /// Dropping it tells the threads to take what is there and end.
    closing: PipeWriter,
}

/// One pipe to drain.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stream: Stream,
    pub(super) pipe: OwnedFd,
    /// How many bytes are kept; the rest is read and thrown away, with one notice.
    pub(super) limit: Option<u64>,
}

impl Outputs {
    pub(super) fn drain(outputs: Vec<Output>, journal: &Arc<Journal>) -> io::Result<Self> {
        let (closed, closing) = io::pipe()?;
        let closed = Arc::new(closed);
        let (send, ended) = channel();
        let mut threads = Vec::new();
        for output in outputs {
            let (journal, closed, send) = (Arc::clone(journal), Arc::clone(&closed), Sender::clone(&send));
            let name = format!("drain {:?}", output.stream);
            threads.push(thread::Builder::new().name(name).spawn(move || {
                if let Err(error) = drain(output, &journal, &closed) {
                    eprintln!("could not drain a pipe: {error}");
                }
                // Nobody listens any more once the wait for strangers is over.
                let _ = send.send(());
            })?);
        }
        Ok(Self { threads, ended, closing })
    }

    /// Waits until everything that was written is in the journal.
    pub(super) fn finish(self) {
        let deadline = Instant::now() + STRANGERS;
        for _ in &self.threads {
            if self.ended.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
                break;
            }
        }
        drop(self.closing);
        for thread in self.threads {
            // A panic has ended the process already.
            let _ = thread.join();
        }
    }
}

fn drain(output: Output, journal: &Journal, closed: &PipeReader) -> io::Result<()> {
    let mut pipe = File::from(output.pipe);
    let mut chunk = vec![0; CHUNK];
    let mut kept = 0;
    let mut truncated = false;
    let mut closing = false;
    loop {
        if !closing {
            let mut both = [PollFd::new(&pipe, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) => closing = !both[1].revents().is_empty(),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if closing {
                fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
            }
        }
        let read = match pipe.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let room = output.limit.map_or(u64::MAX, |limit| limit - kept);
        let keep = usize::try_from(room).map_or(read, |room| room.min(read));
        if keep > 0 {
            journal.append_patiently(output.stream, &chunk[..keep]);
            kept += keep as u64;
        }
        if keep < read && !truncated {
            truncated = true;
            let stream = if output.stream == Stream::Stdout { "stdout" } else { "stderr" };
            let notice = serde_json::json!({ "truncated": stream, "limit": output.limit });
            journal.append_patiently(Stream::Shim, notice.to_string().as_bytes());
        }
    }
}
