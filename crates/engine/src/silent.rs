//! Disks that do not answer.
//!
//! Git has time limits, but a look at a path has none: whoever makes it waits for as long as the disk does. So a
//! repository is looked at on a thread of its own before anything else is done with it. When that thread is not back
//! in time, whoever waits hears of it, and everybody after them at once, until it is back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::io_error;
use crate::{Error, Result};

/// A disk that slept takes up to half of that to turn.
const LONGEST: Duration = Duration::from_secs(30);

/// The places whose disks do not answer, and since when.
#[derive(Debug, Default)]
pub(crate) struct Silent(Arc<Mutex<HashMap<PathBuf, Instant>>>);

impl Silent {
    /// Looks at something that lies at a place; an error when the disk does not answer in time, or did not before and
    /// has not since. Blocks.
    pub(crate) fn look<T: Send + 'static>(
        &self,
        place: &Path,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.look_for(LONGEST, place, look)
    }

    fn look_for<T: Send + 'static>(
        &self,
        longest: Duration,
        place: &Path,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        if let Some(since) = lock(&self.0).get(place) {
            return Err(does_not_answer(place, since.elapsed()));
        }
        let begun = Instant::now();
        let (tell, told) = mpsc::channel();
        let (silent, at) = (Arc::clone(&self.0), place.to_path_buf());
        let looks = move || {
            let seen = look();
            // Under the lock, so that whoever gave up either hears it or has said before that nobody answers.
            let mut silent = lock(&silent);
            silent.remove(&at);
            let _gave_up = tell.send(seen);
        };
        thread::Builder::new().name("look".into()).spawn(looks).map_err(io_error("look at", place))?;
        if let Ok(seen) = told.recv_timeout(longest) {
            return Ok(seen);
        }
        let mut silent = lock(&self.0);
        if let Ok(seen) = told.try_recv() {
            return Ok(seen);
        }
        silent.insert(place.to_path_buf(), begun);
        Err(does_not_answer(place, begun.elapsed()))
    }
}

fn does_not_answer(place: &Path, since: Duration) -> Error {
    Error::unavailable(format!(
        "the disk that holds {} has not answered for {} s; see whether it is there, and try again",
        place.display(),
        since.as_secs()
    ))
}

fn lock(silent: &Mutex<HashMap<PathBuf, Instant>>) -> MutexGuard<'_, HashMap<PathBuf, Instant>> {
    silent.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_hears_that_a_disk_does_not_answer_and_those_after_them_at_once_until_it_does() {
        let silent = Silent::default();
        let (sick, well) = (Path::new("/sick"), Path::new("/well"));
        let (answer, answers) = mpsc::channel::<()>();
        let soon = Duration::from_millis(50);
        let told = silent.look_for(soon, sick, move || answers.recv().is_err()).unwrap_err().to_string();
        assert!(told.contains("/sick") && told.contains("try again"), "{told}");
        // Were it waited for, the deadline of the test would be.
        let again = silent.look(sick, || -> bool { panic!("nobody looks while one does") });
        assert!(again.is_err());
        assert!(silent.look(well, || true).unwrap());
        drop(answer);
        let deadline = Instant::now() + LONGEST;
        while silent.look_for(soon, sick, || ()).is_err() {
            assert!(Instant::now() < deadline, "it has answered, and nobody noticed");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
