//! Hearing of changes in a checkout: its files that are not ignored, and what HEAD and a branch point at.
//!
//! One thread and one inotify instance listen for all checkouts. Ignored directories are never watched, however much
//! happens in them; when the system has no room for more watches, that is said, and the caller looks now and then.

mod news;
#[cfg(target_os = "linux")]
mod notices;
#[cfg(not(target_os = "linux"))]
#[path = "no_notices.rs"]
mod notices;
mod tree;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use news::{Heard, Place};
use notices::{Notice, Notices};
pub use tree::{TreeWatch, Watched};

/// The most directories that are watched for one checkout.
const MOST: usize = 50_000;

/// Listens until it is dropped.
#[derive(Debug)]
pub struct TreeWatcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    notices: Notices,
    table: Mutex<Table>,
    /// The most directories of one checkout.
    most: AtomicUsize,
}

#[derive(Default)]
struct Table {
    /// Who cares about a watched directory, and what it is to them.
    interests: HashMap<i32, Vec<(u64, Place)>>,
    heard: HashMap<u64, Arc<Heard>>,
    last: u64,
    /// How often watches of the system ended.
    ended: u64,
}

impl TreeWatcher {
    /// Starts the thread that listens.
    pub fn start() -> io::Result<TreeWatcher> {
        let notices = Notices::open()?;
        let shared = Arc::new(Shared { notices, table: Mutex::default(), most: AtomicUsize::new(MOST) });
        let thread = thread::Builder::new().name("watch files".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.listen()
        })?;
        Ok(TreeWatcher { shared, thread: Some(thread) })
    }

    /// Prepares to watch a checkout. `wake` runs on the watcher's thread, whenever there is news, and must be short.
    pub fn tree(&self, wake: impl Fn() + Send + Sync + 'static) -> TreeWatch {
        let mut table = self.shared.table();
        table.last += 1;
        let id = table.last;
        let heard = Arc::new(Heard::new(wake));
        table.heard.insert(id, Arc::clone(&heard));
        TreeWatch::new(Arc::clone(&self.shared), id, heard)
    }

    /// Counts the directories that are watched.
    pub fn watches(&self) -> usize {
        self.shared.table().interests.len()
    }

    /// Watches so many directories of a checkout at most.
    pub fn limit(&self, most: usize) {
        self.shared.most.store(most, Ordering::Relaxed);
    }
}

impl Drop for TreeWatcher {
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

impl Shared {
    /// Watches a directory for somebody; one that they watch already gets the new meaning.
    fn add(&self, id: u64, directory: &Path, place: Place) -> io::Result<i32> {
        // Nobody is held up while the directory is looked up: its disk may not answer. When a watch has ended
        // meanwhile, it may have been this very one, and it is begun anew.
        let (number, mut table) = loop {
            let ended = self.table().ended;
            let number = self.notices.add(directory)?;
            let table = self.table();
            if table.ended == ended {
                break (number, table);
            }
        };
        let interests = table.interests.entry(number).or_default();
        match interests.iter_mut().find(|(other, known)| *other == id && known.is_like(&place)) {
            Some((_, known)) => known.become_also(place),
            None => interests.push((id, place)),
        }
        Ok(number)
    }

    /// Ends all interests of somebody.
    fn forget(&self, id: u64) {
        let mut table = self.table();
        table.heard.remove(&id);
        self.drop_interests(&mut table, id);
    }

    /// Ends the watches of somebody who listens on.
    fn uncover(&self, id: u64) {
        self.drop_interests(&mut self.table(), id);
    }

    fn drop_interests(&self, table: &mut Table, id: u64) {
        let before = table.interests.len();
        table.interests.retain(|number, interests| {
            interests.retain(|(other, _)| *other != id);
            if interests.is_empty() {
                self.notices.remove(*number);
            }
            !interests.is_empty()
        });
        table.ended += u64::from(table.interests.len() < before);
    }

    fn listen(&self) {
        if self.notices.follow(|notice| self.hear(&notice)).is_err() {
            // Nothing more will be heard. Everybody looks once.
            self.hear(&Notice::Overflow);
        }
    }

    fn hear(&self, notice: &Notice<'_>) {
        let mut wakes = Vec::new();
        {
            let mut table = self.table();
            match notice {
                Notice::Changed { watch, name, is_directory, is_new } => {
                    let interests = table.interests.get(watch).map(Vec::as_slice).unwrap_or_default();
                    for (id, place) in interests {
                        if let Some(heard) = table.heard.get(id)
                            && heard.note(place, name, *is_directory, *is_new)
                        {
                            wakes.push(Arc::clone(heard));
                        }
                    }
                }
                Notice::Forgotten { watch } => {
                    table.interests.remove(watch);
                    table.ended += 1;
                }
                Notice::Overflow => {
                    for heard in table.heard.values() {
                        heard.note_everything();
                        wakes.push(Arc::clone(heard));
                    }
                }
            }
        }
        // Without the table held: a wake may well end its own watch.
        for heard in wakes {
            heard.wake();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Table").field("directories", &self.interests.len()).finish_non_exhaustive()
    }
}
