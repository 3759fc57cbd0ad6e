//! One queue per repository, so that refs and worktree entries are written one at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The queues of all repositories of this process, found by their common directory.
#[derive(Default)]
pub(crate) struct Queues(Mutex<HashMap<PathBuf, Arc<Queue>>>);

/// Says whether somebody has the repository, and rings when nobody has any more.
#[derive(Default)]
struct Queue {
    is_taken: Mutex<bool>,
    free: Condvar,
}

/// The turn of whoever has the repository.
struct Turn<'a>(&'a Queue);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.taken() = false;
        self.0.free.notify_one();
    }
}

impl Queue {
    // It guards nothing but order, so work that panicked leaves nothing half-written behind in it.
    fn taken(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn; none when it did not come in time.
    fn turn(&self, most: Duration) -> Option<Turn<'_>> {
        let waited = self.free.wait_timeout_while(self.taken(), most, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (!std::mem::replace(&mut *is_taken, true)).then(|| Turn(self))
    }
}

impl Queues {
    /// Does `work` while nobody else in this process does other queued work on the same repository; nothing is done
    /// when the turn did not come in time.
    pub(crate) fn wait<T>(&self, common_dir: &Path, most: Duration, work: impl FnOnce() -> T) -> Option<T> {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            queues.entry(common_dir.to_path_buf()).or_default().clone()
        };
        let _turn = queue.turn(most)?;
        Some(work())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const SOON: Duration = Duration::from_secs(30);

    #[test]
    fn a_turn_that_does_not_come_in_time_is_given_up_and_the_next_one_comes() {
        let queues = Queues::default();
        let (sick, well) = (Path::new("/sick"), Path::new("/well"));
        let (go, gone) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        std::thread::scope(|scope| {
            let queues = &queues;
            scope.spawn(move || {
                queues.wait(sick, SOON, || {
                    begun.send(()).unwrap();
                    gone.recv().is_err()
                })
            });
            begins.recv().unwrap();
            assert_eq!(queues.wait(sick, Duration::from_millis(20), || "done"), None);
            assert_eq!(queues.wait(well, SOON, || "done"), Some("done"));
            drop(go);
            assert_eq!(queues.wait(sick, SOON, || "done"), Some("done"));
        });
        let panics = std::panic::AssertUnwindSafe(|| queues.wait(sick, SOON, || panic!("on purpose")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(queues.wait(sick, Duration::ZERO, || "done"), Some("done"), "its turn ended with it");
    }
}
