//! Waking those who follow a run: when its log grows, when it ended, when its shim is gone.
//!
//! One thread and one inotify instance per watcher, however many runs there are. A wake says that
//! something may have changed and nothing more; the one woken asks the directory.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::layout::{EXIT, LOCK};
use crate::os::{Notice, Notices};
use crate::{Error, Result, segments};

type Wake = Arc<dyn Fn() + Send + Sync>;

/// Watches run directories until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// One interest in one directory; dropping it ends the interest. A wake under way may still arrive.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    number: i32,
    id: u64,
}

#[derive(Debug)]
struct Shared {
    notices: Notices,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    interests: HashMap<i32, Vec<(u64, Wake)>>,
    last_id: u64,
}

impl Watcher {
    /// Starts the thread that listens.
    pub fn start() -> Result<Self> {
        let path = Path::new("inotify");
        let notices = Notices::open().map_err(|source| Error::io("open", path, source))?;
        let shared = Arc::new(Shared { notices, table: Mutex::default() });
        let thread = thread::Builder::new().name("watch runs".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.listen()
        });
        let thread = thread.map_err(|source| Error::io("start the thread for", path, source))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Calls `wake` whenever the run in `dir` may have something new. What was there before is not
    /// announced: watch first, then read. `wake` runs on the watcher's thread and must be short.
    pub fn watch(&self, dir: &Path, wake: impl Fn() + Send + Sync + 'static) -> Result<Watch> {
        let mut table = self.shared.table();
        let number = self.shared.notices.add(dir).map_err(|source| Error::io("watch", dir, source))?;
        table.last_id += 1;
        let id = table.last_id;
        table.interests.entry(number).or_default().push((id, Arc::new(wake)));
        Ok(Watch { shared: Arc::clone(&self.shared), number, id })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.notices.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread has been printed, and there is nothing left to do about it.
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut table = self.shared.table();
        let Some(interests) = table.interests.get_mut(&self.number) else { return };
        interests.retain(|(id, _)| *id != self.id);
        if interests.is_empty() {
            table.interests.remove(&self.number);
            self.shared.notices.remove(self.number);
        }
    }
}

impl Shared {
    fn listen(&self) {
        let heard = self.notices.follow(|notice| {
            // Called without the table held: a wake may well drop its own watch.
            for wake in self.concerned(&notice) {
                wake();
            }
        });
        if heard.is_err() {
            // Nothing more will be heard. Everybody looks once, and finds out by asking.
            for wake in self.concerned(&Notice::Overflow) {
                wake();
            }
        }
    }

    fn concerned(&self, notice: &Notice<'_>) -> Vec<Wake> {
        let mut table = self.table();
        let wakes = |interests: &Vec<(u64, Wake)>| -> Vec<Wake> {
            interests.iter().map(|(_, wake)| Arc::clone(wake)).collect()
        };
        match notice {
            Notice::Changed { watch, name, closed } if is_news(name, *closed) => {
                table.interests.get(watch).map(wakes).unwrap_or_default()
            }
            Notice::Changed { .. } => Vec::new(),
            Notice::Forgotten { watch } => {
                table.interests.remove(watch).as_ref().map(wakes).unwrap_or_default()
            }
            Notice::Overflow => table.interests.values().flat_map(wakes).collect(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a follower cares. Other files may stand beside the log and be written by the follower
/// itself, which must not wake it. The kernel closes the lock also for a shim that was killed.
fn is_news(name: &str, closed: bool) -> bool {
    match name {
        LOCK => closed,
        EXIT => true,
        _ => segments::is_segment(name) && !closed,
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Table").field("directories", &self.interests.len()).finish_non_exhaustive()
    }
}
