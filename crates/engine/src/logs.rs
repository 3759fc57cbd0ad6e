//! Reading a run's log from a position, and following it while the run lives.
//!
//! Every reader reads the files for itself, a piece at a time, so a slow one costs nothing and misses nothing. Where
//! many follow one run they look less often, each taking more at once, so that the rest of the server stays quick.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use forge_model::RunId;
use forge_process::{Liveness, LogReader, Record, Stream, Watch};
use tokio::sync::Notify;

use crate::background::{blocking, is_dir};
use crate::launch::process_error;
use crate::{Engine, Error, Result, old_logs};

/// About how much text one batch has.
const BATCH: usize = 32 * 1024;

/// How many may follow one run at full speed.
const FEW: usize = 8;

/// What each further reader of a run adds to the pause between two looks of all of them: 200 readers of one agent
/// look 20 times a second.
const PAUSE: Duration = Duration::from_micros(250);

/// Those who follow each run, counted by the copies of a token.
#[derive(Debug, Default)]
pub(crate) struct Crowds(Mutex<HashMap<RunId, Weak<()>>>);

impl Crowds {
    fn join(&self, run: RunId) -> Arc<()> {
        let mut crowds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(crowd) = crowds.get(&run).and_then(Weak::upgrade) {
            return crowd;
        }
        crowds.retain(|_, crowd| crowd.strong_count() > 0);
        let crowd = Arc::new(());
        crowds.insert(run, Arc::downgrade(&crowd));
        crowd
    }
}

/// A reader that follows a run's log.
#[derive(Debug)]
pub struct LogTail {
    /// Taken while a read is under way.
    reader: Option<Reader>,
    /// Whether to wait for more.
    follow: bool,
    end: LogEnd,
    wake: Arc<Notify>,
    /// Everybody who follows this run has a copy.
    crowd: Arc<()>,
    /// Whether the last batch took all there was.
    drained: bool,
    /// What is said instead of a log that was deleted.
    notice: Option<LogBatch>,
    _watch: Option<Watch>,
}

/// Why there was no more output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogEnd {
    /// The run is over and everything was given.
    Over,
    /// The run goes on, and nobody waits for more.
    CaughtUp,
}

/// Some output, and the position after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogBatch {
    pub chunks: Vec<Chunk>,
    /// Where to resume.
    pub position: u64,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub stream: ChunkStream,
    pub text: String,
}

/// Where a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkStream {
    Stdout,
    Stderr,
}

impl Engine {
    /// Follows a run's log from a position: any byte offset, 0 for the beginning.
    pub async fn log(&self, run: RunId, from: u64) -> Result<LogTail> {
        self.tail(run, from, true).await
    }

    /// Reads what is there of a run's log from a position, without waiting for more.
    pub async fn log_so_far(&self, run: RunId, from: u64) -> Result<LogTail> {
        self.tail(run, from, false).await
    }

    async fn tail(&self, run: RunId, from: u64, follow: bool) -> Result<LogTail> {
        let found = self.run(run).await?;
        if let Some(notice) = old_logs::notice(&found) {
            let chunks = vec![Chunk { stream: ChunkStream::Stderr, text: format!("{notice}\n") }];
            return Ok(LogTail {
                reader: None,
                follow: false,
                end: LogEnd::Over,
                wake: Arc::default(),
                crowd: Arc::default(),
                drained: false,
                notice: Some(LogBatch { chunks, position: from }),
                _watch: None,
            });
        }
        let dir = self.inner.paths.run(run);
        if !is_dir(&dir).await? {
            return Err(Error::not_found(format!("run {run} has no log any more")));
        }
        let wake = Arc::new(Notify::new());
        let bell = wake.clone();
        let watch = self
            .inner
            .watcher
            .watch(&dir, move || bell.notify_one())
            .map_err(|error| process_error(&error))?;
        let reader = blocking(move || Reader::open(dir, from)).await??;
        let crowd = self.inner.crowds.join(run);
        let (end, drained) = (LogEnd::CaughtUp, false);
        let (notice, _watch) = (None, Some(watch));
        Ok(LogTail { reader: Some(reader), follow, end, wake, crowd, drained, notice, _watch })
    }
}

impl LogTail {
    /// Returns where the next output will be read; none while it is being read. Less than what was asked for
    /// when the log is not that long.
    pub fn position(&self) -> Option<u64> {
        let said = || self.notice.as_ref().map(|notice| notice.position);
        self.reader.as_ref().map(|reader| reader.log.position()).or_else(said)
    }

