//! The log as the shim's threads share it: appended in turn, synced in the background, and patient
//! with a full disk.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{lock, now_us};
use crate::frame::Stream;
use crate::writer::sync_dir;
use crate::{Error, LogWriter, Result};

/// What a power cut may cost.
const SYNC: Duration = Duration::from_millis(250);
/// How soon room on the disk is noticed. Nothing tells of it.
const RETRY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Journal {
    log: Mutex<Log>,
    written: Condvar,
    /// Apart from the log, so that a status is answered while the log waits.
    waiting: Mutex<Waiting>,
}

#[derive(Debug)]
struct Log {
    writer: LogWriter,
    dirty: bool,
    closed: bool,
}

/// Who waits for the disk, and for what.
#[derive(Debug, Default)]
struct Waiting {
    threads: usize,
    blocked: Option<Blocked>,
}

#[derive(Debug, Clone)]
pub(super) struct Blocked {
    pub(super) reason: String,
    pub(super) since: Instant,
}

/// Why something was not journalled.
#[derive(Debug)]
pub(super) enum Refused {
    /// The run is over and its log is final.
    Closed,
    Failed(Error),
}

impl Journal {
    pub(super) fn new(writer: LogWriter) -> Self {
        Self {
            log: Mutex::new(Log { writer, dirty: false, closed: false }),
            written: Condvar::new(),
            waiting: Mutex::default(),
        }
    }

    /// Appends one record, or leaves the log as it is.
    pub(super) fn append(
        &self,
        stream: Stream,
        ordinal: Option<u64>,
        payload: &[u8],
    ) -> Result<u64, Refused> {
        let mut log = lock(&self.log);
        if log.closed {
            return Err(Refused::Closed);
        }
        let end = log.writer.append(stream, now_us(), ordinal, payload).map_err(Refused::Failed)?;
        if !log.dirty {
            log.dirty = true;
            self.written.notify_one();
        }
        Ok(end)
    }

    /// Appends one record as soon as the disk takes it. Whoever filled the pipe waits meanwhile.
    pub(super) fn append_patiently(&self, stream: Stream, payload: &[u8]) {
        self.patiently(|| match self.append(stream, None, payload) {
            Err(Refused::Failed(error)) => Err(error),
            Ok(_) | Err(Refused::Closed) => Ok(()),
        });
    }

    pub(super) fn end(&self) -> u64 {
        lock(&self.log).writer.end()
    }

    pub(super) fn blocked(&self) -> Option<Blocked> {
        lock(&self.waiting).blocked.clone()
    }

    /// Syncs what was written, at most once in a while, until the journal is closed.
    pub(super) fn keep_synced(&self, dir: &Path) {
        // The names that were made before there was time for it.
        if let Err(error) = sync_dir(dir) {
            eprintln!("could not sync the directory: {error}");
        }
        loop {
            let mut log = lock(&self.log);
            while !log.dirty && !log.closed {
                log = self.written.wait(log).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if log.closed {
                return;
            }
            log.dirty = false;
            let file = log.writer.current();
            drop(log);
            if let Err(error) = file.sync_data() {
                eprintln!("could not sync the log: {error}");
            }
            thread::sleep(SYNC);
        }
    }

    /// Ends the log: nothing is appended any more, and everything is on the disk. Returns its end.
    pub(super) fn close(&self) -> u64 {
        let mut log = lock(&self.log);
        log.closed = true;
        self.written.notify_one();
        let (file, end) = (log.writer.current(), log.writer.end());
        drop(log);
        self.patiently(|| file.sync_data().map_err(|source| Error::io("sync", "the log", source)));
        end
    }

    /// Repeats an act until the disk takes it, and lets everybody know meanwhile. A directory that was removed
    /// takes nothing any more and has no reader, so there the act is given up.
    pub(super) fn patiently(&self, mut act: impl FnMut() -> Result<()>) {
        let Err(first) = act() else { return };
        lock(&self.waiting).begin(&first);
        loop {
            if is_removed(Path::new(".")) {
                return lock(&self.waiting).end();
            }
            thread::sleep(RETRY);
            match act() {
                Ok(()) => return lock(&self.waiting).end(),
                Err(error) => lock(&self.waiting).note(&error),
            }
        }
    }
}

impl Waiting {
    fn begin(&mut self, error: &Error) {
        self.threads += 1;
        self.note(error);
    }

    fn note(&mut self, error: &Error) {
        let since = self.blocked.as_ref().map_or_else(Instant::now, |blocked| blocked.since);
        self.blocked = Some(Blocked { reason: reason(error), since });
    }

    fn end(&mut self) {
        self.threads -= 1;
        if self.threads == 0 {
            self.blocked = None;
        }
    }
}

/// Says whether a directory has no name any more.
fn is_removed(dir: &Path) -> bool {
    std::fs::metadata(dir).is_ok_and(|directory| directory.nlink() == 0)
}

/// In the words of the system, without the number.
fn reason(error: &Error) -> String {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            "no space left on device".to_owned()
        }
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