    /// Returns why the last [`next`](Self::next) gave nothing.
    pub fn end(&self) -> LogEnd {
        self.end
    }

    /// Waits for output and returns it; none when the run is over and everything was given, or when everything
    /// that is there was given and nobody wants to wait.
    pub async fn next(&mut self) -> Result<Option<LogBatch>> {
        if let Some(notice) = self.notice.take() {
            return Ok(Some(notice));
        }
        let company = Arc::strong_count(&self.crowd);
        if self.follow && self.drained && company > FEW {
            tokio::time::sleep(PAUSE * company as u32).await;
        }
        loop {
            let Some(mut reader) = self.reader.take() else { return Ok(None) };
            let (back, seen) = blocking(move || {
                let seen = reader.read();
                (reader, seen)
            })
            .await?;
            match seen? {
                Seen::Some(batch) => {
                    self.drained =
                        batch.chunks.iter().map(|chunk| chunk.text.len()).sum::<usize>() < BATCH / 2;
                    self.reader = Some(back);
                    return Ok(Some(batch));
                }
                Seen::Nothing if self.follow => {
                    self.reader = Some(back);
                    self.wake.notified().await;
                }
                Seen::Nothing => return Ok(None),
                Seen::End => {
                    self.end = LogEnd::Over;
                    return Ok(None);
                }
            }
        }
    }
}

#[derive(Debug)]
struct Reader {
    dir: PathBuf,
    log: LogReader,
    out: Text,
    err: Text,
}

#[derive(Debug)]
enum Seen {
    Some(LogBatch),
    Nothing,
    End,
}

impl Reader {
    fn open(dir: PathBuf, from: u64) -> Result<Self> {
        let log = LogReader::open(&dir, from).map_err(|error| process_error(&error))?;
        Ok(Self { dir, log, out: Text::default(), err: Text::default() })
    }

    fn read(&mut self) -> Result<Seen> {
        if let Some(batch) = self.batch()? {
            return Ok(Seen::Some(batch));
        }
        // The process is looked at before the last read, or its last words could fall between the two.
        let alive = forge_process::liveness(&self.dir).map_err(|error| process_error(&error))?;
        if matches!(alive, Liveness::Alive) {
            return Ok(Seen::Nothing);
        }
        Ok(self.batch()?.map_or(Seen::End, Seen::Some))
    }

    /// Takes what is there now; records that are not output only move the position.
    fn batch(&mut self) -> Result<Option<LogBatch>> {
        loop {
            let records = self.log.read(BATCH).map_err(|error| process_error(&error))?;
            if records.is_empty() {
                return Ok(None);
            }
            let chunks: Vec<Chunk> = records.iter().filter_map(|record| self.chunk(record)).collect();
            if !chunks.is_empty() {
                return Ok(Some(LogBatch { chunks, position: self.log.position() }));
            }
        }
    }

    fn chunk(&mut self, record: &Record) -> Option<Chunk> {
        let (stream, text) = match record.stream {
            Stream::Stdout => (ChunkStream::Stdout, self.out.push(&record.payload)),
            Stream::Stderr => (ChunkStream::Stderr, self.err.push(&record.payload)),
            _ => return None,
        };
        (!text.is_empty()).then_some(Chunk { stream, text })
    }
}

/// Bytes on their way to text: a character that was cut waits for its rest.
#[derive(Debug, Default)]
struct Text {
    rest: Vec<u8>,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) -> String {
        if self.rest.is_empty() && std::str::from_utf8(bytes).is_ok() {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        self.rest = all.split_off(all.len() - unfinished(&all));
        String::from_utf8_lossy(&all).into_owned()
    }
}

/// Counts the bytes at the end that begin a character and do not finish it.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_comes_out_whole_however_its_bytes_are_cut(text in ".{0,40}", cut in 1usize..7) {
            let mut decoder = Text::default();
            let out: String = text.as_bytes().chunks(cut).map(|piece| decoder.push(piece)).collect();
            prop_assert_eq!(out, text);
            prop_assert!(decoder.rest.is_empty());
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such_and_hold_nothing_up() {
        let mut decoder = Text::default();
        assert_eq!(decoder.push(b"a\xFFb"), "a\u{FFFD}b");
        assert_eq!(decoder.push("ü".as_bytes()), "ü");
    }
}
